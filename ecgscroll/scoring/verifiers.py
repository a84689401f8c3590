"""Verifiers: pure functions from a ledger, a truth and parameters to a score; no model judges.

What never pays is ignored and counted by reason in ``Score.metadata["ignored"]``: entries of
another type, bounds that are no finite numbers, reversed, wholly in the future of their stamp, or
wider than the task's writes may be. Bounds are clipped to what had elapsed at the stamp. Answers
are unions, so repeating or overlapping a finding changes nothing.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ecgscroll.errors import DataError
from ecgscroll.scoring.answers import (
    ASSEMBLIES,
    Answer,
    Assembly,
    IntervalAssembly,
    TimeAssembly,
)
from ecgscroll.scoring.ec57 import interval_measures
from ecgscroll.scoring.findings import Finding, Parameters, Scoring, read_entry
from ecgscroll.scoring.intervals import Interval
from ecgscroll.scoring.latency import Latency
from ecgscroll.tasks import get_task


class Truth(Protocol):
    """What the reference says: the answer, and the events for latency (onset, offset in s).

    For ischemia it may carry ``details`` as well: ST episodes with ``peak_time`` and ``peak_mv``,
    whose extrema the ST rule of EC57 asks for.
    """

    @property
    def value(self) -> float | tuple[Interval, ...]:
        """Intervals in seconds, a fraction of the recording, or a time in seconds."""

    @property
    def events(self) -> tuple[Interval, ...]:
        """Onset and offset of every reference event in seconds; equal for an instant."""


class Scorable(Protocol):
    """An instance, or anything else that knows its task, its length in seconds and its truth."""

    @property
    def task(self) -> str:
        """Name of the task."""

    @property
    def duration(self) -> float:
        """Length of the recording in seconds."""

    @property
    def truth(self) -> Truth | None:
        """The reference, if there is one."""


@dataclass(frozen=True)
class Score:
    """What a verifier says of one ledger.

    Parameters
    ----------
    value
        The score in [0, 1].
    answer
        Intervals in seconds, a fraction of the recording, a time in seconds, or None.
    explanation
        One sentence.
    latency
        When each reference event was detected.
    metadata
        ``parameters``, ``entries``, ``used``, ``ignored`` (counts by reason), and for intervals
        ``matches``, ``precision``, ``recall`` and the field's own measures under ``ec57``.
    """

    value: float
    answer: Answer
    explanation: str
    latency: Latency
    metadata: dict[str, Any] = field(default_factory=dict)

    def to_dict(self, per_event: bool = False) -> dict[str, Any]:
        """Return what JSON can carry; ``per_event`` adds the delay of every event."""
        is_time = self.answer is None or isinstance(self.answer, int | float)
        return {
            "value": self.value,
            "answer": self.answer if is_time else [list(span) for span in self.answer],  # type: ignore[union-attr]
            "explanation": self.explanation,
            "latency": self.latency.to_dict(per_event),
            "metadata": self.metadata,
        }


class Replay:
    """The state of a verifier after each entry of one instance's ledger, in the order of stamps.

    Parameters
    ----------
    instance
        Carries the task, the length and the truth.
    parameters
        Constants, by the names of ``Parameters``; None stands for the task's own.

    Raises
    ------
    DataError
        If the instance has no truth.
    """

    def __init__(self, instance: Scorable, **parameters: Any) -> None:
        truth, self.task = instance.truth, get_task(instance.task)
        if truth is None:
            raise DataError(
                f"This {instance.task} recording has no reference annotations, so it cannot be "
                "scored; add its annotation files or only report on it."
            )
        _check_duration(instance.duration)
        self.parameters = Parameters.of_task(self.task, **parameters)
        make = ASSEMBLIES[self.task.answer]
        self.assembly = make(truth.value, truth.events, instance.duration, self.parameters)
        self._details = tuple(getattr(truth, "details", ()))
        self.ignored: Counter[str] = Counter()
        self.used = 0

    def copy(self) -> Replay:
        """Return a replay at the same point that goes on alone; what is fixed is shared."""
        twin = copy.copy(self)
        twin.assembly, twin.ignored = self.assembly.copy(), self.ignored.copy()
        return twin

    def add(self, entry: Any) -> list[int]:
        """Take in one entry, stamped no earlier than the last; return newly detected events."""
        finding = read_entry(entry, self.task.event, self.assembly.total, self.parameters)
        return self._take(finding)

    def add_all(self, entries: Iterable[Any]) -> None:
        """Take in a whole ledger, in the order of stamps whatever the order of writing."""
        event, total = self.task.event, self.assembly.total
        read = [read_entry(entry, event, total, self.parameters) for entry in entries]
        for finding in sorted(
            read, key=lambda item: item.stamp if isinstance(item, Finding) else 0
        ):
            self._take(finding)

    def _take(self, finding: Finding | str) -> list[int]:
        if isinstance(finding, str):
            self.ignored[finding] += 1
            return []
        self.used += 1
        return self.assembly.add(finding)

    def value(self) -> float:
        """Return the score of the answer as it stands."""
        return self.assembly.score()

    def score(self) -> Score:
        """Return the whole score of the answer as it stands."""
        value = self.value()
        return Score(
            value=value,
            answer=self.assembly.answer(),
            explanation=_explain(self.task.name, self.assembly, value),
            latency=self.assembly.clock.latency(),
            metadata=self._metadata(),
        )

    def _metadata(self) -> dict[str, Any]:
        metadata: dict[str, Any] = {
            "parameters": self.parameters.to_dict(),
            "entries": self.used + self.ignored.total(),
            "used": self.used,
            "ignored": dict(sorted(self.ignored.items())),
        }
        if isinstance(self.assembly, IntervalAssembly):
            metadata |= _interval_metadata(self.assembly, self.task.event, self._details)
        return metadata


def verify(
    instance: Scorable,
    ledger: Iterable[Any],
    *,
    scoring: Scoring = "committed",
    iou: float | None = None,
    v0: float | None = None,
    tolerance_s: float | None = None,
    max_write_s: float | None = None,
    join_s: float | None = None,
) -> Score:
    """Score a ledger against an instance's truth.

    Parameters
    ----------
    instance
        Carries ``task``, ``duration`` (s) and ``truth`` (``value`` and ``events``).
    ledger
        A ``Ledger`` or any sequence of entries; an entry without ``cursor`` counts as stamped at
        the end of the recording.
    scoring
        ``committed``: an empty ledger scores 0 where a time is asked for. ``published``: it
        answers 0 s there. The two differ in nothing else.
    iou
        Least IoU of a match; by default 0.5 for episodes, 0.75 for ischemia.
    v0
        Floor of the burden score's denominator; by default 0.02.
    tolerance_s
        Greatest distance of a hit; by default 10 s for change, 15 s for the rare event.
    max_write_s
        Widest entry that counts; by default the task's, ``math.inf`` for no limit.
    join_s
        Gap that still counts as touching; by default a microsecond.

    Raises
    ------
    DataError
        If the instance has no truth.
    ConfigError
        If a parameter is out of range or there is no such task.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> truth = SimpleNamespace(value=((10.0, 40.0),), events=((10.0, 40.0),))
    >>> instance = SimpleNamespace(task="episode_detection", duration=60.0, truth=truth)
    >>> verify(instance, [{"type": "af", "t0": 0, "t1": 40, "cursor": 45}]).value
    1.0
    """
    replay = Replay(
        instance,
        scoring=scoring,
        iou=iou,
        v0=v0,
        tolerance_s=tolerance_s,
        max_write_s=max_write_s,
        join_s=join_s,
    )
    replay.add_all(ledger)
    return replay.score()


def assemble(
    task: str, entries: Iterable[Any], total: float, scoring: Scoring = "committed"
) -> Answer:
    """Return the answer that a ledger stands for, without any truth.

    Parameters
    ----------
    task
        Name of the task.
    entries
        A ``Ledger`` or any sequence of entries.
    total
        Length of the recording in seconds.
    scoring
        As for ``verify``.
    """
    _check_duration(total)
    event, kind = get_task(task).event, get_task(task).answer
    parameters = Parameters.of_task(get_task(task), scoring=scoring)
    assembly = ASSEMBLIES[kind](None, (), total, parameters)
    for entry in entries:
        finding = read_entry(entry, event, total, parameters)
        if isinstance(finding, Finding):
            assembly.add(finding)
    return assembly.answer()


def _check_duration(duration: float) -> None:
    if not 0 < duration < math.inf:
        raise DataError(
            f"A recording of {duration!r} s cannot be scored; mend its header's length."
        )


def _interval_metadata(
    assembly: IntervalAssembly, event: str, details: Sequence[Any]
) -> dict[str, Any]:
    matches, answered = assembly.matcher.matched(), len(assembly.union)
    return {
        "matches": matches,
        "precision": matches / answered if answered else None,
        "recall": matches / len(assembly.matcher.truth) if len(assembly.matcher.truth) else None,
        "ec57": interval_measures(
            assembly.reference,
            assembly.answer(),
            rule="st" if event == "ischemia" else "overlap",
            reference_extrema=[_extremum(span, details) for span in assembly.reference],
        ),
    }


def _extremum(span: Interval, details: Sequence[Any]) -> float | None:
    """Return when the deepest noted deviation within an interval was, in seconds."""
    noted = [
        (abs(detail.peak_mv), detail.peak_time)
        for detail in details
        if detail.peak_time is not None and span[0] <= detail.peak_time <= span[1]
    ]
    return max(noted)[1] if noted else None


def _explain(task: str, assembly: Assembly, value: float) -> str:
    answer, truth, name = assembly.answer(), assembly.truth, task.replace("_", " ").capitalize()
    if isinstance(assembly, IntervalAssembly):
        return (
            f"{name}: {assembly.matcher.matched()} one-to-one matches at IoU >= "
            f"{assembly.parameters.iou:g} between {len(assembly.union)} intervals answered and "
            f"{len(assembly.matcher.truth)} in the reference give an F1 of {value:.3f}."
        )
    if answer is None:
        return f"{name}: nothing was committed, which scores 0; the reference is {truth:.2f} s."
    if isinstance(assembly, TimeAssembly):
        hit = "a hit" if value else "a miss"
        return (
            f"{name}: {answer:.2f} s against {truth:.2f} s is {hit} at a tolerance of "
            f"{assembly.parameters.tolerance_s:g} s."
        )
    return f"{name}: a burden of {answer:.4f} against {truth:.4f} scores {value:.3f}."
