"""Measurements against waves of known place and size."""

import numpy as np
import pytest
from signals_fakes import FakeStream, beat_times, fake_ecg

from ecgscroll.signals.store import FeatureStore

TIMES = beat_times(60)


def beats_of(fs=250.0, times=TIMES, **waves):
    stream = FakeStream(fake_ecg(times, 60, fs, **waves), fs=fs).at(60)
    return FeatureStore().beats(stream, 0, 60)


def med(values):
    return np.nanmedian(values, axis=0)


@pytest.mark.parametrize("fs", [128.0, 250.0, 360.0])
def test_qrs_duration(fs):
    assert med(beats_of(fs).qrs_ms) == pytest.approx(95, abs=20)


@pytest.mark.parametrize("st_mv", [-0.3, -0.1, 0.0, 0.1, 0.3])
def test_st_level_per_lead(st_mv):
    level = med(beats_of(st_mv=st_mv).st_mv)
    assert level == pytest.approx([st_mv, 0.7 * st_mv], abs=0.03)


def test_st_level_stays_under_baseline_wander():
    x = fake_ecg(TIMES, 60, st_mv=0.2)
    x += 0.5 * np.sin(2 * np.pi * 0.3 * np.arange(x.shape[1]) / 250).astype(np.float32)
    beats = FeatureStore().beats(FakeStream(x).at(60), 0, 60)
    assert med(beats.st_mv)[0] == pytest.approx(0.2, abs=0.04)


def test_st_level_stays_under_mains_hum():
    x = fake_ecg(TIMES, 60, st_mv=0.2)
    x += 0.1 * np.sin(2 * np.pi * 50 * np.arange(x.shape[1]) / 250).astype(np.float32)
    beats = FeatureStore().beats(FakeStream(x).at(60), 0, 60)
    assert med(beats.st_mv)[0] == pytest.approx(0.2, abs=0.04)


@pytest.mark.parametrize("t_mv", [-0.4, 0.2, 0.6])
def test_t_amplitude_per_lead(t_mv):
    assert med(beats_of(t_mv=t_mv).t_amp) == pytest.approx([t_mv, 0.7 * t_mv], abs=0.04)


def test_qt_interval():
    # QRS begins about 50 ms before R, the T wave (peak 300 ms, s.d. 45 ms) ends two s.d. on.
    assert med(beats_of().qt_ms) == pytest.approx(440, abs=25)


def test_flat_t_wave_has_no_qt():
    assert np.isfinite(beats_of(t_mv=0.0, noise=0.003).qt_ms).mean() < 0.1


def test_p_wave():
    beats = beats_of()
    assert beats.p_present.mean() > 0.95
    assert med(beats.p_ms) == pytest.approx(-160, abs=10)
    assert med(beats.p_amp) == pytest.approx(0.15, abs=0.03)
    assert med(beats.pr_ms) == pytest.approx(150, abs=20)


def test_no_p_wave_is_found_where_there_is_none():
    assert np.nanmean(beats_of(p_mv=0.0).p_present) < 0.1


def test_qrs_amplitude_per_lead():
    assert med(beats_of().qrs_amp) == pytest.approx([1.4, 0.98], abs=0.2)


def test_wide_premature_beats_are_ectopic_and_wide():
    times = TIMES.copy()
    wide = {10, 25, 40}
    times[list(wide)] -= 0.25
    beats = beats_of(times=times, wide=wide)
    assert np.allclose(beats.time[beats.ectopic], sorted(times[list(wide)]), atol=0.05)
    assert beats.qrs_ms[beats.ectopic].min() > 120


def test_bigeminy_is_told_from_its_normal_beats():
    times = beat_times(60)
    wide = set(range(1, len(times), 2))
    times[list(wide)] -= 0.2
    beats = beats_of(times=times, wide=wide)
    assert beats.ectopic.sum() == pytest.approx(len(wide), abs=2)


def test_lead_that_is_lost_is_not_measured_and_the_other_is():
    x = fake_ecg(TIMES, 60, st_mv=0.2)
    x[1] = np.nan
    beats = FeatureStore().beats(FakeStream(x).at(60), 0, 60)
    assert np.isnan(beats.st_mv[:, 1]).all()
    assert med(beats.st_mv[:, 0]) == pytest.approx(0.2, abs=0.03)


def test_noise_in_one_lead_is_not_measured_and_spoils_nothing():
    x = fake_ecg(TIMES, 60)
    x[1] = 0.5 * np.random.default_rng(0).standard_normal(x.shape[1])
    beats = FeatureStore().beats(FakeStream(x).at(60), 0, 60)
    assert np.isnan(beats.st_mv[:, 1]).all()
    assert med(beats.st_mv[:, 0]) == pytest.approx(0.0, abs=0.03)
    assert med(beats.qrs_ms) == pytest.approx(95, abs=20)
    assert not beats.ectopic.any()


def test_beat_at_the_cursor_lacks_what_has_not_happened():
    stream = FakeStream(fake_ecg(TIMES, 60)).at(TIMES[20] + 0.2)
    last = FeatureStore().beats(stream, 0, 60)
    assert last.time[-1] == pytest.approx(TIMES[20], abs=0.01)
    assert np.isnan(last.qt_ms[-1])
