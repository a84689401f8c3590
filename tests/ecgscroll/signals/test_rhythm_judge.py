from dataclasses import replace

import numpy as np
import pytest

from ecgscroll.signals.beats import Beats
from ecgscroll.signals.irregularity import entropy
from ecgscroll.signals.rhythm import Rhythm, hysteresis, judge, logit


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


RATES = (300.0, 610.0, 800.0, 1200.0, 1500.0, 1900.0)
"""None between 350 and 600 ms: there a regular rhythm may be flutter."""


@pytest.mark.parametrize("fs", [128, 1000])
@pytest.mark.parametrize("rr", RATES)
def test_a_metronome_of_any_rate_is_not_fibrillation(rr, fs):
    beats = np.rint(np.arange(300) * rr / 1000 * fs) / fs * 1000
    steady = np.diff(beats)
    slower = np.concatenate([steady, 1.3 * steady])
    assert af_share(steady) == 0.0
    assert rr < 400 or af_share(slower) == 0.0
    assert af_share(np.where(np.arange(299) == 150, 0.7, 1.0) * steady) == 0.0


@pytest.mark.parametrize("pattern", [(1, 1.6), (1, 1, 1, 0.6, 1.4), (1, 0.9, 0.85, 1.7), (1, 1.8)])
@pytest.mark.parametrize("rr", RATES[1:])
def test_a_pattern_at_any_rate_is_not_fibrillation(rr, pattern):
    intervals = rr * np.resize(pattern, 300) / np.mean(pattern) + rng().normal(0, 3, 300)
    assert af_share(intervals) == 0.0


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
    score = np.array([-3.0, 0.0, 0.6, 0.0, -2.5, 0.0])
    assert hysteresis(score, np.arange(6.0)).tolist() == [False, False, True, True, False, False]


def test_a_verdict_does_not_hold_for_ever():
    score, end = np.array([1.0, -1.5, -1.5]), np.array([0.0, 59.0, 61.0])
    assert hysteresis(score, end).tolist() == [True, True, False]


def fibrillation(n=300):
    return rng().normal(650, 130, n).clip(350)


def test_a_label_uses_thirty_seconds_after_it_and_no_more():
    rr = np.concatenate([np.full(300, 800.0), fibrillation()])
    time = np.cumsum(rr) / 1000
    whole = judge(Beats.from_times(time))
    for cursor in (200.0, 250.0, 300.0):
        part = judge(Beats.from_times(time[time <= cursor]))
        sure = part.stop <= cursor - 30.0
        assert np.array_equal(part.af[sure], whole.af[: len(part.af)][sure])


def test_a_label_depends_on_a_bounded_past():
    rr = np.concatenate([fibrillation(), np.full(200, 800.0), fibrillation()])
    time = np.cumsum(rr) / 1000
    whole, late = judge(Beats.from_times(time)), judge(Beats.from_times(time[time > 100]))
    sure = late.stop > 250.0
    assert np.array_equal(late.af[sure], whole.af[-len(late.af) :][sure])


def test_without_look_ahead_nothing_after_an_interval_counts():
    rr = np.concatenate([np.full(200, 800.0), fibrillation()])
    time = np.cumsum(rr) / 1000
    whole = judge(Beats.from_times(time), ahead_s=0.0)
    for n in (150, 205, 215, 300):
        part = judge(Beats.from_times(time[: n + 1]), ahead_s=0.0)
        assert part.af[-1] == whole.af[n - 1]


def test_fibrillation_between_ventricular_beats_only_is_ectopy():
    rr = np.full(300, 800.0)
    early = np.flatnonzero(rng().random(299) < 0.35)
    rr[early] = rng().uniform(380, 620, len(early))
    time = np.cumsum(rr) / 1000
    beats = Beats.from_times(time, source="detected", leads=("I",))
    beats = replace(beats, ectopic=np.isin(np.arange(300), early))
    assert judge(replace(beats, ectopic=np.zeros(300, bool))).af.mean() > 0.2
    assert judge(beats).af.mean() < 0.05


def test_episodes_are_runs_of_fibrillation():
    start = np.arange(5.0)
    found = Rhythm(start, start + 1, np.array([False, True, True, False, True]))
    assert found.episodes() == [(1.0, 3.0), (4.0, 5.0)]


def test_the_same_intervals_give_the_same_logits_whatever_came_before():
    ms = fibrillation(400)
    end = np.cumsum(ms) / 1000
    late, whole = logit(ms[100:], end[100:])[150:], logit(ms, end)[250:]
    np.testing.assert_allclose(late, whole, rtol=1e-9)


@pytest.mark.parametrize(("present", "expected"), [(1.0, 0.0), (0.0, 1.0), (np.nan, 1.0)])
def test_irregular_beats_with_p_waves_are_not_fibrillation(present, expected):
    times = np.cumsum(rng().normal(700, 140, 300).clip(350)) / 1000
    beats = Beats.from_times(times, source="detected", leads=("I",))
    beats = replace(
        beats, ectopic=np.zeros(300, bool), p_present=np.full(300, present, dtype=np.float32)
    )
    assert judge(beats).af.mean() == pytest.approx(expected, abs=0.05)


def test_entropy_tells_fibrillation_from_steady_rhythms_and_from_bigeminy():
    steady = rng().normal(800, 15, 70)
    drifting = np.linspace(1000, 500, 70) + rng().normal(0, 10, 70)
    bigeminy = np.tile([550.0, 1050.0], 35) + rng().normal(0, 10, 70)
    assert max(map(entropy, (steady, drifting, bigeminy))) < 0.7
    assert entropy(rng().lognormal(np.log(700), 0.22, 70)) > 1.2


def test_entropy_of_a_few_intervals_is_unknown():
    assert np.isnan(entropy(np.full(5, 800.0)))
    assert entropy(np.full(6, 800.0)) == pytest.approx(0.0)
