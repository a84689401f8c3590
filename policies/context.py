"""Which of the past a model sees: a window of turns, the last observation alone, or everything.

A conversation is a system message, observations, and the model's turns between them. Tool calls
and the messages that answer them stay together: a turn is kept whole or left out whole.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ecgscroll.environment.observation import clip
from ecgscroll.errors import ConfigError
from policies.asking import message_tokens
from policies.backends.base import Message, Reply, ToolCall
from policies.calls import MOST_CALLS, Taken, decoded
from policies.prompts import phrase
from policies.text import Count, fit, without_ledger

Kind = Literal["window", "last", "full"]

LEAST_TOKENS = 100
"""Room that an observation must have beside the system message."""
_MOST_SAID = 2000  # characters of a turn that are shown again
_MOST_CLEANED = 20_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Turn:
    """What the model said, and what was answered to it; the observation comes last.

    Parameters
    ----------
    messages
        The assistant's message and the answers to calls that were not taken; none at the start.
    call_id
        The call that the next observation answers; None if it was no tool call.
    """

    messages: tuple[Message, ...] = ()
    call_id: str | None = None

    def observed(self, text: str) -> list[Message]:
        """Return the turn's messages and the observation that answers it."""
        if self.call_id is None:
            return [*self.messages, {"role": "user", "content": text}]
        return [*self.messages, {"role": "tool", "tool_call_id": self.call_id, "content": text}]


class Context:
    """The conversation of one episode, as much of it as a request may hold.

    Parameters
    ----------
    kind
        ``window``: the newest turns, at most ``turns`` of them, with the ledger in the newest
        observation. ``last``: the last observation alone, without the ledger's content.
        ``full``: as ``window`` with every turn that fits.
    system
        The system message's text.
    room
        Most tokens of all messages together.
    count
        Counts the tokens of a text.
    turns
        Earlier turns that ``window`` shows.
    slack
        How many more it may come to show before the oldest are left out, that many at once: until
        then requests begin alike, and whoever answers need not read the beginning again.
    ledger
        Whether the newest observation shows the ledger's content. Without it, every observation
        reads the same when it is new and when it is old, as a model reads them in training.

    Raises
    ------
    ConfigError
        If there is no such kind, or the room is too small for the system message and a little.
    """

    def __init__(
        self,
        kind: Kind,
        system: str,
        room: int,
        count: Count,
        turns: int = 32,
        ledger: bool = True,
        slack: int = 0,
    ) -> None:
        check_kind(kind)
        self._turns, self._most = turns, turns + slack
        self._kind, self._count, self._ledger = kind, count, ledger
        self._system: Message = {"role": "system", "content": system}
        self._room = room - self._tokens(self._system)
        if self._room < LEAST_TOKENS:
            raise ConfigError(
                f"The prompt leaves {self._room} tokens of {room} for what is observed: choose a "
                "model with a longer context, or raise prompt_tokens."
            )
        self._past: deque[tuple[list[Message], int]] = deque()
        self._turn, self._text, self._observed = Turn(), "", 0

    def messages(self, text: str) -> list[Message]:
        """Return what to ask with, the newest observation being ``text``."""
        self._text = text
        if self._kind == "last":
            return self._alone(without_ledger(text))
        text = text if self._ledger else without_ledger(text)
        said = sum(map(self._tokens, self._turn.messages))
        spare = self._room - said - self._tokens({"content": self._left_out()})
        if spare < LEAST_TOKENS // 2:
            return self._alone(text)
        newest = self._turn.observed(fit(text, spare - self._tokens({"content": ""}), self._count))
        spare += said - sum(map(self._tokens, newest))
        return [self._system, *self._history(spare), *newest]

    def said(self, reply: Reply, taken: Taken) -> None:
        """Take in what the model answered to the last messages, and which call was taken."""
        if self._kind == "last":
            return
        closed = self._turn.observed(without_ledger(self._text))
        self._past.append((closed, sum(map(self._tokens, closed))))
        if self._kind == "window" and len(self._past) > self._most:
            while len(self._past) > self._turns:
                self._past.popleft()
        self._observed += 1
        self._turn = recorded(reply, taken, self._observed)

    def _history(self, spare: int) -> list[Message]:
        """Return the earlier turns that fit, newest first chosen, oldest first told."""
        kept: list[list[Message]] = []
        for messages, tokens in reversed(self._past):
            spare -= tokens
            if spare < 0:
                break
            kept.append(messages)
        history = [message for messages in reversed(kept) for message in messages]
        if len(kept) < self._observed:
            history.insert(0, {"role": "user", "content": self._left_out(len(kept))})
        return history

    def _left_out(self, kept: int = 0) -> str:
        return phrase("left_out", n=self._observed - kept)

    def _alone(self, text: str) -> list[Message]:
        room = self._room - self._tokens({"content": ""})
        return [self._system, {"role": "user", "content": fit(text, room, self._count)}]

    def _tokens(self, message: Message) -> int:
        return message_tokens(message, self._count)


def check_kind(kind: object) -> None:
    """Refuse a context policy that does not exist; raises `ConfigError`."""
    if kind not in get_args(Kind):
        raise ConfigError(f"context is one of {', '.join(get_args(Kind))}, not {kind!r}.")


def recorded(reply: Reply, taken: Taken, turn: int) -> Turn:
    """Return a model's turn as later requests show it, short and well formed whatever it was.

    Ids are given anew, so that they are the same on every server; calls that are not well formed
    are left out, and the answer to a turn without any is a user's message. The call that was taken
    comes last, so that its observation does. What was said beside calls is left out: some servers
    drop it, and the same turns must read the same wherever a model runs.
    """
    text = _clean(reply.text.rpartition("</think>")[2].strip())
    if taken.index is None:
        shown = text if text and len(text) <= _MOST_SAID else _clean(_shown(taken.action))
        return Turn(({"role": "assistant", "content": clip(shown, _MOST_SAID)},))
    others = [call for n, call in enumerate(reply.calls[:MOST_CALLS]) if n != taken.index]
    sound = [(call.name, _sound(call)) for call in others]
    told = [(name, arguments) for name, arguments in sound if arguments is not None]
    told.append((taken.action["name"], _strict(taken.action["arguments"]) or "{}"))
    calls = [
        {
            "id": f"c{turn % 10**6:06d}{n:02d}",  # nine letters and digits: some servers insist
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        for n, (name, arguments) in enumerate(told)
    ]
    refused = [
        {"role": "tool", "tool_call_id": one["id"], "content": phrase("one_call")}
        for one in calls[:-1]
    ]
    said = {"role": "assistant", "content": "", "tool_calls": calls}
    return Turn((said, *refused), str(calls[-1]["id"]))


def _sound(call: ToolCall) -> str | None:
    """Return the arguments of a call that a server would let pass, else None."""
    if not _NAME.fullmatch(call.name):
        return None
    arguments = decoded(call.arguments)
    return None if arguments is None else _strict(arguments)


def _strict(value: Any) -> str | None:
    """Return JSON of a bounded size, in ASCII; None for what has none, or too long a one."""
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None
    return text if len(text) <= _MOST_SAID else None


def _shown(action: Mapping[str, Any]) -> str:
    try:
        return json.dumps(action)
    except (TypeError, ValueError, RecursionError):
        return "{}"


def _clean(text: str) -> str:
    """Drop what no message can carry: control characters and halves of surrogate pairs."""
    whole = text[-_MOST_CLEANED:].encode("utf-8", "ignore").decode()
    return "".join(c for c in whole if c.isprintable() or c in "\n\t")
