"""Runs beside the published tables: which cells compare, and why the others do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ecgscroll.catalogue.core_set import core_rows, published_ids
from ecgscroll.evaluation.loading import LoadedRun
from ecgscroll.evaluation.outcome import Outcome
from ecgscroll.evaluation.published import PublishedRow, published_rows
from ecgscroll.evaluation.reading import truth_digest
from ecgscroll.evaluation.rollouts import by_instance
from ecgscroll.evaluation.summary import summarise_task
from ecgscroll.tasks import CORE_TASKS

Cell = dict[str, Any]


def leaderboard(runs: Sequence[LoadedRun], seed: int = 0) -> list[dict[str, Any]]:
    """Return the rows of a leaderboard: the runs, the floor under each, the published agents.

    Returns
    -------
    Rows with ``agent``, ``kind`` (``run``, ``floor`` or ``published``), ``dx``, ``cells`` by task.
    A cell has ``score``, ``low``, ``high``, ``with_errors``, ``n``, ``errors``, ``comparable``
    with the published cells of the same dx, and ``reasons`` where it is not. The floor is an empty
    ledger's score on the same instances under the same scoring.
    """
    rows: list[dict[str, Any]] = []
    for row in (row for run in runs for row in _run_rows(run, seed)):
        if not any(_same_floor(one, row) for one in rows):
            rows.append(row)
    return rows + [_published(row) for row in published_rows()]


def reasons(run: LoadedRun, task: str, outcomes: Sequence[Outcome]) -> list[str]:
    """Say why a run's mean on one task does not compare with the published ones; empty if it does.

    The published cells are means over the published subset, scored as published, with the
    reference's labels (+dx) or none (-dx).
    """
    wanted = {name for name in published_ids() if name.startswith(f"{task}/")}
    held = by_instance(outcomes).keys()
    checks = (
        (held > wanted and held == _core(task), "whole core set"),
        (bool(held - wanted) and held != _core(task), "other instances"),
        (not held >= wanted, f"{len(held & wanted)} of {len(wanted)} instances"),
        (run.config.scoring != "published", f"{run.config.scoring} scoring"),
        (run.config.dx == "signal", "dx signal"),
        (_other_truths(outcomes), "other truths"),
        (any(one.row["error"] is not None for one in outcomes), "errors"),
    )
    return [reason for holds, reason in checks if holds]


def _core(task: str) -> set[str]:
    return {name for name in core_rows() if name.startswith(f"{task}/")}


def _other_truths(outcomes: Sequence[Outcome]) -> bool:
    frozen = core_rows()
    known = [one for one in outcomes if one.instance.id in frozen]
    return any(truth_digest(one.instance) != frozen[one.instance.id].truth for one in known)


def _run_rows(run: LoadedRun, seed: int) -> list[dict[str, Any]]:
    cells, floors = {}, {}
    for task in CORE_TASKS:
        outcomes = [one for one in run.outcomes if one.row["task"] == task]
        if not outcomes:
            continue
        found = summarise_task(outcomes, seed, {"scoring": run.config.scoring})
        why = reasons(run, task, outcomes)
        cells[task] = _cell(found, why)
        if found["floors"]:
            floor = {**_bare(found["floors"]["empty"]), "n": found["score"]["n"]}
            floors[task] = {**floor, "comparable": not why, "reasons": why}
    shared = {"dx": run.config.dx, "scoring": run.config.scoring}
    name = f"{run.name} ({run.config.policy})"
    return [
        {"agent": name, "kind": "run", **shared, "cells": cells},
        {"agent": f"empty ledger on {run.name}", "kind": "floor", **shared, "cells": floors},
    ]


def _same_floor(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Tell whether two rows are one floor: it depends on instances and scoring alone."""
    compared = ("kind", "dx", "scoring", "cells")
    return one["kind"] == "floor" and all(one[key] == other[key] for key in compared)


def _cell(found: dict[str, Any], why: list[str]) -> Cell:
    score = found["score"]
    return {
        "score": score["mean"],
        "low": score["low"],
        "high": score["high"],
        "with_errors": found["with_errors"]["mean"],
        "n": score["n"],
        "errors": found["errors"],
        "comparable": not why,
        "reasons": why,
    }


def _bare(score: float) -> Cell:
    return {"score": score, "low": None, "high": None, "with_errors": score, "errors": 0}


def _published(row: PublishedRow) -> dict[str, Any]:
    cells = {
        task: {**_bare(score), "comparable": True, "reasons": []}
        for task, score in row.scores.items()
    }
    agent = f"{row.agent}, {row.table}"
    return {
        "agent": agent, "kind": "published", "dx": row.dx, "scoring": "published", "cells": cells
    }  # fmt: skip
