"""Many requests decoded as one row of tokens, without reading twice what their prompts share.

Requests lie one behind the other, each with positions of its own, and each looks at its own keys
and values alone, so nothing is padded. A call repeats an earlier one but for its numbers: what
followed the same tokens before is drafted, the model reads a draft in one go, and what it would
have said is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from policies.backends.kept import Beginnings, Read

Pick = Callable[[int, torch.Tensor], int]
"""Chooses a row's next token from the scores of all."""
Ended = Callable[[int, list[int]], bool]
"""Tells whether a row's new tokens are its last."""

DRAFT = 8
"""Most tokens that are drafted at a time."""
MOST_FED = 1024
"""Most tokens of all requests that are read in one go; longer prompts are read piece by piece."""
_RUNS = (16, 8, 5, 3, 2)  # tokens that must have been said before
IMPLEMENTATION = "ecgscroll_rows"
"""Name of the attention by rows, as transformers knows it."""


def _attend(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: None,
    *,
    rows: Sequence[_Row],
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """Let each row's tokens look at what the row has read; returns (1, tokens, heads, size)."""
    seen, begin = [], 0
    for row in rows:
        part = slice(begin, begin + row.width)
        keys, values = row.read.add(module.layer_idx, key[:, :, part], value[:, :, part])
        out, _ = sdpa_attention_forward(
            module, query[:, :, part], keys, values, row.mask, **options
        )
        seen.append(out)
        begin = part.stop
    return torch.cat(seen, dim=1), None


AttentionInterface.register(IMPLEMENTATION, _attend)


@dataclass
class _Row:
    """A request on its way: what was read, what is still to read, what was said in all."""

    number: int
    limit: int
    read: Read
    feed: list[int]
    said: str
    new: list[int] = field(default_factory=list)
    done: bool = False
    drafted: int = 0
    width: int = 0
    mask: torch.Tensor | None = None

    def lay_out(self, room: int, device: Any) -> list[int]:
        """Return what is read next, at most ``room`` tokens, with a draft behind the prompt."""
        most = min(DRAFT, self.limit - len(self.new) - 1, room - len(self.feed))
        drafts = followed(self.said, most) if most > 0 else []
        self.feed += drafts
        self.drafted, self.width = len(drafts), min(len(self.feed), room)
        self.mask = _unseen(len(self.read.ids), self.width, device)
        return self.feed[: self.width]

    def scores(self) -> int:
        """Return for how many of its tokens the row needs scores."""
        return self.drafted + 1 if self.width == len(self.feed) else 0

    def take(self, scores: torch.Tensor, pick: Pick, ended: Ended) -> None:
        """Say tokens as long as the draft says the same, and one more."""
        drafts = self.feed[len(self.feed) - self.drafted :]
        self.read.ids += self.feed[: self.width]
        self.feed = self.feed[self.width :]
        for taken, row in enumerate(scores):
            token = pick(self.number, row)
            self.new.append(token)
            self.said += chr(token)
            self.done = ended(self.number, self.new) or len(self.new) >= self.limit
            if self.done or taken == self.drafted or token != drafts[taken]:
                self.read.cut(len(self.read.ids) - self.drafted + taken)
                self.feed = [token]
                break


def _unseen(past: int, width: int, device: Any) -> torch.Tensor | None:
    """Hide from each new token those behind it; reading from the start needs no mask for that."""
    if not past or width == 1:
        return None
    return torch.ones((1, 1, width, past + width), dtype=torch.bool, device=device).tril(past)


def followed(said: str, most: int) -> list[int]:
    """Return what followed the newest earlier place where the same was said last.

    Of the lengths tried, the longest for which there is such a place. Tokens are characters, so
    that the search is one for a part of a text.

    Examples
    --------
    >>> list(map(chr, followed("t0: 700, t1: 900, t0", 4)))
    [':', ' ', '7', '0']
    """
    for length in _RUNS:
        place = said.rfind(said[-length:], 0, len(said) - 1)
        if place >= 0:
            return list(map(ord, said[place + length : place + length + most]))
    return []


class Reader:
    """Reads prompts and says what follows, for one model.

    Parameters
    ----------
    model
        One whose attention is `IMPLEMENTATION`.
    most_bytes
        Most memory for what is kept from one call to the next.
    """

    def __init__(self, model: Any, most_bytes: int) -> None:
        self._model = model
        self._device = next(model.parameters()).device
        self._beginnings = Beginnings(most_bytes)

    def decode(
        self, prompts: Sequence[Sequence[int]], limits: Sequence[int], pick: Pick, ended: Ended
    ) -> list[list[int]]:
        """Return the new tokens of each prompt, with the one that ended it.

        Parameters
        ----------
        prompts, limits
            Tokens of each, and most new ones.
        pick, ended
            Choose a token and tell the end; asked token by token, in order, for each row.
        """
        rows = []
        for number, (ids, limit) in enumerate(zip(prompts, limits, strict=True)):
            read = self._beginnings.take(ids)
            said = "".join(map(chr, ids))
            rows.append(_Row(number, limit, read, list(ids[len(read.ids) :]), said))
        while active := [row for row in rows if not row.done]:
            for row, scores in self._step(active):
                row.take(scores, pick, ended)
        for row in rows:
            self._beginnings.keep(row.read)
        return [row.new for row in rows]

    def _step(self, rows: Sequence[_Row]) -> Iterator[tuple[_Row, torch.Tensor]]:
        """Read on in as many rows as there is room for; yield each with its scores."""
        ids: list[int] = []
        places: list[int] = []
        wanted: list[int] = []
        fed: list[_Row] = []
        for row in rows:
            if len(ids) < MOST_FED:
                past = len(row.read.ids)
                ids += row.lay_out(MOST_FED - len(ids), self._device)
                places += range(past, past + row.width)
                wanted += range(len(ids) - row.scores(), len(ids))
                fed.append(row)
        logits = self._model(
            input_ids=torch.tensor([ids], device=self._device),
            position_ids=torch.tensor([places], device=self._device),
            use_cache=False,
            logits_to_keep=torch.tensor(wanted, dtype=torch.long, device=self._device),
            rows=fed,
        ).logits[0]
        return zip(fed, logits.float().split([row.scores() for row in fed]), strict=True)
