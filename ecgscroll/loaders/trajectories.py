"""Recorded conversations as tokens, with a loss on the agent's turns alone."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import torch
from jinja2 import TemplateError
from torch.utils.data import Dataset

from ecgscroll.errors import ConfigError
from ecgscroll.loaders.conversations import Conversation, line_offsets, read_conversation

IGNORED = -100
"""Label of a token without a loss, as torch's cross entropy and transformers take it."""
LEFT_OUT = "{n} earlier turns are not shown."

_MARKED = re.compile(r"\{%-?\s*generation\b")
Message = Mapping[str, Any]
Encoded = tuple[list[int], list[bool]]  # tokens, and which of them the agent said


class Trajectories(Dataset[dict[str, torch.Tensor]]):
    """Conversations of a JSON Lines file, tokenised as a chat template renders them.

    An item is a dict of int64 tensors (n,): ``input_ids``, ``attention_mask`` and ``labels``,
    which are -100 but in what the agent said: not in the system's, user's and tools' messages, and
    not in the headers that the template puts before a turn. The mark that ends a turn is learnt.

    Parameters
    ----------
    path
        File with a conversation a line: ``{"messages": [...], "tools": [...], ...}``.
    tokenizer
        With a chat template. One with ``{% generation %}`` marks says itself what the agent's
        turns are; of another, each turn is found by rendering the conversation up to it.
    max_length
        Most tokens. Of a longer conversation the earliest turns are left out, whole, until the
        rest fits: the system message stays, and a user's message says how many are not shown.
    left_out
        That message, with ``{n}`` for the number, as the agent will read it when it plays.
    template
        Further variables of the chat template.

    Raises
    ------
    ConfigError
        If the tokenizer has no chat template; for an item, if the template does not render one
        turn after another, or not even the last turn fits into ``max_length``.
    DataError
        If the file is absent, or a line of it is damaged or no conversation.
    """

    def __init__(
        self,
        path: str | Path,
        tokenizer: Any,
        *,
        max_length: int = 4096,
        left_out: str = LEFT_OUT,
        template: Mapping[str, Any] | None = None,
    ) -> None:
        if not getattr(tokenizer, "chat_template", None):
            raise ConfigError(
                "The tokenizer has no chat template; set tokenizer.chat_template to its model's."
            )
        if max_length < 1:
            raise ConfigError(f"max_length is a number of tokens above 0, not {max_length}.")
        try:
            left_out.format(n=1)
        except (LookupError, ValueError):
            raise ConfigError("left_out is a sentence with {n} and no other braces.") from None
        self.path = Path(path)
        self._tokenizer, self._max_length, self._left_out = tokenizer, max_length, left_out
        self._template = dict(template or {})
        self._offsets = line_offsets(self.path)

    def __len__(self) -> int:
        return len(self._offsets)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        ids, said = self._fitted(self.conversation(index), index)
        labels = [token if own else IGNORED for token, own in zip(ids, said, strict=True)]
        found = {"input_ids": ids, "attention_mask": [1] * len(ids), "labels": labels}
        return {name: torch.tensor(values, dtype=torch.int64) for name, values in found.items()}

    def conversation(self, index: int) -> Conversation:
        """Return a conversation as the file has it, tool calls with their arguments as objects."""
        return read_conversation(self.path, self._offsets[index])

    def _fitted(self, one: Conversation, index: int) -> Encoded:
        """Encode as many of the newest turns as fit."""
        system, turns = divided(one["messages"])
        tools = one.get("tools")

        def without(left: int) -> list[Message]:
            note = [{"role": "user", "content": self._left_out.format(n=left)}] if left else []
            return [*system, *note, *(message for turn in turns[left:] for message in turn)]

        def fits(left: int) -> bool:
            text = self._text(without(left), tools)
            tokens = self._tokenizer(text, add_special_tokens=False)["input_ids"]
            return len(tokens) <= self._max_length

        # The note may be longer than the one turn that it first stands for.
        left = 0 if fits(0) else bisect_left(range(len(turns)), True, lo=1, key=fits)
        if left == len(turns):
            raise ConfigError(
                f"The last turn of conversation {index} of {self.path} does not fit into "
                f"{self._max_length} tokens; raise max_length."
            )
        return self._encoded(without(left), tools)

    def _encoded(self, messages: Sequence[Message], tools: Any) -> Encoded:
        if _MARKED.search(str(self._tokenizer.chat_template)):
            found = self._apply(
                messages, tools, tokenize=True, return_dict=True, return_assistant_tokens_mask=True
            )
            return list(found["input_ids"]), [bool(own) for own in found["assistant_masks"]]
        text = self._text(messages, tools)
        return tokens_within(self._tokenizer, text, self._spans(text, messages, tools))

    def _spans(self, text: str, messages: Sequence[Message], tools: Any) -> list[tuple[int, int]]:
        """Return where in the text the agent speaks, the mark that ends a turn included."""
        spans = []
        for number, message in enumerate(messages):
            if message["role"] == "assistant":
                head = self._text(messages[:number], tools, add_generation_prompt=True)
                upto = self._text(messages[: number + 1], tools).rstrip()
                spans.append((len(head), self._end(text, head, upto)))
        return spans

    def _end(self, text: str, head: str, upto: str) -> int:
        """Return where a turn ends that begins after ``head``."""
        if text.startswith(upto) and upto.startswith(head):
            return len(upto)
        # Some templates show a last turn differently: there the mark tells.
        mark = self._tokenizer.eos_token or ""
        at = text.find(mark, len(head)) if mark and text.startswith(head) else -1
        if at < 0:
            raise ConfigError(
                "The chat template changes earlier turns when later ones come, so the agent's "
                "cannot be told; take one with {% generation %} marks."
            )
        return at + len(mark)

    def _text(self, messages: Sequence[Message], tools: Any, **options: Any) -> str:
        return str(self._apply(messages, tools, tokenize=False, **options))

    def _apply(self, messages: Sequence[Message], tools: Any, **options: Any) -> Any:
        given = {**self._template, **options}
        try:
            return self._tokenizer.apply_chat_template(list(messages), tools=tools, **given)
        except TemplateError as error:
            raise ConfigError(
                f"The chat template cannot render a conversation of {self.path}: {error}."
            ) from None


