"""Copies, repetition and any sequence of calls: the same actions, the same transcript."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from environment_calls import PVC, do, skim
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ecgscroll
from ecgscroll.environment.env import ECGScrollEnv


def transcript(env, actions):
    """What an agent would see of each action, as bytes."""
    out = []
    for action in actions:
        obs, reward, terminated, truncated, info = env.step(action)
        score = info.pop("score", None)
        seen = [obs["text"], float(obs["cursor"]), reward, terminated, truncated, info]
        out.append(json.dumps([*seen, score and score.to_dict(per_event=True)]))
        if terminated or truncated:
            break
    return out


def sampled_actions(env, count, seed=5):
    env.action_space.seed(seed)
    return [a for a in (env.action_space.sample() for _ in range(count)) if a["name"] != "finish"]


def repickled(env):
    return pickle.loads(pickle.dumps(env))


@pytest.mark.parametrize("copied", [repickled, ECGScrollEnv.clone], ids=["pickle", "clone"])
def test_a_copy_midway_goes_on_identically(env, copied):
    actions = sampled_actions(env, 40)
    transcript(env, actions[:15])
    twin = copied(env)
    assert transcript(env, actions[15:]) == transcript(twin, actions[15:])


def test_a_copy_is_independent(env):
    skim(env)
    twin = env.clone()
    do(twin, "write", t0=1, t1=3)
    skim(twin)
    _, (obs, _, _, _, info) = do(env, "measure", tool="get_qrs", t0=0, t1=10)
    assert info["ledger"] == []
    assert float(obs["cursor"]) == 60.0


def test_the_same_actions_give_the_same_transcript(synth_data):
    runs = []
    for _ in range(2):
        env = ecgscroll.make(PVC, data=synth_data, dx="signal")
        env.reset(seed=1)
        runs.append(transcript(env, sampled_actions(env, 30)))
    assert runs[0] == runs[1]


def test_the_path_of_the_cursor_leaves_no_trace_in_a_measurement(synth_data):
    seen = []
    for steps in ([600], [60] * 10, [7] * 86):
        env = ecgscroll.make(PVC, data=synth_data, dx="signal", budget=500)
        env.reset()
        for duration in steps:
            skim(env, duration)
        seen.append([do(env, "measure", tool=t, t0=100, t1=400)[0] for t in env.action_space.tools])
    assert seen[0] == seen[1] == seen[2]


scalars = st.none() | st.booleans() | st.text(max_size=5) | st.floats() | st.just(10**400)
windows = st.floats(-100, 1000) | st.integers(-100, 1000)
fuzzed = st.one_of(
    scalars,
    st.fixed_dictionaries({"name": st.just("skim"), "arguments": st.fixed_dictionaries(
        {"duration": windows | scalars})}),
    st.fixed_dictionaries({"name": st.just("measure"), "arguments": st.fixed_dictionaries(
        {"tool": st.sampled_from(["get_qrs", "get_st", "classify_beats", "no"]) | scalars,
         "t0": windows | scalars, "t1": windows | scalars},
        optional={"per_beat": st.booleans() | scalars})}),
    st.fixed_dictionaries({"name": st.just("write"), "arguments": st.fixed_dictionaries(
        {"t0": windows | scalars, "t1": windows | scalars},
        optional={"type": scalars, "lead": scalars, "value": scalars, "confidence": scalars})}),
)  # fmt: skip


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(fuzzed, min_size=25, max_size=25))
def test_no_sequence_of_calls_breaks_it_and_a_budget_ends_it(synth_data, actions):
    env = ecgscroll.make(PVC, data=synth_data, dx="reference", budget=25)
    env.reset()
    for action in actions:
        obs, reward, _, truncated, info = env.step(action)
        assert obs in env.observation_space
        assert np.isfinite(reward)
        json.dumps(info["result"], allow_nan=False).encode("utf-8")
        if truncated:
            break
    assert truncated
    assert 0 <= info["score"].value <= 1
