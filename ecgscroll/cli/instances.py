"""``ecgscroll instances``: what there is to play, whether it is there, and how to get the rest."""

from __future__ import annotations

import json
import sys
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from ecgscroll.catalogue.instances import (
    Instance,
    Truth,
    TruthDiffersWarning,
    list_instances,
    remedy,
)
from ecgscroll.evaluation.selection import chosen, read_ids
from ecgscroll.files import DATA_VARIABLE
from ecgscroll.tasks import get_task


def instances(
    data: Annotated[
        Path | None, typer.Option(envvar=DATA_VARIABLE, help="Folder of databases.")
    ] = None,
    chosen_set: Annotated[
        str, typer.Option("--set", help="core, published, supplementary or all.")
    ] = "core",
    tasks: Annotated[str | None, typer.Option(help="Only these tasks, as a,b.")] = None,
    databases: Annotated[str | None, typer.Option(help="Only these databases, as x,y.")] = None,
    ids: Annotated[
        Path | None,
        typer.Option("--instances", help="File of instance ids, one a line, instead of a set."),
    ] = None,
    truth: Annotated[
        bool, typer.Option("--truth", help="Read the annotations and give each truth.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a line, nothing else.")
    ] = False,
) -> None:
    """List instances: their length, whether signals or annotations are there, and their truth.

    Truth: a fraction (burden), seconds (change, rare event), or [[onset, offset], ...].
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TruthDiffersWarning)
        kept = _split(tasks), _split(databases)
        if ids is None:
            found = list_instances(data, chosen_set, *kept, truth=truth)
        else:
            found = chosen(read_ids(ids), data, *kept)
    for warning in caught:
        Console(stderr=True, soft_wrap=True).print(
            str(warning.message), style="yellow", markup=False
        )
    if as_json:
        for instance in found:
            sys.stdout.write(json.dumps(_line(instance, truth)) + "\n")
        return
    console = Console()
    console.print(_table(found, truth))
    console.print(_summary(found))
    for sentence in _missing(found, data):
        console.print(sentence, soft_wrap=True, highlight=False, markup=False)


def _split(text: str | None) -> list[str] | None:
    return [part.strip() for part in text.split(",") if part.strip()] if text else None


def _line(instance: Instance, truth: bool) -> dict[str, Any]:
    line: dict[str, Any] = {
        "id": instance.id,
        "set": instance.set,
        "database": instance.database,
        "record": instance.record,
        "task": instance.task,
        "duration_s": instance.duration,
        "available": instance.available,
    }
    if truth:
        line["truth"] = None if instance.truth is None else instance.truth.value
        line["truth_differs"] = instance.differs
    if instance.span is not None:
        line["span"] = instance.span
    return line


def _table(found: list[Instance], truth: bool) -> Table:
    table = Table("instance", "hours", "available", box=None)
    if truth:
        table.add_column("truth")
    for instance in found:
        cells = [instance.id, f"{instance.duration / 3600:.2f}", instance.available]
        if truth:
            text = _truth_text(instance.truth, instance.task)
            cells.append(text + (" (differs)" if instance.differs else ""))
        table.add_row(*cells)
    return table


def _truth_text(truth: Truth | None, task: str) -> str:
    if truth is None:
        return "-"
    if isinstance(truth.value, tuple):
        seconds = sum(stop - start for start, stop in truth.value)
        return f"{len(truth.value)} episodes, {seconds:.0f} s"
    return f"{truth.value:.4f}" if get_task(task).answer == "burden" else f"{truth.value:.2f} s"


def _summary(found: list[Instance]) -> Table:
    rows: dict[tuple[str, str], list[Instance]] = defaultdict(list)
    for instance in found:
        rows[instance.task, instance.database].append(instance)
    table = Table(
        title=f"{len(found)} instances, {_hours(found):.0f} h of recordings", box=box.SIMPLE
    )
    for name in ("task", "database"):
        table.add_column(name, no_wrap=True)
    for name in ("instances", "hours", "signal", "labels only", "absent"):
        table.add_column(name, justify="right")
    for (task, database), members in rows.items():
        states = [member.available for member in members]
        counts = [str(states.count(state)) for state in ("signal", "annotations", "none")]
        table.add_row(task, database, str(len(members)), f"{_hours(members):.0f}", *counts)
    return table


def _hours(found: list[Instance]) -> float:
    durations = {(one.database, one.record, one.span): one.duration for one in found}
    return sum(durations.values()) / 3600


def _missing(found: list[Instance], data: Path | None) -> list[str]:
    """Say of each database what is not there and how to get it."""
    absent: dict[str, set[str]] = defaultdict(set)
    for instance in found:
        if instance.available == "none":
            absent[instance.database].add(instance.record)
    sentences = [
        f"{database}: {len(records)} records are not there; {remedy(database)}."
        for database, records in absent.items()
    ]
    if data is None:
        sentences.append("No data directory: pass --data, or set ECGSCROLL_DATA.")
    return sentences
