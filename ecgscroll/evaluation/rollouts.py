"""The rollouts of each instance, and their scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ecgscroll.evaluation.outcome import Outcome
from ecgscroll.tasks import get_task


def by_instance(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    """Group outcomes by instance, in order of appearance."""
    grouped: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        grouped.setdefault(outcome.instance.id, []).append(outcome)
    return grouped


def failed(outcome: Outcome) -> bool:
    """Tell whether an episode ended in an error."""
    return outcome.row["error"] is not None


def is_hit_task(task: str) -> bool:
    """Tell whether a task's scores are 0 or 1."""
    return get_task(task).answer in ("onset", "point")


def scores_of(rollouts: Sequence[Outcome]) -> list[float | None]:
    """Return the score of each rollout, None for an error; none without a truth to score by."""
    return [
        None if failed(one) else float(one.row["score"])
        for one in rollouts
        if one.instance.truth is not None
    ]
