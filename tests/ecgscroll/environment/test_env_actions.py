"""What the four actions do, and the calls that they refuse."""

from __future__ import annotations

import shutil

import pytest
from environment_calls import AF, PVC, do, lengthen, skim

import ecgscroll
from ecgscroll.scoring.rewards import RewardConfig


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


def test_an_empty_window_is_measured_as_null_with_reasons(env):
    skim(env, 600)
    result, _ = do(env, "measure", tool="get_rate_rhythm", t0=10, t1=10.01)
    assert result["hr_bpm"] is None
    assert result["reasons"]["hr_bpm"]


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
