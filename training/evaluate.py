"""``python -m training.evaluate CHECKPOINT``: episodes of a checkpoint, through the runner."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.progress import Progress

from ecgscroll.catalogue.instances import Instance
from ecgscroll.environment.parameters import Budget
from ecgscroll.errors import EcgScrollError
from ecgscroll.evaluation.comparison import compare
from ecgscroll.evaluation.comparison_table import comparison_grids
from ecgscroll.evaluation.config import Limits, RunConfig, data_digest
from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.evaluation.layout import print_grids
from ecgscroll.evaluation.loading import load_runs
from ecgscroll.evaluation.provenance import recordings_digest
from ecgscroll.evaluation.run import Execution, evaluate
from ecgscroll.evaluation.run import Progress as Told
from ecgscroll.evaluation.selection import find_data, read_ids, select
from ecgscroll.evaluation.table import print_summary
from ecgscroll.policy import fingerprint
from ecgscroll.tools.registry import Dx
from policies.neural.checkpoint import CONFIGURATION as NEURAL
from training.checkpoints import base_of, read_record, told_digest

Tier = Literal["none", "signal", "reference"]


def planning_options(checkpoint: Path | str, **changed: Any) -> dict[str, Any]:
    """Return the options under which the Planning agent plays as the checkpoint was trained.

    Parameters
    ----------
    checkpoint
        A ``model`` folder that training left, or any model's.
    changed
        Options to set otherwise.
    """
    checkpoint = Path(checkpoint)
    model, adapter = base_of(checkpoint)
    options: dict[str, Any] = {"backend": "transformers", "model": model, "tools": "native"}
    if adapter is not None:
        options["adapter"] = adapter
    recorded: dict[str, Any] = read_record(checkpoint).get("planning", {})
    return options | recorded | changed


def agent_of(checkpoint: Path, **changed: Any) -> tuple[str, dict[str, Any]]:
    """Return the policy that a checkpoint is for, and its options."""
    if (checkpoint / NEURAL).is_file():
        return "policies.neural:Neural", {"checkpoint": str(checkpoint), **changed}
    return "policies.planning:Planning", planning_options(checkpoint, **changed)


def evaluate_checkpoint(
    checkpoint: Path,
    instances: Sequence[Instance],
    data: Path,
    out: Path,
    *,
    dx: Dx = None,
    execution: Execution | None = None,
    budget: Budget = "open",
    rollouts: int = 1,
    sampling_seed: int = 0,
    max_steps: int | None = None,
    progress: Told = lambda name, finished: None,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Play instances with a checkpoint, and return the run's summary.

    Parameters
    ----------
    checkpoint
        Folder of a model or an adapter.
    instances
        What is played.
    data
        Folder of the recordings.
    out
        Folder of the run; an unfinished one goes on.
    dx, budget
        As `ecgscroll.make` takes them.
    execution
        Workers, and episodes at once in each.
    rollouts, sampling_seed
        Episodes per instance, and what their sampling follows from.
    max_steps
        Most calls of an episode.
    progress
        Told of every episode.
    options
        The Planning agent's, over those that the checkpoint asks for.
    """
    policy, asked = agent_of(checkpoint, **(options or {}))
    config = RunConfig(
        policy=policy,
        options=asked,
        fingerprint=fingerprint(policy, asked),
        dx=dx,
        budget=budget,
        rollouts=rollouts,
        sampling_seed=sampling_seed,
        limits=Limits(steps=max_steps),
        instances=tuple(one.id for one in instances),
        data=data_digest({one.id: one.truth.digest() for one in instances if one.truth}),
        recordings=recordings_digest(instances),
    )
    return evaluate(config, instances, data, RunFolder(out), execution or Execution(), progress)


def mean_scores(summary: Mapping[str, Any]) -> dict[str, float]:
    """Return the mean score of each task of a summary, errors left out, and that of all tasks."""
    means = {task: found["score"]["mean"] for task, found in summary["tasks"].items()}
    known = {task: float(mean) for task, mean in means.items() if mean is not None}
    return known | ({"all": sum(known.values()) / len(known)} if known else {})


