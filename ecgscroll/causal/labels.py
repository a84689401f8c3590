"""Reference annotations indexed for one question: what is known of [t0, t1) at cursor k."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ecgscroll.records.databases import Kind
from ecgscroll.records.reference import Reference, Span, StEpisode
from ecgscroll.signals.beats import Beats

Interval = tuple[float, float]
S = TypeVar("S", bound=Span)


class Known(NamedTuple):
    """What has been revealed: annotations before ``horizon`` (s), time up to ``cursor`` (s)."""

    horizon: float
    cursor: float


class SpanIndex(Generic[S]):
    """Spans in order of their start, found by bisection; they may overlap."""

    def __init__(self, spans: Sequence[S]) -> None:
        self._spans = sorted(spans, key=lambda span: span.start)
        self._starts = [span.start for span in self._spans]
        self.first_known = min((span.known_from for span in spans), default=math.inf)
        self._reach = list(accumulate((span.stop for span in self._spans), max))

    def clipped(self, t0: float, t1: float, known: Known) -> Iterator[tuple[float, float, S]]:
        """Yield (start, stop, span) of the spans revealed so far, clipped to [t0, t1) s.

        A span whose end is not revealed yet lasts to the cursor, wherever it will end.
        """
        first = min(bisect_right(self._reach, t0), bisect_left(self._reach, known.horizon))
        after = bisect_left(self._starts, min(t1, known.horizon))
        for span in self._spans[first:after]:
            if span.known_from >= known.horizon:
                continue
            stop = span.stop if span.stop < known.horizon else known.cursor
            start, stop = max(t0, span.start), min(t1, stop)
            if start < stop:
                yield start, stop, span


class Labels:
    """The annotations of one recording, shared by every stream on it.

    Parameters
    ----------
    reference
        The whole recording's, or None without annotations: then nothing is ever known.
    leads
        Names of the ECG leads, for beats of which only the times are known.
    annotated
        What the database's card says of each kind; a kind that is None or absent counts as
        annotated from the first label of it on, because only the file's future could say more.
    """

    def __init__(
        self,
        reference: Reference | None,
        leads: tuple[str, ...],
        annotated: Mapping[Kind, bool | None],
    ) -> None:
        self._reference, self._leads, self._annotated = reference, leads, dict(annotated)
        self.rhythm: SpanIndex[Span] = SpanIndex(reference.rhythm if reference else ())
        self.af: SpanIndex[Span] = SpanIndex(reference.af if reference else ())
        self.st: SpanIndex[StEpisode] = SpanIndex(reference.st if reference else ())

    @cached_property
    def _times(self) -> NDArray[np.float64]:
        return self._reference.beat_times if self._reference else np.empty(0)

    @cached_property
    def _symbols(self) -> NDArray[np.str_]:
        symbols = self._reference.beat_symbols if self._reference else None
        return np.empty(0, dtype="U1") if symbols is None else symbols

    @cached_property
    def _beats(self) -> Beats:
        # Prematurity looks back only, so flags computed once are those of any cursor.
        return Beats.from_times(self._times, source="reference", leads=self._leads)

    def may_have(self, kind: Kind) -> bool:
        """Whether labels of this kind may turn up: annotated, or not known not to be."""
        return self._reference is not None and self._annotated.get(kind) is not False

    def annotates(self, kind: Kind, known: Known) -> bool:
        """Whether this kind is annotated, as far as the card and the elapsed labels say."""
        stated = self._annotated.get(kind)
        if self._reference is None or stated is not None:
            return bool(stated)
        return self._first(kind) < known.horizon

    def _first(self, kind: Kind) -> float:
        """Time (s) of the first label of a kind, infinite without one."""
        if kind in ("rhythm", "st"):
            spans = self.rhythm if kind == "rhythm" else self.st
            return spans.first_known
        held = self._times if kind == "beats" else self._times[: len(self._symbols)]
        return float(held[0]) if len(held) else math.inf

    def pauses(self, t0: float, t1: float) -> list[Interval]:
        """Return the pauses (s) whose closing beat lies in [t0, t1), whole."""
        held = self._reference.pauses if self._reference else ()
        start, stop = (bisect_left(held, at, key=lambda span: span.stop) for at in (t0, t1))
        return [(span.start, span.stop) for span in held[start:stop]]

    def beats(self) -> Beats:
        """Return the reference beats' times as beats without a waveform; cut before showing."""
        return self._beats

    def beat_labels(self, t0: float, t1: float) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
        """Return times (s) and symbols of the labelled beats in [t0, t1)."""
        start, stop = np.searchsorted(self._times, (t0, t1))
        if not len(self._symbols):
            return self._times[:0], self._symbols
        return self._times[start:stop], self._symbols[start:stop]
