"""From anything that a model says to one action that the environment can answer."""

from __future__ import annotations

import random
from itertools import count, islice

import numpy as np
import pytest
from policies_fakes import assert_well_formed

import ecgscroll
from ecgscroll.environment.actions import parse_action
from ecgscroll.errors import BadCallError
from ecgscroll.tools.schemas import tool_schemas
from policies.backends.base import Reply, ToolCall
from policies.calls import NO_CALL, take_call
from policies.judge import FLAG_CHUNKS, read_flags
from policies.planning import Planning

TOOLS = tool_schemas(None)
SKIM = {"name": "skim", "arguments": {"duration": 600}}


def said(text):
    return take_call(Reply(text), TOOLS).action


def called(*calls):
    return take_call(Reply("", tuple(ToolCall(*call) for call in calls)), TOOLS)


def test_a_tool_call_is_taken_as_an_object():
    taken = called(("skim", '{"duration": 600}'))
    assert (taken.action, taken.index) == (SKIM, 0)


def test_of_several_the_first_valid_one_is_taken():
    taken = called(("sleep", "{}"), ("skim", "{"), ("skim", '{"duration": 600}'), ("finish", ""))
    assert (taken.action, taken.index) == (SKIM, 2)


def test_without_a_valid_one_the_first_goes_to_the_environment_as_it_stands():
    taken = called(("skim", "{duration"), ("sleep", "{}"))
    assert (taken.action, taken.index) == ({"name": "skim", "arguments": "{duration"}, None)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "skim", "arguments": {"duration": 600}}',
        'Let me go on.\n```json\n{"name": "skim", "arguments": {"duration": 600}}\n```',
        '<tool_call>\n{"name": "skim", "arguments": {"duration": 600}}\n</tool_call>',
        '<think>maybe {"name": "finish"}</think>{"name": "skim", "arguments": {"duration": 600}}',
        '{"action": "skim", "parameters": {"duration": 600}} trailing words',
        '{"type": "function", "function": {"name": "skim", "arguments": {"duration": 600}}}',
        '[{"name": "skim", "arguments": {"duration": 600}}, {"name": "finish"}]',
        '{"skim": {"duration": 600}}',
        '{"skim": 600}',
        "I call skim(600) now.",
        "skim(duration=600)",
        'broken { then {"thought": "x"} then skim( 600 )',
    ],
)
def test_a_call_is_found_in_text_in_every_style(text):
    assert said(text) == SKIM


def test_a_styled_call_names_its_arguments_by_place():
    assert said('measure("get_qrs", 0, 60)')["arguments"] == {"tool": "get_qrs", "t0": 0, "t1": 60}
    assert said("measure(get_qrs, t0=0, t1=60.5)")["arguments"] == {
        "tool": "get_qrs", "t0": 0, "t1": 60.5,
    }  # fmt: skip
    assert said("finish()") == {"name": "finish", "arguments": {}}


@pytest.mark.parametrize("text", ["", "I do not know.", '{"duration": 600}', "print(1)", "{{{{"])
def test_what_holds_no_call_is_no_call(text):
    assert said(text) == {"name": NO_CALL, "arguments": {}}


def test_arguments_in_json_text_are_left_to_the_environment():
    action = said('{"name": "skim", "arguments": "{\\"duration\\": 600}"}')
    assert parse_action(action).duration == 600


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"indices": [1, 2]}', [1, 2]),
        ("flag_chunks([1, 2])", [1, 2]),
        ('{"flag_chunks": [2, 1, 1]}', [1, 2]),
        ("flag_chunks(indices=[])", None),
        ('{"name": "flag_chunks", "arguments": {"indices": []}}', []),
        ("none of them", None),
    ],
)
def test_flags_are_found_in_text(text, expected):
    flags = read_flags(take_call(Reply(text), [FLAG_CHUNKS]).action, 3)
    assert (flags.problem is None, flags.valid) == (expected is not None, expected or [])


def test_invalid_indices_are_named_and_valid_ones_kept():
    arguments = {"indices": [1, 7, -1, "2", True, 2.0, None, float("nan"), 10**400]}
    flags = read_flags({"name": "flag_chunks", "arguments": arguments}, 3)
    assert flags.valid == [1, 2]
    assert flags.problem.startswith("There are no chunks 7, -1, '2', a boolean, null, nan, 1000")


