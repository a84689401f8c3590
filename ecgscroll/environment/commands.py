"""Calls as a person types them: ``skim 600``, ``measure get_qrs 0 60``, ``write 10 20``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ecgscroll.environment.actions import shown
from ecgscroll.errors import BadCallError
from ecgscroll.tools.schemas import Schema, tool_schemas

Call = dict[str, Any]

_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "none": None}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_LONGEST_NUMBER = 40


def positions(schemas: Iterable[Schema]) -> dict[str, tuple[str, ...]]:
    """Return the parameters of each function by name, in the order of its schema."""
    functions = (schema["function"] for schema in schemas)
    return {one["name"]: tuple(one["parameters"]["properties"]) for one in functions}


_ACTIONS = positions(tool_schemas())


def parse_command(line: str) -> Call:
    """Turn a typed line into a call; what it asks for is checked by the environment.

    Parameters
    ----------
    line
        An action and its arguments with blanks between, in the order of its schema or as
        ``name=value``.

    Raises
    ------
    BadCallError
        If the line is empty, a quote is left open, there is no such action, or it takes fewer
        arguments.

    Examples
    --------
    >>> parse_command("measure get_qrs 0 60")
    {'name': 'measure', 'arguments': {'tool': 'get_qrs', 't0': 0, 't1': 60}}
    >>> parse_command("write 10 20 confidence=0.9")["arguments"]
    {'t0': 10, 't1': 20, 'confidence': 0.9}
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise BadCallError(f"The line cannot be read: {error}.") from None
    if not words:
        raise BadCallError("The line is empty; type an action, such as: skim 600")
    if words[0] not in _ACTIONS:
        raise BadCallError(
            f"There is no action {shown(words[0])}; choose of {', '.join(_ACTIONS)}."
        )
    return {"name": words[0], "arguments": name_words(words[0], words[1:], _ACTIONS)}


def name_words(
    name: str, words: Sequence[str], known: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Give each word the name of its parameter: its own (``name=value``), or that of its place.

    Raises
    ------
    BadCallError
        If there are more words than the function has parameters.
    """
    arguments: dict[str, Any] = {}
    free = list(known.get(name, ()))
    for word in words:
        key, equals, text = word.partition("=")
        if equals and key.isidentifier():
            arguments[key] = value_of(text)
            if key in free:
                free.remove(key)
        elif free:
            arguments[free.pop(0)] = value_of(word)
        else:
            raise BadCallError(f"{name} takes {', '.join(known.get(name, ())) or 'no arguments'}.")
    return arguments


def value_of(word: str) -> Any:
    """Return what a word stands for: a number, true, false, null, or itself without quotes."""
    text = word.strip().strip("'\"")
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text):
        number = float(text)
        return int(number) if number.is_integer() and "e" not in text.lower() else number
    return text


def call_from(value: Any) -> Call:
    """Read a call from a file: a typed line, ``{"name", "arguments"}``, or ``{action: arguments}``.

    Raises
    ------
    BadCallError
        If it is none of these.
    """
    if isinstance(value, str):
        return parse_command(value)
    if isinstance(value, dict) and "name" in value:
        return {"name": value["name"], "arguments": value.get("arguments", {})}
    if isinstance(value, dict) and len(value) == 1:
        ((name, given),) = value.items()
        if name in _ACTIONS:
            return {"name": name, "arguments": _placed(name, given)}
    raise BadCallError(f"{shown(str(value))} is no call; write one as: skim 600")


def _placed(name: str, given: Any) -> Any:
    if given is None or isinstance(given, dict):
        return given or {}
    values = given if isinstance(given, list) else [given]
    return dict(zip(_ACTIONS[name], values, strict=False))