def main(
    checkpoint: Annotated[Path, typer.Argument(help="Folder of a model or an adapter.")],
    out: Annotated[Path, typer.Option(help="Folder of the run.")] = Path("runs/checkpoint"),
    instances: Annotated[Path | None, typer.Option(help="File of instance ids.")] = None,
    tasks: Annotated[str, typer.Option(help="Tasks, with commas between.")] = "",
    databases: Annotated[str, typer.Option(help="Databases, with commas between.")] = "",
    chosen_set: Annotated[
        Literal["core", "published", "supplementary", "all"] | None,
        typer.Option("--set", help="Set of instances; without a file of ids."),
    ] = None,
    dx: Annotated[Tier, typer.Option(help="Diagnostic tools.")] = "none",
    data: Annotated[Path | None, typer.Option(help="Folder of the databases.")] = None,
    before: Annotated[
        list[Path] | None,
        typer.Option(help="Another checkpoint, or a run's folder, to compare with; repeatable."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Play so many at most.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    concurrency: Annotated[int, typer.Option(min=1, help="Episodes at once in each.")] = 8,
    rollouts: Annotated[int, typer.Option(min=1, help="Episodes per instance.")] = 1,
    sampling_seed: Annotated[int, typer.Option(min=0, help="Of the sampling.")] = 0,
    temperature: Annotated[float | None, typer.Option(min=0, help="Else the record's.")] = None,
    max_steps: Annotated[int | None, typer.Option(min=1, help="Most calls of an episode.")] = None,
) -> None:
    """Play instances with a checkpoint as it was trained, and compare it with others.

    The run's folder is that of ``ecgscroll run``: report, rescore, compare and leaderboard take it.
    """
    folder, synthetic = find_data(data)
    chosen, _ = select(
        folder,
        chosen_set=chosen_set or ("supplementary" if synthetic else "core"),
        tasks=_split(tasks),
        databases=_split(databases),
        ids=read_ids(instances) if instances else (),
        limit=limit,
    )
    runs = [path for path in before or () if (path / "results.jsonl").is_file()]
    models = [path for path in before or () if path not in runs]
    more: dict[str, Any] = {
        "dx": None if dx == "none" else dx,
        "execution": Execution(workers, concurrency),
        "rollouts": rollouts,
        "sampling_seed": sampling_seed,
        "max_steps": max_steps,
        "options": {} if temperature is None else {"temperature": temperature},
    }
    for model, place in [*((one, _beside(out, one)) for one in models), (checkpoint, out)]:
        _warn_of_other_words(model)
        with _progress(str(model), len(chosen) * rollouts) as told:
            summary = evaluate_checkpoint(model, chosen, folder, place, progress=told, **more)
        Console().print(f"{model} ({place})", style="bold", soft_wrap=True)
        print_summary(summary)
        if model != checkpoint:
            runs.append(place)
    _compare(runs, out)


def _warn_of_other_words(model: Path) -> None:
    """Say if the prompts or the tools have changed since a model was trained."""
    if read_record(model).get("told", told_digest()) != told_digest():
        Console(stderr=True, soft_wrap=True).print(
            f"{model} was trained with other prompts or tools: it may not know these.",
            style="yellow",
        )


@contextmanager
def _progress(name: str, total: int) -> Iterator[Told]:
    with Progress(console=Console(stderr=True), transient=True) as bar:
        line = bar.add_task(name, total=total)
        yield lambda _instance, finished: bar.update(line, completed=finished)


def _beside(out: Path, model: Path) -> Path:
    return out.with_name(f"{out.name}-before-{model.resolve().parent.name}-{model.resolve().name}")


def _compare(runs: Sequence[Path], out: Path) -> None:
    """Print the differences of a run from each of those before it."""
    for first in runs:
        before, after = load_runs([first, out])
        print_grids(comparison_grids(compare(before, after)))


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def run() -> None:
    """Run the command; a user's mistake gets one sentence."""
    try:
        typer.run(main)
    except EcgScrollError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)


if __name__ == "__main__":
    run()
