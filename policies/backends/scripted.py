"""Models that are no models: a script for tests, and an oracle that reads the Judge's labels."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from ecgscroll.errors import ConfigError
from ecgscroll.tasks import TASKS
from policies.backends.base import Message, Reply, ToolCall, Usage

Schemas: TypeAlias = Sequence[Mapping[str, Any]]
# Text, one call ``{"name", "arguments"}``, a list of calls, or a whole reply.
Line: TypeAlias = "Reply | str | Mapping[str, Any] | Sequence[Mapping[str, Any]]"
Speaker: TypeAlias = Callable[[Sequence[Message], Schemas, int], Line]

_CHARS_PER_TOKEN = 4


class Script:
    """A back end that says what it was told to say.

    Parameters
    ----------
    script
        Replies in order, begun anew when they are used up; a YAML or JSON file of them; or a
        function of messages, tools and seed. A list has one position for all who ask, so it is
        for one episode after another, in one process.
    context_tokens
        Most tokens of messages and reply together; None for no bound.

    Raises
    ------
    ConfigError
        If the file cannot be read or holds no replies.
    """

    def __init__(
        self, script: str | Sequence[Line] | Speaker, context_tokens: int | None = None
    ) -> None:
        self.context_tokens = context_tokens
        self._speak = script if callable(script) else _in_turn(_lines(script))
        self._digest = _digest(script) if isinstance(script, str) else "in memory"

    def count_tokens(self, text: str) -> int:
        """Return a quarter of the characters, rounded up."""
        return -(-len(text) // _CHARS_PER_TOKEN)

    def complete(self, messages: Sequence[Message], tools: Schemas, seed: int) -> Reply:
        """Return the script's next reply."""
        reply = _reply(self._speak(messages, tools, seed))
        asked = sum(self.count_tokens(str(one.get("content") or "")) for one in messages)
        said = self.count_tokens(reply.text + "".join(call.arguments for call in reply.calls))
        return Reply(reply.text, reply.calls, Usage(asked, said), reply.stop)

    def fingerprint(self) -> dict[str, Any]:
        """Return the hash of the script's file."""
        return {"script": self._digest}

    def close(self) -> None:
        """Hold nothing."""


class Oracle(Script):
    """Answers the Judge from the labels that it is shown, reading the prompt as a model would.

    What the agent scores with it is what prompt, parsing, merging and scoring let through.
    """

    def __init__(self) -> None:
        super().__init__(_flag_labelled)

    def fingerprint(self) -> dict[str, Any]:
        """Return its name."""
        return {"oracle": "labels"}


_CORE_LABELS = {"dominant_rhythm": "AF", "ischemic": "yes"}
_CHUNK = re.compile(r"^(\d+): \S+ s (.*)$", re.MULTILINE)
_EVENTS = "|".join(task.event for task in TASKS.values() if task.supplementary)
_LABEL = re.compile(rf"\b(dominant_rhythm|pvc_times_count|ischemic|{_EVENTS})=(\S+)")


def _flag_labelled(messages: Sequence[Message], tools: Schemas, seed: int) -> Line:
    """Flag the chunks of the last message with chunks whose label names the event."""
    if [tool["function"]["name"] for tool in tools] != ["flag_chunks"]:
        raise ConfigError("The oracle answers the Judge alone: use --policy judge.")
    chunks = next(filter(None, (_CHUNK.findall(str(m["content"])) for m in reversed(messages))), [])
    labels = {int(number): _LABEL.search(shown) for number, shown in chunks}
    if chunks and not any(labels.values()) and any("=" in shown for _, shown in chunks):
        raise ConfigError("The oracle reads labels: use --dx reference or --dx signal.")
    flagged = [number for number, label in labels.items() if label and _is_event(*label.groups())]
    return {"name": "flag_chunks", "arguments": {"indices": flagged}}


def _is_event(name: str, value: str) -> bool:
    if name == "pvc_times_count":
        return value not in ("0", "null")
    if name in _CORE_LABELS:
        return value == _CORE_LABELS[name]
    return value != "null" and float(value) >= 0.5


def _digest(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def _in_turn(lines: Sequence[Line]) -> Speaker:
    turns = count()  # its next() is one step, so threads may share it
    return lambda messages, tools, seed: lines[next(turns) % len(lines)]


def _lines(script: str | Sequence[Line]) -> Sequence[Line]:
    if isinstance(script, str):
        try:
            script = yaml.safe_load(Path(script).read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError) as error:
            raise ConfigError(f"The script cannot be read: {error}.") from None
    if not isinstance(script, Sequence) or isinstance(script, str) or not script:
        raise ConfigError("A script is a list of replies: texts, or calls with name and arguments.")
    for line in script:
        if not _is_line(line):
            shown = f"{line!r:.60}"
            raise ConfigError(f"{shown} is no reply: that is a text, or calls with a name each.")
    return script


def _is_line(line: Any) -> bool:
    if isinstance(line, Reply | str):
        return True
    calls = [line] if isinstance(line, Mapping) else line
    listed = isinstance(calls, Sequence) and all(isinstance(call, Mapping) for call in calls)
    try:
        json.dumps(calls)
    except (TypeError, ValueError, RecursionError):  # a date, as YAML reads one
        return False
    return listed


def _reply(line: Line) -> Reply:
    if isinstance(line, Reply):
        return line
    if isinstance(line, str):
        return Reply(line, stop="stop")
    calls = [line] if isinstance(line, Mapping) else line
    return Reply("", tuple(_call(call, n) for n, call in enumerate(calls)), stop="tool_calls")


def _call(call: Mapping[str, Any], number: int) -> ToolCall:
    arguments = call.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(str(call.get("name", "")), text, f"s{number}")
