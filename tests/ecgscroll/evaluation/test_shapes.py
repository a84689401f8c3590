from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecgscroll.evaluation.outcome import read_outcome
from ecgscroll.evaluation.shapes import is_end, is_finite
from ecgscroll.evaluation.summary import summarise_run

NAME = "af_burden/d/1"
ROW = {
    "instance": NAME, "rollout": 1, "task": "af_burden", "database": "d", "patient": "p",
    "duration_s": 100.0, "cursor_s": 90.0, "ended": "finish", "error": None, "truth": 0.5,
    "score": 0.5, "answer": 0.4, "latency": {"missed": 0, "from_onset": None}, "read_s": 3.5,
    "usage": {"requests": 2, "cost": None},
    **dict.fromkeys(("steps", "skims", "measures", "writes", "rewinds", "errors"), 1),
}  # fmt: skip
END = {
    "row": ROW,
    "ledger": [{"t0": "nan"}],
    "latency": {"onset_s": [1.0, None], "earliest_s": [0, None]},
    "events": [[0.0, 1.0], [5, 9]],
}
JUNK = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
ANYTHING = st.recursive(
    JUNK,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*ROW, *END]), inner)
    ),
    max_leaves=6,
)


def changed(path, value):
    end = copy.deepcopy(END)
    *way, last = path
    held = end
    for name in way:
        held = held[name]
    held[last] = value
    return end


def test_a_whole_end_is_one():
    assert is_end(END, NAME, 1)
    lost = {**END, "row": {**ROW, "error": "lost", "score": None}, "latency": None}
    assert is_end(lost, NAME, 1)
    assert not is_end(END, NAME, 0)
    assert not is_end(END, "af_burden/d/2", 1)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("events",), None), (("events",), [[1.0]]), (("events",), [[0.0, float("nan")]] * 2),
        (("events",), "01"), (("ledger",), None), (("ledger",), [3]), (("latency",), []),
        (("latency", "onset_s"), [1.0]), (("latency", "earliest_s"), ["1.0", None]),
        (("row",), []), (("row", "score"), None), (("row", "score"), 1.1), (("row", "score"), "1"),
        (("row", "score"), float("nan")), (("row", "error"), 3), (("row", "truth"), {"a": 1}),
        (("row", "skims"), True), (("row", "duration_s"), 10**400), (("row", "cursor_s"), None),
        (("row", "patient"), [1]), (("row", "usage"), [1]), (("row", "usage", "cost"), "much"),
        (("row", "latency"), {"from_onset": 3}), (("row", "task"), "nonsense"),
        (("row", "truth"), [[0.0, 1.0]]), (("row", "duration_s"), 0),
        (("row", "duration_s"), 1e300), (("row", "task"), ["af_burden"]),
        (("row", "rollout"), None),
    ],
)  # fmt: skip
def test_what_statistics_cannot_count_is_none(path, value):
    assert not is_end(changed(path, value), NAME, 1)


@pytest.mark.parametrize("task", ["af_burden", "ischemia", "change_detection", "rare_event"])
@given(st.sampled_from([(a, b) for a in END for b in (None, *END[a])]), ANYTHING)
def test_whatever_passes_can_be_summed_up(task, where, value):
    path = (where[0],) if where[1] is None or isinstance(END[where[0]], list) else where
    end = json.loads(json.dumps(changed(path, value)))  # with NaN, as a damaged file may have it
    if isinstance(end["row"], dict):
        renamed = {"instance": f"{task}/d/1", "task": task}
        truth = [[0.0, 1.0]] if task == "ischemia" and path[1:] != ("truth",) else None
        end["row"] = {**end["row"], **renamed} | ({"truth": truth} if truth else {})
    if is_end(end, f"{task}/d/1", 1):
        summarise_run([read_outcome(end)], 0, {"scoring": "committed"})


def test_a_truth_has_the_shape_of_its_task():
    end = changed(("row", "task"), "ischemia")
    end["row"]["instance"] = "ischemia/d/1"
    assert not is_end(end, "ischemia/d/1", 1)
    end["row"]["truth"] = [[0.0, 1.0]]
    assert is_end(end, "ischemia/d/1", 1)


def test_numbers_are_told_from_what_looks_like_them():
    assert [is_finite(one) for one in (1, 0.5, -(2**70))] == [True] * 3
    assert not any(map(is_finite, (True, "1", None, float("inf"), 10**400)))
