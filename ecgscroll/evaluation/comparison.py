"""Runs against a first one, on the instances that both hold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ecgscroll.errors import DataError
from ecgscroll.evaluation.behaviour import behaviour, consumption
from ecgscroll.evaluation.config import leaves
from ecgscroll.evaluation.loading import LoadedRun
from ecgscroll.evaluation.outcome import Outcome
from ecgscroll.evaluation.reading import truth_digest
from ecgscroll.evaluation.rollouts import failed, is_hit_task, scores_of
from ecgscroll.scoring.paired import exact_sign_test, paired
from ecgscroll.scoring.repeats import filled_mean, ran_mean
from ecgscroll.scoring.statistics import delay_summary
from ecgscroll.tasks import TASKS

# What a comparison is meant to hold still; a difference is said, never hidden.
_HELD = ("scoring", "dx", "rewind", "budget", "limits", "rollouts", "seed", "version")

Pair = tuple[list[Outcome], list[Outcome]]


def compare(first: LoadedRun, second: LoadedRun, seed: int = 0) -> dict[str, Any]:
    """Compare two runs on the instances that both hold.

    Parameters
    ----------
    first, second
        The runs; differences are second minus first.
    seed
        Of the bootstrap.

    Returns
    -------
    ``first``, ``second`` (names), ``warnings`` (sentences), ``left_out`` (instances that only one
    holds, or that have not ended), and by task `compare_task`'s result.

    Raises
    ------
    DataError
        If the runs share no instance, or the truth of a shared one differs.
    """
    shared = [name for name in first.instances if name in second.instances]
    if not shared:
        raise DataError(f"{first.name} and {second.name} share no instance that ended in both.")
    _refuse_other_truths(first, second, shared)
    by_task: dict[str, dict[str, Pair]] = {name: {} for name in TASKS}
    for name in shared:
        pair = (first.instances[name], second.instances[name])
        by_task[pair[0][0].row["task"]][name] = pair
    return {
        "first": first.name,
        "second": second.name,
        "warnings": _warnings(first, second),
        "left_out": {
            "only_first": len(first.instances) - len(shared),
            "only_second": len(second.instances) - len(shared),
            "unfinished_first": first.unfinished,
            "unfinished_second": second.unfinished,
        },
        "tasks": {task: compare_task(pairs, seed) for task, pairs in by_task.items() if pairs},
    }


def compare_task(pairs: Mapping[str, Pair], seed: int = 0) -> dict[str, Any]:
    """Compare one task.

    Parameters
    ----------
    pairs
        The rollouts of both runs by instance, at least one of each.
    seed
        Of the bootstrap.

    Returns
    -------
    ``score`` over instances with a rollout that ran in both, ``with_errors`` over all that have a
    truth, an error counting as 0; ``errors`` of each run (episodes); ``unscored`` instances;
    ``sign`` test on ``score`` (of hits: McNemar's); ``latency``; each run's ``behaviour`` and
    ``consumption``.
    """
    scores = [(scores_of(a), scores_of(b), a[0].row["patient"]) for a, b in pairs.values()]
    scored = [(a, b, patient) for a, b, patient in scores if a and b]
    means = [(ran_mean(a), ran_mean(b), patient) for a, b, patient in scored]
    ran = [(a, b, patient) for a, b, patient in means if a is not None and b is not None]
    first, second = [a for a, _, _ in ran], [b for _, b, _ in ran]
    sides = [[one for pair in pairs.values() for one in pair[side]] for side in (0, 1)]
    task = sides[0][0].row["task"]
    return {
        "instances": len(pairs),
        "unscored": len(scores) - len(scored),
        "errors": [sum(map(failed, side)) for side in sides],
        "score": paired(first, second, [patient for _, _, patient in ran], seed=seed).to_dict(),
        "with_errors": paired(
            [filled_mean(a) for a, _, _ in scored],
            [filled_mean(b) for _, b, _ in scored],
            [patient for _, _, patient in scored],
            seed=seed,
        ).to_dict(),
        "sign": {"hits": is_hit_task(task), **exact_sign_test(first, second)},
        "latency": compare_latency(list(pairs.values()), seed),
        "behaviour": [behaviour(_ran(side)) for side in sides],
        "consumption": [consumption(side) for side in sides],
    }


def compare_latency(pairs: Sequence[Pair], seed: int = 0) -> dict[str, Any]:
    """Compare delays from onset (s) event by event, over rollouts that ran.

    A run's delay of an event is the mean over the rollouts that detected it.

    Returns
    -------
    ``first``, ``second``: quartiles and missed share; ``both``, ``only_first``, ``only_second``,
    ``neither``: events; ``difference`` (s): mean over the events that both detected, patients
    resampled.
    """
    events = [(a, b, pair[0][0].row["patient"]) for pair in pairs for a, b in _events(*pair)]
    both = [(a, b, p) for a, b, p in events if a is not None and b is not None]
    found = [(a is not None, b is not None) for a, b, _ in events]
    return {
        "first": delay_summary(a for a, _, _ in events),
        "second": delay_summary(b for _, b, _ in events),
        "both": len(both),
        "only_first": found.count((True, False)),
        "only_second": found.count((False, True)),
        "neither": found.count((False, False)),
        "difference": paired(
            [a for a, _, _ in both], [b for _, b, _ in both], [p for _, _, p in both], seed=seed
        ).to_dict()["difference"],
    }


def _events(first: list[Outcome], second: list[Outcome]) -> list[tuple[float | None, float | None]]:
    a, b = _delays(first), _delays(second)
    return list(zip(a, b, strict=True)) if a is not None and b is not None else []


def _delays(rollouts: list[Outcome]) -> list[float | None] | None:
    """Return the mean delay of each event; None if no rollout has any latency."""
    told = [one.latency["onset_s"] for one in _ran(rollouts) if one.latency is not None]
    if not told:
        return None
    return [
        _mean([delay for delay in event if delay is not None]) for event in zip(*told, strict=True)
    ]


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _ran(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [one for one in outcomes if not failed(one)]


def _refuse_other_truths(first: LoadedRun, second: LoadedRun, shared: Sequence[str]) -> None:
    other = [
        name
        for name in shared
        if len(
            {truth_digest(one.instance) for run in (first, second) for one in run.instances[name]}
        )
        > 1
    ]
    if other:
        raise DataError(
            f"{first.name} and {second.name} were scored against different truths on {len(other)} "
            f"instances, {other[0]} first; play both on the same annotations."
        )


def _warnings(first: LoadedRun, second: LoadedRun) -> list[str]:
    held = [dict(leaves(_held(run))) for run in (first, second)]
    said = [
        f"{name} differs: {_said(a)} in {first.name}, {_said(held[1][name])} in {second.name}."
        for name, a in held[0].items()
        if a != held[1][name]
    ]
    if first.config.data != second.config.data:
        said.append("The runs were configured on different instances or truths.")
    elif first.config.recordings != second.config.recordings:
        said.append("The headers or file sizes of the recordings differ between the runs.")
    return said


def _held(run: LoadedRun) -> dict[str, Any]:
    config = run.config.to_dict()
    return {name: config[name] for name in _HELD}


def _said(value: Any) -> str:
    return "none" if value is None else str(value)
