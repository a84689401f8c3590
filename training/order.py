"""The order of training samples: of each epoch by its own seed, so that a resumed run repeats it.

The libraries' samplers go on drawing from one generator over all epochs, and a run that resumes in
a later epoch would begin with the order of the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from numpy.random import SeedSequence
from torch.utils.data import Sampler


class EachEpoch(Sampler[int]):
    """A sampler whose order in an epoch follows from the seed and the epoch's number.

    Parameters
    ----------
    sampler
        Any sampler that draws from its attribute ``generator``.
    seed
        The run's.
    """

    def __init__(self, sampler: Any, seed: int) -> None:
        self._sampler, self._seed, self._epoch = sampler, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next; the trainer does at each."""
        self._epoch = epoch

    def __iter__(self) -> Iterator[int]:
        drawn = int(SeedSequence([self._seed, self._epoch]).generate_state(1)[0])
        self._sampler.generator = torch.Generator().manual_seed(drawn)
        return iter(self._sampler)

    def __len__(self) -> int:
        return len(self._sampler)


class OrderedByEpoch:
    """Gives a trainer of transformers `EachEpoch` in place of its sampler."""

    args: Any

    def _get_train_sampler(self, *args: Any, **kwargs: Any) -> EachEpoch:
        sampler = super()._get_train_sampler(*args, **kwargs)  # type: ignore[misc]
        return EachEpoch(sampler, self.args.seed)
