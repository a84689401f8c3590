"""The environment's contract: actions, budgets, errors, info, text, Gymnasium's own checks."""

from __future__ import annotations

import json
import math
import pickle
import shutil
import warnings
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wfdb_files import write_record

import ecgscroll
from ecgscroll.environment.env import ECGScrollEnv, EpisodeOverError
from ecgscroll.environment.parameters import step_budget
from ecgscroll.errors import ConfigError, DataError
from ecgscroll.scoring.rewards import RewardConfig

PVC = "pvc_burden/synth/ectopy01"
AF = "episode_detection/synth/paf01"


@pytest.fixture
def env(synth_data) -> ECGScrollEnv:
    made = ecgscroll.make(PVC, data=synth_data, dx="reference")
    made.reset(seed=0)
    return made


def do(env, name, **arguments):
    """Make one call; return (result, everything that step returned)."""
    outcome = env.step({"name": name, "arguments": arguments})
    return outcome[4]["result"], outcome


def skim(env, duration=60):
    return do(env, "skim", duration=duration)[0]


def test_reset_begins_at_zero_with_nothing_written(env):
    obs, info = env.reset(seed=7)
    assert float(obs["cursor"]) == 0.0
    assert float(obs["total"]) == 600.0
    assert (info["seed"], info["ledger"], info["result"]) == (7, [], {})
    assert info["counts"]["steps"] == 0
    assert "score" not in info


def test_skim_advances_and_profiles_the_span_taken(env):
    result = skim(env, 60)
    assert (result["t0"], result["t1"], result["cue"]) == (0.0, 60.0, "ectopy")
    assert len(result["bins"]) == 6
    assert "clamped" not in result
    assert result["peak"] == max(value for _, _, value in result["bins"])


@pytest.mark.parametrize(("asked", "taken"), [(0.1, 5.0), (5, 5.0), (1e9, 600.0)])
def test_skim_is_held_to_its_range_and_to_the_end(env, asked, taken):
    result = skim(env, asked)
    assert result["t1"] == taken
    assert result.get("clamped", False) == (asked != taken)


def test_skim_is_at_most_half_an_hour(synth_data, tmp_path):
    env = ecgscroll.make(f"ischemia/{lengthen(synth_data, tmp_path)}", data=tmp_path)
    env.reset()
    assert skim(env, 5000)["t1"] == 1800.0


def lengthen(synth_data, folder):
    """Copy a record whose header promises an hour; the file ends earlier."""
    (folder / "long").mkdir()
    for file in (synth_data / "synth").glob("ischemia01.*"):
        shutil.copy(file, folder / "long" / file.name)
    header = folder / "long" / "ischemia01.hea"
    header.write_text(header.read_text().replace("225000", "900000", 1))
    return "long/ischemia01"


def test_skim_at_the_end_is_a_bad_call_and_writing_goes_on(env):
    skim(env, 1800)
    assert "recording has ended" in skim(env)["error"]
    assert do(env, "write", t0=10, t1=12)[0]["written"] == 1
    _, (_, _, terminated, truncated, info) = do(env, "finish")
    assert (terminated, truncated) == (True, False)
    assert 0 <= info["score"].value <= 1


def test_measure_before_any_skim_is_a_bad_call(env):
    assert "skim first" in do(env, "measure", tool="get_qrs", t0=0, t1=10)[0]["error"]


def test_measure_clamps_to_the_cursor_and_says_so(env):
    skim(env)
    result, _ = do(env, "measure", tool="get_rate_rhythm", t0=50, t1=90)
    assert (result["t0"], result["t1"], result["clamped"]) == (50.0, 60.0, True)


def test_measure_clamps_a_start_before_zero(env):
    skim(env)
    result, _ = do(env, "measure", tool="get_rate_rhythm", t0=-5, t1=30)
    assert (result["t0"], result["t1"], result["clamped"]) == (0.0, 30.0, True)


@pytest.mark.parametrize(("t0", "t1"), [(60, 70), (100, 200), (-9, -1), (-9, 0)])
@pytest.mark.parametrize("action", ["measure", "write"])
def test_a_window_with_no_elapsed_part_is_a_bad_call(env, action, t0, t1):
    skim(env)
    extra = {"tool": "get_qrs"} if action == "measure" else {}
    result, (_, _, _, _, info) = do(env, action, t0=t0, t1=t1, **extra)
    assert "error" in result
    assert info["ledger"] == []


