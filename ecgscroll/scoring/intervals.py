"""Unions of time intervals that grow one write at a time, and their one-to-one matches by IoU."""

from __future__ import annotations

import copy
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

import numpy as np

Interval = tuple[float, float]

# An IoU that equals its threshold on paper may miss it by rounding; this much is forgiven.
_ROUNDING = 1e-12
_FEW = 16  # spans; beyond so many, most are ruled out by their length at once


class Change(NamedTuple):
    """What adding one interval did to a union.

    Parameters
    ----------
    start, stop
        The component that holds the added interval now, in seconds.
    removed
        Starts of the components that it swallowed.
    """

    start: float
    stop: float
    removed: tuple[float, ...]


class Union:
    """Sorted, disjoint intervals; what overlaps or touches is one.

    Parameters
    ----------
    spans
        Intervals [start, stop) in seconds, in any order, each with stop >= start.
    join_s
        Gaps up to this many seconds are closed; the result does not depend on the order of adding.

    Examples
    --------
    >>> Union([(0, 30), (30, 60), (90, 100)]).intervals()
    ((0, 60), (90, 100))
    """

    def __init__(self, spans: Iterable[Interval] = (), join_s: float = 0.0) -> None:
        self.starts: list[float] = []
        self.stops: list[float] = []
        self._join_s = join_s
        for start, stop in spans:
            self.add(start, stop)

    def __len__(self) -> int:
        return len(self.starts)

    def add(self, start: float, stop: float) -> Change | None:
        """Add one interval; return what changed, or None if it was covered already."""
        first = bisect_left(self.stops, start - self._join_s)
        after = bisect_right(self.starts, stop + self._join_s)
        removed = tuple(self.starts[first:after])
        if removed:
            covered = self.starts[first] <= start and stop <= self.stops[first]
            if len(removed) == 1 and covered:
                return None
            start = min(start, removed[0])
            stop = max(stop, self.stops[after - 1])
        self.starts[first:after] = [start]
        self.stops[first:after] = [stop]
        return Change(start, stop, removed)

    def copy(self) -> Union:
        """Return a union that grows alone."""
        twin = copy.copy(self)
        twin.starts, twin.stops = list(self.starts), list(self.stops)
        return twin

    def intervals(self) -> tuple[Interval, ...]:
        """Return the components in order of time."""
        return tuple(zip(self.starts, self.stops, strict=True))

    def length(self) -> float:
        """Return the time covered in seconds, to the bit whatever the order of adding."""
        return math.fsum([*self.stops, *(-start for start in self.starts)])


class Spans:
    """Fixed intervals (or instants) sorted by onset, asked again and again what overlaps a window.

    Parameters
    ----------
    spans
        Intervals in seconds; start == stop is an instant. They may overlap each other.
    """

    def __init__(self, spans: Iterable[Interval]) -> None:
        ordered = sorted((float(start), float(stop)) for start, stop in spans)
        self.onsets: list[float] = [start for start, _ in ordered]
        self.offsets: list[float] = [stop for _, stop in ordered]
        self._reach = list(accumulate(self.offsets, max))  # sorted even if spans overlap
        self._lengths = np.subtract(self.offsets, self.onsets)

    def __len__(self) -> int:
        return len(self.onsets)

    def overlapping(self, start: float, stop: float) -> list[int]:
        """Return indices of spans that share time with [start, stop), instants with its ends."""
        return [k for k in self._window(start, stop) if self._shares(k, start, stop)]

    def matching(self, start: float, stop: float, iou: float) -> list[int]:
        """Return indices of spans whose intersection over union with [start, stop) is >= iou."""
        near: Iterable[int] = self._window(start, stop)
        if len(self._window(start, stop)) > _FEW:
            near = self._long_enough(start, stop, iou)
        return [k for k in near if self._iou(k, start, stop) >= iou * (1 - _ROUNDING)]

    def shared(self, index: int, start: float, stop: float) -> float:
        """Return the seconds that one span shares with [start, stop); below 0 they are apart."""
        return min(self.offsets[index], stop) - max(self.onsets[index], start)

    def _window(self, start: float, stop: float) -> range:
        return range(bisect_left(self._reach, start), bisect_right(self.onsets, stop))

    def _shares(self, index: int, start: float, stop: float) -> bool:
        shared = self.shared(index, start, stop)
        return shared > 0 or (shared == 0 and self.onsets[index] == self.offsets[index])

    def _iou(self, index: int, start: float, stop: float) -> float:
        shared = self.shared(index, start, stop)
        if shared <= 0:
            return 0.0
        length = self.offsets[index] - self.onsets[index]
        return shared / ((stop - start) + length - shared)

    def _long_enough(self, start: float, stop: float, iou: float) -> list[int]:
        """Return the few of many spans that a long window could match at all."""
        window = self._window(start, stop)
        least = iou * (stop - start) * (1 - _ROUNDING)
        found = np.flatnonzero(self._lengths[window.start : window.stop] >= least)
        return [window.start + int(k) for k in found]


class Matcher:
    """One-to-one matches between a growing union and fixed intervals at IoU >= a threshold.

    Only what overlaps the changed component is tested again. Both sides are disjoint and sorted,
    so every component can match a run of truths, and a later component none before the last of that
    run: giving each component in turn its first free truth is therefore a maximum matching, for
    any threshold. (From IoU 0.5 up pairs are unique anyway, but for ties.)

    Parameters
    ----------
    truth
        Reference intervals in seconds; they are united first, so touching ones are one.
    iou
        Threshold in (0, 1].
    """

    def __init__(self, truth: Iterable[Interval], iou: float) -> None:
        self.truth = Spans(Union(truth).intervals())
        self._iou = iou
        self._partners: dict[float, tuple[int, ...]] = {}
        self._degree: dict[int, int] = {}
        self._conflicts = 0

    def copy(self) -> Matcher:
        """Return a matcher that goes on alone; the truth is shared."""
        twin = copy.copy(self)
        twin._partners, twin._degree = dict(self._partners), dict(self._degree)
        return twin

    def update(self, change: Change) -> None:
        """Take in one change of the union."""
        for start in change.removed:
            self._count(self._partners.pop(start, ()), -1)
        partners = tuple(self.truth.matching(change.start, change.stop, self._iou))
        if partners:
            self._partners[change.start] = partners
            self._count(partners, +1)

    def matched(self) -> int:
        """Return the number of pairs in a maximum one-to-one matching."""
        if not self._conflicts:
            return len(self._partners)
        taken: set[int] = set()
        for _, partners in sorted(self._partners.items()):
            taken.update([partner for partner in partners if partner not in taken][:1])
        return len(taken)

    def _count(self, partners: tuple[int, ...], step: int) -> None:
        """Keep the number of choices there are beyond one partner each."""
        self._conflicts += step * max(0, len(partners) - 1)
        for partner in partners:
            before = self._degree.get(partner, 0)
            self._degree[partner] = before + step
            self._conflicts += max(0, before + step - 1) - max(0, before - 1)


def shared_length(left: Union, right: Union) -> float:
    """Return the time in seconds that both unions cover."""
    both = Union([*left.intervals(), *right.intervals()])
    return max(0.0, left.length() + right.length() - both.length())
