"""Which instances a run trains on and which it holds out; patients of the test side are refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ecgscroll.catalogue.instances import Instance
from ecgscroll.catalogue.splits import split_of
from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.config import data_digest
from ecgscroll.evaluation.provenance import recordings_digest
from ecgscroll.evaluation.selection import find_data, read_ids, select
from training.config import Data


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
        Draws who is held out; the same patients for the same seed, whatever the tasks.

    Raises
    ------
    ConfigError
        If an instance is of the test side or left out of the splits, or nothing is left to train.
    """
    folder, _ = find_data(data.folder)
    chosen = choose(folder, data)
    if data.instances is not None:
        _refuse_test(chosen)
    training = [one for one in chosen if split_of(one.database, one.record) == "train"]
    patients = sorted({one.patient for one in training})
    order = np.random.default_rng(seed).permutation(len(patients))
    count = round(data.held_out * len(patients))
    away = {patients[index] for index in order[:count]}
    kept = [one for one in training if one.patient not in away][: data.limit]
    held_out = [one for one in training if one.patient in away][: data.limit]
    if not kept:
        raise ConfigError("No training instance is left; look at data.tasks, folder and held_out.")
    return Parts(kept, held_out, folder)


def choose(folder: Path, data: Data) -> list[Instance]:
    """Return what a configuration names, or all whole recordings that fit it."""
    given = data.instances
    ids = read_ids(given) if isinstance(given, Path) else given or ()
    found, _ = select(folder, chosen_set="all", tasks=data.tasks, databases=data.databases, ids=ids)
    return [one for one in found if one.truth is not None]


def named(folder: Path, given: Sequence[str] | Path) -> list[Instance]:
    """Return the instances of a list or of a file of ids."""
    ids = read_ids(given) if isinstance(given, Path) else given
    return select(folder, ids=ids)[0]


def _refuse_test(instances: Sequence[Instance]) -> None:
    for one in instances:
        if split_of(one.database, one.record) != "train":
            raise ConfigError(f"{one.id} is not of a training patient; take it off data.instances.")