@pytest.mark.parametrize("tool", ["get_rate_rhythm", "classify_rhythm", "classify_beats"])
def test_results_name_their_source(env, tool):
    skim(env)
    result, _ = do(env, "measure", tool=tool, t0=0, t1=60)
    assert result["tool"] == tool
    assert result.get("beats") == "detected" or result["source"] == "reference"


def test_an_unknown_tool_names_those_of_the_tier(synth_data):
    env = ecgscroll.make(PVC, data=synth_data)
    env.reset()
    skim(env)
    error = do(env, "measure", tool="classify_beats", t0=0, t1=10)[0]["error"]
    assert "get_qrs" in error
    assert "classify_rhythm" not in error


def test_a_costed_rewind_is_counted_with_its_seconds(env):
    skim(env, 60)
    skim(env, 60)
    do(env, "measure", tool="get_qrs", t0=60, t1=120)
    do(env, "measure", tool="get_qrs", t0=40, t1=100)
    _, (_, _, _, _, info) = do(env, "measure", tool="get_qrs", t0=0, t1=30)
    assert info["counts"]["rewinds"] == 2
    assert info["counts"]["rewind_s"] == 50.0
    assert info["reward_terms"]["rewind"] == pytest.approx(-30 * RewardConfig().rewind)


def test_a_forbidden_rewind_is_refused(synth_data):
    env = ecgscroll.make(PVC, data=synth_data, rewind="forbidden")
    env.reset()
    skim(env, 60)
    skim(env, 60)
    assert "Rewinding is forbidden" in do(env, "measure", tool="get_qrs", t0=40, t1=100)[0]["error"]
    result, (_, _, _, _, info) = do(env, "measure", tool="get_qrs", t0=60, t1=100)
    assert "error" not in result
    assert info["counts"]["rewinds"] == 0


def test_write_takes_the_tasks_event_and_the_cursors_stamp(env):
    skim(env)
    result, (_, _, _, _, info) = do(env, "write", t0=1, t1=3, lead="MLII", value=0.5, confidence=1)
    entry = info["ledger"][0]
    assert entry == {
        "type": "pvc",
        "lead": "MLII",
        "t0": 1.0,
        "t1": 3.0,
        "value": 0.5,
        "confidence": 1.0,
        "cursor": 60.0,
    }
    assert result == {"written": 1, **entry}


def test_write_clamps_its_future_part(env):
    skim(env)
    result, _ = do(env, "write", t0=50, t1=75)
    assert (result["t1"], result["clamped"]) == (60.0, True)


def test_write_refuses_a_lead_that_is_not_there(env):
    skim(env)
    assert "MLII" in do(env, "write", t0=1, t1=2, lead="aVR")[0]["error"]


def test_a_wide_write_is_a_bad_call_where_targets_are_beats(env):
    skim(env)
    assert "too wide" in do(env, "write", t0=0, t1=30.1)[0]["error"]
    assert "written" in do(env, "write", t0=0, t1=30.0000001)[0]


def test_a_wide_write_is_good_where_targets_are_episodes(synth_data):
    env = ecgscroll.make(AF, data=synth_data)
    env.reset()
    skim(env, 300)
    assert "written" in do(env, "write", t0=0, t1=300)[0]


def test_another_type_is_kept_and_enters_no_answer(env):
    skim(env)
    do(env, "write", t0=1, t1=3, type="pause")
    _, (_, _, _, _, info) = do(env, "finish")
    assert info["ledger"][0]["type"] == "pause"
    assert info["score"].answer == 0


def test_a_bad_call_changes_nothing_but_counters(env):
    skim(env)
    before = env.clone()
    result, (obs, reward, terminated, truncated, info) = do(env, "skim", duration="long")
    assert "error" in result
    assert (terminated, truncated) == (False, False)
    assert reward == -RewardConfig().invalid
    assert float(obs["cursor"]) == 60.0
    assert info["counts"]["errors"] == 1
    assert skim(env) == skim(before)


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


