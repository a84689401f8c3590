"""``ecgscroll check``: what nothing at all earns, beside runs, and what must never pay."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from ecgscroll.catalogue.instances import Instance
from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.selection import find_data, select
from ecgscroll.scoring.checks import (
    Agent,
    ExploitReport,
    RunRows,
    compare,
    read_run,
    shared_scoring,
    try_exploits,
)
from ecgscroll.scoring.exploits import EXPLOITS

Data = Annotated[
    Path | None,
    typer.Option(
        help="Folder of the databases.",
        show_default="ECGSCROLL_DATA, ./data, ../shared/data, or synthetic recordings",
    ),
]
ChosenSet = Annotated[
    Literal["core", "published", "supplementary", "all"] | None,
    typer.Option(
        "--set",
        help="Set of instances.",
        show_default="those of the runs, else core; all of synthetic data",
    ),
]
Tasks = Annotated[str, typer.Option(help="Tasks, with commas between.", show_default="all")]
Databases = Annotated[str, typer.Option(help="Databases, with commas between.", show_default="all")]
Scoring = Annotated[
    Literal["committed", "published"] | None,
    typer.Option(
        help="What an empty ledger answers where a time is asked for: nothing, or 0 s.",
        show_default="that of the runs, else committed",
    ),
]
Runs = Annotated[
    list[Path] | None,
    typer.Option("--run", help="Folder of a run to stand beside the strategies; repeatable."),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Look at so many instances at most.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]


def check(
    data: Data = None,
    chosen_set: ChosenSet = None,
    tasks: Tasks = "",
    databases: Databases = "",
    scoring: Scoring = None,
    run: Runs = None,
    limit: Limit = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Score trivial strategies and try exploits; exit 1 if one of them pays.

    A table per task shows what an agent earns that looks at nothing: a score that does not clear it
    shows no skill. With --run, all rows are over the instances that the runs have played. Then
    additions that must never pay (broken bounds, future stamps, repeats, wrong types) are tried on
    a few instances of each task, in both scorings. Figures in the published scoring or on the
    published set are no cells of the published tables unless everything else is as it was there.
    """
    say = Console(stderr=True, soft_wrap=True)
    runs = [read_run(folder) for folder in run or ()]
    agreed = shared_scoring(scoring, runs)
    chosen = _choose(say, data, chosen_set, _split(tasks), _split(databases), runs)[:limit]
    with Progress(console=say, transient=True) as bar:
        line = bar.add_task("strategies", total=len(chosen))
        tables = compare(
            chosen, runs, scoring=agreed, seed=seed, progress=lambda _one: bar.advance(line)
        )
        bar.update(line, description="exploits", total=None)
        report = try_exploits(chosen)
    if as_json:
        sys.stdout.write(json.dumps(_as_json(tables, report, agreed, len(chosen))) + "\n")
    else:
        _print(Console(), tables, report, agreed)
    if report.breaches:
        raise typer.Exit(1)


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _choose(
    say: Console,
    data: Path | None,
    chosen_set: str | None,
    tasks: Sequence[str],
    databases: Sequence[str],
    runs: Sequence[RunRows],
) -> list[Instance]:
    """Return the instances that are there, have a truth, and were played by every run.

    Raises
    ------
    ConfigError
        If none is.
    """
    folder, synthetic = find_data(data)
    wanted = chosen_set or ("all" if synthetic else "core")
    ids = list(runs[0].rows) if runs and chosen_set is None else []
    found, absent = select(folder, chosen_set=wanted, tasks=tasks, databases=databases, ids=ids)
    scorable = [one for one in found if one.truth is not None]
    kept = [one for one in scorable if all(one.id in run.rows for run in runs)]
    _tell(say, len(absent), "are not there; `ecgscroll instances` says how to get them")
    _tell(say, len(found) - len(scorable), "have no reference annotations")
    _tell(say, len(scorable) - len(kept), "were not played by every run")
    if not kept:
        raise ConfigError("No instance is left to check; see `ecgscroll instances`, or --set.")
    return kept


def _tell(say: Console, count: int, why: str) -> None:
    if count:
        say.print(f"Left out: {count} instances that {why}.", style="yellow")


def _as_json(
    tables: dict[str, list[Agent]], report: ExploitReport, scoring: str, instances: int
) -> dict[str, Any]:
    return {
        "scoring": scoring,
        "instances": instances,
        "tasks": {task: [agent.to_dict() for agent in agents] for task, agents in tables.items()},
        "exploits": report.to_dict(),
    }


def _print(
    console: Console, tables: dict[str, list[Agent]], report: ExploitReport, scoring: str
) -> None:
    for task, agents in tables.items():
        console.print(_table(task, agents, scoring))
    for breach in report.breaches:
        console.print(
            f"{breach.exploit} on {breach.instance} over {breach.base}: "
            f"{breach.before:.4f} became {breach.after:.4f}",
            style="red",
        )
    verdict = f"{len(report.breaches)} breaches" if report.breaches else "none pays"
    console.print(
        f"{len(EXPLOITS)} exploits on {len(report.instances)} instances, both scorings: {verdict}."
    )


def _table(task: str, agents: Sequence[Agent], scoring: str) -> Table:
    n = agents[0].summary.with_errors.n
    failed = any(agent.summary.errors for agent in agents)
    table = Table(
        title=f"{task}, {n} instances, {scoring} scoring", title_justify="left", box=box.SIMPLE_HEAD
    )
    table.add_column("agent", min_width=18)
    for column in ("score (95 %)", "missed", *(("errors", "errors as 0") if failed else ())):
        table.add_column(column, justify="right", no_wrap=True)
    for agent in agents:
        summary = agent.summary
        table.add_row(
            agent.name.replace("_", " ") if agent.floor else agent.name,
            str(summary.score),
            "-" if agent.missed_share is None else f"{agent.missed_share:.0%}",
            *((str(summary.errors), str(summary.with_errors)) if failed else ()),
            style=None if agent.floor else "bold",
        )
    return table
