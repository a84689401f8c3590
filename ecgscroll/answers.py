"""From ledger entries to an answer and its score, one entry at a time.

An ``Assembly`` takes in the findings of one task in the order of their stamps and knows, after
each, the answer, its score and which events it has detected. The verifier feeds it a whole ledger;
the reward of one step feeds it one write.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple

from ecgscroll.errors import ConfigError, DataError
from ecgscroll.intervals import Interval, Matcher, Union
from ecgscroll.latency import EventClock
from ecgscroll.tasks import AnswerKind, Task

Scoring = Literal["committed", "published"]
Answer = tuple[Interval, ...] | float | None
Ignored = Literal["not_an_object", "type", "bounds", "reversed", "stamp", "future", "past", "wide"]

# IoU for a match, and seconds within which an onset or a point is a hit.
DEFAULT_IOU = {"episode_detection": 0.5, "ischemia": 0.75}
DEFAULT_TOLERANCE_S: dict[AnswerKind, float] = {"onset": 10.0, "point": 15.0}


@dataclass(frozen=True)
class Parameters:
    """Every constant of a verifier, as recorded with its score.

    Parameters
    ----------
    scoring
        What an empty ledger answers where a time is asked for: nothing, which scores 0
        (``committed``), or 0 s (``published``).
    iou
        Least intersection over union of a match, in (0, 1]; asked of interval answers alone.
    v0
        Floor under the denominator of the burden score, a fraction of the recording.
    tolerance_s
        Greatest distance of a hit in seconds, the end included.
    max_write_s
        Entries wider than this are ignored (seconds; infinite for no limit).
    slack_s
        Rounding forgiven in ``max_write_s``, in seconds.
    join_s
        Entries closer than this touch, in seconds.
    """

    scoring: Scoring = "committed"
    iou: float = 0.5
    v0: float = 0.02
    tolerance_s: float = 0.0
    max_write_s: float = math.inf
    slack_s: float = 1e-3
    join_s: float = 1e-6

    def __post_init__(self) -> None:
        if self.scoring not in ("committed", "published"):
            raise ConfigError(
                f"There is no scoring {self.scoring!r}; choose 'committed' or 'published'."
            )
        if not 0 < self.iou <= 1:
            raise ConfigError(f"An IoU threshold lies in (0, 1]; {self.iou!r} does not.")
        if not 0 < self.v0 < math.inf:
            raise ConfigError(f"v0 is a positive fraction; {self.v0!r} is not.")
        limits = (self.tolerance_s, self.max_write_s, self.slack_s, self.join_s)
        if not all(limit >= 0 for limit in limits):
            raise ConfigError("tolerance_s, max_write_s, slack_s and join_s are 0 or more seconds.")

    @classmethod
    def of_task(cls, task: Task, **given: Any) -> Parameters:
        """Return the task's defaults with what is given (and not None) in their place."""
        defaults = {
            "iou": DEFAULT_IOU.get(task.name, cls.iou),
            "tolerance_s": DEFAULT_TOLERANCE_S.get(task.answer, cls.tolerance_s),
            "max_write_s": math.inf if task.max_write_s is None else task.max_write_s,
        }
        return cls(**(defaults | {key: value for key, value in given.items() if value is not None}))

    def to_dict(self) -> dict[str, Any]:
        """Return the constants for JSON, None for no limit."""
        limit = None if math.isinf(self.max_write_s) else self.max_write_s
        return vars(self) | {"max_write_s": limit}


class Finding(NamedTuple):
    """A usable entry: bounds clipped to what had elapsed, all in seconds."""

    t0: float
    t1: float
    stamp: float
    confidence: float
    lead: str | None
    value: float | None


def read_entry(entry: Any, event: str, total: float, parameters: Parameters) -> Finding | Ignored:
    """Return the finding of one entry, or the reason for which it never counts.

    Parameters
    ----------
    entry
        A ledger entry; anything at all is allowed.
    event
        Ledger type that the task asks for.
    total
        Length of the recording in seconds; the stamp of an entry that carries none.
    parameters
        The verifier's constants.
    """
    if not isinstance(entry, dict | Mapping):  # dict first: it is the usual one, and quick
        return "not_an_object"
    if not isinstance(entry.get("type"), str) or entry["type"] != event:
        return "type"
    t0, t1 = _number(entry.get("t0")), _number(entry.get("t1"))
    stamp = total if entry.get("cursor") is None else _number(entry["cursor"])
    if t0 is None or t1 is None:
        return "bounds"
    if stamp is None or stamp < 0:
        return "stamp"
    return _clip(t0, t1, min(stamp, total), entry, parameters)


def _clip(
    t0: float, t1: float, stamp: float, entry: Mapping[str, Any], parameters: Parameters
) -> Finding | Ignored:
    if t1 <= t0:
        return "reversed"
    if t0 >= stamp:
        return "future"
    if t1 <= 0:
        return "past"
    if t1 - t0 > parameters.max_write_s + parameters.slack_s:
        return "wide"
    lead = entry.get("lead")
    return Finding(
        max(t0, 0.0),
        min(t1, stamp),
        stamp,
        _number(entry.get("confidence")) or 0.0,
        lead if isinstance(lead, str) else None,
        _number(entry.get("value")),
    )


def _number(value: Any) -> float | None:
    """Return a finite real number as a float; None for anything else, booleans included."""
    if type(value) is not float and (isinstance(value, bool) or not isinstance(value, Real)):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return number if math.isfinite(number) else None


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
        return abs(answer - _as_time(self.truth)) <= self.parameters.tolerance_s

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
