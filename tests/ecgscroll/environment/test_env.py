"""An episode's beginning and end, budgets, and Gymnasium's own checks."""

from __future__ import annotations

import warnings

import gymnasium
import pytest
from environment_calls import AF, PVC, do, skim
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv

import ecgscroll
from ecgscroll.environment.env import EpisodeOverError
from ecgscroll.environment.parameters import step_budget


def test_reset_begins_at_zero_with_nothing_written(env):
    obs, info = env.reset(seed=7)
    assert float(obs["cursor"]) == 0.0
    assert float(obs["total"]) == 600.0
    assert (info["seed"], info["ledger"], info["result"]) == (7, [], {})
    assert info["counts"]["steps"] == 0
    assert "score" not in info


def test_errors_in_a_row_truncate_and_score(synth_data):
    env = ecgscroll.make(PVC, data=synth_data, max_errors=3)
    env.reset()
    for action in ("jump", {"name": "jump"}, None):
        _, _, terminated, truncated, info = env.step(action)
    assert (terminated, truncated) == (False, True)
    assert info["score"].value == info["reward_terms"]["score"]


def test_a_good_call_forgives_earlier_errors(synth_data):
    env = ecgscroll.make(PVC, data=synth_data, max_errors=2)
    env.reset()
    for action in (None, {"name": "skim", "arguments": {"duration": 5}}, None):
        _, _, terminated, truncated, _ = env.step(action)
    assert not terminated
    assert not truncated


def test_the_step_budget_truncates_and_scores(synth_data):
    env = ecgscroll.make(PVC, data=synth_data, budget=2)
    env.reset()
    skim(env)
    _, (_, reward, terminated, truncated, info) = do(env, "skim", duration=60)
    assert (terminated, truncated) == (False, True)
    assert reward == sum(info["reward_terms"].values())
    assert info["counts"]["steps"] == 2


@pytest.mark.parametrize(
    ("budget", "total", "steps"),
    [("open", 600, 500), ("open", 601, 520), ("released", 600, 65), ("released", 86400, 437)],
)
def test_step_budgets_follow_their_formulas(budget, total, steps):
    assert step_budget(budget, total) == steps


def test_after_the_end_a_step_asks_for_a_reset(env):
    do(env, "finish")
    with pytest.raises(EpisodeOverError, match="call reset"):
        skim(env)
    with pytest.raises(gymnasium.error.ResetNeeded):
        skim(env)
    env.reset()
    assert skim(env)["t1"] == 60.0


def test_before_the_first_reset_a_step_asks_for_one(synth_data):
    with pytest.raises(EpisodeOverError, match="call reset"):
        skim(ecgscroll.make(PVC, data=synth_data))


def test_gymnasium_accepts_it(synth_data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = gymnasium.make("ECGScroll-v0", instance=PVC, data=synth_data, dx="reference")
        check_env(made.unwrapped)


def test_gymnasium_makes_it_by_id(synth_data):
    made = gymnasium.make("ECGScroll-v0", instance=PVC, data=synth_data, render_mode="ansi")
    obs, _ = made.reset(seed=1)
    assert obs in made.observation_space
    assert made.action_space.sample() in made.action_space
    assert made.render() == obs["text"]


def test_two_recordings_run_side_by_side(synth_data):
    def maker(instance):
        return lambda: ecgscroll.make(instance, data=synth_data, dx="reference")

    envs = AsyncVectorEnv([maker(PVC), maker(AF)], shared_memory=False)
    try:
        obs, _ = envs.reset(seed=3)
        calls = [{"name": "skim", "arguments": {"duration": d}} for d in (60, 120)]
        obs, rewards, _, _, infos = envs.step(calls)
        assert obs["cursor"].tolist() == [60.0, 120.0]
        assert rewards.tolist() == [0.0, 0.0]
        assert infos["result"]["t1"].tolist() == [60.0, 120.0]
    finally:
        envs.close()
