"""ST episodes found in the waveform, against the excerpts of the European ST-T database in qtdb.

Counted by EC57 (``ecgscroll/scoring/ec57.py``, the ST rule) on the union over leads. An episode
under way at an excerpt's start has no baseline there: its time and its calls are counted apart.
Each excerpt is asked twice: once at its end about the whole (``whole``), and, as an agent that
never looks back, about every 60 s as they pass (``passing``). The delay is that of an agent that
asks about all that has elapsed every 10 s; onsets are the annotators', at about 0.05 mV.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from rich.table import Table

from ecgscroll.catalogue.splits import split_of
from ecgscroll.causal.sources import Source, open_source
from ecgscroll.causal.stream import Stream
from ecgscroll.records.reference import StEpisode
from ecgscroll.scoring.ec57 import episode_rate
from ecgscroll.scoring.intervals import Interval, Union, shared_length
from ecgscroll.scoring.verifiers import verify
from ecgscroll.tools.classifiers import flag_ischemia

CHUNK_S = 60.0
POLL_S = 10.0
Asker = Callable[[Source], list[Interval]]


@dataclass
class Tally:
    """Counts over excerpts; seconds for durations."""

    found: int = 0
    reference: int = 0
    right: int = 0
    called: int = 0
    shared_s: float = 0.0
    reference_s: float = 0.0
    called_s: float = 0.0
    late_found: int = 0
    late: int = 0
    quiet_called: int = 0
    quiet_s: float = 0.0
    scores: list[float] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Sum two tallies."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


def whole(source: Source) -> list[Interval]:
    """Episodes as the tool tells them at the recording's end."""
    stream = Stream(source)
    stream.advance(stream.total)
    return _asked(stream, 0.0, stream.total)


def passing(source: Source) -> list[Interval]:
    """What the tool says of each minute once that minute has passed."""
    stream, said = Stream(source), []
    while not stream.ended:
        t0, t1 = stream.advance(CHUNK_S)
        said += _asked(stream, t0, t1)
    return list(Union(said, join_s=1.0).intervals())


def first_told(source: Source) -> tuple[list[float | None], int]:
    """Ask about all that has elapsed every 10 s.

    Returns
    -------
    For each proper episode, seconds from its onset to the first cursor at which a called span lies
    in it (None: never); and how many spans were called once, but lie in nothing called at the end.
    """
    assert source.reference is not None
    truth = list(Union((e.start, e.stop) for e in source.reference.st).intervals())
    proper = [span for span in truth if span[0] > 0.0]
    stream = Stream(source)
    told: list[float | None] = [None] * len(proper)
    said: list[Interval] = []
    now: list[Interval] = []
    while not stream.ended:
        _, cursor = stream.advance(POLL_S)
        now = _asked(stream, 0.0, cursor)
        said += now
        for i, span in enumerate(proper):
            if told[i] is None and _within(span, now):
                told[i] = cursor - span[0]
    withdrawn = [span for span in Union(said).intervals() if not _within(span, now)]
    return told, len(withdrawn)


def _asked(stream: Stream, t0: float, t1: float) -> list[Interval]:
    listed = flag_ischemia(stream.beats, t0, t1)["episodes"] or []
    return list(Union(tuple(span) for span in listed).intervals())


def compare(source: Source, ask: Asker) -> Tally:
    """Compare one excerpt's called spans with its annotated episodes."""
    reference = source.reference
    assert reference is not None
    total = source.recording.duration
    called = ask(source)
    truth = list(Union((e.start, e.stop) for e in reference.st).intervals())
    under_way = [span for span in truth if span[0] == 0.0]
    proper = [span for span in truth if span[0] > 0.0]
    counted = [span for span in called if not _within(span, under_way) or _within(span, proper)]
    rate, precision = episode_rate(proper, counted, "st", _extrema(proper, reference.st))
    free = _outside(called, under_way)
    episodes = SimpleNamespace(value=tuple(truth), events=tuple(truth), details=reference.st)
    written = [{"type": "ischemia", "t0": a, "t1": b} for a, b in called]
    score = verify(SimpleNamespace(task="ischemia", duration=total, truth=episodes), written)
    return Tally(
        found=rate.true_positive,
        reference=rate.reference,
        right=precision.true_positive,
        called=precision.detected,
        shared_s=shared_length(Union(proper), free),
        reference_s=Union(proper).length(),
        called_s=free.length(),
        late_found=sum(bool(_within(span, called)) for span in under_way),
        late=len(under_way),
        quiet_called=0 if truth else len(called),
        quiet_s=0.0 if truth else total,
        scores=[score.value],
    )


