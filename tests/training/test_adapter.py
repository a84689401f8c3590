"""TRL meets the environment: the same tools, the same answers, whatever a model sends."""

from __future__ import annotations

import inspect
import json

import pytest
from transformers.utils import get_json_schema

import ecgscroll
from ecgscroll.errors import ConfigError
from ecgscroll.loaders.opening import tier_name
from ecgscroll.policy import load_policy
from ecgscroll.scoring.rewards import RewardConfig
from policies.text import without_ledger
from training.adapter import Adapter
from training.rollout import OVER, Rollout, rollout_class

TIERS = [None, "signal", "reference"]
NAME = "af_burden/synth/paf01"


def public(kind: type) -> set[str]:
    """What TRL finds on a class and would make tools of."""
    members = inspect.getmembers(kind, predicate=inspect.isfunction)
    return {name for name, _ in members if not name.startswith("_")}


def rollout(data, dx=None, **parameters) -> Rollout:
    adapter = Adapter([NAME], data=data, dx=[dx], **parameters)
    made = adapter.environment_factory[tier_name(dx)]()
    made.reset(**adapter.train_dataset[0])
    return made


@pytest.mark.parametrize("dx", TIERS)
def test_the_public_methods_are_the_tools_and_reset(dx):
    names = {schema["function"]["name"] for schema in ecgscroll.tool_schemas(dx)}
    assert public(rollout_class(dx)) == names | {"reset"}
    assert public(rollout_class(dx, owns_reward=True)) == names | {"reset", "get_reward"}


@pytest.mark.parametrize("dx", TIERS)
def test_the_schema_that_trl_makes_has_the_names_and_parameters_of_ours(dx, synth_data):
    made = rollout(synth_data, dx)
    for schema in ecgscroll.tool_schemas(dx):
        ours = schema["function"]
        theirs = get_json_schema(getattr(made, ours["name"]))["function"]
        known, given = ours["parameters"]["properties"], theirs["parameters"]["properties"]
        assert theirs["name"] == ours["name"]
        assert theirs["description"] == ours["description"]
        assert list(given) == list(known)
        assert theirs["parameters"].get("required", []) == ours["parameters"]["required"]
        for name, about in known.items():
            kinds = about["type"] if isinstance(about["type"], list) else [about["type"]]
            assert given[name]["type"] == kinds[0]
            assert given[name].get("enum") == about.get("enum")
            assert given[name]["description"] == about["description"]


@pytest.mark.parametrize("dx", TIERS)
def test_every_answer_is_the_environments_step_by_step(dx, synth_data):
    made = rollout(synth_data, dx)
    env = ecgscroll.make(NAME, data=synth_data, dx=dx)
    policy = load_policy("rule")
    obs, info = env.reset(seed=0)
    policy.reset(info)
    total = 0.0
    while not env.ended:
        action = policy.act(obs, info)
        obs, reward, _, _, info = env.step(action)
        answer = getattr(made, action["name"])(**action.get("arguments", {}))
        assert answer == without_ledger(obs["text"])
        total += reward
    assert made.outcome.score == info["score"].value
    assert made.outcome.reward == pytest.approx(total)
    assert made.outcome.counts == info["counts"]


BAD = [
    ("skim", {}),
    ("skim", {"duration": "600"}),
    ("skim", {"duration": None}),
    ("skim", {"seconds": 600}),
    ("skim", {"self": 600, "name": 3, "duration": 600}),
    ("measure", {"tool": "classify_rhythm", "t0": 0, "t1": 30}),
    ("measure", {"tool": ["get_st"], "t0": 0, "t1": 30}),
    ("write", {"t0": 0, "t1": float("nan")}),
    ("write", {"t0": 0, "t1": 10, "arguments": {}}),
    ("finish", {"now": True}),
]


@pytest.mark.parametrize(("name", "arguments"), BAD)
def test_what_a_model_sends_is_checked_by_the_environment_and_priced(name, arguments, synth_data):
    made = rollout(synth_data)
    env = ecgscroll.make(NAME, data=synth_data)
    env.reset(seed=0)
    obs, reward, *_ = env.step({"name": name, "arguments": arguments})
    assert getattr(made, name)(**arguments) == without_ledger(obs["text"])
    assert made.outcome.counts["errors"] == 1
    assert made.outcome.reward == pytest.approx(reward) == pytest.approx(-0.01)


def test_after_finish_every_call_is_answered_with_an_error_and_changes_nothing(synth_data):
    made = rollout(synth_data)
    made.skim(duration=600)
    made.write(t0=100, t1=200)
    made.finish()
    before = made.outcome
    calls = [made.finish(), made.skim(duration=5), made.write(t0=0, t1=1)]
    assert calls == [OVER] * 3
    assert "error" in json.loads(OVER)
    assert made.outcome == before


def test_a_pooled_object_forgets_the_rollout_before(synth_data):
    adapter = Adapter([NAME, "pvc_burden/synth/ectopy01"], data=synth_data)
    used, fresh = (adapter.environment_factory["none"]() for _ in range(2))
    first, second = adapter.train_dataset
    used.reset(**first)
    used.skim(duration=600)
    used.write(t0=1, t1=2)
    used.skim(duration=-1)
    used.finish()
    assert used.reset(**second) == fresh.reset(**second)
    assert used.outcome == fresh.outcome
    assert used.skim(duration=60) == fresh.skim(duration=60)
    assert used.outcome == fresh.outcome


def test_rollouts_of_a_group_do_not_touch_each_other(synth_data):
    adapter = Adapter([NAME], data=synth_data)
    one, other = (adapter.environment_factory["none"]() for _ in range(2))
    row = adapter.train_dataset[0]
    one.reset(**row)
    other.reset(**row)
    one.skim(duration=600)
    one.write(t0=100, t1=200)
    assert other.outcome.counts["steps"] == 0
    assert "entries written: 0" in other.skim(duration=600)


def test_a_row_for_each_instance_and_tier_with_the_planning_prompt(synth_data):
    adapter = Adapter([NAME, "ischemia/synth/ischemia01"], data=synth_data, dx=TIERS, seed=7)
    rows = list(adapter.train_dataset)
    assert [(row["instance"].partition("/")[0], row["environment"]) for row in rows] == [
        (task, tier_name(dx)) for task in ("af_burden", "ischemia") for dx in TIERS
    ]
    assert len({row["seed"] for row in rows}) == 6
    assert all(row["prompt"][0]["role"] == "system" for row in rows)
    assert set(adapter.environment_factory) == set(adapter.schemas) == set(map(tier_name, TIERS))


def test_nothing_to_train_on_is_refused(synth_data):
    with pytest.raises(ConfigError, match="no instance"):
        Adapter([], data=synth_data)


def test_a_rollout_has_no_outcome_before_reset(synth_data):
    adapter = Adapter([NAME], data=synth_data)
    with pytest.raises(ConfigError, match="call reset first"):
        _ = adapter.environment_factory["none"]().outcome


def test_the_weights_and_the_budget_reach_the_environment(synth_data):
    made = rollout(synth_data, reward=RewardConfig(step=0.5), budget=2)
    made.skim(duration=60)
    assert not made.outcome.ended
    made.skim(duration=60)
    assert made.outcome.ended
    assert made.outcome.terms["step"] == -1.0
    assert made.skim(duration=60) == OVER
