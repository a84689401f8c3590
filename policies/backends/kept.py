"""What a model has read: tokens with their keys and values, kept for whoever begins alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

States = tuple[torch.Tensor, torch.Tensor]
"""Keys and values of one layer, (1, heads, tokens, size) each, with room behind them."""

_ROOM = 128  # tokens, and a quarter of what there is


class Read:
    """A sequence of tokens, and what each layer of a model has of them.

    States may be written before it is known which of their tokens stay: those behind `ids` are
    written over.

    Parameters
    ----------
    ids
        Tokens whose states are there.
    states
        Of each layer.
    """

    def __init__(self, ids: Sequence[int] = (), states: dict[int, States] | None = None) -> None:
        self.ids = list(ids)
        self._states = states or {}

    @property
    def nbytes(self) -> int:
        """Memory that is held, in bytes."""
        return sum(one.nbytes for pair in self._states.values() for one in pair)

    def add(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> States:
        """Write a layer's states behind those of `ids`; return all, (1, heads, tokens, size)."""
        begin, end = len(self.ids), len(self.ids) + keys.shape[2]
        held = self._states.get(layer)
        if held is None or held[0].shape[2] < end:
            held = self._states[layer] = _grown(held, (keys, values), begin, end)
        for all_of_it, added in zip(held, (keys, values), strict=True):
            all_of_it[:, :, begin:end] = added
        return held[0][:, :, :end], held[1][:, :, :end]

    def cut(self, count: int) -> None:
        """Forget all but the first tokens."""
        del self.ids[count:]

    def copy(self, count: int) -> Read:
        """Return a copy of the first tokens and their states."""
        states = {layer: _grown(pair, pair, count, count) for layer, pair in self._states.items()}
        return Read(self.ids[:count], states)


def _grown(held: States | None, like: States, count: int, least: int) -> States:
    """Return room for ``least`` tokens and some more, with the first ``count`` of those held."""
    room = least + least // 4 + _ROOM
    keys, values = (one.new_empty((*one.shape[:2], room, one.shape[3])) for one in like)
    if held is not None:
        keys[:, :, :count], values[:, :, :count] = (one[:, :, :count] for one in held)
    return keys, values


class Beginnings:
    """What was read lately; the oldest goes when there is too much.

    Parameters
    ----------
    most_bytes
        Most memory for what is kept.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._kept: list[tuple[NDArray[np.int64], Read]] = []

    def take(self, ids: Sequence[int]) -> Read:
        """Return as much as is known of how some tokens begin; one at least is left to read.

        What goes on is taken out; of what only begins alike, a copy is made.
        """
        wanted = np.asarray(ids[:-1], dtype=np.int64)
        shared = [_shared(known, wanted) for known, _ in self._kept]
        most = max(shared, default=0)
        if not most:
            return Read()
        place = shared.index(most)
        known, read = self._kept[place]
        if 2 * most < len(known):
            return read.copy(most)
        del self._kept[place]
        read.cut(most)
        return read

    def keep(self, read: Read) -> None:
        """Keep what was read."""
        self._kept.append((np.asarray(read.ids, dtype=np.int64), read))
        while sum(one.nbytes for _, one in self._kept) > self._most:
            del self._kept[0]


def _shared(one: NDArray[np.int64], other: NDArray[np.int64]) -> int:
    count = min(len(one), len(other))
    differ = np.flatnonzero(one[:count] != other[:count])
    return int(differ[0]) if len(differ) else count
