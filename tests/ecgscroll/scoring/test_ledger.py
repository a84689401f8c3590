import copy
import json
import pickle
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecgscroll.errors import DataError
from ecgscroll.scoring.ledger import FIELDS, Ledger

NUMBER = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**9), 10**9)
ENTRY = st.fixed_dictionaries(
    {"type": st.text(max_size=5), "t0": NUMBER, "t1": NUMBER},
    optional={
        "lead": st.none() | st.text(max_size=5),
        "value": st.none() | NUMBER,
        "confidence": st.none() | NUMBER,
        "cursor": st.none() | NUMBER,
    },
)


def line(**changes):
    return json.dumps({"type": "af", "t0": 0, "t1": 5} | changes)


@given(st.lists(ENTRY, max_size=5))
def test_json_lines_round_trip(entries):
    ledger = Ledger(entries)
    assert Ledger.from_jsonl(ledger.to_jsonl()) == ledger
    assert Ledger.from_jsonl(ledger.to_jsonl().encode()) == ledger


def test_entries_are_plain_dicts_of_the_seven_fields():
    ledger = Ledger()
    entry = ledger.append(type="af", t0=0.0, t1=5.0, cursor=60.0)
    assert type(entry) is dict
    assert tuple(entry) == FIELDS == tuple(ledger.entries()[0])


@pytest.mark.parametrize("read", [lambda lg: lg.entries()[0], lambda lg: next(iter(lg))])
def test_readers_cannot_rewrite_history(read):
    ledger = Ledger([{"type": "af", "t0": 0, "t1": 5}])
    read(ledger)["t0"] = 99
    assert ledger.entries()[0]["t0"] == 0


def test_what_append_returns_is_a_copy():
    ledger = Ledger()
    ledger.append(type="af", t0=0.0, t1=5.0)["t1"] = 99
    assert ledger.entries()[0]["t1"] == 5.0


def test_a_source_entry_changed_later_does_not_change_the_ledger():
    source = {"type": "af", "t0": 0, "t1": 5}
    ledger = Ledger([source])
    source["t0"] = 3
    assert ledger.entries()[0]["t0"] == 0


@pytest.mark.parametrize("duplicate", [Ledger.copy, copy.copy, copy.deepcopy])
def test_a_copy_grows_alone(duplicate):
    ledger = Ledger([{"type": "af", "t0": 0, "t1": 5}])
    twin = duplicate(ledger)
    assert twin == ledger
    twin.append(type="af", t0=6, t1=7)
    assert (len(ledger), len(twin)) == (1, 2)
    assert twin != ledger


def test_a_pickled_ledger_is_equal():
    ledger = Ledger([{"type": "af", "t0": 0, "t1": 5}])
    assert pickle.loads(pickle.dumps(ledger)) == ledger


def test_last_few_entries_and_more_than_there_are():
    ledger = Ledger([{"type": "af", "t0": t, "t1": t + 1} for t in range(5)])
    assert [entry["t0"] for entry in ledger.entries(last=2)] == [3, 4]
    assert len(ledger.entries(last=9)) == 5
    assert ledger.entries(last=0) == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object()])
def test_what_json_cannot_carry_is_refused_with_the_entry_number(value):
    ledger = Ledger([{"type": "af", "t0": 0, "t1": 5}, {"type": "af", "t0": 0, "t1": value}])
    with pytest.raises(DataError, match="entry 2"):
        ledger.to_jsonl()


HOSTILE = {
    "not json": "{",
    "a list": "[1, 2]",
    "a number": "7",
    "nan": '{"type": "af", "t0": NaN, "t1": 5}',
    "infinity": '{"type": "af", "t0": 0, "t1": Infinity}',
    "overflow to infinity": '{"type": "af", "t0": 0, "t1": 1e999}',
    "bool for a number": line(t0=True),
    "text for a number": line(t1="5"),
    "number for text": line(type=7),
    "huge integer": line(t1=10**400),
    "integer past the digit limit": '{"type": "af", "t0": 0, "t1": ' + "9" * 5000 + "}",
    "missing bound": '{"type": "af", "t0": 0}',
    "null type": line(type=None),
    "unknown field": line(colour="red"),
    "list for a lead": line(lead=["V5"]),
    "deep nesting": "[" * 100_000,
    "nested junk": line(value={"a": [1]}),
}


@pytest.mark.parametrize("bad", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_line_is_one_sentence_with_its_number(bad):
    with pytest.raises(DataError, match="Line 2 ") as error:
        Ledger.from_jsonl(f"{line()}\n{bad}\n")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 250


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(DataError, match="UTF-8"):
        Ledger.from_jsonl(b"\xff\xfe\x00")


@given(st.text(max_size=60) | st.binary(max_size=60))
def test_any_text_is_read_or_refused_and_never_crashes(text):
    with suppress(DataError):
        assert isinstance(Ledger.from_jsonl(text), Ledger)


def test_blank_lines_and_windows_line_ends_are_no_entries():
    assert len(Ledger.from_jsonl(f"\n{line()}\r\n\n")) == 1


def test_a_line_separator_inside_a_string_does_not_split_it():
    ledger = Ledger([{"type": "af\u2028\x85", "t0": 0, "t1": 1}])
    assert Ledger.from_jsonl(ledger.to_jsonl()) == ledger
