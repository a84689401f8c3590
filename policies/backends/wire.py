"""What a chat server sent, read without trusting any of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policies.backends.base import Stop, ToolCall
from policies.backends.parsing import CANDIDATES, arguments_text, cleaned, parse_calls

# A count of tokens above this is a server's mistake, not a reply.
_PLAUSIBLE_TOKENS = 10_000_000

_STOPS: Mapping[str, Stop] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "filtered",
}


class UnreadableError(Exception):
    """A server's answer is no chat completion; says why."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A chat completion as far as it can be read; token counts are None where implausible."""

    text: str
    calls: tuple[ToolCall, ...]
    stop: Stop
    prompt_tokens: int | None
    completion_tokens: int | None


def read_turn(payload: Any, with_tools: bool) -> Turn:
    """Read the first choice of a decoded chat completion.

    Parameters
    ----------
    payload
        Decoded JSON, of any shape.
    with_tools
        Whether tools were offered, so that JSON in the text is a call too.

    Raises
    ------
    UnreadableError
        If there is no choice in it.
    """
    choice = _first_choice(payload)
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    text = _text(message.get("content")) or _text(message.get("refusal"))
    calls = _calls(message.get("tool_calls")) if with_tools else ()
    said, found = parse_calls(text) if with_tools else (cleaned(text), ())
    calls = calls or found
    finish = choice.get("finish_reason")
    stop = _STOPS.get(finish, "unknown") if isinstance(finish, str) else "unknown"
    usage = payload.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Turn(
        said,
        calls,
        "tool_calls" if calls else stop,
        _count(usage.get("prompt_tokens")),
        _count(usage.get("completion_tokens")),
    )


def _first_choice(payload: Any) -> dict[str, Any]:
    if not isinstance(payload, dict):
        raise UnreadableError("its answer is no chat completion")
    choices = payload.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    error = payload.get("error")
    if error:
        message = error.get("message") if isinstance(error, dict) else error
        raise UnreadableError(f"it says {str(message)[:200]!r}")
    raise UnreadableError("its answer has no choices")


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _calls(calls: Any) -> tuple[ToolCall, ...]:
    if not isinstance(calls, list):
        return ()
    return tuple(_call(call) for call in calls[:CANDIDATES] if isinstance(call, dict))


def _call(call: dict[str, Any]) -> ToolCall:
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    name, id_ = function.get("name"), call.get("id")
    return ToolCall(
        name if isinstance(name, str) else "",
        arguments_text(function.get("arguments")),
        id_ if isinstance(id_, str) else "",
    )


def _count(value: Any) -> int | None:
    plausible = isinstance(value, int) and not isinstance(value, bool)
    return value if plausible and 0 <= value <= _PLAUSIBLE_TOKENS else None
