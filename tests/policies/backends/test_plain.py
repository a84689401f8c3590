"""Messages made whole, and tools told in words."""

from __future__ import annotations

import pytest

import ecgscroll
from policies.backends.base import ToolCall
from policies.backends.parsing import parse_calls
from policies.backends.plain import describe, told, transcript, whole, without_system


def called(arguments: object) -> dict[str, object]:
    function = {"name": "skim", "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": function}]}


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{"duration": 60}', '{"duration": 60}'),
        ({"duration": 60}, '{"duration": 60}'),
        ('{"duration": ', '{"unparsed": "{\\"duration\\": "}'),
        ("[1]", '{"unparsed": [1]}'),
        (None, "{}"),
        ("[" * 100_000, None),
    ],
)
def test_arguments_of_past_calls_are_always_a_json_object(
    arguments: object, sent: str | None
) -> None:
    (message,) = whole([called(arguments)])
    found = message["tool_calls"][0]["function"]["arguments"]
    assert found == sent if sent else found.startswith('{"unparsed"')
    assert message["content"] == ""


def test_content_in_parts_becomes_text() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert whole([{"role": "user", "content": parts, "tool_calls": []}]) == [
        {"role": "user", "content": "ab"}
    ]


def test_a_conversation_in_words() -> None:
    tools = ecgscroll.tool_schemas()
    said = [
        {"role": "system", "content": "Read."},
        {"role": "user", "content": "Begin."},
        called('{"duration": 60}'),
        {"role": "tool", "content": "{}", "tool_call_id": "1"},
        {"role": "user", "content": "Go on."},
    ]
    system, *rest = told(said, tools)
    assert system == {"role": "system", "content": f"Read.\n\n{describe(tools)}"}
    assert [message["role"] for message in rest] == ["user", "assistant", "user"]
    assert parse_calls(rest[1]["content"])[1] == (ToolCall("skim", '{"duration": 60}'),)
    assert rest[2]["content"] == "Result: {}\n\nGo on."
    assert told(said[1:2], tools)[0]["role"] == "system"
    assert told(said[1:2], []) == said[1:2]
    assert without_system([system, *rest])[0]["role"] == "user"
    assert without_system([system])[0]["role"] == "user"
    assert transcript(rest).endswith("Go on.\n\nAssistant:")


def test_the_description_of_tools_is_no_call() -> None:
    assert parse_calls(describe(ecgscroll.tool_schemas(dx="reference")))[1] == ()
