"""The environment's own spaces keep Gymnasium's promises."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from ecgscroll.environment.actions import parse_action
from ecgscroll.environment.spaces import FreeText, ToolCallSpace, observation_space
from ecgscroll.errors import BadCallError

TOOLS = ("get_qrs", "get_st")


@pytest.mark.parametrize("space", [ToolCallSpace(TOOLS, seed=1), FreeText(50, seed=1)])
def test_samples_are_contained_and_follow_the_seed(space):
    first = [space.sample() for _ in range(50)]
    space.seed(1)
    assert [space.sample() for _ in range(50)] == first
    assert all(sample in space for sample in first)
    assert len({repr(sample) for sample in first}) > 10


def test_sampled_calls_are_well_formed():
    space = ToolCallSpace(TOOLS, seed=2)
    names = {type(parse_action(space.sample(), TOOLS)).__name__ for _ in range(400)}
    assert names == {"Skim", "Measure", "Write", "Finish"}


@pytest.mark.parametrize(
    "junk", [None, 3, "skim", [], {}, {"name": 1}, {"name": "x", "arguments": 1}]
)
def test_what_is_no_call_is_not_contained(junk):
    assert junk not in ToolCallSpace(TOOLS)


def test_text_is_contained_up_to_its_cap():
    assert "any text, with \n and \u00b5" in FreeText(50)
    assert "x" * 51 not in FreeText(50)
    assert 3 not in FreeText(50)


def test_equal_spaces_are_equal_and_survive_a_pickle():
    assert ToolCallSpace(TOOLS) == pickle.loads(pickle.dumps(ToolCallSpace(TOOLS)))
    assert ToolCallSpace(TOOLS) != ToolCallSpace(TOOLS[:1])
    assert FreeText(5) != FreeText(6)
    assert hash(FreeText(5)) == hash(FreeText(5))


def test_times_are_arrays_without_dimensions():
    space = observation_space(100)
    assert {"text": "", "cursor": np.array(3.0), "total": np.array(9.0)} in space
    assert {"text": "", "cursor": np.array([3.0]), "total": np.array(9.0)} not in space


def test_a_parser_knows_more_than_the_envelope():
    call = {"name": "jump"}
    assert call in ToolCallSpace(TOOLS)
    with pytest.raises(BadCallError):
        parse_action(call, TOOLS)
