"""Conversations in the form a model can read: messages made whole, tools told in words.

Both back ends pass messages through `whole`, so that a checkpoint reads the same prompt wherever
it runs. `told` is for models and servers without tool calling.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from policies.backends.base import Message

HOW_TO_CALL = (
    "You act by calling tools, one per turn. Answer with one JSON object and nothing else, "
    'in the form {"name": "<tool>", "arguments": {"<argument>": <value>}}. The tools are:'
)


def whole(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return messages with text for content, and a JSON object for the arguments of every call.

    Servers and chat templates decode the arguments of past calls, and fail on broken ones: those
    are shown as ``{"unparsed": ...}``.
    """
    return [_whole(message) for message in messages]


def told(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the conversation in system, user and assistant text alone, tools told in words."""
    told_messages: list[dict[str, str]] = []
    for message in whole(messages):
        role, text = _told(message)
        if told_messages and told_messages[-1]["role"] == role:
            told_messages[-1]["content"] += f"\n\n{text}"
        else:
            told_messages.append({"role": role, "content": text})
    if tools:
        _prepend_system(told_messages, describe(tools))
    return told_messages


def describe(tools: Sequence[Mapping[str, Any]]) -> str:
    """Return tools in words: how to call one, and a line each with its arguments' schema."""
    lines = [HOW_TO_CALL]
    for tool in tools:
        function = tool.get("function", tool)
        schema = json.dumps(function.get("parameters", {}).get("properties", {}))
        lines.append(f"- {function['name']}: {function.get('description', '')} Arguments: {schema}")
    return "\n".join(lines)


def without_system(messages: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return plain messages whose system text opens the first user message instead."""
    if not messages or messages[0]["role"] != "system":
        return [dict(message) for message in messages]
    text, rest = messages[0]["content"], [dict(message) for message in messages[1:]]
    if rest and rest[0]["role"] == "user":
        rest[0]["content"] = f"{text}\n\n{rest[0]['content']}"
        return rest
    return [{"role": "user", "content": text}, *rest]


def transcript(messages: Sequence[Mapping[str, str]]) -> str:
    """Return plain messages as one text, for a checkpoint that has no chat template."""
    lines = [f"{message['role'].capitalize()}: {message['content']}" for message in messages]
    return "\n\n".join([*lines, "Assistant:"])


def _prepend_system(messages: list[dict[str, str]], text: str) -> None:
    if messages and messages[0]["role"] == "system":
        messages[0]["content"] += f"\n\n{text}"
    else:
        messages.insert(0, {"role": "system", "content": text})


def _whole(message: Message) -> dict[str, Any]:
    made = {**message, "content": _text(message.get("content"))}
    calls = message.get("tool_calls")
    if calls:
        made["tool_calls"] = [_whole_call(call) for call in calls]
    else:
        made.pop("tool_calls", None)
    return made


def _text(content: Any) -> str:
    """Text of a message, whose content may be absent or a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content)


def _whole_call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call["function"]
    arguments = json.dumps(arguments_object(function.get("arguments")))
    return {**call, "function": {**function, "arguments": arguments}}


def arguments_object(arguments: Any) -> dict[str, Any]:
    """Return a call's arguments as an object; broken JSON as ``{"unparsed": ...}``."""
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        value = arguments
    if value is None:
        return {}
    return value if isinstance(value, dict) else {"unparsed": value}


def _told(message: Mapping[str, Any]) -> tuple[str, str]:
    role, text = message["role"], message["content"]
    if role == "tool":
        return "user", f"Result: {text}"
    lines = [text] if text else []
    for call in message.get("tool_calls", ()):
        function = call["function"]
        arguments = json.loads(function["arguments"])
        lines.append(json.dumps({"name": function["name"], "arguments": arguments}))
    return ("system" if role == "developer" else role), "\n".join(lines)
