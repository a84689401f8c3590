"""What to train on: whole recordings and spans of them, of the patients of one side alone.

A curriculum goes from spans of minutes to whole recordings. Each draw has a generator of its own,
of the seed, the task, the stage and its number, so a longer list begins with the shorter one, and
one task's instances do not depend on which others are asked for.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ecgscroll.catalogue.instances import Instance, get_instance, list_instances
from ecgscroll.catalogue.splits import Side, split_of
from ecgscroll.errors import ConfigError, DataError
from ecgscroll.loaders.draws import Draw
from ecgscroll.tasks import CORE_TASKS, get_task

MINUTES: tuple[float | None, ...] = (10, 60, 360, None)
"""Lengths of a curriculum's spans; None is whole recordings."""
PRESETS = {
    "episode_detection": "paf",
    "af_burden": "paf",
    "change_detection": "paf",
    "ischemia": "ischemia",
    "pvc_burden": "ectopy",
    "rare_event": "rare",
}
"""Of each task, the kind of synthetic recording that has its events."""
# Tasks that every recording with the same annotations can ask on a span of it.
_GROUNDS = {
    "af_burden": "episode_detection",
    "change_detection": "episode_detection",
    "rare_event": "pvc_burden",
}


class Stage(NamedTuple):
    """One stage of a curriculum: the length of its spans (None: whole recordings), and them."""

    minutes: float | None
    instances: list[Instance]


def training_instances(
    data: str | Path | None = None,
    tasks: Iterable[str] = CORE_TASKS,
    *,
    side: Side = "train",
    minutes: Sequence[float | None] = MINUTES,
    per_stage: int = 32,
    seed: int = 0,
    databases: Iterable[str] | None = None,
    signal: bool = False,
    with_events: float = 0.5,
) -> list[Instance]:
    """Return the instances of all stages of a curriculum, one after another; see `curriculum`."""
    stages = curriculum(
        data,
        tasks,
        side=side,
        minutes=minutes,
        per_stage=per_stage,
        seed=seed,
        databases=databases,
        signal=signal,
        with_events=with_events,
    )
    return [one for stage in stages for one in stage.instances]


def curriculum(
    data: str | Path | None = None,
    tasks: Iterable[str] = CORE_TASKS,
    *,
    side: Side = "train",
    minutes: Sequence[float | None] = MINUTES,
    per_stage: int = 32,
    seed: int = 0,
    databases: Iterable[str] | None = None,
    signal: bool = False,
    with_events: float = 0.5,
) -> list[Stage]:
    """Draw instances of the patients of one side, stage by stage.

    Every patient is as likely as any other, whatever the length of their recordings.

    Parameters
    ----------
    data
        Data directory; ``ECGSCROLL_DATA`` if it is not given.
    tasks
        Names of tasks; each has its share in every stage, task by task.
    side
        ``train``. ``test`` is for evaluation.
    minutes
        Length of each stage's spans; None for whole recordings, at most as many as there are.
        Where no recording of a task is as long, the stage has none of that task.
    per_stage
        Most instances of each task in each stage; a span whose notes do not tell (before the
        first rhythm note of a database without a card) is none.
    seed
        Draws everything.
    databases
        Keep these alone.
    signal
        Whether to leave out recordings without a waveform.
    with_events
        Share of the spans that hold an event of the task, as far as there are such and other
        spans; a change and a rare event are in every span of their tasks.

    Returns
    -------
    list of Stage
        In the order of ``minutes``; no instance twice in a stage.

    Raises
    ------
    ConfigError
        If a value is out of its range, or there is nothing to draw from.
    """
    _check(side, minutes, per_stage, with_events)
    names = [get_task(task).name for task in tasks]
    kept = None if databases is None else list(databases)
    grounds = {
        name: _annotated(data, _GROUNDS.get(name, name), side, kept, signal) for name in names
    }
    if not any(grounds.values()):
        raise ConfigError(
            f"No {side} patient's recording of these tasks is in the data directory; get some with "
            "`ecgscroll prepare`, or make some with synthetic_instances."
        )
    stages = []
    for length in minutes:
        found: list[Instance] = []
        for name in names:
            if length is None:
                found += _whole(data, name, grounds[name], per_stage, seed)
            else:
                draw = Draw(name, round(length * 60), seed, with_events)
                found += _opened(draw.spans(grounds[name], per_stage), data)
        stages.append(Stage(length, found))
    return stages


