"""From what a model said to one call: tool calls first, else a call found in its text.

Nothing a model says raises. What is no call becomes an action that the environment answers with an
error, so that a model that cannot mend its ways runs into the budget of errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ecgscroll.environment.actions import MAX_ARGUMENTS_CHARS, decode, unique
from ecgscroll.environment.commands import name_words, positions
from ecgscroll.errors import BadCallError
from policies.backends.base import Reply, ToolCall

Call = dict[str, Any]
Parameters = Mapping[str, Sequence[str]]

NO_CALL = "no_call"
MOST_CALLS = 8  # of one reply that are looked at, and shown again
_MOST_OBJECTS = 100
_MOST_NAME_CHARS = 64
_READ_CHARS = 20_000  # of a text, from its end: what a model decides comes last
_NAME_KEYS, _ARGUMENT_KEYS = ("name", "tool_name", "action"), ("arguments", "parameters", "args")
_STYLED = re.compile(r"\b([a-z_]{1,40})[ \t]*\(([^()]{0,2000})\)")
_DECODER = json.JSONDecoder(object_pairs_hook=unique)


@dataclass(frozen=True, slots=True)
class Taken:
    """The one call that a reply comes to.

    Parameters
    ----------
    action
        ``{"name": ..., "arguments": ...}``, possibly invalid.
    index
        Place among the reply's tool calls; None if it was found in the text, or is invalid.
    """

    action: Call
    index: int | None = None


def take_call(reply: Reply, tools: Sequence[Mapping[str, Any]]) -> Taken:
    """Return the first valid call of a reply.

    Valid is a call of a known tool whose arguments are a JSON object. Without one it is the first
    tool call as it stands, or one named ``no_call``: the environment says what is wrong.

    Parameters
    ----------
    reply
        What the model said.
    tools
        Schemas of the tools it was given.
    """
    known = positions(dict(tool) for tool in tools)
    for index, call in enumerate(reply.calls[:MOST_CALLS]):
        arguments = decoded(call.arguments)
        if call.name in known and arguments is not None:
            return Taken({"name": call.name, "arguments": arguments}, index)
    if reply.calls:
        return Taken(_as_it_stands(reply.calls[0]))
    found = next(calls_in_text(reply.text, known), None)
    return Taken(found or {"name": NO_CALL, "arguments": {}})


def decoded(text: Any) -> dict[str, Any] | None:
    """Return a call's arguments as an object; None if they are none. Nothing at all is ``{}``."""
    if not isinstance(text, str):
        return text if isinstance(text, dict) else None
    try:
        value = decode(text) if text.strip() else {}
    except BadCallError:
        return None
    return value if isinstance(value, dict) else None


def _as_it_stands(call: ToolCall) -> Call:
    """A broken call for the environment to refuse, no longer than it needs to see."""
    name, arguments = str(call.name)[:_MOST_NAME_CHARS], str(call.arguments)
    return {"name": name, "arguments": arguments[: MAX_ARGUMENTS_CHARS + 1]}


def calls_in_text(text: str, known: Parameters) -> Iterator[Call]:
    """Yield the calls of known tools that a text holds: JSON objects, then ``skim(600)``.

    Objects may stand bare, fenced, or between tags; what comes before the end of a ``<think>``
    passage is left out.
    """
    said = text.rpartition("</think>")[2][-_READ_CHARS:]
    for value in _objects(said):
        call = _as_call(value, known)
        if call is not None:
            yield call
    for name, inside in _STYLED.findall(said):
        if name in known:
            yield {"name": name, "arguments": _placed(name, inside, known)}


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a text, left to right, whatever stands between them."""
    at = 0
    for _ in range(_MOST_OBJECTS):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError, BadCallError):
            at += 1
            continue
        yield value


def _as_call(value: dict[str, Any], known: Parameters) -> Call | None:
    """Read the shapes in which models write a call; None for any other object."""
    inner = value.get("function", value.get("tool_call"))
    if isinstance(inner, dict):
        value = inner
    name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
    if name in known:
        given: Any = next((value[key] for key in _ARGUMENT_KEYS if key in value), {})
        return {"name": name, "arguments": given}
    if len(value) == 1:
        ((name, given),) = value.items()
        if name in known:
            return {"name": name, "arguments": _named(name, given, known)}
    if len(known) == 1:  # there is but one tool: its arguments alone say enough
        ((name, parameters),) = known.items()
        if value and set(value) <= set(parameters):
            return {"name": name, "arguments": value}
    return None


def _named(name: str, given: Any, known: Parameters) -> Any:
    """Give a bare value the name of the first parameter."""
    if isinstance(given, dict) or given is None:
        return given or {}
    return {known[name][0]: given} if known[name] else given


def _placed(name: str, inside: str, known: Parameters) -> Any:
    """Name the arguments between the parentheses of ``skim(600)`` by their places."""
    try:
        values = json.loads(f"[{inside}]")
        return dict(zip(known[name], values, strict=False))
    except (ValueError, RecursionError):
        words = [word.strip() for word in inside.split(",") if word.strip()]
    try:
        return name_words(name, words, known)
    except BadCallError:
        return inside
