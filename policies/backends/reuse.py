"""Decoding that reads nothing twice: shared beginnings are kept, and calls are drafted.

A conversation grows at its end, so most of a prompt was read in the turn before: its keys and
values are kept. And a call repeats an earlier one but for its numbers, so what followed the same
tokens before is drafted; the model reads a draft in one go, and keeps what it would have said.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

Pick = Callable[[int, torch.Tensor], int]
"""Chooses a row's next token from the scores of all."""
Ended = Callable[[int, list[int]], bool]
"""Tells whether a row's new tokens are its last."""
States = tuple[torch.Tensor, torch.Tensor]
"""Keys and values of one layer, (heads, tokens, size) each."""

DRAFT = 8
"""Most tokens that are drafted at a time."""
_GRAM = 3  # tokens that must have been said before
_MOST_BYTES = 1 << 28
_LEAST_SHARED = 16
_ROOM = 128


def can_reuse(model: Any) -> bool:
    """Tell whether a model's cache can be cut anywhere: full attention in every layer."""
    base = _base(model)
    if not {"position_ids", "cache", "logits_to_keep"} <= set(_parameters(base)):
        return False
    layers = DynamicCache(config=base.config).layers
    return bool(layers) and all(type(layer) is DynamicLayer for layer in layers)


def _parameters(base: Any) -> Collection[str]:
    return inspect.signature(base.forward).parameters


@dataclass(frozen=True)
class _Kept:
    """Tokens that were read, and the keys and values of each layer, (heads, tokens, size)."""

    ids: NDArray[np.int64]
    states: tuple[States, ...]

    @property
    def size(self) -> int:
        return sum(k.nbytes + v.nbytes for k, v in self.states)


class Beginnings:
    """What was read lately, by how it begins; the oldest goes when there is too much."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most, self._used, self._next = most_bytes, 0, 0
        self._kept: OrderedDict[int, _Kept] = OrderedDict()

    def longest(self, ids: NDArray[np.int64]) -> tuple[int, _Kept | None]:
        """Return how many tokens are known, one at least being left to read, and where."""
        best, found = 0, None
        for key, kept in self._kept.items():
            shared = _shared(kept.ids, ids[:-1])
            if shared > best:
                best, found = shared, key
        if found is None or best < _LEAST_SHARED:
            return 0, None
        self._kept.move_to_end(found)
        return best, self._kept[found]

    def keep(self, kept: _Kept) -> None:
        """Keep what was read, in place of what it goes on from."""
        for key, other in list(self._kept.items()):
            if _shared(other.ids, kept.ids) == len(other.ids):
                self._used -= self._kept.pop(key).size
        self._kept[self._next] = kept
        self._next += 1
        self._used += kept.size
        while self._used > self._most:
            self._used -= self._kept.popitem(last=False)[1].size


def _shared(one: NDArray[np.int64], other: NDArray[np.int64]) -> int:
    count = min(len(one), len(other))
    differ = np.flatnonzero(one[:count] != other[:count])
    return int(differ[0]) if len(differ) else count


class _Layer(DynamicLayer):  # type: ignore[no-untyped-call]
    """Keys and values that grow in place, behind what is known of each row.

    Parameters
    ----------
    past
        Length of the longest known beginning; the others lie at its right.
    known
        States of each row's beginning, or None.
    """

    keys: torch.Tensor
    values: torch.Tensor

    def __init__(self, past: int, known: Sequence[States | None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._length, self._known = past, known

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Make room when the first states tell shape and type."""
        self.keys, self.values = (
            _roomy(states[:, :, :0], self._length + states.shape[2])
            for states in (key_states, value_states)
        )
        for row, known in enumerate(self._known):
            if known is not None:
                place = slice(self._length - known[0].shape[1], self._length)
                self.keys[row, :, place], self.values[row, :, place] = known
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Add states behind those there are, and return all of them."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        place = slice(self._length, self._length + key_states.shape[2])
        if place.stop > self.keys.shape[2]:
            self.keys, self.values = (_roomy(s, place.stop) for s in (self.keys, self.values))
        self.keys[:, :, place], self.values[:, :, place] = key_states, value_states
        self._length = place.stop
        return self.keys[:, :, : place.stop], self.values[:, :, : place.stop]

    def get_seq_length(self) -> int:
        """Return the number of states."""
        return self._length


def _roomy(states: torch.Tensor, least: int) -> torch.Tensor:
    """Return states with room for ``least`` and some more."""
    rows, heads, count, size = states.shape
    grown = states.new_zeros((rows, heads, least + _ROOM, size))
    grown[:, :, :count] = states
    return grown


@dataclass
class _Row:
    """A request on its way: what was read, what is fed next, what was said."""

    ids: list[int]
    feed: list[int]
    new: list[int] = field(default_factory=list)
    drafted: int = 0
    done: bool = False

    def draft(self, most: int) -> None:
        """Append to what is fed next what followed the last tokens before."""
        found = followed(self.ids + self.new, most) if most > 0 else []
        self.feed, self.drafted = self.feed + found, len(found)


