"""A run's summary as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

_PLAIN_WIDTH = 110  # of a pipe or a file, which have no width of their own


def print_summary(summary: Mapping[str, Any]) -> None:
    """Print scores, latency and behaviour per task, and the floors beside the scores."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=_PLAIN_WIDTH)
    config = summary["config"]
    console.print(
        f"{config['policy']}, dx {config['dx'] or 'none'}, "
        f"{summary['parameters']['scoring']} scoring: {summary['episodes']} episodes, "
        f"{summary['hours']:.1f} h read",
        style="bold",
    )
    console.print(_scores(summary["tasks"]))
    console.print(_behaviour(summary["tasks"]))
    console.print(_floors(summary["tasks"]))


def _scores(tasks: Mapping[str, Any]) -> Table:
    names = ("n", "errors", "score (95 %)", "errors as 0", "late by, s (quartiles)", "missed")
    table = _table("Scores", names)
    for task, found in tasks.items():
        score, late = found["score"], found["latency"]["from_onset"]
        table.add_row(
            task,
            str(found["instances"]),
            str(found["errors"]),
            number(score["mean"]) + between(score["low"], score["high"], ".3f"),
            number(found["with_errors"]["mean"]) if found["errors"] else "",
            number(late["median"], ".1f") + between(late["q1"], late["q3"], ".1f"),
            percent(late["missed_share"]),
        )
    return table


def _behaviour(tasks: Mapping[str, Any]) -> Table:
    counted = ("skims", "measures", "writes", "rewinds", "errors")
    names = ("skims", "measures", "writes", "rewinds", "bad calls")
    table = _table("Per episode", (*names, "empty ledgers", "ended by budget"))
    for task, found in tasks.items():
        behaviour = found["behaviour"]
        shares = (behaviour.get("empty_ledgers"), behaviour.get("budget_ended"))
        means = (number(behaviour.get(name), ".1f") for name in counted)
        table.add_row(task, *means, *map(percent, shares))
    return table


def _floors(tasks: Mapping[str, Any]) -> Table:
    strategies = list(dict.fromkeys(name for found in tasks.values() for name in found["floors"]))
    names = ["this run", *(name.replace("_", " ") for name in strategies)]
    table = _table("What trivial strategies earn on the same instances", names)
    for task, found in tasks.items():
        floors = (number(found["floors"].get(name)) for name in strategies)
        table.add_row(task, number(found["score"]["mean"]), *floors)
    return table


def _table(title: str, columns: tuple[str, ...] | list[str]) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("task", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap="(" in name)
    return table


def number(value: float | None, form: str = ".3f") -> str:
    """Format a number, or a dash where there is none."""
    return "-" if value is None else f"{value:{form}}"


def between(low: float | None, high: float | None, form: str) -> str:
    """Format an interval to put behind its middle; nothing where there is none."""
    return "" if low is None or high is None else f" ({low:{form}} to {high:{form}})"


def percent(share: float | None) -> str:
    """Format a share as a percentage, or a dash where there is none."""
    return "-" if share is None else f"{100 * share:.0f} %"
