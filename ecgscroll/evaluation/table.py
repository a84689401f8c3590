"""A run's summary as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from ecgscroll.evaluation.behaviour import CONSUMED

_PLAIN_WIDTH = 110  # of a pipe or a file, which have no width of their own; 80 is enough


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
    tables = (_scores, _reliability, _latency, _behaviour, _consumption, _floors)
    for table in filter(None, (table(summary["tasks"]) for table in tables)):
        console.print(table)
        console.print()


def _scores(tasks: Mapping[str, Any]) -> Table:
    table = _table("Scores", ("n", "errors", "score (95 %)", "errors as 0 (95 %)"))
    for task, found in tasks.items():
        counts = (str(found["instances"]), str(found["errors"]))
        both = _scored(found["with_errors"]) if found["errors"] else ""
        table.add_row(task, *counts, _scored(found["score"]), both)
    return table


def _scored(score: Mapping[str, Any]) -> str:
    return _ranged(number(score["mean"]), number(score["low"]), number(score["high"]))


def _reliability(tasks: Mapping[str, Any]) -> Table | None:
    """Give pass^k where instances were played several times, errors as failures in brackets."""
    found = {name: task["pass_power"] for name, task in tasks.items() if "pass_power" in task}
    if not found:
        return None
    most = max(len(power["powers"]) for power in found.values())
    shown = sorted({k for k in (1, 2, 4, 8, most) if k <= most})
    title = "All of k rollouts succeed (with errors as failures)"
    table = _table(title, ("success from", *(f"pass^{k}" for k in shown)))
    for task, power in found.items():
        by_k = {one["k"]: one for one in power["powers"]}
        table.add_row(task, number(power["threshold"], ".2f"), *(_both(by_k.get(k)) for k in shown))
    return table


def _both(one: Mapping[str, Any] | None) -> str:
    if one is None:
        return "-"
    return f"{number(one['score']['mean'])} ({number(one['with_errors']['mean'])})"


def _latency(tasks: Mapping[str, Any]) -> Table:
    names = ("events", "missed", "after onset", "after the earliest moment")
    table = _table("Detected, s: median (quartiles)", names, gap=1)
    for task, found in tasks.items():
        late = found["latency"]
        onset = late["from_onset"]
        delays = (_delayed(onset), _delayed(late["from_earliest"]))
        table.add_row(task, str(onset["events"]), percent(onset["missed_share"]), *delays)
    return table


def _delayed(late: Mapping[str, Any]) -> str:
    return _ranged(*(_seconds(late[name]) for name in ("median", "q1", "q3")))


def _seconds(value: float | None) -> str:
    return number(value, ".0f" if value is not None and abs(value) >= 1000 else ".1f")


def _behaviour(tasks: Mapping[str, Any]) -> Table:
    counted = ("skims", "measures", "writes", "rewinds", "errors")
    names = ("skims", "measures", "writes", "rewinds", "bad\ncalls")
    ends = ("empty\nledgers", "ended by\nbudget", "ended by\nlimit")
    table = _table("Per episode", (*names, *ends), gap=1)
    for task, found in tasks.items():
        behaviour = found["behaviour"]
        shares = map(behaviour.get, ("empty_ledgers", "budget_ended", "limit_ended"))
        means = (number(behaviour.get(name), ".1f") for name in counted)
        table.add_row(task, *means, *map(percent, shares))
    return table


def _consumption(tasks: Mapping[str, Any]) -> Table | None:
    """Give what episodes took, errors included, where the rows tell."""
    found = {name: task["consumption"]["with_errors"] for name, task in tasks.items()}
    told = [name for name in CONSUMED if any(taken(one, name) for one in found.values())]
    if not told:
        return None
    names = [name.replace("_", "\n", 1) for name in told]
    table = _table("Taken per episode (per hour of recording), errors included", names, gap=1)
    for task, one in found.items():
        table.add_row(task, *(taken(one, name) or "-" for name in told))
    return table


def taken(one: Mapping[str, Any], name: str) -> str:
    """Format what episodes took of something, per episode (per hour); empty if no row tells."""
    episode, hour = one["per_episode"][name], one["per_hour"][name]
    if episode is None:
        return ""
    return f"{number(episode, '.4g')} ({number(hour, '.4g')})"


def _floors(tasks: Mapping[str, Any]) -> Table:
    strategies = list(dict.fromkeys(name for found in tasks.values() for name in found["floors"]))
    names = ["this\nrun", *(name.replace("_", "\n") for name in strategies)]
    table = _table("What trivial strategies earn on the same instances", names, gap=1)
    for task, found in tasks.items():
        floors = (number(found["floors"].get(name)) for name in strategies)
        table.add_row(task, number(found["score"]["mean"]), *floors)
    return table


def _table(title: str, columns: Sequence[str], gap: int = 2) -> Table:
    """Return a table with so many spaces between columns; at a width of 80 nothing is cut."""
    table = Table(
        title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False,
        pad_edge=False, padding=(0, gap - 1, 0, 0),
    )  # fmt: skip
    table.add_column("task", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right")
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
