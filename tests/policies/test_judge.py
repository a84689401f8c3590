"""The Judge agent: how it walks, asks, asks again and writes."""

from __future__ import annotations

import pytest
from policies_fakes import assert_well_formed, play

import ecgscroll
from ecgscroll.errors import ConfigError
from ecgscroll.tasks import TASKS, get_task
from policies.backends.base import Reply
from policies.judge import Judge, chunk_tools, merged, tiles


def flags(*indices):
    return {"name": "flag_chunks", "arguments": {"indices": list(indices)}}


def judged(script, data, instance="af_burden/synth/paf01", dx="reference", **options):
    policy = Judge(backend="script", script=script, **options)
    calls, infos, finished = play(ecgscroll.make(instance, data=data, dx=dx), policy)
    assert finished
    assert infos[-1]["counts"]["errors"] == 0
    return policy, calls, infos[-1]


def named(calls, name):
    return [call["arguments"] for call in calls if call["name"] == name]


def test_a_batch_is_skimmed_at_once_and_every_chunk_is_measured(synth_data):
    asked = []

    def none(messages, tools, seed):
        asked.append(messages)
        return flags()

    _, calls, info = judged(none, synth_data, batch=10)
    total = 900.0
    assert [one["duration"] for one in named(calls, "skim")] == [300.0] * 3
    measured = [(one["t0"], one["t1"]) for one in named(calls, "measure")]
    assert measured == tiles(total, 30.0)
    assert info["counts"]["rewinds"] == 0
    assert len(asked) == 3
    lines = asked[1][1]["content"].split("\n")
    assert len(lines) == 10
    assert lines[0].startswith("0: 300-330 s dominant_rhythm=")


def test_a_long_batch_takes_several_skims_and_no_rewind(synth_data):
    _, calls, info = judged([flags()], synth_data, batch=100, chunk_s=40.0)
    assert len(named(calls, "skim")) == 1
    _, calls, info = judged([flags()], synth_data, batch=2, chunk_s=600.0)
    assert [one["duration"] for one in named(calls, "skim")] == [900.0]
    assert info["counts"]["rewinds"] == 0


def test_flagged_neighbours_are_written_as_one_at_the_batchs_end(synth_data):
    _, _, info = judged([flags(2, 3, 4, 8), flags(), flags(0)], synth_data, batch=10)
    written = [(one["t0"], one["t1"], one["cursor"]) for one in info["ledger"]]
    assert written == [(60.0, 150.0, 300.0), (240.0, 270.0, 300.0), (600.0, 630.0, 900.0)]


def test_a_batch_of_one_stamps_at_the_chunks_end(synth_data):
    _, _, info = judged([flags(0), flags()], synth_data, batch=1)
    assert all(one["cursor"] == one["t1"] for one in info["ledger"])
    assert len(info["ledger"]) == 15


def test_where_a_finding_is_one_beat_chunks_are_not_joined(synth_data):
    _, _, info = judged([flags(0, 1, 2)], synth_data, instance="pvc_burden/synth/ectopy01", batch=9)
    assert [(one["t0"], one["t1"]) for one in info["ledger"]][:3] == [(0, 30), (30, 60), (60, 90)]


def test_invalid_indices_are_told_and_asked_again(synth_data):
    asked = []

    def careless(messages, tools, seed):
        asked.append(messages)
        return flags(1, 99) if len(asked) == 1 else flags(2)

    policy, _, info = judged(careless, synth_data, batch=30)
    assert [(one["t0"], one["t1"]) for one in info["ledger"]] == [(60.0, 90.0)]
    assert "no chunks 99 in this batch" in asked[1][-1]["content"]
    assert "from 0 to 29" in asked[1][-1]["content"]
    assert_well_formed(asked[1])
    assert policy.usage()["requests"] == 2