def followed(said: Sequence[int], most: int) -> list[int]:
    """Return what followed the newest earlier place where the last tokens were said.

    Examples
    --------
    >>> followed([5, 1, 2, 3, 7, 8, 9, 1, 2, 3], 2)
    [7, 8]
    """
    end = list(said[-_GRAM:])
    for at in range(len(said) - _GRAM - 1, -1, -1):
        if said[at] == end[0] and list(said[at : at + _GRAM]) == end:
            return list(said[at + _GRAM : at + _GRAM + most])
    return []


def _beginning(known: tuple[int, _Kept | None], layer: int) -> States | None:
    count, kept = known
    if kept is None:
        return None
    keys, values = kept.states[layer]
    return keys[:, :count], values[:, :count]


def _base(model: Any) -> Any:
    """Return a model without its adapter's wrapping."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


class Reader:
    """Reads prompts and says what follows, for one model.

    Parameters
    ----------
    model
        One that `can_reuse`.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._beginnings = Beginnings()

    def decode(
        self, prompts: Sequence[Sequence[int]], pick: Pick, ended: Ended, limit: int
    ) -> list[list[int]]:
        """Return the new tokens of each prompt, with the one that ended it.

        Parameters
        ----------
        prompts
            Tokens of each.
        pick, ended
            Choose a token and tell the end; asked token by token, in order, for each row.
        limit
            Most new tokens of a row.
        """
        arrays = [np.asarray(ids, dtype=np.int64) for ids in prompts]
        known = [self._beginnings.longest(ids) for ids in arrays]
        rows = [
            _Row(list(ids), list(ids[shared:]))
            for ids, (shared, _) in zip(prompts, known, strict=True)
        ]
        batch = _Batch(self._model, rows, known)
        while not all(row.done for row in rows):
            batch.step(pick, ended, limit)
        for number, ids in enumerate(arrays):
            self._beginnings.keep(batch.kept(number, ids))
        return [row.new for row in rows]


class _Batch:
    """Rows that are read together: known states at the left, each row's tokens right-aligned.

    A token that was drafted in vain leaves its states behind; the mask hides them.
    """

    def __init__(
        self, model: Any, rows: list[_Row], known: Sequence[tuple[int, _Kept | None]]
    ) -> None:
        self._model, self._rows = model, rows
        self._device = next(model.parameters()).device
        self._place = [count for count, _ in known]
        past = max(self._place)
        self._mask = torch.zeros((len(rows), past), dtype=torch.long)
        for row, count in enumerate(self._place):
            self._mask[row, past - count :] = 1
        self._cache = DynamicCache(config=_base(model).config)
        self._layers = [
            _Layer(past, [_beginning(one, number) for one in known])
            for number in range(len(self._cache.layers))
        ]
        self._cache.layers = list(self._layers)

    def step(self, pick: Pick, ended: Ended, limit: int) -> None:
        """Read what each row is fed, drafts behind it, and take what the model would say."""
        for row in self._rows:
            row.draft(0 if row.done else min(DRAFT, limit - len(row.new) - 1))
        ids, mask, places = self._laid_out()
        self._mask = torch.cat([self._mask, mask], dim=1)
        drafted = max(row.drafted for row in self._rows)
        logits = self._model(
            input_ids=ids.to(self._device),
            attention_mask=self._mask.to(self._device),
            position_ids=places.to(self._device),
            cache=self._cache,
            use_cache=True,
            logits_to_keep=drafted + 1,
        ).logits.float()
        for number, row in enumerate(self._rows):
            if not row.done:
                self._take(number, row, logits[number], pick, ended, limit)
            else:
                row.feed = []

    def _laid_out(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return tokens, mask and positions of what is fed, (rows, width), right-aligned."""
        width = max(len(row.feed) for row in self._rows)
        ids, mask, places = (
            torch.zeros((len(self._rows), width), dtype=torch.long) for _ in range(3)
        )
        for number, row in enumerate(self._rows):
            count, first = len(row.feed), self._place[number]
            if count:
                ids[number, -count:] = torch.tensor(row.feed)
                mask[number, -count:] = 1
                places[number, -count:] = torch.arange(first, first + count)
        return ids, mask, places

    def _take(
        self,
        number: int,
        row: _Row,
        scores: torch.Tensor,
        pick: Pick,
        ended: Ended,
        limit: int,
    ) -> None:
        """Say tokens as long as the draft says the same, and one more."""
        drafts = row.feed[len(row.feed) - row.drafted :]
        taken = 0
        while True:
            token = pick(number, scores[-(row.drafted - taken + 1)])
            row.new.append(token)
            row.done = ended(number, row.new) or len(row.new) >= limit
            if row.done or taken == row.drafted or token != drafts[taken]:
                break
            taken += 1
        wrong = row.drafted - taken
        if wrong:
            self._mask[number, -wrong:] = 0
        self._place[number] += len(row.feed) - wrong
        row.feed, row.drafted = [token], 0

    def kept(self, number: int, ids: NDArray[np.int64]) -> _Kept:
        """Return a row's tokens and states, without those drafted in vain."""
        held = self._mask[number].nonzero()[:, 0].to(self._device)
        said = np.asarray(self._rows[number].new, dtype=np.int64)
        tokens = np.concatenate([ids, said])[: len(held)]
        states = tuple(
            (layer.keys[number][:, held], layer.values[number][:, held]) for layer in self._layers
        )
        return _Kept(tokens, states)
