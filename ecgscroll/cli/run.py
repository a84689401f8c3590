"""``ecgscroll run``: any policy over any list of instances."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import typer
import yaml
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ecgscroll.catalogue.instances import Instance
from ecgscroll.cli import run_options as o
from ecgscroll.environment.parameters import Budget as Steps
from ecgscroll.environment.parameters import step_budget
from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.config import Limits, RunConfig, data_digest
from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.evaluation.provenance import recordings_digest
from ecgscroll.evaluation.run import Execution, evaluate
from ecgscroll.evaluation.run import Progress as Told
from ecgscroll.evaluation.selection import find_data, read_ids, select
from ecgscroll.evaluation.spending import RunLimits
from ecgscroll.evaluation.table import print_summary
from ecgscroll.policy import fingerprint, is_plain


def run(
    policy: o.PolicyName = "rule",
    out: o.Out = Path("runs/latest"),
    dx: o.Dx = "none",
    tasks: o.Tasks = "",
    databases: o.Databases = "",
    chosen_set: o.ChosenSet = None,
    instances: o.Ids = None,
    data: o.Data = None,
    workers: o.Workers = 1,
    scoring: o.Scoring = "committed",
    limit: o.Limit = None,
    seed: o.Seed = 0,
    rewind: o.Rewind = "costed",
    budget: o.Budget = "open",
    sampling_seed: o.SamplingSeed = 0,
    bootstrap_seed: o.BootstrapSeed = 0,
    rollouts: o.Rollouts = 1,
    max_steps: o.MaxSteps = None,
    max_tokens: o.MaxTokens = None,
    max_seconds: o.MaxSeconds = None,
    max_cost: o.MaxCost = None,
    max_run_tokens: o.MaxRunTokens = None,
    max_run_cost: o.MaxRunCost = None,
    concurrency: o.Concurrency = 1,
    engine: o.Engine = "pool",
    policy_option: o.Options = None,
    as_json: o.AsJson = False,
) -> None:
    """Play instances with a policy, keep every step, and score what it wrote.

    OUT/results.jsonl has a line per episode, OUT/episodes a transcript of each, OUT/summary.json
    what the table shows. Killed or interrupted, the same command goes on where it stopped. At a
    limit of an episode (--max-steps and so on) it is finished and scored as it stands.
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
        sampling_seed=sampling_seed,
        bootstrap_seed=bootstrap_seed,
        rollouts=rollouts,
        limits=Limits(max_steps, max_tokens, max_seconds, max_cost),
        instances=tuple(one.id for one in chosen),
        data=data_digest({one.id: one.truth.digest() for one in chosen if one.truth}),
        recordings=recordings_digest(chosen),
    )
    how = Execution(workers, concurrency, engine, RunLimits(max_run_tokens, max_run_cost))
    total = len(config.trials())
    with _interruptible(say, out), _stdout_kept(), _progress(say, total) as told:
        summary = evaluate(config, chosen, folder, RunFolder(out), how, told)
    if as_json:
        sys.stdout.write(json.dumps(summary) + "\n")
    else:
        print_summary(summary)
        say.print(f"Results, transcripts and summary: {out}", markup=False)
    _tell_left(say, total - summary["episodes"])
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
            markup=False,
        )


def _tell_left(say: Console, left: int) -> None:
    if left:
        say.print(
            f"The run's limit is reached and {left} episodes are left; the same command with a "
            "higher --max-run-tokens or --max-run-cost goes on.",
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
    if failed and failed == summary["episodes"]:
        raise typer.Exit(1)


@contextmanager
def _interruptible(say: Console, out: Path) -> Iterator[None]:
    """Let Ctrl-C, and a scheduler's SIGTERM, end the run in order."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        say.print(
            f"Stopped. What has ended is kept in {out}; the same command goes on from there.",
            markup=False,
        )
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
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=say, transient=True) as bar:
        line = bar.add_task("episodes", total=total)

        def told(name: str, finished: int) -> None:
            bar.update(line, completed=finished, description=name)

        yield told
