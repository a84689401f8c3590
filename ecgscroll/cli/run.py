"""``ecgscroll run``: any policy over any list of instances."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
import yaml
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ecgscroll.catalogue.instances import Instance
from ecgscroll.environment.parameters import Budget as Steps
from ecgscroll.environment.parameters import step_budget
from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.config import RunConfig, data_digest
from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.evaluation.run import Progress as Told
from ecgscroll.evaluation.run import evaluate
from ecgscroll.evaluation.selection import find_data, read_ids, select
from ecgscroll.evaluation.table import print_summary
from ecgscroll.policy import fingerprint, is_plain

PolicyName = Annotated[str, typer.Option(help="A registered policy's name, or module:Class.")]
Out = Annotated[Path, typer.Option(help="Folder of the run; a run that was stopped goes on.")]
Dx = Annotated[
    Literal["reference", "signal", "none"],
    typer.Option(help="Diagnostic tools: reference labels, labels from the signal, or none."),
]
Tasks = Annotated[str, typer.Option(help="Tasks, with commas between.", show_default="all")]
Databases = Annotated[str, typer.Option(help="Databases, with commas between.", show_default="all")]
ChosenSet = Annotated[
    Literal["core", "published", "supplementary", "all"] | None,
    typer.Option(
        "--set",
        help="Set of instances.",
        show_default="core; of synthetic recordings, supplementary",
    ),
]
Ids = Annotated[
    Path | None, typer.Option(help="File of instance ids, one a line, text or JSON Lines.")
]
Data = Annotated[
    Path | None,
    typer.Option(
        help="Folder of the databases.",
        show_default="ECGSCROLL_DATA, ./data, ../shared/data, or synthetic recordings",
    ),
]
Workers = Annotated[int, typer.Option(min=1, help="Processes.")]
Scoring = Annotated[
    Literal["committed", "published"],
    typer.Option(help="An empty ledger answers change and rare event with nothing, or with 0 s."),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Play at most so many instances.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the environments and of the bootstrap.")]
Rewind = Annotated[
    Literal["costed", "forbidden"], typer.Option(help="What measuring before the last skim is.")
]
Budget = Annotated[str, typer.Option(help="Steps: open, released, or a number.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--policy-option", "-o", help="An option of the policy, key=value; repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]


def run(
    policy: PolicyName = "rule",
    out: Out = Path("runs/latest"),
    dx: Dx = "none",
    tasks: Tasks = "",
    databases: Databases = "",
    chosen_set: ChosenSet = None,
    instances: Ids = None,
    data: Data = None,
    workers: Workers = 1,
    scoring: Scoring = "committed",
    limit: Limit = None,
    seed: Seed = 0,
    rewind: Rewind = "costed",
    budget: Budget = "open",
    policy_option: Options = None,
    as_json: AsJson = False,
) -> None:
    """Play instances with a policy, keep every step, and score what it wrote.

    OUT/results.jsonl has a line per episode, OUT/episodes a transcript of each, OUT/summary.json
    what the table shows. Killed or interrupted, the same command goes on where it stopped.
    """
    say = Console(stderr=True, soft_wrap=True)
    sys.path.append(str(Path.cwd()))  # for a module:Class that lies here
    options = parse_options(policy_option or ())
    with _stdout_kept():
        found = fingerprint(policy, options)
    folder, synthetic = find_data(data)
    if synthetic:
        say.print("There are no recordings here (--data): taking synthetic ones.", style="yellow")
    chosen, absent = select(
        folder,
        chosen_set=chosen_set or ("supplementary" if synthetic else "core"),
        tasks=_split(tasks),
        databases=_split(databases),
        ids=read_ids(instances) if instances else (),
        limit=limit,
    )
    _tell_absent(say, absent)
    config = RunConfig(
        policy=policy,
        options=options,
        fingerprint=found,
        dx=None if dx == "none" else dx,
        scoring=scoring,
        rewind=rewind,
        budget=parse_budget(budget),
        seed=seed,
        instances=tuple(one.id for one in chosen),
        data=data_digest({one.id: one.truth.digest() for one in chosen if one.truth}),
    )
    with _interruptible(say, out), _stdout_kept(), _progress(say, len(chosen)) as told:
        summary = evaluate(config, chosen, folder, RunFolder(out), workers, told)
    if as_json:
        sys.stdout.write(json.dumps(summary) + "\n")
    else:
        print_summary(summary)
        say.print(f"Results, transcripts and summary: {out}")
    _tell_errors(say, summary)


def parse_budget(text: str) -> Steps:
    """Read a step budget: a name that the environment knows, or a number.

    Raises
    ------
    ConfigError
        If it is neither.
    """
    budget: Any = int(text) if text.isdecimal() else text
    step_budget(budget, total=0.0)
    chosen: Steps = budget
    return chosen


def parse_options(pairs: Sequence[str]) -> dict[str, Any]:
    """Read ``key=value`` pairs; values as YAML reads them (numbers, true, null, text).

    Raises
    ------
    ConfigError
        If a pair has no key or no value that can be read, or a key comes twice.
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key.isidentifier() or key in options:
            raise ConfigError(f"-o takes key=value, each key once; {pair!r} is not that.")
        try:
            options[key] = yaml.safe_load(text)
        except yaml.YAMLError:
            raise ConfigError(f"The value of {pair!r} cannot be read; put it in quotes.") from None
        if not is_plain(options[key]):
            raise ConfigError(f"The value of {pair!r} is not one that JSON has; put it in quotes.")
    return options


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _tell_absent(say: Console, absent: Sequence[Instance]) -> None:
    if absent:
        needed = " ".join(sorted({one.database for one in absent}))
        say.print(
            f"Left out: {len(absent)} instances whose recordings are not there; "
            f"get them with `ecgscroll prepare {needed}`.",
            style="yellow",
        )


def _tell_errors(say: Console, summary: dict[str, Any]) -> None:
    """Count the episodes that failed; exit 1 if all did."""
    failed = sum(found["errors"] for found in summary["tasks"].values())
    if failed:
        say.print(
            f"{failed} of {summary['episodes']} episodes ended in an error; the results say in "
            "which. The same command tries them again.",
            style="yellow",
        )
    if failed == summary["episodes"]:
        raise typer.Exit(1)


@contextmanager
def _interruptible(say: Console, out: Path) -> Iterator[None]:
    """Let Ctrl-C, and a scheduler's SIGTERM, end the run in order."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        say.print(f"Stopped. What has ended is kept in {out}; the same command goes on from there.")
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _stdout_kept() -> Iterator[None]:
    """Keep standard output for results: what a policy or its children print goes to the errors."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


@contextmanager
def _progress(say: Console, total: int) -> Iterator[Told]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=say, transient=True) as bar:
        line = bar.add_task("episodes", total=total)

        def told(name: str, finished: int) -> None:
            bar.update(line, completed=finished, description=name)

        yield told
