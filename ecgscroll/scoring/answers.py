"""From findings to an answer and its score, one at a time.

An ``Assembly`` takes in the findings of one task in the order of their stamps and knows, after
each, the answer, its score and which events it has detected. The verifier feeds it a whole ledger;
the reward of one step feeds it one write.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Self

from ecgscroll.errors import DataError
from ecgscroll.scoring.findings import Finding, Parameters
from ecgscroll.scoring.intervals import Interval, Matcher, Union
from ecgscroll.scoring.latency import EventClock
from ecgscroll.tasks import AnswerKind

Answer = tuple[Interval, ...] | float | None
# A distance that equals the tolerance on paper may miss it by rounding; this much is forgiven.
_ROUNDING_S = 1e-9


class Assembly(ABC):
    """The answer to one task as its findings come in, in the order of their stamps.

    Parameters
    ----------
    truth
        The reference answer: intervals, a fraction, or a time in seconds; None to assemble only.
    events
        Reference events for latency, onset and offset in seconds.
    total
        Length of the recording in seconds.
    parameters
        The verifier's constants.
    """

    def __init__(
        self, truth: Answer, events: Iterable[Interval], total: float, parameters: Parameters
    ) -> None:
        self.truth = truth
        self.total = total
        self.parameters = parameters
        self.clock = EventClock(events, self.tau)

    @property
    def tau(self) -> float:
        """Fraction of an event that must have passed before an answer can match it."""
        return 0.0

    def copy(self) -> Self:
        """Return an assembly at the same point that goes on alone; what is fixed is shared."""
        twin = copy.copy(self)
        twin.clock = self.clock.copy()
        return twin

    @abstractmethod
    def add(self, finding: Finding) -> list[int]:
        """Take in one finding; return the events that it is the first to detect."""

    @abstractmethod
    def answer(self) -> Answer:
        """Return the answer as it stands."""

    @abstractmethod
    def score(self) -> float:
        """Return the score of the answer as it stands, in [0, 1]."""


class IntervalAssembly(Assembly):
    """The union of all findings, scored by temporal F1 with one-to-one matches by IoU."""

    def __init__(
        self, truth: Answer, events: Iterable[Interval], total: float, parameters: Parameters
    ) -> None:
        super().__init__(truth, events, total, parameters)
        self.union = Union(join_s=parameters.join_s)
        self.reference = () if truth is None else _as_intervals(truth)
        self.matcher = Matcher(self.reference, parameters.iou)

    def copy(self) -> Self:
        """See ``Assembly.copy``."""
        twin = super().copy()
        twin.union, twin.matcher = self.union.copy(), self.matcher.copy()
        return twin

    @property
    def tau(self) -> float:
        """The IoU threshold: no elapsed part shorter than that can match."""
        return self.parameters.iou

    def add(self, finding: Finding) -> list[int]:
        """Unite; only events that the grown component matches can be new."""
        change = self.union.add(finding.t0, finding.t1)
        if change is None:
            return []
        self.matcher.update(change)
        iou = self.parameters.iou
        return self.clock.mark_matching(change.start, change.stop, iou, finding.stamp)

    def answer(self) -> tuple[Interval, ...]:
        """Return disjoint intervals in seconds."""
        return self.union.intervals()

    def score(self) -> float:
        """Return 2 matches / (intervals answered + reference intervals); 1 if there are none."""
        both = len(self.union) + len(self.matcher.truth)
        return 2 * self.matcher.matched() / both if both else 1.0


class BurdenAssembly(Assembly):
    """The share of the recording that the union of all findings covers."""

    def __init__(
        self, truth: Answer, events: Iterable[Interval], total: float, parameters: Parameters
    ) -> None:
        super().__init__(truth, events, total, parameters)
        self.union = Union(join_s=parameters.join_s)

    def copy(self) -> Self:
        """See ``Assembly.copy``."""
        twin = super().copy()
        twin.union = self.union.copy()
        return twin

    def add(self, finding: Finding) -> list[int]:
        """Unite; an event is detected by the first finding that overlaps it."""
        self.union.add(finding.t0, finding.t1)
        return self.clock.mark_overlapping(finding.t0, finding.t1, finding.stamp)

    def answer(self) -> float:
        """Return a fraction of the recording."""
        return self.union.length() / self.total

    def score(self) -> float:
        """Return max(0, 1 - |v - v*| / max(v*, v0))."""
        truth = _as_time(self.truth)
        error = abs(self.answer() - truth)
        return max(0.0, 1.0 - error / max(truth, self.parameters.v0))


class TimeAssembly(Assembly):
    """One time in seconds, scored 1 if it lies within the tolerance of the reference."""

    _best: tuple[float, float, float] | None = None

    @abstractmethod
    def rank(self, finding: Finding) -> tuple[float, float, float]:
        """Return a key whose least value is the finding that answers; the last two are t0, t1."""

    @abstractmethod
    def time(self, t0: float, t1: float) -> float:
        """Return the time that a finding stands for."""

    def add(self, finding: Finding) -> list[int]:
        """Keep the finding if it ranks before all others."""
        rank = self.rank(finding)
        if self._best is None or rank < self._best:
            self._best = rank
        return self.clock.mark_all(finding.stamp) if self._hits() else []

    def _hits(self) -> bool:
        answer = self.answer()
        if answer is None or self.truth is None:
            return False
        distance = abs(answer - _as_time(self.truth))
        return distance <= self.parameters.tolerance_s + _ROUNDING_S

    def answer(self) -> float | None:
        """Return a time in seconds; without findings None, or 0 in ``published`` scoring."""
        if self._best is None:
            return 0.0 if self.parameters.scoring == "published" else None
        return self.time(*self._best[1:])

    def score(self) -> float:
        """Return 1 for a hit, else 0."""
        return float(self._hits())


class OnsetAssembly(TimeAssembly):
    """The start of the earliest finding."""

    def rank(self, finding: Finding) -> tuple[float, float, float]:
        """Earliest start first."""
        return (0.0, finding.t0, finding.t1)

    def time(self, t0: float, t1: float) -> float:
        """Its start."""
        return t0


class PointAssembly(TimeAssembly):
    """The midpoint of the finding of highest confidence, ties to the earliest.

    Only the order of confidences matters, so any finite scale will do; absent or unusable is 0.
    """

    def rank(self, finding: Finding) -> tuple[float, float, float]:
        """Most confident first, then earliest."""
        return (-finding.confidence, finding.t0, finding.t1)

    def time(self, t0: float, t1: float) -> float:
        """Its midpoint."""
        return (t0 + t1) / 2


ASSEMBLIES: dict[AnswerKind, type[Assembly]] = {
    "intervals": IntervalAssembly,
    "burden": BurdenAssembly,
    "onset": OnsetAssembly,
    "point": PointAssembly,
}


def _as_intervals(truth: Answer) -> tuple[Interval, ...]:
    """Return a truth that is intervals, from tuples or from the lists that JSON makes of them."""
    if truth is None or isinstance(truth, int | float):
        raise DataError(f"This task's truth is intervals in seconds, not {truth!r}.")
    return tuple((start, stop) for start, stop in truth)


def _as_time(truth: Answer) -> float:
    """Return a truth that is one number."""
    if not isinstance(truth, int | float):
        raise DataError(f"This task's truth is one number, not {truth!r}.")
    return float(truth)
