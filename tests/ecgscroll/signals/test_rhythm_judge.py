from dataclasses import replace

import numpy as np
import pytest

from ecgscroll.signals.beats import Beats
from ecgscroll.signals.rhythm import hysteresis, judge


def af_share(rr_ms):
    beats = Beats.from_times(np.cumsum(np.asarray(rr_ms)) / 1000)
    af, known = judge(beats).seconds(0.0, beats.time[-1])
    return af / known


def rng():
    return np.random.default_rng(1)


def test_fibrillation():
    assert af_share(rng().normal(700, 140, 300).clip(350)) > 0.95


def test_sinus_rhythm_with_breathing():
    beat = np.arange(300)
    assert af_share(800 + 60 * np.sin(beat / 4) + rng().normal(0, 10, 300)) < 0.05


@pytest.mark.parametrize("period", [2, 3, 4])
def test_ectopy_every_second_third_or_fourth_beat_is_not_fibrillation(period):
    rr = np.full(300, 800.0)
    rr[::period] = 500
    rr[1::period] = 1100
    assert af_share(rr + rng().normal(0, 15, 300)) < 0.05


def test_single_ectopic_beats_are_not_fibrillation():
    rr = 800 + rng().normal(0, 20, 300)
    early = rng().choice(np.arange(5, 290), 30, replace=False)
    rr[early] -= 300
    rr[early + 1] += 300
    assert af_share(rr) < 0.1


def test_onset_is_placed_within_a_quarter_of_a_minute():
    rr = np.concatenate([np.full(300, 800.0), rng().normal(650, 130, 300).clip(350)])
    found = judge(Beats.from_times(np.cumsum(rr) / 1000))
    assert found.start[found.af][0] == pytest.approx(240, abs=15)


def test_too_few_intervals_are_not_judged():
    assert judge(Beats.from_times(np.arange(8) * 0.8)) is None


def test_hysteresis_holds_between_its_thresholds():
    score = np.array([0.01, 0.07, 0.09, 0.07, 0.04, 0.07])
    assert hysteresis(score).tolist() == [False, False, True, True, False, False]


@pytest.mark.parametrize(("present", "expected"), [(1.0, 0.0), (0.0, 1.0), (np.nan, 1.0)])
def test_irregular_beats_with_p_waves_are_not_fibrillation(present, expected):
    beats = Beats.from_times(np.cumsum(rng().normal(700, 140, 300).clip(350)) / 1000)
    beats = replace(beats, p_present=np.full(300, present, dtype=np.float32))
    assert judge(beats).af.mean() == pytest.approx(expected, abs=0.05)
