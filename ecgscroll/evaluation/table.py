"""A run's summary as tables: text for any page, and drawn for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

_PLAIN_WIDTH = 110  # of a pipe or a file, which have no width of their own; 80 is enough


@dataclass(frozen=True)
class TextTable:
    """A table as text: a title, names of the columns after the task's, and rows."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    gap: int = 2


def tables(tasks: Mapping[str, Any]) -> list[TextTable]:
    """Return scores, latency, behaviour and floors of a summary's ``tasks``."""
    return [table(tasks) for table in (_scores, _latency, _behaviour, _floors)]


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
    for table in tables(summary["tasks"]):
        console.print(_drawn(table))
        console.print()


def _scores(tasks: Mapping[str, Any]) -> TextTable:
    rows = []
    for task, found in tasks.items():
        counts = (str(found["instances"]), str(found["errors"]))
        both = _scored(found["with_errors"]) if found["errors"] else ""
        rows.append((task, *counts, _scored(found["score"]), both))
    names = ("n", "errors", "score (95 %)", "errors as 0 (95 %)")
    return TextTable("Scores", names, tuple(rows))


def _scored(score: Mapping[str, Any]) -> str:
    return _ranged(number(score["mean"]), number(score["low"]), number(score["high"]))


def _latency(tasks: Mapping[str, Any]) -> TextTable:
    rows = []
    for task, found in tasks.items():
        late = found["latency"]
        onset = late["from_onset"]
        delays = (_delayed(onset), _delayed(late["from_earliest"]))
        rows.append((task, str(onset["events"]), percent(onset["missed_share"]), *delays))
    names = ("events", "missed", "after onset", "after the earliest moment")
    return TextTable("Detected, s: median (quartiles)", names, tuple(rows), gap=1)


def _delayed(late: Mapping[str, Any]) -> str:
    return _ranged(*(_seconds(late[name]) for name in ("median", "q1", "q3")))


def _seconds(value: float | None) -> str:
    return number(value, ".0f" if value is not None and abs(value) >= 1000 else ".1f")


def _behaviour(tasks: Mapping[str, Any]) -> TextTable:
    counted = ("skims", "measures", "writes", "rewinds", "errors")
    rows = []
    for task, found in tasks.items():
        behaviour = found["behaviour"]
        shares = (behaviour.get("empty_ledgers"), behaviour.get("budget_ended"))
        means = (number(behaviour.get(name), ".1f") for name in counted)
        rows.append((task, *means, *map(percent, shares)))
    names = ("skims", "measures", "writes", "rewinds", "bad\ncalls")
    return TextTable("Per episode", (*names, "empty\nledgers", "ended by\nbudget"), tuple(rows))


def _floors(tasks: Mapping[str, Any]) -> TextTable:
    strategies = list(dict.fromkeys(name for found in tasks.values() for name in found["floors"]))
    rows = []
    for task, found in tasks.items():
        floors = (number(found["floors"].get(name)) for name in strategies)
        rows.append((task, number(found["score"]["mean"]), *floors))
    names = ("this\nrun", *(name.replace("_", "\n") for name in strategies))
    title = "What trivial strategies earn on the same instances"
    return TextTable(title, names, tuple(rows), gap=1)


def _drawn(text: TextTable) -> Table:
    """Return a table for the terminal; at a width of 80 nothing is cut."""
    table = Table(
        title=text.title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False,
        pad_edge=False, padding=(0, text.gap - 1, 0, 0),
    )  # fmt: skip
    table.add_column("task", no_wrap=True)
    for name in text.columns:
        table.add_column(name, justify="right")
    for row in text.rows:
        table.add_row(*row)
    return table


def number(value: float | None, form: str = ".3f") -> str:
    """Format a number, or a dash where there is none."""
    return "-" if value is None else f"{value:{form}}"


def _ranged(middle: str, low: str, high: str) -> str:
    """Format a value with its interval; alone where there is none."""
    return middle if "-" in (low, high) else f"{middle} ({low} to {high})"


def percent(share: float | None) -> str:
    """Format a share as a percentage, or a dash where there is none."""
    return "-" if share is None else f"{100 * share:.0f} %"
