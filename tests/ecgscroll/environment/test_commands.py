"""Calls as a person types them."""

from __future__ import annotations

import pytest

from ecgscroll.environment.actions import parse_action
from ecgscroll.environment.commands import call_from, parse_command, value_of
from ecgscroll.errors import BadCallError


@pytest.mark.parametrize(
    ("line", "name", "arguments"),
    [
        ("skim 600", "skim", {"duration": 600}),
        ("measure get_qrs 0 60.5", "measure", {"tool": "get_qrs", "t0": 0, "t1": 60.5}),
        ("measure get_qrs 0 60 true", "measure",
         {"tool": "get_qrs", "t0": 0, "t1": 60, "per_beat": True}),
        ("write 10 20 confidence=.9", "write", {"t0": 10, "t1": 20, "confidence": 0.9}),
        ("write t1=20 10 lead='ECG 1'", "write", {"t0": 10, "t1": 20, "lead": "ECG 1"}),
        ("finish", "finish", {}),
    ],
)  # fmt: skip
def test_words_are_named_by_their_places(line, name, arguments):
    call = parse_command(line)
    assert call == {"name": name, "arguments": arguments}
    parse_action(call)


@pytest.mark.parametrize("line", ["", "skim 'six", "skim 1 2", "finish now"])
def test_what_is_no_line_is_a_sentence(line):
    with pytest.raises(BadCallError):
        parse_command(line)


@pytest.mark.parametrize("line", ["sleep", "skim", "skim soon", "skim nan", "skim " + "9" * 500])
def test_what_a_line_asks_for_is_the_environments_to_refuse(line):
    with pytest.raises(BadCallError):
        parse_action(parse_command(line))


def test_values():
    assert [value_of(word) for word in ("-5", "1e3", "None", '"a"', "1.0", "-", "0x1")] == [
        -5, 1000.0, None, "a", 1, "-", "0x1",
    ]  # fmt: skip


def test_a_file_may_write_a_call_in_three_ways():
    skim = {"name": "skim", "arguments": {"duration": 600}}
    for value in ("skim 600", skim, {"skim": 600}, {"skim": [600]}, {"skim": {"duration": 600}}):
        assert call_from(value) == skim
    assert call_from({"finish": None}) == {"name": "finish", "arguments": {}}
    for wrong in (3, None, {"sleep": 3}, {}, []):
        with pytest.raises(BadCallError):
            call_from(wrong)
