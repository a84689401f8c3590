"""The numeric wrapper: an off-the-shelf learner runs on it, and it calls what it says."""

from __future__ import annotations

import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv

import ecgscroll
from ecgscroll.environment.wrappers import (
    FEATURES,
    PLACES,
    SKIM_S,
    VERBS,
    NumericWrapper,
    WholeInfo,
)

PVC = "pvc_burden/synth/ectopy01"


@pytest.fixture
def env(synth_data):
    made = NumericWrapper(ecgscroll.make(PVC, data=synth_data, dx="reference", budget=60))
    made.reset(seed=0)
    return made


def act(env, verb, skim=60.0, tool="classify_beats", place="skimmed"):
    tools = env.unwrapped.action_space.tools
    indices = [VERBS.index(verb), SKIM_S.index(skim), tools.index(tool), PLACES.index(place)]
    return env.step(np.array(indices))


def feature(obs, name):
    return obs[FEATURES.index(name)]


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
def test_gymnasium_accepts_it(synth_data):
    made = gymnasium.make("ECGScroll-v0", instance=PVC, data=synth_data, dx="reference")
    check_env(NumericWrapper(made), skip_render_check=True)


def test_it_wraps_nothing_else():
    with pytest.raises(TypeError, match="wraps an ECGScrollEnv"):
        NumericWrapper(gymnasium.make("CartPole-v1"))


def test_features_follow_the_cursor_and_the_profile(env):
    obs, _, _, _, info = act(env, "skim", skim=300.0)
    assert feature(obs, "elapsed fraction of the recording") == pytest.approx(0.5)
    peak = feature(obs, "peak of the last profile over the cue's scale")
    assert peak == pytest.approx(info["result"]["peak"])
    assert feature(obs, "bin 5 has a value") == 1


def test_a_measurement_shows_until_the_next_skim(env):
    act(env, "skim")
    obs, _, _, _, info = act(env, "measure", tool="get_rate_rhythm")
    name = "get_rate_rhythm.hr_bpm"
    assert feature(obs, f"{name} over 100") == pytest.approx(info["result"]["hr_bpm"] / 100)
    obs, *_ = act(env, "skim")
    assert feature(obs, f"{name} was measured since the last skim") == 0


def test_writing_beat_by_beat_takes_each_listed_beat_once(env):
    act(env, "skim", skim=300.0)
    times = act(env, "measure", tool="classify_beats")[4]["result"]["pvc_times"]
    entries = [act(env, "write", place="beat")[4]["ledger"][-1] for _ in range(2)]
    assert entries[0]["t0"] == pytest.approx(times[0] - 1)
    assert entries[1]["t0"] > entries[0]["t0"]


def test_a_wide_place_is_cut_to_what_the_task_allows(env):
    act(env, "skim", skim=300.0)
    entry = act(env, "write", place="skimmed")[4]["ledger"][-1]
    assert (entry["t0"], entry["t1"]) == (135.0, 165.0)


def test_extend_goes_on_from_the_last_write(env):
    act(env, "skim", skim=30.0)
    act(env, "write", place="skimmed")
    act(env, "skim", skim=5.0)
    entry = act(env, "write", place="extend")[4]["ledger"][-1]
    assert (entry["t0"], entry["t1"]) == (30.0, 35.0)


def test_every_observation_is_in_the_box_and_episodes_end(env):
    env.action_space.seed(4)
    for _ in range(2):
        obs, _ = env.reset(seed=0)
        ended = False
        while not ended:
            assert obs in env.observation_space
            obs, _, terminated, truncated, _ = env.step(env.action_space.sample())
            ended = terminated or truncated


def test_it_can_be_pickled_midway(env):
    act(env, "skim")
    twin = pickle.loads(pickle.dumps(env))
    assert np.array_equal(act(env, "skim")[0], act(twin, "skim")[0])


def test_whole_info_stacks_results_of_any_shape(synth_data):
    def maker(instance):
        return lambda: WholeInfo(ecgscroll.make(instance, data=synth_data, dx="reference"))

    envs = SyncVectorEnv([maker(PVC), maker("ischemia/synth/ischemia01")])
    envs.reset(seed=0)
    for tools in (("skim", "skim"), ("get_st", "flag_ischemia"), ("flag_ischemia", "get_st")):
        window = {"t0": 0, "t1": 60}
        calls = [
            {"name": "skim", "arguments": {"duration": 60}}
            if tool == "skim"
            else {"name": "measure", "arguments": {"tool": tool, **window}}
            for tool in tools
        ]
        infos = envs.step(calls)[4]
        assert [result["t1"] for result in infos["result"]] == [60.0, 60.0]


@pytest.mark.slow
def test_ppo_runs_on_it_unmodified(synth_data):
    ppo = pytest.importorskip("stable_baselines3").PPO
    env = NumericWrapper(ecgscroll.make(PVC, data=synth_data, dx="reference", budget=40))
    model = ppo("MlpPolicy", env, n_steps=64, batch_size=32, n_epochs=1, seed=0, device="cpu")
    model.learn(128)
    action, _ = model.predict(env.reset(seed=0)[0], deterministic=True)
    assert env.action_space.contains(np.asarray(action))
    assert model.num_timesteps == 128
