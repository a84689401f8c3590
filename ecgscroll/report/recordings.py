"""The recordings behind a run's episodes, each embedded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ecgscroll.catalogue.spans import split_span
from ecgscroll.causal.sources import Source, open_source
from ecgscroll.errors import EcgScrollError
from ecgscroll.records.databases import locate
from ecgscroll.report.budget import shares
from ecgscroll.report.moments import moments
from ecgscroll.report.signals import pack_recording
from ecgscroll.report.story import Story

Progress = Callable[[str, int, int], None]
_TOO_LITTLE = "Left out to keep the page small; a larger --max-mb has room for it."


@dataclass(frozen=True)
class Embedded:
    """A recording's pack, or a sentence that says why there is none."""

    name: str
    pack: str | None
    note: str | None


def embed(
    stories: Sequence[Story], data: Path | None, allowance: float, progress: Progress
) -> list[Embedded]:
    """Embed the recordings of all episodes in so many characters, by name."""
    by_name: dict[str, list[Story]] = {}
    for story in stories:
        by_name.setdefault(f"{story.database}/{story.record}", []).append(story)
    interests = {name: max(one.interest for one in group) for name, group in by_name.items()}
    found: dict[str, Embedded] = {}
    for name, part in shares(interests):
        found[name] = _embed(name, by_name[name], data, int(part * max(0.0, allowance)))
        allowance -= len(found[name].pack or "")
        progress(name, len(found), len(by_name))
    return [found[name] for name in by_name]


def _embed(name: str, stories: Sequence[Story], data: Path | None, share: int) -> Embedded:
    if data is None:
        return Embedded(name, None, "There is no folder of recordings here (--data).")
    try:
        source = _open(name, stories, data)
        if isinstance(source, str):
            return Embedded(name, None, source)
        pack = pack_recording(source, moments(stories), share)
    except EcgScrollError as error:
        return Embedded(name, None, str(error))
    return Embedded(name, pack, _TOO_LITTLE if pack is None else None)


def _open(name: str, stories: Sequence[Story], data: Path) -> Source | str:
    """Open a recording; a sentence if it is not there, or not the one that was played."""
    database, record = name.split("/", 1)
    whole, span = split_span(record)
    folder, bare = locate(data, database, whole)
    if not (folder / f"{bare}.hea").is_file():
        return "The recording is not in the data folder (--data), so its ECG is not shown."
    source = open_source(folder, bare, database, span=span)
    played = {story.row["duration_s"] for story in stories if story.row}
    if any(abs(length - source.recording.duration) > 1e-6 for length in played):
        return "The recording in the data folder (--data) has another length than the one played."
    return source