def _within(span: Interval, others: Iterable[Interval]) -> bool:
    return any(min(span[1], b) > max(span[0], a) for a, b in others)


def _outside(spans: Iterable[Interval], removed: Sequence[Interval]) -> Union:
    """Return spans without the time that starts at 0 and is removed."""
    end = max((stop for _, stop in removed), default=0.0)
    return Union((max(start, end), stop) for start, stop in spans if stop > end)


def _extrema(spans: Iterable[Interval], episodes: Iterable[StEpisode]) -> list[float | None]:
    """Return when the deepest noted deviation of each span was, in seconds."""
    noted = [(abs(mv), time) for e in episodes for time, mv in e.extrema]
    inside = [[n for n in noted if start <= n[1] <= stop] for start, stop in spans]
    return [max(found)[1] if found else None for found in inside]


def tallies(data: Path, ask: Asker) -> dict[str, Tally]:
    """Return the sums of each side of the split, and of both."""
    sums = {"train": Tally(), "test": Tally(), "all 33": Tally()}
    for header in sorted((data / "qtdb").glob("sele*.hea")):
        side = split_of("qtdb", header.stem)
        one = compare(open_source(data / "qtdb", header.stem, "qtdb"), ask)
        for name in (side or "test", "all 33"):
            sums[name].add(one)
    return sums


def add_rows(data: Path, table: Table) -> None:
    """Put the rows of this measure into the table of accuracy."""
    for ask in (whole, passing):
        for side, tally in tallies(data, ask).items():
            where = f"qtdb sele*, {side}, {ask.__name__}"
            table.add_row("ST episodes", where, *_episodes(tally))
            table.add_row("ST duration", where, *_durations(tally))
    for side, (told, withdrawn) in delays(data).items():
        table.add_row("ST delay (s)", f"qtdb sele*, {side}, every 10 s", *_delay(told, withdrawn))


def delays(data: Path) -> dict[str, tuple[list[float | None], int]]:
    """Return :func:`first_told` of each side of the split, and of both."""
    sums: dict[str, tuple[list[float | None], int]] = {
        side: ([], 0) for side in ("train", "test", "all 33")
    }
    for header in sorted((data / "qtdb").glob("sele*.hea")):
        told, withdrawn = first_told(open_source(data / "qtdb", header.stem, "qtdb"))
        for side in (split_of("qtdb", header.stem) or "test", "all 33"):
            sums[side] = (sums[side][0] + told, sums[side][1] + withdrawn)
    return sums


def _delay(told: list[float | None], withdrawn: int) -> tuple[str, str, str]:
    known = [delay for delay in told if delay is not None]
    low, middle, high = np.percentile(known, [25, 50, 75])
    never = f"never {len(told) - len(known)}/{len(told)}"
    return f"median {middle:.0f} ({low:.0f} to {high:.0f})", never, f"withdrawn later {withdrawn}"


def _episodes(tally: Tally) -> tuple[str, str, str]:
    hours = tally.quiet_s / 3600
    return (
        f"Se {tally.found}/{tally.reference}",
        f"+P {tally.right}/{tally.called}",
        f"under way {tally.late_found}/{tally.late}; quiet {tally.quiet_called} in {hours:.2f} h",
    )


def _durations(tally: Tally) -> tuple[str, str, str]:
    return (
        f"Se {_percent(tally.shared_s, tally.reference_s)}",
        f"+P {_percent(tally.shared_s, tally.called_s)}",
        f"F1 at IoU 0.75 {np.mean(tally.scores):.3f}",
    )


def _percent(part: float, whole_s: float) -> str:
    return f"{100 * part / whole_s:.1f}" if whole_s else "-"
