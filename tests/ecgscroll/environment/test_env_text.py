"""What an agent gets after a step: text, info and reward."""

from __future__ import annotations

import json

import pytest
from environment_calls import PVC, do, skim

import ecgscroll


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
    assert "cursor 60 s of 600 s" in text
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
        assert "cursor 600 s" in obs["text"]
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