def divided(messages: Sequence[Message]) -> tuple[list[Message], list[list[Message]]]:
    """Return the system messages at the start, and the turns.

    The first turn is what is told before the agent speaks; each other is what it says, and what
    is answered to it.
    """
    head = list(takewhile(lambda message: message["role"] == "system", messages))
    turns: list[list[Message]] = [[]]
    for message in messages[len(head) :]:
        if message["role"] == "assistant" and turns[-1]:
            turns.append([])
        turns[-1].append(message)
    return head, turns


def tokens_within(tokenizer: Any, text: str, spans: Sequence[tuple[int, int]]) -> Encoded:
    """Return the tokens of a text, and for each whether it begins in one of some spans."""
    if not getattr(tokenizer, "is_fast", False):
        return _tokens_without_offsets(tokenizer, text, spans)
    found = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    ids, offsets = list(found["input_ids"]), found["offset_mapping"]
    said = [any(start <= at < stop for start, stop in spans) for at, _ in offsets]
    return ids, said


def _tokens_without_offsets(tokenizer: Any, text: str, spans: Sequence[tuple[int, int]]) -> Encoded:
    """Tell the same from how many tokens the text up to each bound has."""
    ids = list(tokenizer(text, add_special_tokens=False)["input_ids"])
    said = [False] * len(ids)
    for span in spans:
        before, upto = (
            list(tokenizer(text[:at], add_special_tokens=False)["input_ids"]) for at in span
        )
        if ids[: len(before)] != before or ids[: len(upto)] != upto:
            raise ConfigError(
                "The tokenizer joins characters across turns, so the agent's cannot be told; "
                "take its fast version, or a chat template with {% generation %} marks."
            )
        said[len(before) : len(upto)] = [True] * (len(upto) - len(before))
    return ids, said


class PadTokens:
    """Collator: joins items of `Trajectories` into a batch (B, n), padded on the right.

    Parameters
    ----------
    pad_token_id
        What ``input_ids`` are padded with, such as ``tokenizer.pad_token_id``; ``attention_mask``
        is padded with 0, and ``labels`` with -100.
    multiple
        n is a multiple of it.

    Raises
    ------
    ConfigError
        If the tokenizer has no padding token, or the multiple is below 1.
    """

    def __init__(self, pad_token_id: int | None, multiple: int = 1) -> None:
        if pad_token_id is None or multiple < 1:
            raise ConfigError("Padding needs a token, and a multiple of 1 or more.")
        self._fills = {"input_ids": pad_token_id, "attention_mask": 0, "labels": IGNORED}
        self._multiple = multiple

    def __call__(self, items: Sequence[Mapping[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
        """Return the batch, each of its tensors (B, n) int64."""
        longest = max(len(item["input_ids"]) for item in items)
        width = -(-longest // self._multiple) * self._multiple
        batch = {}
        for name, fill in self._fills.items():
            joined = torch.full((len(items), width), fill, dtype=torch.int64)
            for row, item in zip(joined, items, strict=True):
                row[: len(item[name])] = item[name]
            batch[name] = joined
        return batch
