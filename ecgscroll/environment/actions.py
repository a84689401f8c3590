"""The four actions: a tool call parsed and checked before anything looks at the recording.

An action comes from a model, so nothing about it is trusted: not its type, not its JSON, not its
numbers. Whatever is wrong becomes a `BadCallError` of one sentence that the model reads.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ecgscroll.errors import BadCallError

MAX_ARGUMENTS_CHARS = 20_000
MAX_TYPE_CHARS = 64
SHOWN_CHARS = 40
ACTION_NAMES = ("skim", "measure", "write", "finish")


class Skim(NamedTuple):
    """Let ``duration`` seconds pass."""

    duration: float


class Measure(NamedTuple):
    """Run ``tool`` on [``t0``, ``t1``) seconds."""

    tool: str
    t0: float
    t1: float
    per_beat: bool = False


class Write(NamedTuple):
    """Commit a finding on [``t0``, ``t1``) seconds; ``type`` None is the task's event."""

    t0: float
    t1: float
    type: str | None = None
    lead: str | None = None
    value: float | None = None
    confidence: float | None = None


class Finish(NamedTuple):
    """End the episode."""


Action: TypeAlias = Skim | Measure | Write | Finish


def shown(text: str) -> str:
    """Quote a stranger's text for a message: printable characters only, and shortened."""
    safe = "".join(c if c.isprintable() else "?" for c in text[:SHOWN_CHARS])
    return f"'{safe}{'...' if len(text) > SHOWN_CHARS else ''}'"


def kind_of(value: object) -> str:
    """Name the type of a value in words that a model writes JSON with."""
    if value is None:
        return "null"
    for types, words in _KINDS:
        if isinstance(value, types):
            return words
    return f"a Python {shown(type(value).__name__)}"


_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "a boolean"),
    (str, "a string"),
    ((int, float, np.number), "a number"),
    (dict, "an object"),
    ((list, tuple), "a list"),
)


def parse_action(action: object, tools: Iterable[str] = ()) -> Action:
    """Turn ``{"name": ..., "arguments": {...} or its JSON text}`` into an action.

    Parameters
    ----------
    action
        What the agent sent; anything at all.
    tools
        Names that `measure` accepts; an unknown action of such a name gets a hint.

    Raises
    ------
    BadCallError
        If it is not a valid call; the message says what is wrong and how to mend it.
    """
    if not isinstance(action, dict):
        raise BadCallError(
            f'An action is an object {{"name": ..., "arguments": {{...}}}}, not {kind_of(action)}.'
        )
    for key in action:
        if key not in ("name", "arguments"):
            raise BadCallError(f'An action has only "name" and "arguments", not {_key(key)}.')
    name = action.get("name")
    parser = _PARSERS.get(name) if isinstance(name, str) else None
    if parser is None:
        raise BadCallError(_unknown_action(name, tools))
    return parser(_arguments(action.get("arguments")))


def _unknown_action(name: object, tools: Iterable[str]) -> str:
    """Say which actions there are, and where a tool's name belongs."""
    if not isinstance(name, str):
        return f'"name" must be one of {", ".join(ACTION_NAMES)}, not {kind_of(name)}.'
    if name in tools:
        return f'{name} is a tool: call measure with "tool": "{name}" and a window t0, t1.'
    return f"There is no action {shown(name)}; choose one of {', '.join(ACTION_NAMES)}."


def _key(key: object) -> str:
    return shown(key) if isinstance(key, str) else f"{kind_of(key)} as a key"


def _arguments(given: object) -> dict[str, Any]:
    """Return the arguments as a dict, decoding JSON text; none given is an empty dict."""
    if isinstance(given, str):
        given = decode(given) if given.strip() else {}
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise BadCallError(f'"arguments" must be an object or its JSON text, not {kind_of(given)}.')
    return given


