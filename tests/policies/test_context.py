"""What a model sees of the past: never too much, always well formed, the newest always there."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policies_fakes import assert_well_formed, quarter

from ecgscroll.errors import ConfigError
from ecgscroll.tools.schemas import tool_schemas
from policies.asking import message_tokens
from policies.backends.base import Reply, ToolCall
from policies.calls import take_call
from policies.context import LEAST_TOKENS, Context

TOOLS = tool_schemas(None)
SYSTEM = "You watch an ECG."
KINDS = ["window", "last", "full"]


def make(kind, room=4000, turns=32, slack=0):
    return Context(kind, SYSTEM, room, quarter, turns, slack=slack)


def skim(duration=600):
    return Reply("On.", (ToolCall("skim", f'{{"duration": {duration}}}', "x"),))


def observation(n):
    return f"af_burden: cursor {n} s\nLedger: {n} entries\n#{n} af 1-2 at {n}\nResult: {n}"


def answer(context, reply, text):
    messages = context.messages(text)
    context.said(reply, take_call(reply, TOOLS))
    return messages


def talk(context, turns):
    for n in range(turns):
        answer(context, skim(n + 5), observation(n))
    return context.messages(observation(turns))


call = st.builds(
    ToolCall,
    st.sampled_from(["skim", "finish", "sleep", "a b", ""]) | st.text(max_size=5),
    st.sampled_from(
        ['{"duration": 5}', "{}", "{", "", '{"t0": NaN}', '{"a": "' + "b" * 900 + '"}']
    ),
    st.text(max_size=3),
)
reply = st.builds(
    Reply,
    st.sampled_from(["", "skim(5)", "word " * 800, "</think> skim(7)"]) | st.text(max_size=40),
    st.lists(call, max_size=4).map(tuple),
)
turn = st.tuples(
    reply, st.integers(0, 30).map(observation) | st.integers(0, 6000).map(lambda n: "o" * n)
)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(KINDS), st.lists(turn, max_size=12), st.integers(0, 6),
    st.integers(LEAST_TOKENS + 20, 3000),
)  # fmt: skip
def test_whatever_is_said_the_messages_fit_and_are_well_formed(kind, turns, most, room):
    context = make(kind, room, most)
    for said, text in [*turns, (Reply(""), "newest")]:
        messages = answer(context, said, text)
        assert sum(message_tokens(one, quarter) for one in messages) <= room
        assert messages[0] == {"role": "system", "content": SYSTEM}
        assert messages[1]["role"] == "user"
        assert messages[-1]["content"].startswith(text[:20])
        assert_well_formed(messages)
    assert messages[-1]["content"] == "newest"


def test_a_window_holds_the_newest_turns_and_says_what_is_left_out():
    messages = talk(make("window", turns=3), 10)
    roles = [one["role"] for one in messages]
    assert roles == ["system", "user", *["assistant", "tool"] * 4]
    assert "7 earlier turns" in messages[1]["content"]
    assert messages[-2]["tool_calls"][0]["function"]["arguments"] == '{"duration": 14}'


def test_a_window_with_slack_begins_alike_until_it_is_full():
    shown = [talk(make("window", turns=3, slack=4), turns) for turns in range(20)]
    said = [sum(one["role"] == "assistant" for one in messages) for messages in shown]
    assert said == [0, 1, 2, 3, 4, 5, 6, 7, *[4, 5, 6, 7, 8] * 2, 4, 5]
    for before, after in pairwise(shown[8:]):
        grows = len(after) > len(before)
        told = [[one["content"] for one in messages] for messages in (before[:-1], after)]
        assert (told[1][: len(told[0])] == told[0]) == grows


def test_only_the_newest_observation_of_a_window_shows_the_ledger():
    messages = talk(make("window"), 5)
    assert ["Ledger" in one["content"] for one in messages[1:]] == [False] * 10 + [True]
    assert "Result: 4" in messages[-3]["content"]


def test_without_the_ledger_an_observation_reads_the_same_new_and_old():
    context = Context("window", SYSTEM, 4000, quarter, 32, ledger=False)
    newest = [answer(context, skim(), observation(n))[-1]["content"] for n in range(6)]
    *_, last = context.messages(observation(6))
    assert "Ledger" not in last["content"]
    shown = [one["content"] for one in context.messages(observation(6)) if one["role"] != "system"]
    assert [text for text in shown if text] == [*newest, last["content"]]


def test_last_shows_neither_history_nor_the_ledgers_content():
    messages = talk(make("last"), 5)
    assert [one["role"] for one in messages] == ["system", "user"]
    assert messages[1]["content"] == "af_burden: cursor 5 s\nResult: 5"


def test_full_keeps_every_turn_as_long_as_it_fits_and_what_went_before_never_changes():
    context = make("full", room=100_000)
    before = talk(context, 60)
    assert len(before) == 2 + 2 * 60
    context.said(skim(), take_call(skim(), TOOLS))
    after = context.messages(observation(61))
    assert after[: len(before) - 1] == before[:-1]
    assert len(talk(make("full", room=1000), 60)) < 60


def test_thousands_of_turns_take_no_more_than_a_few():
    context = make("window", room=2000)
    sizes = []
    for n in range(3000):
        messages = answer(context, skim(), observation(n))
        sizes.append(sum(message_tokens(one, quarter) for one in messages))
    assert max(sizes) <= 2000
    assert len(context._past) <= 32


def test_calls_that_were_not_taken_are_answered_with_one_call_a_turn():
    context = make("window")
    said = Reply("", (ToolCall("skim", '{"duration": 9}'), ToolCall("finish", "{}")))
    answer(context, said, observation(0))
    *_, assistant, refused, newest = context.messages(observation(1))
    assert [one["function"]["name"] for one in assistant["tool_calls"]] == ["finish", "skim"]
    assert "one call a turn" in refused["content"]
    assert newest["content"] == observation(1)


def test_a_call_in_text_is_answered_by_a_users_message():
    context = make("window")
    answer(context, Reply("<think>hm</think>skim(9)"), observation(0))
    messages = context.messages(observation(1))
    assert messages[-2] == {"role": "assistant", "content": "skim(9)"}
    assert messages[-1]["role"] == "user"


def test_what_cannot_be_held_is_refused_in_a_sentence():
    with pytest.raises(ConfigError, match="longer context"):
        make("window", room=80)
    with pytest.raises(ConfigError, match="window, last, full"):
        make("some")