ATOMS = (
    "skim", "measure", "write", "finish", '"name"', '"arguments"', "{", "}", "[", "]", "(", ")",
    ":", ",", "600", "-1", "NaN", "Infinity", "1e999", "9" * 5000, '"duration"', "get_qrs", "true",
    "null", "\x00", "\x1b[31m", "\ud800", "\u202e", "\u2603", "<tool_call>", "</tool_call>",
    "</think>", "```json", '{"name": "skim", "arguments": ', '{"duration": "soon"}', "'", "\\",
    '{"a":' * 50, "tool_calls",
)  # fmt: skip


def hostile(seed):
    """One of endlessly many replies that mean no good; the same for the same seed."""
    dice = random.Random(seed)
    text = "".join(dice.choices(ATOMS, k=dice.randint(0, 30)))
    match dice.randrange(5):
        case 0:
            return Reply(text)
        case 1:
            return Reply((text or "x") * (100_000 // max(1, len(text))))
        case 2:
            return Reply("[" * 100_000 if seed % 2 else '{"name": {"name": ' * 6000)
        case 3:
            return Reply(text, (ToolCall(dice.choice(ATOMS), text, "\ud800"),) * 40)
    value = dice.choice(["1e999", "NaN", '"1"', "true", "[]", "{}", "9" * 400, "null", "-5"])
    name, key = dice.choice([("skim", "duration"), ("write", "t0"), ("measure", "tool")])
    return Reply("", (ToolCall(name, f'{{"{key}": {value}}}'),))


def test_a_thousand_hostile_replies_never_raise_and_each_is_a_call_or_an_error():
    for seed in range(1000):
        action = take_call(hostile(seed), TOOLS).action
        assert isinstance(action["name"], str)
        assert len(refusal(action)) < 500


def test_a_thousand_hostile_replies_end_their_episodes_by_the_budget_of_errors(synth_data):
    """Only replies that the environment refuses, a thousand of them, ten to an episode."""
    refused = (seed for seed in count() if refusal(take_call(hostile(seed), TOOLS).action))
    refused = list(islice(refused, 1000))
    policy = Planning(backend="script", script=[hostile(seed) for seed in refused])
    env = ecgscroll.make("af_burden/synth/paf01", data=synth_data)
    for _ in range(100):
        obs, info = env.reset(seed=0)
        policy.reset(info)
        truncated = False
        while not truncated:
            obs, _, terminated, truncated, info = env.step(policy.act(obs, info))
            assert "error" in info["result"]
            assert not terminated
            assert_well_formed(policy.trace()["messages"])
        assert info["counts"]["errors"] == info["counts"]["steps"] == 10
        assert info["score"].value == pytest.approx(0.0, abs=0.2)
        assert np.isfinite(obs["cursor"])


def refusal(action):
    """What the environment's parser says against an action; empty if nothing."""
    try:
        parse_action(action)
    except BadCallError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ('{"duration": 5, "duration": 600}', "'duration' twice"),
        ('{"duration": NaN}', "NaN"),
        ('{"duration": ' + "9" * 5000 + "}", "a number is too long"),
        ('{"duration": ' + "[" * 5_000 + "]" * 5_000 + "}", "nested too deeply"),
    ],
)
def test_arguments_are_read_as_strictly_as_by_the_environment(arguments, reason):
    with pytest.raises(BadCallError, match=reason):
        parse_action(called(("skim", arguments)).action)


@pytest.mark.parametrize("said_by", ['"\\ud800\\u001b[31m"', "[[]]", '{"a": "\\u0000"}', "1e400"])
def test_wrong_indices_come_back_as_text_that_any_server_takes(said_by):
    reply = Reply("", (ToolCall("flag_chunks", f'{{"indices": [{said_by}]}}'),))
    problem = read_flags(take_call(reply, [FLAG_CHUNKS]).action, 3).problem
    assert problem.isprintable()
    assert problem.startswith("There are no chunks ")
