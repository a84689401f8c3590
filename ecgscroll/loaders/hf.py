"""Any of the datasets as a Hugging Face ``Dataset``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import torch

from ecgscroll.errors import ConfigError

if TYPE_CHECKING:
    from datasets import Dataset

_MESSAGE = {"role", "content"}


def to_hugging_face(rows: Iterable[dict[str, Any]], limit: int | None = None) -> Dataset:
    """Return rows as a Hugging Face dataset in memory.

    Parameters
    ----------
    rows
        A dataset of `ecgscroll.loaders`, or any iterable of dicts with the same keys.
    limit
        Most rows.

    Returns
    -------
    datasets.Dataset
        Tensors become lists. What has another shape from row to row (results, calls, ledgers)
        becomes JSON text, since Arrow would fill in what is missing; messages of a role and a
        content stay.

    Raises
    ------
    ConfigError
        If there is no row, or the library ``datasets`` is absent.
    """
    try:
        from datasets import Dataset
    except ModuleNotFoundError:
        raise ConfigError("The conversion needs datasets; install ecgscroll[train].") from None
    found = [
        {name: _plain(value) for name, value in row.items()} for row in islice(_all(rows), limit)
    ]
    if not found:
        raise ConfigError("There is no row to convert.")
    return Dataset.from_list(found)


def _all(rows: Any) -> Iterator[dict[str, Any]]:
    """Yield every row; a map-style dataset is gone through by index."""
    yield from rows if hasattr(rows, "__iter__") else (rows[i] for i in range(len(rows)))


def _plain(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, dict) or (isinstance(value, list) and not _are_messages(value)):
        nested = isinstance(value, dict) or any(isinstance(one, dict) for one in value)
        return json.dumps(value) if nested else value
    return value


def _are_messages(value: list[Any]) -> bool:
    return all(isinstance(one, dict) and one.keys() == _MESSAGE for one in value)
