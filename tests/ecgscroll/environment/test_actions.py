"""Actions from a model: what is accepted, and a sentence for everything that is not."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecgscroll.environment.actions import Finish, Measure, Skim, Write, parse_action
from ecgscroll.errors import BadCallError

TOOLS = ("get_qrs",)


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


def measure(**changes):
    return call("measure", **({"tool": "get_qrs", "t0": 0, "t1": 10} | changes))


@pytest.mark.parametrize(
    ("action", "parsed"),
    [
        (call("skim", duration=30), Skim(30.0)),
        (call("skim", duration=np.float32(30)), Skim(30.0)),
        (call("skim", duration=np.int64(30)), Skim(30.0)),
        ({"name": "skim", "arguments": '{"duration": 30}'}, Skim(30.0)),
        (measure(per_beat=True), Measure("get_qrs", 0.0, 10.0, True)),
        (call("write", t0=1, t1=2), Write(1.0, 2.0)),
        (
            call("write", t0=1, t1=2, type="pvc", lead="II", value=-0.2, confidence=1),
            Write(1.0, 2.0, "pvc", "II", -0.2, 1.0),
        ),
        (
            call("write", t0=1, t1=2, type=None, lead=None, value=None, confidence=None),
            Write(1.0, 2.0),
        ),
        (call("finish"), Finish()),
        ({"name": "finish"}, Finish()),
        ({"name": "finish", "arguments": None}, Finish()),
        ({"name": "finish", "arguments": " "}, Finish()),
    ],
)
def test_a_good_call_is_parsed(action, parsed):
    assert parse_action(action, TOOLS) == parsed


@pytest.mark.parametrize(
    ("action", "says"),
    [
        (None, "An action is an object"),
        ("skim", "not a string"),
        ([], "not a list"),
        ({}, '"name" must be one of'),
        ({"name": 3}, "not a number"),
        ({"name": "jump"}, "no action 'jump'"),
        ({"name": "skim", "arguments": {"duration": 5}, "id": 1}, 'only "name" and "arguments"'),
        ({"name": "skim", 3: 4}, "a number as a key"),
        ({"name": "get_qrs", "arguments": {}}, "call measure with"),
        ({"name": "skim", "arguments": [30]}, "not a list"),
        ({"name": "skim", "arguments": "[30]"}, "not a list"),
        ({"name": "skim", "arguments": "{"}, "not valid JSON"),
        ({"name": "skim", "arguments": '{"duration": NaN}'}, "NaN"),
        ({"name": "skim", "arguments": '{"duration": -Infinity}'}, "Infinity"),
        ({"name": "skim", "arguments": '{"duration": 1e999}'}, "finite"),
        ({"name": "skim", "arguments": '{"duration": 1, "duration": 2}'}, "twice"),
        ({"name": "skim", "arguments": '{"duration": ' + "9" * 5000 + "}"}, "too long"),
        ({"name": "skim", "arguments": "[" * 19_000}, "nested too deeply"),
        ({"name": "skim", "arguments": "[" * 30_000}, "longer than"),
        (call("skim"), "duration is missing"),
        (call("skim", duration=True), "not a boolean"),
        (call("skim", duration="30"), "not a string"),
        (call("skim", duration=None), "not null"),
        (call("skim", duration=[30]), "not a list"),
        (call("skim", duration=0), "above 0"),
        (call("skim", duration=-5), "above 0"),
        (call("skim", duration=float("nan")), "finite"),
        (call("skim", duration=10**400), "finite"),
        (call("skim", duration=30, speed=2), "not 'speed'"),
        (measure(t1=0), "t0 must be before t1"),
        (measure(t0=11), "t0 must be before t1"),
        (measure(t0=float("inf")), "finite"),
        (measure(tool=3), "name of a tool"),
        (measure(tool=None), "not null"),
        (measure(per_beat=1), "true or false"),
        (call("measure", tool="get_qrs", t0=1), "t1 is missing"),
        (call("write", t0=1, t1=2, confidence=1.5), "between 0 and 1"),
        (call("write", t0=1, t1=2, confidence=float("nan")), "finite"),
        (call("write", t0=1, t1=2, value="big"), "not a string"),
        (call("write", t0=1, t1=2, type=""), "printable"),
        (call("write", t0=1, t1=2, type="x" * 65), "printable"),
        (call("write", t0=1, t1=2, type="a\nb"), "printable"),
        (call("write", t0=1, t1=2, lead=1), "not a number"),
        (call("finish", now=True), "takes no arguments"),
    ],
)
def test_a_bad_call_is_one_sentence(action, says):
    with pytest.raises(BadCallError) as caught:
        parse_action(action, TOOLS)
    message = str(caught.value)
    assert says in message
    assert "\n" not in message
    assert len(message) < 300


def test_a_strangers_name_is_shortened_and_made_printable():
    with pytest.raises(BadCallError) as caught:
        parse_action({"name": "\ud800\x00\u202e" + "x" * 500}, TOOLS)
    message = str(caught.value)
    message.encode("utf-8")
    assert message.isprintable()
    assert len(message) < 150


junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.just(10**400)
    | st.just("9" * 6000),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(st.text() | st.integers(), children, max_size=3)
    ),
    max_leaves=6,
)
names = st.sampled_from(["skim", "measure", "write", "finish", "get_qrs"]) | st.text()
keys = st.sampled_from(["duration", "tool", "t0", "t1", "per_beat", "type", "lead", "value"])
arguments = st.dictionaries(keys, junk | st.floats(-10, 1e4), max_size=6) | junk
actions = junk | st.fixed_dictionaries(
    {"name": names, "arguments": arguments | arguments.map(lambda a: json.dumps(a, default=str))}
)


@settings(max_examples=300, deadline=None)
@given(actions)
def test_whatever_arrives_is_a_call_or_a_bad_call(action):
    message = ""
    try:
        parse_action(action, TOOLS)
    except BadCallError as error:
        message = str(error)
    message.encode("utf-8")
    assert len(message) < 600


def test_an_observed_cursor_is_a_number():
    call = {"name": "measure", "arguments": {"tool": "get_st", "t0": 0, "t1": np.array(30.0)}}
    assert parse_action(call, ("get_st",)).t1 == 30.0


@pytest.mark.parametrize("value", [np.array([30.0]), np.array(True), np.array("30"), np.array(1j)])
def test_another_array_is_no_number(value):
    with pytest.raises(BadCallError, match="must be a"):
        parse_action({"name": "skim", "arguments": {"duration": value}}, ())
