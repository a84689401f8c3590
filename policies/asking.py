"""What every agent with a language model shares: seeds, accounts, and a record of the last turn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ecgscroll.errors import ConfigError
from policies.backends.base import Backend, Message, Reply

Schemas = Sequence[Mapping[str, Any]]

_REPLY_TOKENS = 256  # set aside where no option says how long replies may be
_MARGIN = 0.95  # chat templates add what nobody counts
_PER_MESSAGE = 10


class Asker:
    """Asks a back end on behalf of one episode after another.

    Parameters
    ----------
    backend
        The model.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.begin({})

    def begin(self, info: Mapping[str, Any]) -> None:
        """Begin an episode: its requests' seeds follow from its own, its accounts from zero."""
        seed = info.get("sampling_seed", info.get("seed"))
        self._key = f"{seed or 0}/{info.get('instance')}"
        self._requests = 0
        self._trace: dict[str, Any] | None = None
        self._spent: dict[str, Any] = {
            "prompt_tokens": 0, "completion_tokens": 0, "seconds": 0.0, "cost": None, "retries": 0,
        }  # fmt: skip

    def ask(self, messages: Sequence[Message], tools: Schemas) -> Reply:
        """Return the model's reply; raises what the back end raises."""
        reply = self.backend.complete(messages, tools, self._seed())
        self._requests += 1
        used = asdict(reply.usage)
        for name, value in used.items():
            if value is not None:
                self._spent[name] = (self._spent[name] or 0) + value
        self._trace = {
            "messages": list(messages),
            "reply": {"text": reply.text, "calls": [asdict(call) for call in reply.calls]},
            "stop": reply.stop,
            "usage": used,
        }
        return reply

    def forget(self) -> None:
        """Drop the last request, at the start of a step that may not ask."""
        self._trace = None

    def trace(self) -> dict[str, Any] | None:
        """Return the step's last request and its reply; None if the model was not asked."""
        return self._trace

    def usage(self) -> dict[str, Any]:
        """Return what the episode's requests took together."""
        return {"requests": self._requests, **self._spent}

    def _seed(self) -> int:
        """Seed of the next request: of the episode's seed, its instance and the turn."""
        drawn = hashlib.sha256(f"{self._key}/{self._requests}".encode()).digest()
        return int.from_bytes(drawn[:4]) >> 1  # servers take 31 bits


def message_tokens(message: Message, count: Any) -> int:
    """Return the tokens of a message: its text, its calls, and what a template adds to it."""
    calls = message.get("tool_calls") or ()
    told = sum(
        count(one["function"]["name"]) + count(one["function"]["arguments"]) + _PER_MESSAGE
        for one in calls
    )
    return int(_PER_MESSAGE + count(message.get("content") or "") + told)


def prompt_room(backend: Backend, tools: Schemas, most: int, options: Mapping[str, Any]) -> int:
    """Return how many tokens the messages of a request may have.

    Parameters
    ----------
    backend
        Whose context they must fit, with the tools and the reply.
    tools
        Schemas that go with them.
    most
        Most tokens of a prompt, tools included.
    options
        The back end's; ``max_new_tokens`` says how long a reply may be.

    Raises
    ------
    ConfigError
        If nothing is left.
    """
    reply = options.get("max_new_tokens") or _REPLY_TOKENS
    if backend.context_tokens is not None:
        most = min(most, backend.context_tokens - reply)
    room = int(most * _MARGIN) - (backend.count_tokens(json.dumps(tools)) if tools else 0)
    if room <= 0:
        raise ConfigError(
            f"The tools and a reply of {reply} tokens fill the model's context "
            f"({backend.context_tokens} tokens): lower max_new_tokens, raise prompt_tokens, or "
            "choose a model with a longer context."
        )
    return room
