"""The verifier as TRL's reward: right wherever a rollout stops, every term by its name."""

from __future__ import annotations

import math

import pytest

import ecgscroll
from ecgscroll.policy import load_policy
from ecgscroll.scoring.rewards import TERMS, RewardConfig
from training.adapter import Adapter
from training.rewards import Outcome, VerifierReward, batch_metrics

NAME = "af_burden/synth/paf01"
WEIGHTS = RewardConfig(score=1.0, progress=0.5, latency=0.2, step=0.001, rewind=1e-4, invalid=0.02)


@pytest.fixture
def made(synth_data):
    adapter = Adapter([NAME], data=synth_data, dx=["reference"], reward=WEIGHTS)
    rollout = adapter.environment_factory["reference"]()
    rollout.reset(**adapter.train_dataset[0])
    return rollout


def rule_calls(data):
    """The Rule agent's calls, with a rewind and a bad call among them."""
    env = ecgscroll.make(NAME, data=data, dx="reference")
    policy = load_policy("rule")
    obs, info = env.reset(seed=0)
    policy.reset(info)
    calls = []
    while not env.ended:
        calls.append(policy.act(obs, info))
        obs, _, _, _, info = env.step(calls[-1])
    calls.insert(20, {"name": "measure", "arguments": {"tool": "get_qrs", "t0": 0, "t1": 10}})
    calls.insert(30, {"name": "skim", "arguments": {"duration": -1}})
    return calls


def test_cut_anywhere_the_reward_is_that_of_finishing_there_less_the_step(made, synth_data):
    calls = rule_calls(synth_data)
    for cut in range(0, len(calls), 7):
        made.reset(instance=NAME, seed=0)
        for call in calls[:cut]:
            getattr(made, call["name"])(**call["arguments"])
        stopped = made.outcome
        made.finish()
        ended = made.outcome
        assert (stopped.ended, ended.ended) == (False, True)
        assert stopped.score == ended.score
        assert stopped.reward == pytest.approx(ended.reward + WEIGHTS.step)


def test_asking_for_the_outcome_changes_nothing(made):
    made.skim(duration=900)
    made.write(t0=110, t1=250)
    assert made.outcome == made.outcome
    before = made.outcome.terms["score"]
    made.finish()
    assert made.outcome.terms["score"] == pytest.approx(before)


def test_terms_add_up_and_are_logged_by_name(made):
    made.skim(duration=900)
    made.write(t0=110, t1=250)
    logged: dict[str, float] = {}
    columns: dict[str, list] = {}
    (reward,) = VerifierReward()(
        environments=[made], log_metric=logged.__setitem__, log_extra=columns.__setitem__
    )
    terms = {name.removeprefix("terms/"): v for name, v in logged.items() if "terms/" in name}
    assert set(terms) == set(TERMS)
    assert reward == pytest.approx(math.fsum(terms.values()))
    assert terms["score"] > 0 < terms["progress"]
    assert terms["step"] == pytest.approx(-2 * WEIGHTS.step)
    assert logged["episodes/writes"] == 1
    assert logged["episodes/ended"] == 0
    assert columns["instance"] == [NAME]


def test_the_environment_can_own_the_same_reward(synth_data):
    given = {"data": synth_data, "reward": WEIGHTS}
    inside = Adapter([NAME], owns_reward=True, **given)
    outside = Adapter([NAME], **given)
    assert inside.reward_funcs == []
    rewards = []
    for adapter in (inside, outside):
        rollout = adapter.environment_factory["none"]()
        rollout.reset(**adapter.train_dataset[0])
        rollout.skim(duration=600)
        rollout.write(t0=110, t1=250)
        rewards.append(rollout)
    (expected,) = outside.reward_funcs[0](environments=[rewards[1]])
    assert rewards[0].get_reward() == expected


def test_a_rollout_that_cannot_be_scored_is_left_out():
    terms = dict.fromkeys(TERMS, 0.0)
    counts = {"steps": 1, "writes": 0, "errors": 0, "rewinds": 0}
    unscored = Outcome("a", math.nan, terms, counts, True)
    scored = Outcome("b", 0.5, {**terms, "score": 0.5}, counts, True)
    assert unscored.reward is None
    assert scored.reward == 0.5
    assert batch_metrics([unscored, scored])["episodes/score"] == 0.5
    assert "episodes/score" not in batch_metrics([unscored])


def test_a_watcher_sees_the_batch(made):
    seen = []
    VerifierReward(lambda *batch: seen.append(batch))(
        environments=[made], completions=[[{"role": "assistant", "content": "Hm."}]]
    )
    ((completions, outcomes, step),) = seen
    assert completions[0][0]["content"] == "Hm."
    assert outcomes[0].instance == NAME
    assert step == 0
