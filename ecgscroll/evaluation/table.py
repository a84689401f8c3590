"""A run's summary as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table


def print_summary(console: Console, summary: Mapping[str, Any]) -> None:
    """Print scores, latency and behaviour per task, and the floors beside the scores."""
    config = summary["config"]
    title = (
        f"{config['policy']}, dx {config['dx'] or 'none'}, "
        f"{summary['parameters']['scoring']} scoring: {summary['episodes']} episodes, "
        f"{summary['hours']:.1f} h read"
    )
    console.print(_scores(title, summary["tasks"]))
    console.print(_behaviour(summary["tasks"]))
    console.print(_floors(summary["tasks"]))


def _scores(title: str, tasks: Mapping[str, Any]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("task")
    for name in (
        "n",
        "errors",
        "score",
        "95 %",
        "errors as 0",
        "late by, s",
        "quartiles",
        "missed",
    ):
        table.add_column(name, justify="right")
    for task, found in tasks.items():
        score, late = found["score"], found["latency"]["from_onset"]
        table.add_row(
            task,
            str(found["instances"]),
            str(found["errors"]),
            number(score["mean"]),
            between(score["low"], score["high"]),
            number(found["with_errors"]["mean"]) if found["errors"] else "",
            number(late["median"], 1),
            between(late["q1"], late["q3"], 1),
            percent(late["missed_share"]),
        )
    return table


def _behaviour(tasks: Mapping[str, Any]) -> Table:
    table = Table(title="Per episode", title_justify="left")
    table.add_column("task")
    names = ("skims", "measures", "writes", "rewinds", "errors")
    for name in (*names, "empty ledgers", "ended by budget"):
        table.add_column(name, justify="right")
    for task, found in tasks.items():
        behaviour = found["behaviour"]
        shares = (behaviour.get("empty_ledgers"), behaviour.get("budget_ended"))
        means = (number(behaviour.get(name), 1) for name in names)
        table.add_row(task, *means, *map(percent, shares))
    return table


def _floors(tasks: Mapping[str, Any]) -> Table:
    table = Table(title="What trivial strategies earn on the same instances", title_justify="left")
    table.add_column("task")
    table.add_column("this run", justify="right")
    strategies = list(dict.fromkeys(name for found in tasks.values() for name in found["floors"]))
    for name in strategies:
        table.add_column(name.replace("_", " "), justify="right")
    for task, found in tasks.items():
        floors = (number(found["floors"].get(name)) for name in strategies)
        table.add_row(task, number(found["score"]["mean"]), *floors)
    return table


def number(value: float | None, digits: int = 3) -> str:
    """Format a number, or a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def between(low: float | None, high: float | None, digits: int = 3) -> str:
    """Format an interval, or a dash where there is none."""
    return "-" if low is None or high is None else f"{low:.{digits}f} to {high:.{digits}f}"


def percent(share: float | None) -> str:
    """Format a share as a percentage, or a dash where there is none."""
    return "-" if share is None else f"{100 * share:.0f} %"
