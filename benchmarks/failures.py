"""Where the measurements still fail on real recordings, each on a strip.

Run ``python benchmarks/failures.py --out DIR [--data DIR]``: per kind of failure, the records with
most of it, one picture each, and an ``index.md`` that counts them. Real samples stay on your disk.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from accuracy import PACED, ROOT, all_beats, records
from delineation import errors_ms, from_file, measured
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.progress import track
from strips import (
    Draw,
    View,
    course_picture,
    draw_beats,
    draw_qt,
    draw_reference,
    draw_rhythm,
    picture,
    view,
)

from ecgscroll.causal.sources import Source
from ecgscroll.files import write_atomic
from ecgscroll.scoring.ec57 import pair_beats
from ecgscroll.signals import ischemia, rhythm

Times = NDArray[np.float64]
SHOWN = 3
"""Records drawn of each kind."""


@dataclass(frozen=True)
class Failure:
    """``count`` failures of a kind in one recording, and where to look (s)."""

    kind: str
    source: Source
    count: int
    at: float
    width: float
    draw: Draw | None


def with_reference(draw: Draw) -> Draw:
    def both(axes: Axes, seen: View, row: int) -> None:
        draw(axes, seen, row)
        draw_reference(axes, seen, row)

    return both


def middle(times: Times) -> float:
    """Time with most others within 4 s: the strip that shows most of them."""
    near = np.abs(np.subtract.outer(times, times)) < 4
    return float(times[near.sum(axis=1).argmax()])


def of_times(kind: str, source: Source, times: Times, draw: Draw) -> Iterator[Failure]:
    if len(times):
        yield Failure(kind, source, len(times), middle(times), 10.0, draw)


def beat_failures(source: Source) -> Iterator[Failure]:
    """Beats and ventricular ectopic beats missed or invented, paced recordings apart."""
    reference = source.reference
    if reference is None or reference.beat_symbols is None:
        return
    beats, truth = all_beats(source), reference.beat_times
    mine, theirs = pair_beats(beats.time, truth)
    draw = with_reference(draw_beats)
    yield from of_times("QRS missed", source, np.delete(truth, theirs), draw)
    yield from of_times("QRS invented", source, np.delete(beats.time, mine), draw)
    if source.recording.name not in PACED:
        ventricular = np.isin(reference.beat_symbols[theirs], ("V", "E"))
        called = beats.ectopic[mine]
        missed, invented = ventricular & ~called, called & ~ventricular
        yield from of_times("PVC missed", source, truth[theirs][missed], draw)
        yield from of_times("PVC invented", source, truth[theirs][invented], draw)


def rhythm_failures(source: Source) -> Iterator[Failure]:
    """Longest stretches of AF that were missed or invented."""
    reference = source.reference
    judged = rhythm.judge(all_beats(source))
    if reference is None or not reference.has_rhythm or judged is None:
        return
    centre = (judged.start + judged.stop) / 2
    true = np.zeros(len(centre), dtype=bool)
    for span in reference.af:
        true |= (centre >= span.start) & (centre < span.stop)
    for kind, wrong in (("AF missed", true & ~judged.af), ("AF invented", judged.af & ~true)):
        if wrong.any():
            at = longest_run(judged.start, judged.stop, wrong)
            seconds = round(float((judged.stop - judged.start)[wrong].sum()))
            draw = with_reference(draw_rhythm)
            yield Failure(f"{kind}, seconds", source, seconds, at, 30.0, draw)


def longest_run(start: Times, stop: Times, mask: NDArray[np.bool_]) -> float:
    """Middle of the longest run of True, s."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask, [0]]))).reshape(-1, 2)
    first, last = max(edges.tolist(), key=lambda e: stop[e[1] - 1] - start[e[0]])
    return float((start[first] + stop[last - 1]) / 2)


def mark_failures(source: Source) -> Iterator[Failure]:
    """Beats whose T end is more than 60 ms off the manual mark."""
    folder, name = source.recording.folder, source.recording.name
    if not (Path(folder) / f"{name}.q1c").exists():
        return
    manual = from_file(source, "q1c")
    error = errors_ms(measured(all_beats(source)), manual)[:, -1]
    off = manual.r[np.abs(error) > 60]
    if len(off):
        yield Failure("T end over 60 ms off", source, len(off), middle(off), 6.0, draw_qt)


def ischemia_failures(source: Source) -> Iterator[Failure]:
    """ST episodes missed or invented; drawn as the course of the whole recording."""
    reference = source.reference
    if reference is None or not reference.has_st:
        return
    found = spans_of(ischemia.episodes(all_beats(source)))
    true = [(s.start, s.stop) for s in reference.st if s.start > 0]
    for kind, these, others in (
        ("ST episode missed", true, found),
        ("ST episode invented", found, [(s.start, s.stop) for s in reference.st]),
    ):
        alone = [a for a in these if not any(a[0] < b[1] and b[0] < a[1] for b in others)]
        if alone:
            yield Failure(kind, source, len(alone), alone[0][0], 0.0, None)


def spans_of(found: list[ischemia.Episode]) -> list[tuple[float, float]]:
    return [(episode.start, episode.stop) for episode in found]


SEARCHES: tuple[tuple[str, Callable[[Source], Iterator[Failure]]], ...] = (
    ("mitdb", beat_failures),
    ("mitdb", rhythm_failures),
    ("cpsc2021", rhythm_failures),
    ("qtdb", mark_failures),
    ("qtdb", ischemia_failures),
)


def search(data: Path) -> dict[str, list[Failure]]:
    """Failures by kind, the recordings with most of them first."""
    found: dict[str, list[Failure]] = {}
    for database, look in SEARCHES:
        for source in track(list(records(data, database)), description=database):
            for failure in look(source):
                found.setdefault(f"{failure.kind}, {database}", []).append(failure)
    return {kind: sorted(some, key=lambda f: -f.count) for kind, some in found.items()}


def draw(failure: Failure) -> Figure:
    recording = failure.source.recording
    title = f"{recording.name}: {failure.kind}, {failure.count} in all"
    if failure.draw is None:
        return course_picture(failure.source, f"{title} (flagged orange, annotated blue)")
    last = max(0.0, recording.duration - failure.width)
    t0 = min(max(0.0, failure.at - failure.width / 2), last)
    seen = view(failure.source, round(t0, 1), round(min(t0 + failure.width, recording.duration), 1))
    return picture(seen, failure.draw, f"{title}; above: found, below: annotated")


def report(kind: str, some: list[Failure], out: Path) -> Iterator[str]:
    """Draw the worst recordings of a kind, and yield the lines that tell of it."""
    total = sum(failure.count for failure in some)
    yield f"\n## {kind}: {total} in {len(some)} recordings\n"
    yield ", ".join(f"{failure.source.recording.name} {failure.count}" for failure in some[:12])
    for failure in some[:SHOWN]:
        name = f"{kind}-{failure.source.recording.name}.png".replace(", ", "-").replace(" ", "-")
        draw(failure).savefig(out / name)
        yield f"\n![{failure.source.recording.name} at {failure.at:.0f} s]({name})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    default = os.environ.get("ECGSCROLL_DATA", ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=default, help="folder of databases")
    parser.add_argument("--out", type=Path, required=True, help="folder of the pictures")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    lines = ["# Where the measurements still fail"]
    for kind, some in search(given.data).items():
        lines.extend(report(kind, some, given.out))
    write_atomic(given.out / "index.md", "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
