"""Bounds of waves: of known ones, under noise, and where there is nothing to bound."""

import numpy as np
import pytest
from signals_fakes import FakeStream, beat_times, fake_ecg

from ecgscroll.signals.beats import MARKS
from ecgscroll.signals.steady import steadied
from ecgscroll.signals.store import FeatureStore
from ecgscroll.signals.waves import foot
from ecgscroll.signals.windows import BEFORE, Windows, noise_of

TIMES = beat_times(60)


def beats_in(x, fs=250.0):
    return FeatureStore().beats(FakeStream(x, fs=fs).at(60), 0, 60)


def med(values):
    return np.nanmedian(values.astype(np.float64), axis=0)


def bell(t, centre, width):
    return np.exp(-0.5 * ((t - centre) / width) ** 2)


def added_to_every_beat(x, times, wave, fs=250.0):
    t = np.arange(x.shape[1]) / fs
    for r in times:
        near = np.abs(t - r) < 1.0
        x[:, near] += wave(t[near] - r).astype(np.float32)
    return x


@pytest.mark.parametrize("fs", [128.0, 250.0, 360.0])
def test_marks_of_known_waves(fs):
    beats = beats_in(fake_ecg(TIMES, 60, fs), fs)
    # P and T are bells: the eye sees them from two to two and a half s.d. on either side.
    assert med(beats.p_on_ms) == pytest.approx(-160 - 45, abs=20)
    assert med(beats.p_off_ms) == pytest.approx(-160 + 45, abs=15)
    assert med(beats.qrs_on_ms) == pytest.approx(-50, abs=15)
    assert med(beats.qrs_off_ms) == pytest.approx(50, abs=15)
    assert med(beats.t_peak_ms) == pytest.approx(300, abs=8)
    assert med(beats.t_off_ms) == pytest.approx(300 + 105, abs=20)


def test_intervals_are_the_distances_of_their_marks():
    beats = beats_in(fake_ecg(TIMES, 60))
    for interval, start, stop in (
        (beats.pr_ms, beats.p_on_ms, beats.qrs_on_ms),
        (beats.qrs_ms, beats.qrs_on_ms, beats.qrs_off_ms),
        (beats.qt_ms, beats.qrs_on_ms, beats.t_off_ms),
    ):
        known = np.isfinite(interval)
        distance = stop.astype(float) - start.astype(float)
        assert known.mean() > 0.9
        assert np.allclose(interval[known], distance[known], atol=1.0)


def test_long_pr_interval_is_measured():
    x = fake_ecg(beat_times(60, rr=1.1), 60, p_mv=0.0)
    times = beat_times(60, rr=1.1)
    beats = beats_in(added_to_every_beat(x, times, lambda d: 0.15 * bell(d, -0.30, 0.02)))
    assert med(beats.p_ms) == pytest.approx(-300, abs=10)
    assert med(beats.pr_ms) == pytest.approx(290, abs=25)


def test_upright_wave_after_a_depressed_segment_is_the_t_wave():
    x = fake_ecg(TIMES, 60, t_mv=0.0)
    wave = lambda d: -0.25 * bell(d, 0.18, 0.04) + 0.2 * bell(d, 0.34, 0.04)  # noqa: E731
    beats = beats_in(added_to_every_beat(x, TIMES, wave))
    assert med(beats.t_peak_ms) == pytest.approx(340, abs=15)


def test_ectopic_beat_among_sinus_beats_has_no_p_wave():
    times = TIMES.copy()
    wide = {10, 25, 40}
    times[list(wide)] -= 0.25
    beats = beats_in(fake_ecg(times, 60, wide=wide))
    assert (beats.p_present[beats.ectopic] == 0).all()
    assert beats.p_present[~beats.ectopic].mean() > 0.95
    assert np.isnan(beats.p_on_ms[beats.ectopic]).all()


def test_fibrillation_has_no_p_wave():
    found = []
    for seed in range(24):  # one run alone may have none or a third
        rng = np.random.default_rng(seed)
        times = 0.5 + np.cumsum(rng.normal(0.75, 0.13, 90).clip(0.4))
        times = times[times < 59.5]
        x = fake_ecg(times, 60, p_mv=0.0)
        t = np.arange(x.shape[1]) / 250
        wander = 1.5 * np.sin(2 * np.pi * 0.4 * t)
        x += 0.06 * np.sin(2 * np.pi * 6.3 * t + wander).astype(np.float32)
        found.append(beats_in(x))
    assert np.nanmean(np.concatenate([beats.p_present for beats in found])) < 0.15
    assert np.isnan(np.concatenate([beats.pr_ms for beats in found])).mean() > 0.85


