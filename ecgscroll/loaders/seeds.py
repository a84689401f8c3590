"""Seeds that follow from names, and the part of a list that a worker of a rank has."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import torch.distributed
from numpy.random import SeedSequence
from torch.utils.data import get_worker_info

from ecgscroll.errors import ConfigError

_T = TypeVar("_T")


class Rank(NamedTuple):
    """A process's number among those that train together, and how many there are."""

    rank: int = 0
    world_size: int = 1


def seed_of(seed: int, *names: str | int) -> int:
    """Return a seed of 32 bits that follows from a seed and names, on every machine."""
    digest = hashlib.sha256("\n".join(map(str, names)).encode()).digest()
    return int(SeedSequence([seed, int.from_bytes(digest[:8])]).generate_state(1)[0])


def checked_rank(rank: int | None, world_size: int | None) -> Rank | None:
    """Return an explicit rank, or None to ask torch.distributed.

    Raises
    ------
    ConfigError
        If only one of both is given, or the rank is none of 0 to world_size - 1.
    """
    if rank is None and world_size is None:
        return None
    if rank is None or world_size is None or not 0 <= rank < world_size:
        raise ConfigError(f"rank {rank} of world_size {world_size}: give both, rank the smaller.")
    return Rank(rank, world_size)


def current_rank() -> Rank:
    """Return what torch.distributed says once it is initialised; else one process alone."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return Rank(torch.distributed.get_rank(), torch.distributed.get_world_size())
    return Rank()


def share_of(items: Sequence[_T], rank: Rank) -> Sequence[_T]:
    """Return this worker's part: every item is in the part of one worker of one rank."""
    worker = get_worker_info()
    workers, own = (1, 0) if worker is None else (worker.num_workers, worker.id)
    return items[rank.rank * workers + own :: rank.world_size * workers]
