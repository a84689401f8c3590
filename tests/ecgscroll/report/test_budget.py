from __future__ import annotations

import numpy as np
import pytest
from report_fakes import opened, unwound

from ecgscroll.causal.sources import open_source
from ecgscroll.report.budget import fitted, pack_stories, shares
from ecgscroll.report.signals import pack_recording
from ecgscroll.report.story import Story


def story(name, score, steps=200):
    rng = np.random.default_rng(steps)
    made = [
        {"n": n, "action": {"name": "measure"}, "cursor": n, "result": {"x": rng.random()}}
        for n in range(steps)
    ]
    return Story(name, "played", row={"score": score}, steps=tuple(made))


def test_the_best_episodes_lose_their_detail_first():
    stories = [story("t/d/bad", 0.0), story("t/d/good", 1.0), story("t/d/fair", 0.5)]
    whole = pack_stories(stories)
    held = fitted(stories, whole, sum(map(len, whole)) - 1)
    assert [opened(pack)[0]["level"] for pack in held] == ["whole", "brief", "whole"]


def test_without_room_no_steps_are_left_and_their_number_is_said():
    stories = [story("t/d/bad", 0.0), story("t/d/good", 1.0)]
    held = fitted(stories, pack_stories(stories), 10)
    assert [(opened(p)[0]["level"], opened(p)[0]["of"]) for p in held] == [("none", 200)] * 2


def test_shares_give_all_of_what_is_left_to_the_last():
    order = shares({"bad": 4.0, "good": 1.0, "fair": 2.5})
    assert [name for name, _ in order] == ["good", "fair", "bad"]
    assert order[0][1] == pytest.approx(1 / 7.5)
    assert order[-1][1] == 1.0


@pytest.fixture(scope="module")
def source(reported_recordings):
    return open_source(reported_recordings / "synth", "ectopy01", "synth")


@pytest.mark.parametrize("share", [4500, 20_000, 60_000, 200_000, 3_000_000])
def test_a_recording_never_takes_more_than_its_share(source, share):
    pack = pack_recording(source, [200.0, 20.0, 150.0], share)
    assert pack is not None
    assert len(pack) <= share


def test_with_room_every_sample_is_there_to_a_two_hundredth_of_a_millivolt(source):
    value, data = opened(pack_recording(source, [10.0], 10_000_000))
    (window,) = value["windows"]
    signal = source.recording.read(0, source.recording.n_samples)
    assert (window["start"], window["n"]) == (0, signal.shape[1])
    for lead, reference in enumerate(window["leads"]):
        read = unwound(data, reference).astype(float)
        valid = np.isfinite(signal[lead])
        assert ((read == -32768) == ~valid).all()
        assert np.abs(read * value["sample_mv"] - signal[lead])[valid].max() <= 0.0026
    times = unwound(data, value["beats"]["times"]) / value["fs"]
    assert np.allclose(times, source.reference.beat_times, atol=0.5 / value["fs"])


def test_little_room_goes_to_the_first_moments(source):
    value, _ = opened(pack_recording(source, [200.0, 20.0, 150.0], 40_000))
    spans = [
        (w["start"] / value["fs"], (w["start"] + w["n"]) / value["fs"]) for w in value["windows"]
    ]
    assert any(start <= 200.0 <= stop for start, stop in spans)
    assert sum(stop - start for start, stop in spans) < source.recording.duration / 2


def test_too_small_a_share_gives_nothing(source):
    assert pack_recording(source, [0.0], 100) is None