@pytest.mark.parametrize(("sigma", "spread"), [(0.02, 8), (0.06, 14)])
def test_marks_bear_noise(sigma, spread):
    clean = beats_in(fake_ecg(TIMES, 60))
    noisy = beats_in(fake_ecg(TIMES, 60, noise=sigma))
    assert len(noisy) == len(clean)
    for name in ("qrs_on_ms", "qrs_off_ms", "t_peak_ms"):
        error = getattr(noisy, name).astype(float) - getattr(clean, name).astype(float)
        assert np.nanstd(error) < spread, name
    assert np.nanmean(noisy.p_present) > 0.9


def test_nothing_is_bounded_in_noise_that_hides_it():
    beats = beats_in(fake_ecg(TIMES, 60, noise=0.25))
    assert len(beats) > 0
    for name in (*MARKS, "qrs_ms", "qt_ms", "pr_ms"):
        assert np.isnan(getattr(beats, name)).all(), name


def test_p_wave_that_noise_may_hide_is_unknown_and_not_absent():
    times = beat_times(60)[:6]
    beats = beats_in(fake_ecg(times, 60, noise=0.10, p_mv=0.05))
    assert not (beats.p_present == 0).any()


def test_t_wave_cut_off_by_the_cursor_is_not_measured():
    x = fake_ecg(TIMES, 60)
    for after in np.arange(0.06, 0.42, 0.02):
        last = FeatureStore().beats(FakeStream(x).at(TIMES[20] + after), 0, 60)
        assert last.time[-1] == pytest.approx(TIMES[20], abs=0.01)
        assert np.isnan(last.t_off_ms[-1])
        peak = float(last.t_peak_ms[-1])
        assert np.isnan(peak) or peak == pytest.approx(300, abs=30)


def test_foot_of_a_triangle():
    wave = np.maximum(0.0, 1.0 - np.abs(np.arange(101) - 50) / 20)[None].astype(np.float32)
    peak = np.array([50])
    assert foot(wave, peak, 30, forward=True) == pytest.approx([67])
    assert foot(wave, peak, 30, forward=False) == pytest.approx([33])


def test_foot_beside_missing_signal_is_unknown():
    wave = np.maximum(0.0, 1.0 - np.abs(np.arange(101) - 50) / 20)[None].astype(np.float32)
    wave[0, 75:] = np.nan
    assert np.isnan(foot(wave, np.array([50]), 30, forward=True)).all()
    assert np.isfinite(foot(wave, np.array([50]), 30, forward=False)).all()


def test_foot_of_a_flat_line_is_unknown():
    assert np.isnan(foot(np.zeros((1, 101), np.float32), np.array([50]), 30, forward=True)).all()


def windows_of(sigma, odd=()):
    rng = np.random.default_rng(0)
    grid = np.arange(301) - BEFORE
    shape = bell(grid, 0, 3) + 0.2 * bell(grid, 75, 12)
    x = np.tile(shape, (20, 1, 1)) + sigma * rng.standard_normal((20, 1, 301))
    for i in odd:
        x[i] = -1.5 * bell(grid, 5, 12)
    x = x.astype(np.float32)
    return Windows(x, np.full(20, 0.8), np.full(20, 0.8), noise_of(x), np.ones(x.shape[1]))


def test_clean_beats_are_left_alone():
    windows = windows_of(0.001)
    assert steadied(windows) is windows


def test_noise_is_averaged_out_and_odd_beats_stay_as_they_are():
    windows = windows_of(0.05, odd=(7,))
    steady = steadied(windows)
    assert np.array_equal(steady.x[7], windows.x[7])
    clean = windows_of(0.0).x
    others = np.arange(20) != 7
    assert (steady.x - clean)[others].std() < 0.5 * (windows.x - clean)[others].std()


@pytest.mark.parametrize("fs", [128.0, 250.0, 360.0, 1000.0])
@pytest.mark.parametrize("hum", [0.0, 0.05])
def test_the_height_of_a_narrow_complex_is_not_smoothed_away(fs, hum):
    x = fake_ecg(beat_times(60, rr=0.8), 60, fs, noise=0.005)
    x += np.float32(hum) * np.sin(2 * np.pi * 50 * np.arange(x.shape[1]) / fs, dtype=np.float32)
    true = np.ptp(fake_ecg([0.5], 1, 1000.0, noise=0.0), axis=1)
    height = np.median(beats_in(x, fs).qrs_amp, axis=0)
    assert height == pytest.approx(true, rel=0.04)


def test_noise_does_not_add_to_the_height():
    x = fake_ecg(beat_times(60, rr=0.8), 60, noise=0.15)
    true = np.ptp(fake_ecg([0.5], 1, 1000.0, noise=0.0), axis=1)
    assert (np.nanmedian(beats_in(x).qrs_amp, axis=0) < 1.1 * true).all()
