"""A comparison of two runs as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ecgscroll.evaluation.behaviour import CONSUMED, COUNTED
from ecgscroll.evaluation.layout import Grid
from ecgscroll.evaluation.table import number, percent, taken

_SHARES = ("empty_ledgers", "budget_ended", "limit_ended")


def comparison_grids(found: Mapping[str, Any]) -> list[Grid]:
    """Return the tables of what `compare` found: scores, latency, behaviour, consumption."""
    a, b = found["first"], found["second"]
    return [
        _scores(found["tasks"], a, b),
        _latency(found["tasks"], a, b),
        _behaviour(found["tasks"], a, b),
        *_consumption(found["tasks"], a, b),
    ]


def left_out_sentence(found: Mapping[str, Any]) -> str:
    """Say which instances stand outside the comparison, empty if none does."""
    left = found["left_out"]
    parts = [
        f"{left[key]} {what}"
        for key, what in (
            ("only_first", f"only {found['first']} holds"),
            ("only_second", f"only {found['second']} holds"),
            ("unfinished_first", f"not ended in {found['first']}"),
            ("unfinished_second", f"not ended in {found['second']}"),
        )
        if left[key]
    ]
    return f"Instances left out: {'; '.join(parts)}." if parts else ""


def _scores(tasks: Mapping[str, Any], a: str, b: str) -> Grid:
    """One line per task and denominator; errors as 0 where there are any."""
    rows = []
    for task, one in tasks.items():
        sign = one["sign"]
        test = (f"{sign['first_better']}/{sign['second_better']}", number(sign["p"], ".3g"))
        rows.append([task, *_paired(one["score"]), *test])
        if any(one["errors"]):
            rows.append([f"{task}, errors as 0", *_paired(one["with_errors"]), "", ""])
    columns = ("task", "n", a, b, "difference (95 %)", "better in", "exact p")
    return Grid(f"Score: {b} minus {a}, patients resampled", columns, rows)


def _paired(one: Mapping[str, Any]) -> list[str]:
    return [str(one["n"]), number(one["first"]), number(one["second"]), _signed(one["difference"])]


def _signed(estimate: Mapping[str, Any], form: str = "+.3f") -> str:
    middle, low, high = (number(estimate[name], form) for name in ("mean", "low", "high"))
    return middle if estimate["low"] is None else f"{middle} ({low} to {high})"


def _latency(tasks: Mapping[str, Any], a: str, b: str) -> Grid:
    rows = []
    for task, one in tasks.items():
        late = one["latency"]
        sides = [late["first"], late["second"]]
        medians = [number(side["median"], ".1f") for side in sides]
        missed = [percent(side["missed_share"]) for side in sides]
        events, difference = str(sides[0]["events"]), _signed(late["difference"], "+.1f")
        rows.append([task, events, *medians, *missed, str(late["both"]), difference])
    columns = (
        "task", "events", f"median {a}", f"median {b}", f"missed {a}", f"missed {b}",
        "by both", "mean difference (95 %)",
    )  # fmt: skip
    return Grid("Delay from onset, s, of detected events", columns, rows)


def _behaviour(tasks: Mapping[str, Any], a: str, b: str) -> Grid:
    rows = []
    for task, one in tasks.items():
        for name, side in zip((a, b), one["behaviour"], strict=True):
            counts = [number(side.get(key), ".1f") for key in COUNTED]
            rows.append([task, name, *counts, *(percent(side.get(key)) for key in _SHARES)])
    named = ("steps", "skims", "measures", "writes", "rewinds", "bad\ncalls")
    shares = ("empty\nledgers", "ended by\nbudget", "ended by\nlimit")
    return Grid("Per episode, errors left out", ("task", "run", *named, *shares), rows)


def _consumption(tasks: Mapping[str, Any], a: str, b: str) -> list[Grid]:
    """Return a table of what the rows tell; none where they tell nothing."""
    sides = [
        (task, name, side)
        for task, one in tasks.items()
        for name, side in zip((a, b), one["consumption"], strict=True)
    ]
    told = [key for key in CONSUMED if any(taken(side, key) for _, _, side in sides)]
    rows = [[task, name, *(taken(side, key) or "-" for key in told)] for task, name, side in sides]
    columns = ("task", "run", *(name.replace("_", "\n", 1) for name in told))
    title = "Taken per episode (per hour of recording), errors included"
    return [Grid(title, columns, rows)] if told else []
