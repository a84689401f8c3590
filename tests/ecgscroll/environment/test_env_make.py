"""What can be made, from what recordings, and what is refused."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace

import pytest
from environment_calls import PVC, do, skim
from wfdb_files import write_record

import ecgscroll
from ecgscroll.errors import ConfigError, DataError


def test_an_instance_without_its_truth_gets_it(synth_data):
    listed = replace(ecgscroll.get_instance(PVC, data=synth_data), truth=None)
    assert (
        ecgscroll.make(listed).instance.truth == ecgscroll.make(PVC, data=synth_data).instance.truth
    )


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


def test_a_waveform_too_slow_for_beats_is_refused(tmp_path):
    lines = ["r.dat 16 200 16 0 0 0 0 I"]
    write_record(tmp_path / "mine", "r", lines, 900, {"r.dat": bytes(1800)}, fs=30)
    with pytest.raises(ConfigError, match="60 Hz"):
        ecgscroll.make("af_burden/mine/r", data=tmp_path)
