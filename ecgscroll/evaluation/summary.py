"""How a run went: scores with intervals, latency, behaviour, and what trivial strategies earn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ecgscroll.evaluation.behaviour import behaviour, consumption
from ecgscroll.evaluation.outcome import Outcome
from ecgscroll.evaluation.rollouts import by_instance, failed, is_hit_task, scores_of
from ecgscroll.scoring.floors import floor_ledgers
from ecgscroll.scoring.repeats import SUCCESS, pass_powers, summarise_rollouts
from ecgscroll.scoring.statistics import delay_summary
from ecgscroll.scoring.verifiers import verify
from ecgscroll.tasks import TASKS


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
    ``instances`` and ``episodes`` (more where instances were played several times); ``unscored``
    (instances whose recordings have no annotations, in no denominator); ``score`` over the
    episodes that ran, ``with_errors`` with an error counted as 0, ``errors`` (episodes, also those
    of unscored instances);
    ``pass_power`` where there were several rollouts; ``latency`` in seconds from onset and from
    the earliest possible moment; ``behaviour`` and ``consumption`` per episode; ``floors``.
    """
    ran = [one for one in outcomes if not failed(one)]
    instances = by_instance(outcomes)
    scorable = [rolls for rolls in instances.values() if scores_of(rolls)]
    scores = [scores_of(rolls) for rolls in scorable]
    patients = [rolls[0].row["patient"] for rolls in scorable]
    hits = is_hit_task(outcomes[0].row["task"])
    return {
        "instances": len(instances),
        "episodes": len(outcomes),
        "unscored": len(instances) - len(scorable),
        **summarise_rollouts(scores, patients, hits=hits, seed=seed).to_dict(),
        "errors": sum(map(failed, outcomes)),
        **_pass_power(scores, patients, hits, seed),
        "latency": {
            "from_onset": _delays(ran, "onset_s"),
            "from_earliest": _delays(ran, "earliest_s"),
        },
        "behaviour": behaviour(ran),
        "consumption": {"ran": consumption(ran), "with_errors": consumption(outcomes)},
        "floors": _floors(ran, parameters),
    }


def _pass_power(
    scores: Sequence[Sequence[float | None]], patients: Sequence[str], hits: bool, seed: int
) -> dict[str, Any]:
    """Reliability over rollouts; nothing where each instance was played once."""
    if all(len(one) < 2 for one in scores):
        return {}
    threshold = 1.0 if hits else SUCCESS
    found = pass_powers(scores, patients, threshold=threshold, seed=seed)
    powers = [
        {"k": k, **{name: estimate.to_dict() for name, estimate in power.items()}}
        for k, power in enumerate(found, start=1)
    ]
    return {"pass_power": {"threshold": threshold, "powers": powers}}


def _delays(ran: Sequence[Outcome], kind: str) -> dict[str, Any]:
    """Pool the events of all episodes: a recording with many events weighs as many."""
    return delay_summary(delay for one in ran if one.latency for delay in one.latency[kind])


def _floors(ran: Sequence[Outcome], parameters: Mapping[str, Any]) -> dict[str, float]:
    """Mean score of every trivial strategy over the instances that ran."""
    earned: dict[str, list[float]] = {}
    unique = {one.instance.id: one.instance for one in ran if one.instance.truth is not None}
    for instance in unique.values():
        for name, ledger in floor_ledgers(instance).items():
            earned.setdefault(name, []).append(verify(instance, ledger, **parameters).value)
    return {name: math.fsum(values) / len(values) for name, values in earned.items()}