def test_what_a_caller_changes_changes_nothing_here(env):
    skim(env)
    _, (_, _, _, _, info) = do(env, "write", t0=1, t1=3)
    info["ledger"][0]["t0"] = -1
    info["ledger"].clear()
    info["result"]["t1"] = 99
    info["counts"]["steps"] = -5
    _, (obs, _, _, _, info) = do(env, "measure", tool="get_qrs", t0=0, t1=10)
    assert info["ledger"][0]["t0"] == 1.0
    assert info["counts"]["steps"] == 3
    assert "1.00-3.00" in obs["text"]


def test_the_reward_is_the_sum_of_its_terms_and_ends_with_the_score(env):
    skim(env)
    do(env, "write", t0=1, t1=3)
    _, (_, reward, _, _, info) = do(env, "finish")
    assert reward == sum(info["reward_terms"].values())
    assert info["reward_terms"]["score"] == info["score"].value > 0


def test_the_text_shows_cursor_length_ledger_and_result(env):
    skim(env)
    _, (obs, _, _, _, _) = do(env, "write", t0=1, t1=3, confidence=0.5)
    text = obs["text"]
    assert "cursor 60.000 s of 600.000 s" in text
    assert "#1 pvc 1.00-3.00 confidence=0.5 at 60.00" in text
    assert '"written":1' in text


def test_the_text_names_no_recording(env):
    obs, _ = env.reset()
    assert "ectopy01" not in obs["text"]


def test_the_text_reminds_of_a_confirmed_event_until_it_is_written(env):
    skim(env, 300)
    result, (obs, _, _, _, _) = do(env, "measure", tool="classify_beats", t0=0, t1=300)
    assert "what is not written scores zero" in obs["text"]
    beat = result["pvc_times"][0]
    _, (obs, _, _, _, _) = do(env, "write", t0=beat - 1, t1=beat + 1)
    assert "not written" not in obs["text"]


def test_without_labels_an_elevated_cue_is_a_reminder_until_the_next_skim(synth_data):
    env = ecgscroll.make(PVC, data=synth_data)
    env.reset()
    peak = 0.0
    while peak < 0.3:
        result, (obs, _, _, _, _) = do(env, "skim", duration=20)
        peak = result["peak"]
        assert ("what is not written" in obs["text"]) == (peak >= 0.3)
    _, (obs, _, _, _, _) = do(env, "write", t0=result["peak_t0"], t1=result["peak_t1"])
    assert "what is not written" not in obs["text"]


def test_an_instance_without_its_truth_gets_it(synth_data):
    listed = replace(ecgscroll.get_instance(PVC, data=synth_data), truth=None)
    assert (
        ecgscroll.make(listed).instance.truth == ecgscroll.make(PVC, data=synth_data).instance.truth
    )


@pytest.mark.parametrize("cap", [400, 700, 4000])
def test_the_text_never_passes_its_cap(synth_data, cap):
    env = ecgscroll.make(PVC, data=synth_data, dx="reference", max_chars=cap)
    obs, _ = env.reset()
    lengths = [len(obs["text"])]
    skim(env, 600)
    for i in range(60):
        _, (obs, _, _, _, _) = do(env, "write", t0=i, t1=i + 1, type="x" * 64, value=1 / 3)
        lengths.append(len(obs["text"]))
    for tool in env.action_space.tools:
        _, (obs, _, _, _, _) = do(env, "measure", tool=tool, t0=0, t1=600, per_beat=True)
        lengths.append(len(obs["text"]))
        assert "cursor 600.000" in obs["text"]
    assert max(lengths) <= cap


def test_the_text_keeps_the_last_entries_and_a_digest_of_the_rest(env):
    skim(env, 600)
    for i in range(25):
        _, (obs, _, _, _, _) = do(env, "write", t0=i, t1=i + 1)
    assert "25 entries, 25.0 s in all, 0.00-25.00; 5 older not shown" in obs["text"]
    assert "#6 pvc" in obs["text"]
    assert "#5 pvc" not in obs["text"]


