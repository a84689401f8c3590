"""Run a policy over instances into a folder, or go on with a run that was stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ecgscroll.catalogue.instances import Instance
from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.agenda import Agenda, order
from ecgscroll.evaluation.config import RunConfig, Trial
from ecgscroll.evaluation.engine import run_pool
from ecgscroll.evaluation.folder import RunFolder, write_rows
from ecgscroll.evaluation.player import MakePlayer, Note, lost, write_transcript
from ecgscroll.evaluation.provenance import provenance
from ecgscroll.evaluation.reading import whole_outcome
from ecgscroll.evaluation.rollouts import failed
from ecgscroll.evaluation.spending import RunLimits, Spending
from ecgscroll.evaluation.summary import summarise_run
from ecgscroll.evaluation.threads import run_inline
from ecgscroll.evaluation.warming import compile_kernels
from ecgscroll.files import write_atomic

# Told of every episode: its instance, and how many are finished by then.
Progress = Callable[[str, int], None]
Engine = Literal["pool", "ray"]


@dataclass(frozen=True)
class Execution:
    """How a run is carried out; the results do not depend on it.

    Parameters
    ----------
    workers
        Processes; with the pool, one plays in this process.
    concurrency
        Episodes at once in each.
    engine
        ``pool``: processes of this machine; ``ray``: actors of a cluster.
    limits
        Where to stop beginning new episodes.
    """

    workers: int = 1
    concurrency: int = 1
    engine: Engine = "pool"
    limits: RunLimits = field(default_factory=RunLimits)


ALONE = Execution()


def evaluate(
    config: RunConfig,
    instances: Sequence[Instance],
    data: Path,
    folder: RunFolder,
    execution: Execution = ALONE,
    progress: Progress = lambda name, finished: None,
) -> dict[str, Any]:
    """Play what has not been played yet, and return the summary over everything.

    ``results.jsonl`` and ``summary.json`` depend on the configuration and the data alone, not on
    the workers or on interruptions. Episodes that ended in an error are played again.

    Parameters
    ----------
    config
        What is run; its ``instances`` are the ids of ``instances``.
    instances
        What is played, in the order of the results.
    data
        Folder of the recordings.
    folder
        Where everything is kept.
    execution
        How; by default one episode after another in this process.
    progress
        Told of every episode that ends.

    Raises
    ------
    ConfigError
        If the folder holds another run or is in use, or the policy takes no such options.
    """
    by_id = {instance.id: instance for instance in instances}
    with folder.locked():
        folder.begin(config, provenance(data))
        folder.sweep()
        player = MakePlayer(config, folder.stored()["digest"], by_id, data, folder.path)
        try:
            _play_rest(player, folder, execution, progress)
        finally:
            found = (whole_outcome(folder, trial) for trial in config.trials())
            outcomes = [outcome for outcome in found if outcome is not None]
            write_rows(folder.results, (outcome.row for outcome in outcomes))
        parameters = {"scoring": config.scoring}
        summary = {**folder.stored(), "parameters": parameters}
        summary |= summarise_run(outcomes, config.bootstrap_seed, parameters)
        write_atomic(folder.path / "summary.json", json.dumps(summary, indent=1) + "\n")
    return summary


def _play_rest(player: MakePlayer, folder: RunFolder, how: Execution, progress: Progress) -> None:
    """Play the episodes without a good row, as far as the run's limits allow."""
    trials = player.config.trials()
    rest = [trial for trial in trials if not _good(folder, trial)]
    finished = len(trials) - len(rest)
    spending = Spending(how.limits)
    for note in folder.timing():
        spending.add(note)

    def done(trial: Trial, note: Note) -> None:
        nonlocal finished
        finished += 1
        line = {**trial._asdict(), **note._asdict()}
        folder.append_timing(line)
        progress(trial.instance, finished)
        spending.add(line)

    def kept(trial: Trial, made: tuple[Note, str]) -> None:
        note, text = made
        write_transcript(player, trial, text)
        done(trial, note)

    def died(trial: Trial, code: int | None) -> None:
        kept(trial, lost(player, trial, code))

    agenda = Agenda(order(_placed(player, trial) for trial in rest), spending.go_on)
    if not rest:
        return
    if how.workers > 1:
        compile_kernels()
    if how.engine == "ray":
        _ray()(agenda, partial(_transcriber, player), how.workers, kept, died, how.concurrency)
    elif how.workers == 1:
        run_inline(agenda, player, done, how.concurrency)
    else:
        run_pool(agenda, player, how.workers, done, died, how.concurrency)


def _placed(player: MakePlayer, trial: Trial) -> tuple[Trial, str, float]:
    one = player.instances[trial.instance]
    return trial, f"{one.database}/{one.record}", one.duration


def _transcriber(make: MakePlayer) -> Callable[[Trial], tuple[Note, str]]:
    """Make what plays and writes nothing: for workers that do not see the run's folder."""
    return make().transcript


def _ray() -> Callable[..., None]:
    try:
        from ecgscroll.evaluation.engine_ray import run_ray
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"--engine ray needs the library {error.name}; install ecgscroll[ray]."
        ) from None
    return run_ray


def _good(folder: RunFolder, trial: Trial) -> bool:
    outcome = whole_outcome(folder, trial)
    return outcome is not None and not failed(outcome)
