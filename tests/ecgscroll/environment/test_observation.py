"""The text a model reads: whole where it fits, never over its cap."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from ecgscroll.environment.observation import MIN_CHARS, LedgerText, compose, result_json

entry = st.fixed_dictionaries(
    {
        "type": st.text(min_size=1, max_size=64),
        "lead": st.none() | st.just("V1"),
        "t0": st.floats(0, 1e5),
        "t1": st.floats(0, 1e5),
        "value": st.none() | st.floats(allow_nan=False),
        "confidence": st.none() | st.floats(0, 1),
        "cursor": st.floats(0, 1e5),
    }
)


@given(st.lists(entry, max_size=40), st.text(max_size=9000), st.integers(MIN_CHARS, 5000))
def test_the_cap_holds_for_any_ledger_and_result(entries, result, cap):
    ledger = LedgerText()
    for one in entries:
        ledger.append(one)
    text = compose("head", ledger, result, ["note"], cap)
    assert len(text) <= cap
    assert text.startswith("head")
    assert text.endswith("\nnote")


def test_a_result_that_does_not_fit_says_that_it_is_cut():
    text = compose("head", LedgerText(), "x" * 9000, [], 500)
    assert text.endswith("...(cut)")
    assert len(text) == 500


def test_a_copy_of_the_ledgers_text_is_independent():
    one = {"type": "af", "lead": None, "t0": 1.0, "t1": 2.0, "value": None, "confidence": None}
    ledger = LedgerText()
    ledger.append(one | {"cursor": 3.0})
    twin = ledger.copy()
    twin.append(one | {"t0": 0.5, "cursor": 4.0})
    assert (len(ledger.lines), ledger.span, ledger.seconds) == (1, (1.0, 2.0), 1.0)
    assert (len(twin.lines), twin.span, twin.seconds) == (2, (0.5, 2.0), 2.5)


def test_results_are_compact_json():
    assert result_json({"a": 1, "b": [None]}) == '{"a":1,"b":[null]}'
    assert json.loads(result_json({"lead": "\u00b5V"})) == {"lead": "\u00b5V"}


def test_a_long_result_takes_no_room_from_the_ledgers_digest_and_the_notes():
    one = {"type": "af", "lead": None, "t0": 1.0, "t1": 2.0, "value": None, "confidence": None}
    ledger = LedgerText()
    ledger.append(one | {"cursor": 3.0})
    text = compose("head", ledger, "x" * 9000, ["Reminder: write it."], MIN_CHARS)
    assert "1 entries" in text
    assert text.endswith("...(cut)\nReminder: write it.")
