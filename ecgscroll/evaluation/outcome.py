"""What came of an episode, read back from the last line of its transcript."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ecgscroll.evaluation.folder import Row


class StoredTruth(NamedTuple):
    """Truth as a transcript keeps it; times in seconds."""

    value: Any
    events: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class StoredInstance:
    """What verifiers and floors ask of an instance, without its recording."""

    id: str
    task: str
    database: str
    patient: str
    duration: float
    truth: StoredTruth | None


@dataclass(frozen=True)
class Outcome:
    """An episode's results row, with what summaries and new scorings need beside it.

    Parameters
    ----------
    row
        Its line in the results.
    instance
        What was asked.
    ledger
        What was answered.
    latency
        The score's latency with the delay of every event (s); None without a score.
    """

    row: Row
    instance: StoredInstance
    ledger: tuple[dict[str, Any], ...]
    latency: Mapping[str, Any] | None


def read_outcome(end: Mapping[str, Any]) -> Outcome:
    """Rebuild an outcome from the last line of a transcript."""
    row = end["row"]
    instance = StoredInstance(
        id=row["instance"],
        task=row["task"],
        database=row["database"],
        patient=row["patient"],
        duration=row["duration_s"],
        truth=_truth(end),
    )
    return Outcome(row, instance, tuple(end["ledger"]), end["latency"])


def _truth(end: Mapping[str, Any]) -> StoredTruth | None:
    truth = end["row"]["truth"]
    if truth is None:
        return None
    value = tuple(map(tuple, truth)) if isinstance(truth, list) else truth
    return StoredTruth(value, tuple((start, stop) for start, stop in end["events"]))
