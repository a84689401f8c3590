"""How well atrial fibrillation is called: per R-R interval, per episode, and beside what.

Each set of recordings gives five rows: intervals judged with up to 30 s of look-ahead; the same
with none, as at the cursor; fibrillation alone, with flutter counted apart; the rhythms that are
kept apart from it; and episodes, matched one to one at IoU 0.5, with the error of their onsets.
In ltafdb nothing is said before the first rhythm note of a recording (in 64 that is 19 of 25 h), so
those intervals are left out; ``every interval`` counts them as free of fibrillation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from ecgscroll.causal.sources import Source
from ecgscroll.records.reference import Reference, Span
from ecgscroll.scoring.intervals import Spans
from ecgscroll.signals import rhythm
from ecgscroll.signals.beats import Beats

Flag = NDArray[np.bool_]
IOU = 0.5
APART = {
    "bigeminy": ("B", "AB"),
    "trigeminy": ("T",),
    "supraventricular runs": ("SVTA",),
    "sinus": ("N", "SBR"),
}
UNNOTED_IS_UNKNOWN = ("ltafdb", "ltafdb_1h")


@dataclass
class Tally:
    """Sums over recordings; [truth, called] counts of intervals."""

    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros((2, 2), dtype=np.int64))
    every: NDArray[np.int64] = field(default_factory=lambda: np.zeros((2, 2), dtype=np.int64))
    at_once: NDArray[np.int64] = field(default_factory=lambda: np.zeros((2, 2), dtype=np.int64))
    rhythms: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    f1: list[float] = field(default_factory=list)
    episodes: list[int] = field(default_factory=lambda: [0, 0, 0])
    onset_error: list[float] = field(default_factory=list)

    def add(self, beats: Beats, reference: Reference, unnoted_is_unknown: bool) -> None:
        """Judge one recording and count."""
        found, now = rhythm.judge(beats), rhythm.judge(beats, ahead_s=0.0)
        if found is None or now is None:
            return
        truth = inside(found.stop, reference.af)
        noted = inside(found.stop, reference.rhythm) | (not unnoted_is_unknown)
        count(self.every, truth, found.af)
        count(self.counts, truth[noted], found.af[noted])
        count(self.at_once, truth[noted], now.af[noted])
        for name, labels in {"flutter": ("AFL",), **APART}.items():
            here = inside(found.stop, (s for s in reference.rhythm if s.label in labels))
            called = np.array([found.af[here].sum(), here.sum()])
            self.rhythms[name] = self.rhythms.get(name, np.zeros(2, dtype=np.int64)) + called
        self._episodes(rhythm.Rhythm(found.start, found.stop, found.af & noted), reference)

    def _episodes(self, found: rhythm.Rhythm, reference: Reference) -> None:
        called = found.episodes()
        truth = Spans([(span.start, span.stop) for span in reference.af])
        pairs = [(c, next(iter(truth.matching(*c, IOU)), None)) for c in called]
        hits = [(start - truth.onsets[k]) for (start, _), k in pairs if k is not None]
        total = len(called) + len(reference.af)
        self.onset_error += [float(error) for error in hits]
        self.f1.append(2 * len(hits) / total if total else 1.0)
        for k, n in enumerate((len(hits), len(reference.af), len(called))):
            self.episodes[k] += n


def inside(time: NDArray[np.float64], spans: Iterable[Span]) -> Flag:
    """Which times lie after a span's start and not after its end."""
    flag = np.zeros(len(time), dtype=bool)
    for span in spans:
        edges = (span.start, span.stop)
        first, last = np.searchsorted(time, edges, side="right")
        flag[first:last] = True
    return flag


def count(counts: NDArray[np.int64], truth: Flag, called: Flag) -> None:
    np.add.at(counts, (truth.astype(int), called.astype(int)), 1)


def tally(sources: Iterable[Source], beats_of: Callable[[Source], Beats], database: str) -> Tally:
    """Count over the recordings whose rhythm is annotated."""
    out = Tally()
    for source in sources:
        if source.reference is not None and source.reference.has_rhythm:
            out.add(beats_of(source), source.reference, database in UNNOTED_IS_UNKNOWN)
    return out


def rows(table: Table, where: str, t: Tally) -> None:
    """Add the rows of one set of recordings."""
    if not t.counts.any():
        return
    table.add_row("AF per R-R", where, *shares(t.counts), plus_p(t.counts))
    table.add_row("AF, no look-ahead", where, *shares(t.at_once), plus_p(t.at_once))
    if (t.every != t.counts).any():
        table.add_row("AF, every interval", where, *shares(t.every), plus_p(t.every))
    flutter, of_flutter = t.rhythms["flutter"]
    if of_flutter:
        alone = t.counts - [[0, 0], [of_flutter - flutter, flutter]]
        note = f"flutter called {percent(flutter, of_flutter)} of {of_flutter}"
        table.add_row("AF, flutter apart", where, *shares(alone), note)
    apart = [f"{k} {percent(*t.rhythms[k])}" for k in APART if t.rhythms[k][1]]
    if apart:
        table.add_row("called AF in", where, "", "", ", ".join(apart))
    hits, truth, answers = t.episodes
    low, middle, high = np.quantile(t.onset_error or [np.nan], (0.25, 0.5, 0.75))
    note = f"{hits} of {truth}, {answers} called; onset {middle:+.1f} s [{low:+.1f}, {high:+.1f}]"
    micro = 2 * hits / max(1, truth + answers)
    figures = (f"F1 {np.mean(t.f1):.3f}", f"pooled {micro:.3f}")
    table.add_row(f"AF episodes, IoU {IOU}", where, *figures, note)


def shares(counts: NDArray[np.int64]) -> tuple[str, str]:
    (tn, fp), (fn, tp) = counts
    return f"Se {percent(tp, tp + fn)}", f"Sp {percent(tn, tn + fp)}"


def plus_p(counts: NDArray[np.int64]) -> str:
    return f"+P {percent(counts[1, 1], counts[:, 1].sum())}"


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}" if whole else "-"
