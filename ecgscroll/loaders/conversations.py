"""Recorded conversations as JSON Lines, checked before anything reads them.

A line is an object: ``messages``, and where they are known ``tools`` (OpenAI function schemas),
``instance``, ``dx``, ``score``; other keys are kept. Messages have a ``role``, ``content`` (text
or null), and an assistant's may have ``tool_calls``, whose arguments are an object or its JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ecgscroll.errors import DataError
from ecgscroll.files import write_atomic

Conversation = dict[str, Any]

ROLES = ("system", "user", "assistant", "tool")
MAX_LINE_BYTES = 64 << 20


def write_trajectories(path: str | Path, conversations: Iterable[Mapping[str, Any]]) -> int:
    """Write conversations, one a line, whole or not at all; return how many.

    Raises
    ------
    DataError
        If one is none.
    """
    lines = []
    for number, one in enumerate(conversations, 1):
        try:
            checked_conversation(dict(one))
            lines.append(json.dumps(one, allow_nan=False) + "\n")
        except (TypeError, ValueError, RecursionError) as error:
            raise DataError(f"Conversation {number} cannot be written: {error}.") from None
    write_atomic(path, "".join(lines))
    return len(lines)


def line_offsets(path: Path) -> list[int]:
    """Return where each conversation of a file begins, having read them all.

    Raises
    ------
    DataError
        If the file cannot be read, holds none, or a line is none; the sentence says which.
    """
    offsets: list[int] = []
    try:
        if not path.is_file():
            raise DataError(f"There is no file of trajectories {path}.")
        with path.open("rb") as file:
            for number, (offset, line) in enumerate(_lines(file), 1):
                if line.strip():
                    parse_conversation(line, f"Line {number} of {path}")
                    offsets.append(offset)
    except OSError as error:
        raise DataError(f"The trajectories {path} cannot be read: {error.strerror}.") from None
    if not offsets:
        raise DataError(f"{path} holds no conversation; write one a line.")
    return offsets


def read_conversation(path: Path, offset: int) -> Conversation:
    """Return the conversation that begins at a byte of a file; errors as `line_offsets`."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            line = file.readline(MAX_LINE_BYTES + 1)
    except OSError as error:
        raise DataError(f"The trajectories {path} cannot be read: {error.strerror}.") from None
    return parse_conversation(line, f"The line at byte {offset} of {path}")


def parse_conversation(line: bytes, where: str) -> Conversation:
    """Return the conversation of a line; ``where`` begins the sentence if there is none."""
    if len(line) > MAX_LINE_BYTES:
        raise DataError(f"{where} is longer than {MAX_LINE_BYTES >> 20} MiB.")
    try:
        return checked_conversation(json.loads(line, parse_constant=_refuse))
    except (ValueError, RecursionError) as error:
        torn = not line.endswith(b"\n") and isinstance(error, json.JSONDecodeError)
        reason = "it is cut short" if torn else str(error) or "it is nested too deeply"
        raise DataError(f"{where} is no conversation: {reason}.") from None


def checked_conversation(value: Any) -> Conversation:
    """Return a conversation whose tool calls hold objects; a ValueError says why it is none."""
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        raise ValueError('it is no object with a list "messages"')
    messages = [_message(one, number) for number, one in enumerate(value["messages"], 1)]
    if not any(one["role"] == "assistant" for one in messages):
        raise ValueError("no message in it is the assistant's")
    tools = value.get("tools")
    if tools is not None and not _are_objects(tools):
        raise ValueError('its "tools" are no list of objects')
    return {**value, "messages": messages}


def _message(value: Any, number: int) -> dict[str, Any]:
    if not isinstance(value, dict) or value.get("role") not in ROLES:
        raise ValueError(f"message {number} has no role of {', '.join(ROLES)}")
    content = value.get("content")
    if content is not None and not isinstance(content, str):
        raise ValueError(f"the content of message {number} is no text")
    calls = value.get("tool_calls")
    if calls is None:
        return {**value, "content": content or ""}
    if not _are_objects(calls):
        raise ValueError(f"the tool calls of message {number} are no list of objects")
    return {**value, "content": content or "", "tool_calls": [_call(c, number) for c in calls]}


def _call(value: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a tool call whose arguments are an object, as chat templates want them."""
    function = value.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise ValueError(f"a tool call of message {number} has no function with a name")
    arguments = function.get("arguments", {})
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments, parse_constant=_refuse)
        except (ValueError, RecursionError):
            arguments = None
    if not isinstance(arguments, dict):
        raise ValueError(f"the arguments of a tool call of message {number} are no object")
    return {**value, "function": {**function, "arguments": arguments}}


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _refuse(literal: str) -> float:
    raise ValueError(f"it holds {literal}, which is no JSON number")


def _lines(file: Any) -> Iterator[tuple[int, bytes]]:
    """Yield where each line begins, and the line, cut where it is too long to be one."""
    offset = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        yield offset, line
        offset += len(line)
