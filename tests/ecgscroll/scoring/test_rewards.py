import copy
import math
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring_fakes import INSTANCES, TASK_EVENT, fake, ledgers, write

from ecgscroll.errors import ConfigError
from ecgscroll.scoring.rewards import TERMS, RewardConfig, Rewards, StepEvent
from ecgscroll.scoring.verifiers import verify

TASKS = sorted(TASK_EVENT)
EPISODE = INSTANCES["episode_detection"]


def play(rewards, ledger, end=True):
    """Reward of every step: one a write, then one that ends."""
    steps = [rewards.on_step(StepEvent(entry=entry)) for entry in ledger]
    return [*steps, rewards.on_step(StepEvent(ended=True))] if end else steps


def total(steps, term):
    return math.fsum(step[term] for step in steps)


@pytest.mark.parametrize("task", TASKS)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_the_score_is_paid_once_and_equals_the_verifiers(task, data):
    ledger = data.draw(ledgers(task))
    steps = play(Rewards(RewardConfig(score=2.0), INSTANCES[task]), ledger)
    assert [step["score"] for step in steps[:-1]] == [0.0] * len(ledger)
    assert steps[-1]["score"] == 2.0 * verify(INSTANCES[task], ledger).value


@pytest.mark.parametrize("task", TASKS)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_progress_telescopes_at_any_cut(task, data):
    ledger = data.draw(ledgers(task))
    empty = verify(INSTANCES[task], []).value
    for cut in range(len(ledger) + 1):
        rewards = Rewards(RewardConfig(progress=3.0), INSTANCES[task])
        gain = verify(INSTANCES[task], ledger[:cut]).value - empty
        steps = play(rewards, ledger[:cut], end=False)
        assert total(steps, "progress") == pytest.approx(3.0 * gain)


def test_an_episode_that_goes_on_is_paid_no_score():
    steps = play(Rewards(None, EPISODE), [write(30, 90, 95)], end=False)
    assert total(steps, "score") == 0.0


def test_ending_twice_pays_once():
    rewards = Rewards(None, EPISODE)
    steps = [rewards.on_step(StepEvent(entry=write(30, 90, 95), ended=True))]
    steps.append(rewards.on_step(StepEvent(ended=True)))
    assert total(steps, "score") == verify(EPISODE, [write(30, 90, 95)]).value


def test_a_write_at_the_very_step_that_ends_counts():
    step = Rewards(None, EPISODE).on_step(StepEvent(entry=write(30, 90, 95), ended=True))
    assert step["score"] == verify(EPISODE, [write(30, 90, 95)]).value > 0


def test_prices_are_what_the_weights_say():
    config = RewardConfig(rewind=0.01, invalid=0.5, step=0.25)
    step = Rewards(config, EPISODE).on_step(StepEvent(invalid=True, rewind_s=60.0))
    assert step == dict.fromkeys(TERMS, 0.0) | {"rewind": -0.6, "invalid": -0.5, "step": -0.25}


def test_every_term_is_there_at_every_step_and_none_is_a_negative_zero():
    step = Rewards(RewardConfig(), EPISODE).on_step(StepEvent())
    assert tuple(step) == TERMS
    assert all(math.copysign(1, value) == 1 for value in step.values())


def test_a_prompt_detection_earns_more_than_a_late_one_and_that_more_than_none():
    def earned(ledger):
        return total(play(Rewards(RewardConfig(latency=1.0), EPISODE), ledger), "latency")

    prompt, late = earned([write(30, 60, 60)]), earned([write(30, 90, 500)])
    assert prompt == pytest.approx(1 / 3)  # no delay at all, one event of three
    assert prompt > late > earned([]) == 0.0


def test_an_event_is_paid_for_its_detection_once():
    rewards = Rewards(RewardConfig(latency=1.0), EPISODE)
    steps = play(rewards, [write(30, 60, 60), write(30, 70, 70), write(30, 60, 80)])
    assert [step["latency"] > 0 for step in steps] == [True, False, False, False]


@pytest.mark.parametrize("task", TASKS)
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_the_latency_bonus_never_exceeds_its_weight(task, data):
    steps = play(Rewards(RewardConfig(latency=1.0), INSTANCES[task]), data.draw(ledgers(task)))
    assert 0.0 <= total(steps, "latency") <= 1.0 + 1e-9


@pytest.mark.parametrize("task", TASKS)
def test_repeating_a_write_earns_nothing(task):
    config = RewardConfig(progress=1.0, latency=1.0)
    rewards = Rewards(config, INSTANCES[task])
    entry = write(30, 50, 60, type=TASK_EVENT[task])
    steps = play(rewards, [entry] * 5, end=False)
    assert all(sum(step.values()) == 0.0 for step in steps[1:])


def test_without_a_truth_the_prices_stand_alone():
    instance = fake("af_burden", 0.0)
    instance.truth = None
    rewards = Rewards(RewardConfig(progress=1.0, invalid=0.5), instance)
    step = rewards.on_step(StepEvent(entry=write(0, 5, 9), invalid=True, ended=True))
    assert sum(step.values()) == -0.5


@pytest.mark.parametrize(
    "duplicate", [Rewards.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))]
)
def test_a_copy_goes_on_alone(duplicate):
    rewards = Rewards(RewardConfig(progress=1.0), EPISODE)
    play(rewards, [write(30, 90, 95)], end=False)
    twin = duplicate(rewards)
    twin.on_step(StepEvent(entry=write(0, 600, 600)))
    entry = write(120, 150, 160)
    gain = (
        verify(EPISODE, [write(30, 90, 95), entry]).value - verify(EPISODE, [write(30, 90)]).value
    )
    assert rewards.on_step(StepEvent(entry=entry))["progress"] == pytest.approx(gain)


def test_scoring_parameters_reach_the_score():
    instance = fake("change_detection", 0.0)
    step = Rewards(None, instance, scoring="published").on_step(StepEvent(ended=True))
    assert step["score"] == 1.0


@pytest.mark.parametrize(
    "bad", [{"score": -1.0}, {"step": math.nan}, {"rewind": math.inf}, {"invalid": "1"},
            {"progress": True}, {"latency_scale_s": 0.0}, {"bonus": 1.0}, {3: 1.0}],
)  # fmt: skip
def test_a_bad_weight_is_one_sentence(bad):
    with pytest.raises(ConfigError, match=r"\.$"):
        RewardConfig.from_dict(bad)


def test_a_configuration_survives_its_dictionary():
    config = RewardConfig(progress=0.5, step=0.001)
    assert RewardConfig.from_dict(config.to_dict()) == config