def decode(text: str) -> object:
    """Decode strict JSON: no NaN or Infinity, no key twice, no bottomless nesting.

    Raises
    ------
    BadCallError
        If it is not that, or longer than `MAX_ARGUMENTS_CHARS`.
    """
    if len(text) > MAX_ARGUMENTS_CHARS:
        raise BadCallError(f'"arguments" are longer than {MAX_ARGUMENTS_CHARS} characters.')
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=unique)
    except RecursionError:
        raise BadCallError('"arguments" are nested too deeply; they are one flat object.') from None
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "a number is too long"
        raise BadCallError(f'"arguments" are not valid JSON ({reason}); send one object.') from None


def _refuse_constant(literal: str) -> float:
    raise BadCallError(f'"arguments" hold {literal}, which is no JSON number; use a finite one.')


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object's pairs as a dict; raises `BadCallError` for a name that comes twice."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise BadCallError(f'"arguments" name {shown(key)} twice; give each once.')
        found[key] = value
    return found


def _check_names(
    action: str, given: dict[str, Any], required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> None:
    """Refuse an argument that the action does not take, or one that it lacks."""
    for key in given:
        if key not in required and key not in optional:
            takes = ", ".join((*required, *(f"{name} (optional)" for name in optional)))
            raise BadCallError(f"{action} takes {takes or 'no arguments'}, not {_key(key)}.")
    for name in required:
        if name not in given:
            raise BadCallError(f"{action} needs {', '.join(required)}; {name} is missing.")


def _number(name: str, value: object) -> float:
    """Return a finite float; a bool or a string is no number, an observed cursor is one."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise BadCallError(f"{name} must be a number, not {kind_of(value)}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise BadCallError(f"{name} must be a finite number that a double can hold.")
    return number


def _window(given: dict[str, Any]) -> tuple[float, float]:
    t0, t1 = _number("t0", given["t0"]), _number("t1", given["t1"])
    if not t0 < t1:
        raise BadCallError(f"t0 must be before t1, in seconds; got t0={t0:g} and t1={t1:g}.")
    return t0, t1


def _skim(given: dict[str, Any]) -> Skim:
    _check_names("skim", given, ("duration",))
    duration = _number("duration", given["duration"])
    if duration <= 0:
        raise BadCallError("duration must be above 0 seconds: time only moves forward.")
    return Skim(duration)


def _measure(given: dict[str, Any]) -> Measure:
    _check_names("measure", given, ("tool", "t0", "t1"), ("per_beat",))
    tool, per_beat = given["tool"], given.get("per_beat", False)
    if not isinstance(tool, str):
        raise BadCallError(f"tool must be the name of a tool, not {kind_of(tool)}.")
    if not isinstance(per_beat, bool):
        raise BadCallError(f"per_beat must be true or false, not {kind_of(per_beat)}.")
    return Measure(tool, *_window(given), per_beat)


def _write(given: dict[str, Any]) -> Write:
    _check_names("write", given, ("t0", "t1"), ("type", "lead", "value", "confidence"))
    window = _window(given)
    value, confidence = given.get("value"), given.get("confidence")
    value = None if value is None else _number("value", value)
    confidence = None if confidence is None else _number("confidence", confidence)
    if confidence is not None and not 0 <= confidence <= 1:
        raise BadCallError(f"confidence must lie between 0 and 1, not at {confidence:g}.")
    kind, lead = (_text(name, given.get(name)) for name in ("type", "lead"))
    return Write(*window, kind, lead, value, confidence)


def _text(name: str, value: object) -> str | None:
    """Return a short printable string, or None; it goes into the ledger and back to a model."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadCallError(f"{name} must be a string or null, not {kind_of(value)}.")
    if not 0 < len(value) <= MAX_TYPE_CHARS or not value.isprintable():
        raise BadCallError(f"{name} must be 1 to {MAX_TYPE_CHARS} printable characters.")
    return value


def _finish(given: dict[str, Any]) -> Finish:
    _check_names("finish", given, ())
    return Finish()


_PARSERS: dict[str, Callable[[dict[str, Any]], Action]] = {
    "skim": _skim,
    "measure": _measure,
    "write": _write,
    "finish": _finish,
}
