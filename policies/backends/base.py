"""What a language model is to an agent: messages and tools go in, text and tool calls come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Message = Mapping[str, Any]
Stop = Literal["stop", "tool_calls", "length", "filtered", "unknown"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model wrote it; nothing about it has been checked.

    Parameters
    ----------
    name
        Name of the tool, possibly of one that does not exist.
    arguments
        JSON text, possibly broken.
    id
        What the answer to this call refers to; empty where the server gives none.
    """

    name: str
    arguments: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a reply took.

    Parameters
    ----------
    prompt_tokens, completion_tokens
        As the model's own tokenizer, or the server, counts them.
    seconds
        Wall time from the request to the whole reply, retries included.
    cost
        In the currency of the prices that were given; None where no price is known.
    retries
        Attempts that failed before this one.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cost: float | None = None
    retries: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """One turn of the model.

    Parameters
    ----------
    text
        What it said outside of tool calls.
    calls
        Tool calls, in order; often one, sometimes none or several.
    usage
        What the reply took.
    stop
        Why it ended.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    stop: Stop = "unknown"


@runtime_checkable
class Backend(Protocol):
    """A model that many episodes may ask at once, from threads of one process."""

    @property
    def context_tokens(self) -> int | None:
        """Most tokens of messages and reply together; None where unknown."""

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text, or a cautious estimate where none can be had."""

    def complete(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], seed: int
    ) -> Reply:
        """Return the model's next turn.

        Parameters
        ----------
        messages
            In the form of OpenAI's chat API.
        tools
            Function-calling schemas, as `ecgscroll.tool_schemas` gives them; may be empty.
        seed
            Seed of the sampling; means nothing where decoding is greedy.

        Raises
        ------
        ecgscroll.errors.EcgScrollError
            If no reply can be had; the message says what to mend.
        """

    def fingerprint(self) -> dict[str, Any]:
        """Return what replies depend on: model, revision, adapter, sampling; never a key."""

    def close(self) -> None:
        """Let go of what the back end holds; calling it twice does no harm."""
