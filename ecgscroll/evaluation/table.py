"""A run's summary as tables: text for any page, and drawn for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from ecgscroll.evaluation.behaviour import CONSUMED
from ecgscroll.legible import legible

_PLAIN_WIDTH = 110  # of a pipe or a file, which have no width of their own; 80 is enough


@dataclass(frozen=True)
class TextTable:
    """A table as text: a title, names of the columns after the task's, and rows."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    gap: int = 2


def tables(tasks: Mapping[str, Any]) -> list[TextTable]:
    """Return a summary's ``tasks`` as tables, those left out of which nothing is told."""
    kinds = (_scores, _reliability, _latency, _behaviour, _consumption, _floors)
    return [table for table in (kind(tasks) for kind in kinds) if table.rows]


def print_summary(summary: Mapping[str, Any]) -> None:
    """Print scores, latency and behaviour per task, and the floors beside the scores."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=_PLAIN_WIDTH)
    config = summary["config"]
    console.print(
        f"{legible(config['policy'])}, dx {config['dx'] or 'none'}, "
        f"{summary['parameters']['scoring']} scoring: {summary['episodes']} episodes, "
        f"{summary['hours']:.1f} h read",
        style="bold",
        markup=False,
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


def _reliability(tasks: Mapping[str, Any]) -> TextTable:
    """Give pass^k where instances were played several times, errors as failures in brackets."""
    found = {name: task["pass_power"] for name, task in tasks.items() if "pass_power" in task}
    most = max((len(power["powers"]) for power in found.values()), default=0)
    shown = sorted({k for k in (1, 2, 4, 8, most) if k <= most})
    rows = []
    for task, power in found.items():
        by_k = {one["k"]: one for one in power["powers"]}
        both = (_both(by_k.get(k)) for k in shown)
        rows.append((task, number(power["threshold"], ".2f"), *both))
    title = "All of k rollouts succeed (with errors as failures)"
    return TextTable(title, ("success from", *(f"pass^{k}" for k in shown)), tuple(rows))


def _both(one: Mapping[str, Any] | None) -> str:
    if one is None:
        return "-"
    return f"{number(one['score']['mean'])} ({number(one['with_errors']['mean'])})"


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
        shares = map(behaviour.get, ("empty_ledgers", "budget_ended", "limit_ended"))
        means = (number(behaviour.get(name), ".1f") for name in counted)
        rows.append((task, *means, *map(percent, shares)))
    names = ("skims", "measures", "writes", "rewinds", "bad\ncalls")
    ends = ("empty\nledgers", "ended by\nbudget", "ended by\nlimit")
    return TextTable("Per episode", (*names, *ends), tuple(rows), gap=1)


def _consumption(tasks: Mapping[str, Any]) -> TextTable:
    """Give what episodes took, errors included, where the rows tell."""
    found = {name: task["consumption"]["with_errors"] for name, task in tasks.items()}
    told = [name for name in CONSUMED if any(taken(one, name) for one in found.values())]
    rows = [(task, *(taken(one, name) or "-" for name in told)) for task, one in found.items()]
    names = tuple(name.replace("_", "\n", 1) for name in told)
    title = "Taken per episode (per hour of recording), errors included"
    return TextTable(title, names, tuple(rows if told else ()), gap=1)


def taken(one: Mapping[str, Any], name: str) -> str:
    """Format what episodes took of something, per episode (per hour); empty if no row tells."""
    episode, hour = one["per_episode"][name], one["per_hour"][name]
    if episode is None:
        return ""
    return f"{number(episode, '.4g')} ({number(hour, '.4g')})"


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
