"""How a run went: scores with intervals, latency, behaviour, and what trivial strategies earn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ecgscroll.evaluation.outcome import Outcome
from ecgscroll.scoring.floors import floor_ledgers
from ecgscroll.scoring.statistics import delay_summary, summarise
from ecgscroll.scoring.verifiers import verify
from ecgscroll.tasks import TASKS, get_task

_COUNTED = ("steps", "skims", "measures", "writes", "rewinds", "errors")


def summarise_run(
    outcomes: Sequence[Outcome], seed: int, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """Return ``episodes``, ``hours`` read, and per task what `summarise_task` says."""
    by_task: dict[str, list[Outcome]] = {name: [] for name in TASKS}
    for outcome in outcomes:
        by_task.setdefault(outcome.row["task"], []).append(outcome)
    return {
        "episodes": len(outcomes),
        "hours": round(math.fsum(outcome.row["cursor_s"] for outcome in outcomes) / 3600, 3),
        "tasks": {
            name: summarise_task(found, seed, parameters)
            for name, found in by_task.items()
            if found
        },
    }


def summarise_task(
    outcomes: Sequence[Outcome], seed: int, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """Summarise the episodes of one task.

    Parameters
    ----------
    outcomes
        At least one, all of one task.
    seed
        Of the bootstrap.
    parameters
        Of the verifier, for the floors.

    Returns
    -------
    ``instances``; ``unscored`` (recordings without annotations, in no denominator); ``score`` over
    the episodes that ran, ``with_errors`` with an error counted as 0, ``errors``; ``latency`` in
    seconds from onset and from the earliest possible moment; ``behaviour``: means per episode, the
    share of ``empty_ledgers`` and of episodes ended by the budget; ``floors``.
    """
    scorable = [one for one in outcomes if one.instance.truth is not None or _failed(one)]
    ran = [one for one in outcomes if not _failed(one)]
    scores = [None if _failed(one) else one.row["score"] for one in scorable]
    patients = [one.row["patient"] for one in scorable]
    point_like = get_task(outcomes[0].row["task"]).answer in ("onset", "point")
    return {
        "instances": len(outcomes),
        "unscored": len(outcomes) - len(scorable),
        **summarise(scores, patients, hits=point_like, seed=seed).to_dict(),
        "latency": {
            "from_onset": _delays(ran, "onset_s"),
            "from_earliest": _delays(ran, "earliest_s"),
        },
        "behaviour": _behaviour(ran),
        "floors": _floors(ran, parameters),
    }


def _failed(outcome: Outcome) -> bool:
    return outcome.row["error"] is not None


def _delays(ran: Sequence[Outcome], kind: str) -> dict[str, Any]:
    """Pool the events of all episodes: a recording with many events weighs as many."""
    return delay_summary(delay for one in ran if one.latency for delay in one.latency[kind])


def _behaviour(ran: Sequence[Outcome]) -> dict[str, float | None]:
    if not ran:
        return {}
    per_episode = {
        name: round(math.fsum(one.row[name] for one in ran) / len(ran), 3) for name in _COUNTED
    }
    empty = sum(not one.ledger for one in ran) / len(ran)
    by_budget = sum(one.row["ended"] == "budget" for one in ran) / len(ran)
    return {**per_episode, "empty_ledgers": round(empty, 4), "budget_ended": round(by_budget, 4)}


def _floors(ran: Sequence[Outcome], parameters: Mapping[str, Any]) -> dict[str, float]:
    """Mean score of every trivial strategy over the instances that ran."""
    earned: dict[str, list[float]] = {}
    for instance in (one.instance for one in ran if one.instance.truth is not None):
        for name, ledger in floor_ledgers(instance).items():
            earned.setdefault(name, []).append(verify(instance, ledger, **parameters).value)
    return {name: math.fsum(values) / len(values) for name, values in earned.items()}
