"""Rhythms, ectopy and episodes have the statistics of the physiology that they imitate."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.signal import welch

from ecgscroll.synth import (
    Ectopy,
    Fibrillation,
    Ischemia,
    SynthConfig,
    preset,
    synthesize,
)

FS = 250
HOUR = 3600.0


def rr_between(plan, kind):
    """R-R intervals between neighbours that are both of one kind, s."""
    both = (plan.kind[1:] == kind) & (plan.kind[:-1] == kind)
    return np.diff(plan.sample)[both] / FS


@pytest.fixture(scope="module")
def sinus_hours():
    return [synthesize(preset("sinus", seed, HOUR), seed).plan for seed in range(4)]


def test_sinus_rhythm_varies_like_a_healthy_hour(sinus_hours):
    for plan in sinus_hours:
        rr_ms = 1000 * np.diff(plan.sample) / FS
        assert 500 < rr_ms.mean() < 1250
        assert 25 < rr_ms.std() < 120  # SDNN
        assert 12 < np.sqrt(np.mean(np.diff(rr_ms) ** 2)) < 80  # RMSSD


def test_sinus_spectrum_has_both_bands_in_balance(sinus_hours):
    for plan in sinus_hours:
        time = plan.sample / FS
        grid = np.arange(time[1], time[-1], 0.25)
        tachogram = np.interp(grid, time[1:], np.diff(time))
        frequency, power = welch(tachogram - tachogram.mean(), 4.0, nperseg=1024)
        low = power[(frequency >= 0.04) & (frequency < 0.15)].sum()
        high = power[(frequency >= 0.15) & (frequency < 0.4)].sum()
        assert 0.5 < low / high < 6.0
        assert 0.18 < frequency[np.argmax(power * (frequency > 0.15))] < 0.36


def test_every_minute_of_sinus_rhythm_is_regular(sinus_hours):
    for plan in sinus_hours:
        rr = np.diff(plan.sample) / FS
        minutes = rr[: rr.size // 60 * 60].reshape(-1, 60)
        assert (minutes.std(axis=1) / minutes.mean(axis=1)).max() < 0.12


def test_the_heart_is_slower_at_night():
    plan = synthesize(preset("sinus", 0, 24 * HOUR), 0).plan
    hour = (9 + plan.sample[1:] / FS / HOUR) % 24
    rr = np.diff(plan.sample) / FS
    assert rr[(hour > 1) & (hour < 5)].mean() > 1.1 * rr[(hour > 13) & (hour < 17)].mean()


@pytest.fixture(scope="module")
def persistent():
    config = SynthConfig(duration_s=HOUR, fibrillation=Fibrillation(burden=1.0))
    return synthesize(config, 5)


def test_fibrillation_is_irregularly_irregular(persistent):
    rr = rr_between(persistent.plan, 1)
    assert 0.2 < rr.std() / rr.mean() < 0.4
    assert abs(np.corrcoef(rr[1:], rr[:-1])[0, 1]) < 0.1
    assert rr.min() > 0.3
    assert 0.45 < rr.mean() < 1.0


def test_persistent_fibrillation_is_one_span_from_end_to_end(persistent):
    assert persistent.plan.af == ((0, persistent.config.n_samples),)
    assert persistent.plan.rhythm == ((0, "(AFIB"),)


@pytest.fixture(scope="module")
def paroxysmal():
    return [synthesize(preset("paf", seed, 4 * HOUR), seed) for seed in range(60)]


def test_episodes_are_short_in_the_median_and_heavy_in_the_tail(paroxysmal):
    lengths = [(stop - start) / FS for one in paroxysmal for start, stop in one.plan.af]
    assert len(lengths) > 1000
    assert 11 < np.median(lengths) < 24
    assert np.mean(lengths) > 3 * np.median(lengths)


def test_burden_over_recordings_is_u_shaped(paroxysmal):
    burden = [
        sum(stop - start for start, stop in one.plan.af) / one.config.n_samples
        for one in paroxysmal
    ]
    low, middle, high = np.histogram(burden, [0.0, 0.2, 0.8, 1.001])[0]
    assert low > middle / 2
    assert high > middle / 2
    assert low + high > middle
    assert min(low, high) >= 10


def test_rhythm_changes_fall_on_beats_and_bound_the_fibrillating_ones(paroxysmal):
    plan = paroxysmal[1].plan
    starts = [sample for sample, _ in plan.rhythm]
    assert starts[0] == 0
    assert np.isin(starts[1:], plan.sample).all()
    inside = np.zeros(plan.sample.size, dtype=bool)
    for start, stop in plan.af:
        inside |= (plan.sample >= start) & (plan.sample < stop)
    assert (inside == (plan.kind == 1)).all()


@pytest.fixture(scope="module")
def ectopic():
    ectopy = Ectopy(singles_per_h=60, runs_per_h=15, bigeminy_per_h=10, pauses_per_h=10)
    return synthesize(replace(preset("sinus", 4, HOUR), ectopy=ectopy), 4).plan


def test_single_ectopic_beats_are_early_with_a_compensatory_pause():
    config = replace(preset("sinus", 2, HOUR), ectopy=Ectopy(singles_per_h=60))
    plan = synthesize(config, 2).plan
    beat = np.flatnonzero(plan.kind == 2)
    rr = np.diff(plan.sample) / FS
    basic = rr[beat - 2]
    assert ((rr[beat - 1] / basic) < 0.85).all()
    assert (rr[beat] > rr[beat - 1]).all()
    both = (rr[beat - 1] + rr[beat]) / (2 * basic)
    assert abs(np.median(both) - 1) < 0.03
    assert 30 <= beat.size <= 90


def test_groups_of_ectopic_beats_are_annotated_as_rhythms(ectopic):
    labels = {label for _, label in ectopic.rhythm}
    assert {"(N", "(B", "(VT"} <= labels
    edges = [*ectopic.rhythm, (10**9, "")]
    for (start, label), (stop, _) in pairwise(edges):
        kinds = ectopic.kind[(ectopic.sample >= start) & (ectopic.sample < stop)]
        if label == "(VT":
            assert (kinds == 2).all()
            assert kinds.size >= 3
        if label == "(B":
            assert (kinds[::2] == 2).all()
            assert (kinds[1::2] == 0).all()


def test_pauses_last_two_seconds_without_a_beat(ectopic):
    assert ectopic.pauses
    for before, after in ectopic.pauses:
        assert (after - before) / FS >= 1.9
        assert not ((ectopic.sample > before) & (ectopic.sample < after)).any()


@pytest.mark.parametrize("count", [0, 1, 12])
def test_a_count_of_ectopic_beats_is_kept_exactly(count):
    config = SynthConfig(duration_s=600.0, ectopy=Ectopy(count=count))
    assert (synthesize(config, 1).plan.kind == 2).sum() == count


def test_ectopy_also_comes_in_fibrillation():
    config = SynthConfig(
        duration_s=HOUR,
        fibrillation=Fibrillation(burden=1.0),
        ectopy=Ectopy(singles_per_h=100, runs_per_h=20),
    )
    plan = synthesize(config, 3).plan
    assert 60 < (plan.kind == 2).sum() < 140
    assert plan.rhythm == ((0, "(AFIB"),)


def test_no_two_beats_lie_closer_than_a_refractory_period():
    for seed in range(6):
        plan = synthesize(preset("holter", seed, HOUR), seed).plan
        assert np.diff(plan.sample).min() / FS > 0.25


def test_qt_follows_the_rate():
    slow, fast = (
        synthesize(
            replace(preset("sinus", 0, 300.0), sinus=replace(preset("sinus", 0).sinus, hr_bpm=bpm)),
            0,
        ).plan.qt_s.mean()
        for bpm in (50.0, 110.0)
    )
    assert 0.40 < slow < 0.47
    assert 0.30 < fast < 0.36


def test_st_episodes_begin_and_end_where_the_deviation_crosses_a_tenth_of_a_millivolt():
    config = SynthConfig(duration_s=HOUR, ischemia=Ischemia(episodes_per_h=4))
    plan = synthesize(config, 6).plan
    assert len(plan.st) >= 2
    for episode in plan.st:
        level = np.abs(plan.st_mv[:, episode.lead])
        inside = (plan.sample >= episode.start) & (plan.sample < episode.stop)
        assert level[inside].min() >= 0.1
        assert level[np.searchsorted(plan.sample, episode.start) - 1] < 0.1
        assert level[np.searchsorted(plan.sample, episode.stop)] < 0.1
        assert level[inside].max() == abs(np.float32(episode.peak_mv))


def test_only_deviations_of_half_a_minute_are_episodes():
    for seed in range(5):
        config = SynthConfig(duration_s=HOUR, ischemia=Ischemia(episodes_per_h=8))
        for episode in synthesize(config, seed).plan.st:
            assert (episode.stop - episode.start) / FS >= 30