def synthetic_instances(
    folder: str | Path,
    tasks: Iterable[str] = CORE_TASKS,
    *,
    count: int = 8,
    minutes: float = 30,
    seed: int = 0,
) -> list[Instance]:
    """Make synthetic recordings, ``count`` of each kind that the tasks need, and their instances.

    Parameters
    ----------
    folder
        Data directory to write to; what is there and whole is kept.
    tasks
        Names of core tasks.
    count, minutes
        Recordings of each kind, and their length.
    seed
        Draws the patients; no two recordings have the same.

    Returns
    -------
    list of Instance
        Task by task; a recording that turns out not to answer a task is none.

    Raises
    ------
    ConfigError
        If a task has no kind of synthetic recording.
    """
    from ecgscroll.synth import RecordPlan, preset, write_database

    names = [get_task(task).name for task in tasks]
    unknown = [name for name in names if name not in PRESETS]
    if unknown:
        raise ConfigError(f"No synthetic recordings are made for {unknown[0]}.")
    database = f"synthetic_{seed}_{minutes:g}min"
    for kind in sorted({PRESETS[name] for name in names}):
        state = np.random.SeedSequence([seed, zlib.crc32(kind.encode())])
        seeds = [int(one) for one in state.generate_state(count)]
        plans = [
            RecordPlan(f"{kind}{number:04d}", preset(kind, one, minutes * 60), one)
            for number, one in enumerate(seeds)
        ]
        write_database(Path(folder) / f"{database}_{kind}", plans, renew=True)
    ids = (
        f"{name}/{database}_{PRESETS[name]}/{PRESETS[name]}{number:04d}"
        for name in names
        for number in range(count)
    )
    return list(_answerable(ids, folder))


def check_side(instances: Iterable[Instance], side: Side) -> None:
    """Make sure that every instance's patient is on one side of the splits.

    Raises
    ------
    ConfigError
        If one is not; its id is named.
    """
    if side not in ("train", "test"):
        raise ConfigError(f"side is 'train' or 'test', not {side!r}.")
    for one in instances:
        found = split_of(one.database, one.record)
        if found != side:
            where = f"on the {found} side" if found else "left out of both sides"
            raise ConfigError(f"{one.id} is {where} of the splits; here only {side} patients go.")


def _check(side: Side, minutes: Sequence[float | None], per_stage: int, with_events: float) -> None:
    check_side((), side)
    if not minutes or any(one is not None and not 0 < one < math.inf for one in minutes):
        raise ConfigError("minutes are lengths above 0, or None for whole recordings.")
    if any(one is not None and round(one * 60) != one * 60 for one in minutes):
        raise ConfigError("minutes must come to whole seconds.")
    if per_stage < 1 or not 0 <= with_events <= 1:
        raise ConfigError("per_stage is at least 1, and with_events lies between 0 and 1.")


def _annotated(
    data: str | Path | None,
    task: str,
    side: Side,
    databases: list[str] | None,
    signal: bool,
) -> list[Instance]:
    """Return the whole recordings of a side that answer a task, with their truths."""
    listed = list_instances(data, "all", [task], databases, truth=False)
    usable = ("signal",) if signal else ("signal", "annotations")
    kept = [
        one.id
        for one in listed
        if one.available in usable and split_of(one.database, one.record) == side
    ]
    return list(_answerable(kept, data))


def _answerable(ids: Iterable[str], data: str | Path | None) -> Iterator[Instance]:
    for name in ids:
        try:
            found = get_instance(name, data)
        except DataError:
            continue
        if found.truth is not None:
            yield found


def _whole(
    data: str | Path | None, task: str, ground: Sequence[Instance], most: int, seed: int
) -> list[Instance]:
    """Return whole recordings in a random order, as many as are wanted."""
    rng = np.random.default_rng([seed, zlib.crc32(task.encode())])
    ids = [f"{task}/{one.database}/{one.record}" for one in ground]
    shuffled = (ids[index] for index in rng.permutation(len(ids)))
    found: list[Instance] = []
    for one in _answerable(shuffled, data):
        if len(found) == most:
            break
        found.append(one)
    return found


def _opened(ids: Sequence[str], data: str | Path | None) -> list[Instance]:
    """Open spans, those of one recording after another: its files are then parsed once."""
    found = {one.id: one for one in _answerable(sorted(ids), data)}
    return [found[name] for name in ids if name in found]
