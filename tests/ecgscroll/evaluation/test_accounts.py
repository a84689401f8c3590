from __future__ import annotations

import json

import pytest
from evaluation_fakes import Garbler, Idle, Miscounting
from hypothesis import given
from hypothesis import strategies as st

from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.accounts import LONGEST_TEXT, Accounts, messages_sent, plain

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
ANYTHING = st.recursive(
    LEAVES | st.just(object()),
    lambda inner: st.lists(inner) | st.dictionaries(st.integers() | st.text(), inner),
)


@given(ANYTHING)
def test_whatever_a_trace_holds_json_can_carry(value):
    json.dumps(plain(value), allow_nan=False)


def test_a_hostile_trace_is_tamed():
    model = Accounts(Garbler()).model()
    assert len(json.dumps(model, allow_nan=False)) < 3 * LONGEST_TEXT
    assert model["messages"][0] == "(10 bytes)"
    assert model["messages"][1] == {"1": "nan"}
    assert model["messages"][2].endswith("(cut: 50000 characters)")
    assert model["object"] == "(object)"


def test_a_message_is_told_once():
    class Growing(Idle):
        told = ["a", "b"]  # noqa: RUF012

        def trace(self):
            return {"messages": self.told}

    accounts = Accounts(Growing())
    assert accounts.model() == {"messages": ["a", "b"], "kept": 0, "context": [[0, 1]]}
    Growing.told = ["a", "c", "d", "a"]
    told = {"messages": ["c", "d"], "kept": 2, "context": [[0, 0], [2, 3], [0, 0]]}
    assert accounts.model() == told


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), max_size=8))
def test_the_messages_of_every_request_come_back(requests):
    asked = iter(requests)

    class Asking(Idle):
        def trace(self):
            return {"messages": next(asked)}

    accounts = Accounts(Asking())
    models = [accounts.model() for _ in requests]
    assert list(messages_sent(models)) == requests


def test_a_long_conversation_takes_room_in_proportion():
    class Growing(Idle):
        said = 0

        def trace(self):
            self.said += 1
            return {"messages": [{"content": f"turn {turn:04d}"} for turn in range(self.said)]}

    accounts = Accounts(Growing())
    sizes = [len(json.dumps(accounts.model())) for _ in range(400)]
    assert sizes[-1] <= sizes[0] + 10


def test_a_policy_without_a_model_has_no_accounts():
    accounts = Accounts(Idle())
    assert accounts.model() is None
    assert accounts.all_used() is None


@pytest.mark.parametrize("said", ["nan", 5, {"cost": -1}, {"requests": True}, {"cost": "much"}])
def test_a_usage_that_is_no_amount_is_refused(said):
    with pytest.raises(ConfigError, match="usage"):
        Accounts(Miscounting(said)).all_used()
