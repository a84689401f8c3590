"""Run a policy over instances into a folder, or go on with a run that was stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ecgscroll.catalogue.instances import Instance
from ecgscroll.evaluation.config import RunConfig, provenance
from ecgscroll.evaluation.engine import order, run_inline, run_pool
from ecgscroll.evaluation.folder import RunFolder, write_rows
from ecgscroll.evaluation.outcome import read_outcomes
from ecgscroll.evaluation.player import MakePlayer, Note, write_lost
from ecgscroll.evaluation.summary import summarise_run
from ecgscroll.files import write_atomic

# Told of every episode: its instance, and how many are finished by then.
Progress = Callable[[str, int], None]


def evaluate(
    config: RunConfig,
    instances: Sequence[Instance],
    data: Path,
    folder: RunFolder,
    workers: int = 1,
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
    workers
        Processes; one plays in this process.
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
        player = MakePlayer(config, by_id, data, folder.path)
        try:
            _play_rest(player, folder, workers, progress)
        finally:
            outcomes = read_outcomes(folder)
            write_rows(folder.results, (outcome.row for outcome in outcomes))
        parameters = {"scoring": config.scoring}
        summary = {**folder.stored(), "parameters": parameters}
        summary |= summarise_run(outcomes, config.seed, parameters)
        write_atomic(folder.path / "summary.json", json.dumps(summary, indent=1) + "\n")
    return summary


def _play_rest(player: MakePlayer, folder: RunFolder, workers: int, progress: Progress) -> None:
    """Play the instances without a good row."""
    rest = [player.instances[name] for name in player.config.instances if not _good(folder, name)]
    finished = len(player.config.instances) - len(rest)

    def done(name: str, note: Note) -> None:
        nonlocal finished
        finished += 1
        folder.append_timing({"instance": name, **note._asdict()})
        progress(name, finished)

    def died(name: str, code: int | None) -> None:
        write_lost(player, name, code)
        done(name, Note(seconds=0.0, steps=0, error="worker died"))

    groups = order((one.id, f"{one.database}/{one.record}", one.duration) for one in rest)
    if not groups:
        return
    if workers == 1:
        run_inline(groups, player, done)
    else:
        run_pool(groups, player, workers, done, died)


def _good(folder: RunFolder, name: str) -> bool:
    row = folder.row(name)
    return row is not None and row["error"] is None