def test_every_result_is_json(env):
    skim(env, 600)
    for tool in env.action_space.tools:
        result, _ = do(env, "measure", tool=tool, t0=0, t1=120, per_beat=True)
        assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_an_empty_window_is_measured_as_null_with_reasons(env):
    skim(env, 600)
    result, _ = do(env, "measure", tool="get_rate_rhythm", t0=10, t1=10.01)
    assert result["hr_bpm"] is None
    assert result["reasons"]["hr_bpm"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"dx": "label"},
        {"rewind": "free"},
        {"scoring": "generous"},
        {"budget": "endless"},
        {"budget": 0},
        {"budget": True},
        {"max_errors": 0},
        {"max_chars": 10},
        {"render_mode": "human"},
        {"af_labels": "AFIB"},
        {"af_labels": None},
        {"af_labels": (5,)},
        {"reward": {"score": 1.0}},
        {"data": 5},
    ],
)
def test_a_wrong_parameter_is_a_config_error(synth_data, wrong):
    with pytest.raises(ConfigError):
        ecgscroll.make(PVC, **({"data": synth_data} | wrong))


def test_reset_refuses_options_it_does_not_know(env):
    with pytest.raises(ConfigError, match="speed"):
        env.reset(options={"speed": 2})


@pytest.mark.parametrize(
    "instance", ["pvc_burden/synth/absent", "pvc_burden/nowhere/1", "junk", 5, None, b"x"]
)
def test_an_absent_recording_is_a_sentence(synth_data, instance):
    with pytest.raises((DataError, ConfigError)):
        ecgscroll.make(instance, data=synth_data)


def test_without_annotations_it_streams_and_is_not_scored(synth_data, tmp_path):
    (tmp_path / "mine").mkdir()
    for ending in ("hea", "dat"):
        shutil.copy(synth_data / "synth" / f"paf01.{ending}", tmp_path / "mine" / f"paf01.{ending}")
    env = ecgscroll.make("af_burden/mine/paf01", data=tmp_path, dx="signal")
    env.reset()
    skim(env, 300)
    result, _ = do(env, "measure", tool="classify_rhythm", t0=0, t1=300)
    assert result["source"] == "signal"
    do(env, "write", t0=0, t1=100)
    _, (_, reward, _, _, info) = do(env, "finish")
    assert math.isnan(info["score"].value)
    assert "annotations" in info["score"].explanation
    assert reward == 0
    with pytest.raises(ConfigError, match="dx='signal'"):
        ecgscroll.make("af_burden/mine/paf01", data=tmp_path, dx="reference")


def test_without_a_waveform_beats_are_the_references(synth_data, tmp_path):
    (tmp_path / "mine").mkdir()
    for ending in ("hea", "atr"):
        shutil.copy(synth_data / "synth" / f"paf01.{ending}", tmp_path / "mine" / f"paf01.{ending}")
    env = ecgscroll.make("af_burden/mine/paf01", data=tmp_path, dx="reference")
    env.reset()
    assert skim(env, 300)["beats"] == "reference"
    result, _ = do(env, "measure", tool="get_rate_rhythm", t0=0, t1=60)
    assert result["beats"] == "reference"
    assert 30 < result["hr_bpm"] < 200
    result, _ = do(env, "measure", tool="get_st", t0=0, t1=60)
    assert "waveform" in json.dumps(result["reasons"])
    with pytest.raises(ConfigError, match="dx='reference'"):
        ecgscroll.make("pvc_burden/mine/paf01", data=tmp_path)


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


def test_a_waveform_too_slow_for_beats_is_refused(tmp_path):
    lines = ["r.dat 16 200 16 0 0 0 0 I"]
    write_record(tmp_path / "mine", "r", lines, 900, {"r.dat": bytes(1800)}, fs=30)
    with pytest.raises(ConfigError, match="60 Hz"):
        ecgscroll.make("af_burden/mine/r", data=tmp_path)


def test_a_skim_that_can_tell_nothing_says_why(synth_data, tmp_path):
    for ending in ("hea", "atr"):
        (tmp_path / "synth").mkdir(exist_ok=True)
        shutil.copy(synth_data / "synth" / f"ischemia01.{ending}", tmp_path / "synth")
    env = ecgscroll.make("ischemia/synth/ischemia01", data=tmp_path, dx="reference")
    env.reset()
    result = skim(env)
    assert result["peak"] is None
    assert set(result["reasons"]) == {"peak", "peak_t0", "peak_t1", "mean"}
    assert "needs a waveform" in result["reasons"]["peak"]
