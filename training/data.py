"""Which instances a run trains on and which it holds out; patients of the test side are refused."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from ecgscroll.catalogue.instances import Instance
from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.config import data_digest
from ecgscroll.evaluation.provenance import recordings_digest
from ecgscroll.evaluation.selection import find_data, read_ids, select
from ecgscroll.loaders import check_side, training_instances
from ecgscroll.tasks import CORE_TASKS, get_task
from ecgscroll.tools.registry import Dx
from training.config import Data

T = TypeVar("T")


class Parts(NamedTuple):
    """What is trained on, what is held out, and the folder of recordings."""

    train: list[Instance]
    held_out: list[Instance]
    folder: Path

    def digests(self) -> dict[str, dict[str, str]]:
        """Return hashes of the truths and recordings of both parts."""
        parts = {"train": self.train, "held_out": self.held_out}
        return {name: digests(part) for name, part in parts.items()}


def digests(instances: Sequence[Instance]) -> dict[str, str]:
    """Return hashes of instances' truths and of their recordings' headers and sizes."""
    truths = {one.id: one.truth.digest() for one in instances if one.truth}
    return {"truths": data_digest(truths), "recordings": recordings_digest(instances)}


def divide(data: Data, seed: int) -> Parts:
    """Choose a run's instances and hold out a share of their patients.

    Parameters
    ----------
    data
        What the configuration says.
    seed
        Draws who is held out, each patient by name: what SFT holds out, GRPO holds out too,
        whatever else either trains on.

    Raises
    ------
    ConfigError
        If an instance is of the test side or left out of the splits, or nothing is left to train.
    """
    folder, _ = find_data(data.folder)
    chosen = choose(folder, data, seed)
    check_side(chosen, "train")
    away = {one.patient for one in chosen if _drawn(seed, one.patient) < data.held_out}
    kept = [one for one in chosen if one.patient not in away]
    if not kept:
        raise ConfigError("No training instance is left; look at data.tasks, folder and held_out.")
    return Parts(kept, [one for one in chosen if one.patient in away], folder)


def _drawn(seed: int, patient: str) -> float:
    """Return a patient's place in [0, 1)."""
    digest = hashlib.sha256(f"{seed}/{patient}".encode()).digest()
    return int.from_bytes(digest[:8]) / 2**64


def choose(folder: Path, data: Data, seed: int) -> list[Instance]:
    """Return the instances that a configuration names, or those of its curriculum."""
    if data.instances is not None:
        named_ones = named(folder, data.instances)
        return [one for one in named_ones if one.truth is not None]
    return training_instances(
        folder,
        data.tasks or CORE_TASKS,
        minutes=data.minutes,
        per_stage=data.per_stage,
        seed=seed,
        databases=data.databases or None,
        signal=data.signal,
        with_events=data.with_events,
    )


def named(folder: Path, given: Sequence[str] | Path) -> list[Instance]:
    """Return the instances of a list or of a file of ids."""
    ids = read_ids(given) if isinstance(given, Path) else given
    return select(folder, ids=ids)[0]


def playable(instance: Instance, dx: Dx) -> bool:
    """Tell whether a tier can see what the task asks for: without a waveform, labels or R-R alone.

    Parameters
    ----------
    instance
        From a data folder.
    dx
        Tier of diagnostic tools.
    """
    seen_in_beats = get_task(instance.task).cue == "rr_irregularity"
    return instance.available == "signal" or dx == "reference" or seen_in_beats


def spread(instances: Sequence[T], most: int | None) -> list[T]:
    """Return at most so many items, evenly spaced: a list goes task by task.

    Examples
    --------
    >>> spread(range(10), 4)
    [0, 2, 5, 7]
    """
    count = len(instances)
    if most is None or count <= most:
        return list(instances)
    return [instances[index * count // most] for index in range(most)]
