"""Samples to learn from: stretches of conversations, with a loss on the agent's turns alone.

A stretch begins with the system prompt, the line that says how many turns are not shown, and the
turns that the agent's window has at the first call that is learnt; more follow as far as there is
room.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from trl.chat_template_utils import get_training_chat_template

from ecgscroll.errors import ConfigError
from ecgscroll.tools.schemas import tool_schemas
from policies.asking import message_tokens
from policies.backends.base import Message
from policies.prompts import phrase
from training.demonstrations import DONE, Conversation

IGNORED = -100


@dataclass(frozen=True)
class Stretch:
    """Turns ``first`` to ``last`` (exclusive) of a conversation; learnt from ``learnt`` on."""

    first: int
    learnt: int
    last: int


def stretches(lengths: Sequence[int], shown: int, room: int) -> list[Stretch]:
    """Divide a conversation so that every call is learnt once, with what the agent sees in view.

    Parameters
    ----------
    lengths
        Tokens of each turn.
    shown
        Turns that an agent sees, the newest observation's included; as many are repeated from the
        stretch before, where they fit.
    room
        Most tokens of a stretch; a turn that is longer makes one of its own.

    Examples
    --------
    >>> stretches([10] * 6, shown=2, room=40)
    [Stretch(first=0, learnt=0, last=4), Stretch(first=2, learnt=4, last=6)]
    """
    found: list[Stretch] = []
    learnt = 0
    while learnt < len(lengths):
        first = max(0, learnt - shown)
        while first < learnt - 1 and sum(lengths[first : learnt + 1]) > room:
            first += 1
        last, used = first, 0
        while last < len(lengths):
            used += lengths[last]
            if used > room and last > learnt:
                break
            last += 1
        last = max(last, learnt + 1)
        found.append(Stretch(first, learnt, last))
        learnt = last
    return found


class Sampler:
    """Turns conversations into tokens and labels.

    Parameters
    ----------
    tokenizer
        Of the model that learns.
    turns
        Most earlier turns that the agent sees.
    max_length
        Most tokens of a sample.
    template
        Further variables of the chat template.
    all_text
        Whether what the agent reads is learnt too, but for the system prompt.

    Raises
    ------
    ConfigError
        If TRL does not know the tokenizer's chat template, so that an agent's turns could not be
        told from the rest.
    """

    def __init__(
        self,
        tokenizer: Any,
        turns: int,
        max_length: int,
        template: Mapping[str, Any] | None = None,
        *,
        all_text: bool = False,
    ) -> None:
        self._tokenizer, self._template = tokenizer, dict(template or {})
        self._shown, self._max_length, self._all = turns + 1, max_length, all_text
        try:
            self._marked = get_training_chat_template(tokenizer) or tokenizer.chat_template
        except ValueError:
            raise ConfigError(
                "TRL does not know the model's chat template: set model.chat_template, such as "
                "qwen2_5 for tokenizers with <|im_start|>."
            ) from None

    def samples(
        self, conversation: Conversation, most: int | None = None, seed: Sequence[int] = (0,)
    ) -> Iterator[dict[str, list[int]]]:
        """Yield ``input_ids`` and ``labels``, -100 where nothing is to be learnt.

        Parameters
        ----------
        conversation
            What is divided.
        most, seed
            Most samples, and what draws them where there are more.

        Raises
        ------
        ConfigError
            If a turn does not fit into a sample.
        """
        lengths = [self._length(turn) for turn in conversation.turns]
        head = len(self._encoded(conversation, ())["input_ids"])
        room = self._max_length - head
        if room < max(lengths):
            raise ConfigError(
                f"The system prompt takes {head} tokens and a turn up to {max(lengths)}: raise "
                f"demonstrations.max_length ({self._max_length})."
            )
        for one in _drawn(stretches(lengths, self._shown, room), most, seed):
            encoded = self._encoded(conversation, self._messages(conversation, one))
            ids, mask = encoded["input_ids"], encoded["assistant_masks"]
            read = max(0, one.learnt - max(one.first, 1))  # the first turn has no call
            kept = (
                [int(n >= head) for n in range(len(ids))]
                if self._all
                else _without_first(mask, read)
            )
            labels = [token if own else IGNORED for token, own in zip(ids, kept, strict=True)]
            if any(own for own in kept[: self._max_length]):
                cut = slice(self._max_length)
                yield {"input_ids": ids[cut], "labels": labels[cut]}

    def _messages(self, conversation: Conversation, one: Stretch) -> list[Message]:
        turns = conversation.turns
        messages = [message for turn in turns[one.first : one.last] for message in turn]
        if one.first:
            messages.insert(0, {"role": "user", "content": phrase("left_out", n=one.first)})
        if one.last == len(turns):
            messages.append({"role": "assistant", "content": DONE})
        return messages

    def _encoded(self, conversation: Conversation, messages: Sequence[Message]) -> Any:
        system = {"role": "system", "content": conversation.system}
        return self._tokenizer.apply_chat_template(
            [system, *map(decoded_calls, messages)],
            tools=tool_schemas(conversation.dx),
            chat_template=self._marked,
            tokenize=True,
            return_dict=True,
            return_assistant_tokens_mask=True,
            **self._template,
        )

    def _length(self, turn: Sequence[Message]) -> int:
        return sum(message_tokens(message, self._count) for message in turn)

    def _count(self, text: str) -> int:
        return len(self._tokenizer(text, add_special_tokens=False)["input_ids"])


def _drawn(found: Sequence[Stretch], most: int | None, seed: Sequence[int]) -> Sequence[Stretch]:
    if most is None or len(found) <= most:
        return found
    drawn = np.random.default_rng(list(seed)).choice(len(found), most, replace=False)
    return [found[index] for index in sorted(drawn)]


def decoded_calls(message: Message) -> dict[str, Any]:
    """Return a message whose calls carry their arguments as objects, as chat templates expect."""
    calls = [
        {**call, "function": {**call["function"], "arguments": json.loads(arguments)}}
        for call in message.get("tool_calls", ())
        for arguments in (call["function"]["arguments"],)
    ]
    return {**message, "tool_calls": calls} if calls else dict(message)


def _without_first(mask: Sequence[int], turns: int) -> list[int]:
    """Clear the first so many runs of ones of a mask: one run is one of the agent's turns."""
    kept, run, before = list(mask), 0, 0
    for at, own in enumerate(mask):
        run += own and not before
        kept[at] = int(own and run > turns)
        before = own
    return kept
