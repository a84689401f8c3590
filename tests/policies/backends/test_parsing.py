"""Calls out of text: every shape that checkpoints write, and hostile ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.backends.base import ToolCall
from policies.backends.parsing import CANDIDATES, cleaned, first_call_end, parse_calls

SKIM = ToolCall("skim", '{"duration": 60}')
JSON = '{"name": "skim", "arguments": {"duration": 60}}'

SHAPES = {
    "tagged": f"<tool_call>\n{JSON}\n</tool_call>",
    "tagged, never closed": f"<tool_call>\n{JSON}",
    "bare": JSON,
    "after text": f"I look further. {JSON} Then I stop.",
    "fenced": f"```json\n{JSON}\n```",
    "llama": '<|python_tag|>{"name": "skim", "parameters": {"duration": 60}}',
    "mistral": f"[TOOL_CALLS][{JSON}]",
    "openai": '{"id": "1", "type": "function", "function": ' + JSON + "}",
    "wrapped": '{"tool_calls": [' + JSON + "]}",
    "arguments first": '{"arguments": {"duration": 60}, "name": "skim"}',
    "arguments as text": r'{"name": "skim", "arguments": "{\"duration\": 60}"}',
    "after thoughts": f"<think>perhaps {JSON.replace('60', '5')}</think>{JSON}",
    "after thoughts begun in the prompt": f"hm {JSON.replace('60', '5')}</think>{JSON}",
    "a list cut short": f'[{JSON}, {{"name": "sk',
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_every_shape_of_a_call_is_read(text: str) -> None:
    assert parse_calls(text)[1] == (SKIM,)


def test_what_is_said_beside_calls_stays() -> None:
    assert parse_calls(f"I look. {JSON}") == ("I look.", (SKIM,))
    assert parse_calls(SHAPES["fenced"])[0] == ""
    assert parse_calls(f"{SHAPES['tagged']}\n{SHAPES['tagged']}") == ("", (SKIM, SKIM))
    assert cleaned(f"<think>hm</think> {JSON}<|im_end|>") == JSON


@pytest.mark.parametrize(
    ("text", "call"),
    [
        (
            '<tool_call>{"name": "skim", "arguments": {"duration": }}</tool_call>',
            ToolCall("skim", '{"duration": }}'),
        ),
        ("<tool_call>skim(60)</tool_call>", ToolCall("", "skim(60)")),
        ("<tool_call></tool_call>", ToolCall("", "")),
        ('<tool_call>["skim"]</tool_call>', ToolCall("", '["skim"]')),
    ],
)
def test_a_broken_call_is_still_a_call(text: str, call: ToolCall) -> None:
    assert parse_calls(text) == ("", (call,))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nothing.",
        '{"name": "skim"}',
        '{"name": 3, "arguments": {}}',
        '{"a": 1}',
        '{"name": "skim", "description": "a schema", "parameters": {}}',
        f"<think>{JSON}",
    ],
)
def test_what_is_no_call(text: str) -> None:
    assert parse_calls(text)[1] == ()
    assert first_call_end(text) is None


@pytest.mark.parametrize("name", ["tagged", "bare", "after text", "llama", "after thoughts"])
def test_a_turn_ends_with_its_first_complete_call(name: str) -> None:
    text = SHAPES[name]
    end = first_call_end(text)
    assert end is not None
    assert parse_calls(text[:end])[1] == (SKIM,)
    assert all(first_call_end(text[:i]) is None for i in range(end))


@settings(max_examples=50, deadline=None)
@given(
    st.text() | st.lists(st.sampled_from([*SHAPES.values(), "{", "[", "<think>", '"'])).map("".join)
)
def test_no_text_raises(text: str) -> None:
    parse_calls(text)
    first_call_end(text)


@pytest.mark.parametrize(
    "text",
    ["{" * 100_000, '{"name":' * 20_000, "<tool_call>" * 10_000, JSON * 2_000, '[{"a":' * 20_000],
)
def test_a_hundred_thousand_hostile_characters_are_few_calls(text: str) -> None:
    assert len(parse_calls(text)[1]) <= CANDIDATES


@pytest.mark.parametrize("blank", ["[", "```json", '{"name"', "x"])
def test_blanks_take_time_in_proportion(
    blank: str, growth: Callable[[Callable[[], object], Callable[[], object]], float]
) -> None:
    small, large = (blank + " " * size for size in (5_000, 50_000))
    assert growth(lambda: parse_calls(small), lambda: parse_calls(large)) < 40


def test_a_call_is_found_behind_any_number_of_blanks() -> None:
    assert parse_calls("Look:" + " " * 500 + JSON)[1] == (SKIM,)


@pytest.mark.parametrize("depth", [9, 100, 480, 990, 10_000])
def test_no_depth_of_nesting_raises(depth: int) -> None:
    opened, closed = '{"function":' * depth, "}" * depth
    for text in (
        f"{opened}{JSON}{closed}",
        '{"tool_calls":[' * depth + JSON + "]}" * depth,
        f'{{"name": "skim", "arguments": {"[" * depth}{"]" * depth}}}',
    ):
        parse_calls(text)
        first_call_end(text)


def test_arguments_nested_too_deeply_are_still_a_call() -> None:
    text = f'{{"name": "skim", "arguments": {{"a": {"[" * 100}{"]" * 100}}}}}'
    ((call,),) = (parse_calls(text)[1],)
    assert call == ToolCall("skim", "(nested too deeply)")


def test_a_key_that_comes_twice_is_not_chosen_from() -> None:
    twice = '{"name": "skim", "arguments": {"duration": 5, "duration": 600}}'
    assert parse_calls(twice)[1] == ()
    ((call,),) = (parse_calls(f"<tool_call>{twice}</tool_call>")[1],)
    assert call.name == "skim"
    assert call.arguments.count("duration") == 2
