"""A Lightning data module over any of the datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import torch
from lightning import LightningDataModule
from torch.utils.data import DataLoader, Dataset, IterableDataset

from ecgscroll.errors import ConfigError

Start = Literal["fork", "spawn", "forkserver"]


class EpisodeData(LightningDataModule):
    """Loaders of training, validation and test data, deterministic under a seed.

    Parameters
    ----------
    train, val, test
        Datasets of `ecgscroll.loaders`, or any others. Episodes (`Rollouts`) come as they are
        played; of the rest, training data are shuffled.
    batch_size
        Items in a batch; None passes items on one by one, as episodes want it.
    workers
        Processes of each loader.
    seed
        Shuffles; each epoch is another order, and the same for any number of workers.
    collate
        Joins items into a batch, such as `PadTokens`; by default torch's.
    start
        How worker processes start; torch's default if None.

    Raises
    ------
    ConfigError
        If a size is out of its range.
    """

    def __init__(
        self,
        train: Dataset[Any] | None = None,
        val: Dataset[Any] | None = None,
        test: Dataset[Any] | None = None,
        *,
        batch_size: int | None = 8,
        workers: int = 0,
        seed: int = 0,
        collate: Callable[[list[Any]], Any] | None = None,
        start: Start | None = None,
    ) -> None:
        super().__init__()
        if workers < 0 or (batch_size is not None and batch_size < 1):
            raise ConfigError("workers is 0 or more, and batch_size 1 or more, or None.")
        self._parts = {"train": train, "val": val, "test": test}
        self._batch_size, self._workers, self._seed = batch_size, workers, seed
        self._collate, self._start = collate, start
        self._shuffle = torch.Generator().manual_seed(seed)

    def train_dataloader(self) -> DataLoader[Any]:
        """Return the training data's loader."""
        return self._loader("train", shuffle=True)

    def val_dataloader(self) -> DataLoader[Any]:
        """Return the validation data's loader."""
        return self._loader("val")

    def test_dataloader(self) -> DataLoader[Any]:
        """Return the test data's loader."""
        return self._loader("test")

    def _loader(self, part: str, *, shuffle: bool = False) -> DataLoader[Any]:
        data = self._parts[part]
        if data is None:
            raise ConfigError(f"There are no {part} data; give {part}= to EpisodeData.")
        return DataLoader(
            data,
            batch_size=self._batch_size,
            shuffle=shuffle and not isinstance(data, IterableDataset),
            num_workers=self._workers,
            collate_fn=self._collate,
            generator=self._shuffle if shuffle else None,
            multiprocessing_context=self._start if self._workers else None,
        )
