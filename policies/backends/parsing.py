"""Tool calls out of a model's text, in whatever shape a checkpoint was taught to write them.

Read, in this order: `<tool_call>` JSON (Qwen, Hermes), and bare JSON objects or lists of them
(Llama, Mistral, and models that were asked for JSON in the system text). What looks like a call
but is broken becomes a `ToolCall` all the same, so that the environment can say what is wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from ecgscroll.environment.actions import unique
from ecgscroll.errors import BadCallError
from policies.backends.base import ToolCall

# Bounds on hostile text: candidates tried, characters of one broken call that are kept, how deep
# calls are looked for in JSON, and how deep arguments may be nested: the action takes flat ones.
CANDIDATES = 64
KEPT = 2000
_WRAPPINGS = 8
_DEEPEST = 50
_TOO_DEEP = "(nested too deeply)"

_TAGGED = re.compile(r"<tool_call>(.*?)(</tool_call>|\Z)", re.DOTALL)
_THOUGHT = re.compile(r"<think>.*?(</think>|\Z)|\A(?:(?!<think>).)*?</think>", re.DOTALL)
_BARE = re.compile(
    r"(?:\[\s{0,200})?\{\s{0,200}"
    r'"(?:name|arguments|parameters|function|tool_calls|type|id|action)"\s{0,200}:'
)
_NAME = re.compile(r'"name"\s*:\s*"([^"\\\n]{1,80})"')
_ARGUMENTS = re.compile(r'"(?:arguments|parameters)"\s*:\s*(.*)', re.DOTALL)
# What nobody says: fences left empty by a call, and the control tokens of chat templates, which
# must not come back into a prompt as if they were one.
_NOISE = re.compile(r"```(?:json)?\s*```|<\|[a-zA-Z0-9_]{1,40}\|>|\[TOOL_CALLS\]")
_decoder = json.JSONDecoder(object_pairs_hook=unique)


def parse_calls(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Split a model's text into what it said and what it called.

    Parameters
    ----------
    text
        One turn, without the tokens that end it.

    Returns
    -------
    text
        What is left outside of calls and of thoughts (`<think>`), stripped.
    calls
        In order of appearance.
    """
    text = _without_thoughts(text)
    found = list(_tagged(text)) if "<tool_call>" in text else list(_bare(text))
    rest, position = [], 0
    for start, end, _ in found:
        rest.append(text[position:start])
        position = end
    rest.append(text[position:])
    return _NOISE.sub("", "".join(rest)).strip(), tuple(
        call for _, _, calls in found for call in calls
    )


def cleaned(text: str) -> str:
    """Return what a model said where no tools were offered: its text without thoughts."""
    return _NOISE.sub("", _without_thoughts(text)).strip()


def first_call_end(text: str) -> int | None:
    """Return where the first complete call of a text ends, or None while there is none."""
    thought = text.rfind("</think>")
    if thought < 0 and "<think>" in text:
        return None
    start = thought + len("</think>") if thought >= 0 else 0
    tag = text.find("<tool_call>", start)
    if tag >= 0:
        end = text.find("</tool_call>", tag)
        return None if end < 0 else end + len("</tool_call>")
    return next((start + end for _, end, calls in _bare(text[start:]) if calls), None)


def arguments_text(value: Any) -> str:
    """Return a call's arguments as JSON text, whatever the model or server made of them."""
    if value is None or value == "":
        return "{}"
    if isinstance(value, str):
        return value
    return json.dumps(value) if _depth_within(value, _DEEPEST) else _TOO_DEEP


def _without_thoughts(text: str) -> str:
    return _THOUGHT.sub("", text) if "think>" in text else text


def _tagged(text: str) -> Iterator[tuple[int, int, list[ToolCall]]]:
    for match in islice(_TAGGED.finditer(text), CANDIDATES):
        body = match.group(1).strip()
        value, end = _decode(body, 0)
        calls = _calls_of(value) if end == len(body) else []
        yield match.start(), match.end(), calls or [_broken(body)]


def _bare(text: str) -> Iterator[tuple[int, int, list[ToolCall]]]:
    position = 0
    for _ in range(CANDIDATES):
        match = _BARE.search(text, position)
        if match is None:
            return
        value, end = _decode(text, match.start())
        calls = _calls_of(value) if end else []
        if calls:
            yield match.start(), end, calls
        position = max(end, match.start() + 1)


def _decode(text: str, start: int) -> tuple[Any, int]:
    """Decode the JSON value at ``start``; its end is 0 where there is none."""
    try:
        return _decoder.raw_decode(text, start)
    except (ValueError, RecursionError, BadCallError):
        return None, 0


def _depth_within(value: Any, most: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value
    if not isinstance(value, dict | list):
        return True
    return most > 0 and all(_depth_within(one, most - 1) for one in inner)


def _calls_of(value: Any, most: int = _WRAPPINGS) -> list[ToolCall]:
    """Calls in a decoded value: one object, OpenAI's wrapping of one, or a list of either."""
    if not most:
        return []
    if isinstance(value, list):
        return [call for item in value[:CANDIDATES] for call in _calls_of(item, most - 1)]
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("tool_calls"), list):
        return _calls_of(value["tool_calls"], most - 1)
    if isinstance(value.get("function"), dict):
        return _calls_of(value["function"], most - 1)
    name = value.get("name")
    if not isinstance(name, str) or not ({"arguments", "parameters"} & value.keys()):
        return []
    if "description" in value:  # the tool's schema, repeated
        return []
    return [ToolCall(name, arguments_text(value.get("arguments", value.get("parameters"))))]


def _broken(body: str) -> ToolCall:
    """Return what can be had of a call whose JSON does not parse."""
    name = _NAME.search(body)
    arguments = _ARGUMENTS.search(body)
    kept = (arguments.group(1) if arguments else body)[:KEPT].strip()
    return ToolCall(name.group(1) if name else "", kept)