def test_after_the_retries_what_is_valid_counts_and_nothing_where_nothing_is(synth_data):
    policy, _, info = judged([flags(1, 99)], synth_data, batch=30, retries=1)
    assert [(one["t0"], one["t1"]) for one in info["ledger"]] == [(30.0, 60.0)]
    assert policy.usage()["requests"] == 2
    hostile = ["I will not.", Reply("x" * 100_000), "flag_chunks(all)", {"name": "flag_chunks"}]
    policy, _, info = judged(hostile, synth_data, batch=30, retries=3)
    assert info["ledger"] == []
    assert policy.usage()["requests"] == 4


def test_the_trace_tells_of_the_steps_that_asked_alone(synth_data):
    policy = Judge(backend="script", script=[flags()], batch=15)
    env = ecgscroll.make("af_burden/synth/paf01", data=synth_data, dx="signal")
    obs, info = env.reset(seed=0)
    policy.reset(info)
    traced = []
    ended = False
    while not ended:
        obs, _, terminated, truncated, info = env.step(policy.act(obs, info))
        ended = terminated or truncated
        traced.append(policy.trace() is not None)
    assert sum(traced) == 2
    assert traced[16]


@pytest.mark.parametrize("instance", ["ischemia/synth/ischemia01", "rare_event/synth/rare01"])
def test_without_labels_a_line_shows_measurements(instance, synth_data):
    lines = []

    def note(messages, tools, seed):
        lines.extend(messages[1]["content"].split("\n"))
        return flags()

    judged(note, synth_data, instance=instance, dx=None)
    field = "st_mv=" if "ischemia" in instance else "ectopic_count="
    assert all("hr_bpm=" in line and field in line for line in lines)


def test_the_oracle_finds_every_labelled_chunk(synth_data):
    policy = Judge(backend="oracle", batch=12)
    for instance, floor in {
        "af_burden/synth/paf01": 0.9, "rare_event/synth/rare01": 1.0,
        "ischemia/synth/ischemia01": 0.5,
    }.items():  # fmt: skip
        env = ecgscroll.make(instance, data=synth_data, dx="reference")
        assert play(env, policy)[1][-1]["score"].value >= floor


def test_the_oracle_needs_labels(synth_data):
    env = ecgscroll.make("af_burden/synth/paf01", data=synth_data)
    with pytest.raises(ConfigError, match="--dx reference"):
        play(env, Judge(backend="oracle"))


def test_a_batch_that_does_not_fit_the_model_is_a_sentence(synth_data):
    env = ecgscroll.make("af_burden/synth/paf01", data=synth_data, dx="reference")
    policy = Judge(backend="script", script=[flags()], context_tokens=700)
    with pytest.raises(ConfigError, match="lower batch"):
        play(env, policy)


@pytest.mark.parametrize("options", [{"chunk_s": 4}, {"chunk_s": "long"}, {"batch": 0}])
def test_a_wrong_option_is_a_sentence(options):
    with pytest.raises(ConfigError):
        Judge(backend="oracle", **options)


def test_tiles_cover_a_recording_and_the_last_may_be_short():
    assert tiles(70.0, 30.0) == [(0.0, 30.0), (30.0, 60.0), (60.0, 70.0)]
    assert tiles(60.0, 30.0)[-1] == (30.0, 60.0)
    assert tiles(4.0, 30.0) == [(0.0, 4.0)]


def test_chunks_join_up_to_the_widest():
    chunks = [(0.0, 30.0), (30.0, 60.0), (60.0, 90.0), (120.0, 150.0)]
    assert merged(chunks, None) == [(0.0, 90.0), (120.0, 150.0)]
    assert merged(chunks, 30.0) == chunks
    assert merged(chunks, 60.0) == [(0.0, 60.0), (60.0, 90.0), (120.0, 150.0)]


@pytest.mark.parametrize("task", list(TASKS))
def test_every_task_has_something_to_show_of_a_chunk(task):
    assert chunk_tools(get_task(task), labelled=True)
    assert chunk_tools(get_task(task), labelled=False)
