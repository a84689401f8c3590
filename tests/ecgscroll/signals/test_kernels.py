"""Kernels against numpy and scipy, and against themselves without a compiler."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from ecgscroll.compiled import Kernel
from ecgscroll.signals import detector_kernels as detector
from ecgscroll.signals import ectopy_kernels as ectopy
from ecgscroll.signals import order_kernels as order
from ecgscroll.signals import qrs_kernels as qrs
from ecgscroll.signals import steady_kernels as steady
from ecgscroll.signals import windows_kernels as windows
from ecgscroll.signals.beats import ARRAYS
from ecgscroll.signals.quality_kernels import possible_and_moving
from ecgscroll.signals.rr_kernels import prior_medians
from ecgscroll.signals.segment import analyse

FS = 250.0


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture
def x(rng: np.random.Generator) -> Any:
    """(12, 2, 301) beats: a complex, P and T waves, noise, one missing stretch."""
    grid = (np.arange(301) - 120) * 4.0
    shape = np.exp(-((grid / 20) ** 2)) + 0.1 * np.exp(-(((grid + 160) / 25) ** 2))
    shape += 0.3 * np.exp(-(((grid - 280) / 50) ** 2))
    size = rng.uniform(0.8, 1.2, (12, 1, 1)) * np.array([[1.0], [-0.6]])
    beats = (size * shape + rng.normal(0, 0.01, (12, 2, 301))).astype(np.float32)
    beats[3, 0, 200:] = np.nan
    return beats


def lead_of(rng: np.random.Generator, n: int) -> Any:
    return rng.normal(size=n).astype(np.float32)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 31, 75])
def test_order_statistics(rng: np.random.Generator, n: int) -> None:
    table = lead_of(rng, n * 5).reshape(n, 5)
    expected = np.sort(table, axis=0)
    for column, ordered in zip(table.T, expected.T, strict=True):
        assert order.median(column.copy(), n) == pytest.approx(np.median(column))
        for rank in (0, n // 2, n - 1):
            assert order.nth_smallest(column.copy(), n, rank) == ordered[rank]
    order.sort_columns(table)
    np.testing.assert_array_equal(table, expected)


def test_order_statistics_of_equal_values() -> None:
    assert order.nth_smallest(np.array([2.0, 1.0, 2.0, 2.0, 1.0]), 5, 2) == 2.0
    assert order.median(np.ones(6), 6) == 1.0


@pytest.mark.parametrize("width", [1, 2, 7, 10])
@pytest.mark.parametrize("n", [4, 60])
def test_moving_mean_is_scipys(rng: np.random.Generator, n: int, width: int) -> None:
    lead, valid = lead_of(rng, n), rng.random(n) < 0.9
    out = np.empty_like(lead)
    windows.moving_mean(lead, valid, width, out)
    if width <= n:
        expected = uniform_filter1d(lead, width)
        expected[~valid] = np.nan
        np.testing.assert_allclose(out, expected, atol=1e-6)


def test_interpolation_is_numpys(rng: np.random.Generator) -> None:
    lead = lead_of(rng, 500)
    offset = np.arange(-20, 21) * 1.44
    whole = np.floor(offset).astype(np.int64)
    sample = np.array([10, 200, 480])
    x = windows.interpolated(lead[None], sample, whole, (offset - whole).astype(np.float32))
    at = sample[:, None] + offset
    expected = np.interp(at, np.arange(500), lead, left=np.nan, right=np.nan)
    np.testing.assert_allclose(x[:, 0], expected, atol=1e-5)


def test_noise_is_the_median_slope_over_the_steepest(x: Any) -> None:
    slope = np.abs(np.diff(np.nan_to_num(x), axis=2))
    core = np.median(slope[:, :, 95:145].max(axis=2), axis=0)
    usual = np.median(np.median(slope[:, :, ::4], axis=2), axis=0)
    np.testing.assert_allclose(windows.noise_by_lead(x, 95, 145, 4), usual / core, rtol=1e-5)
    assert windows.noise_by_lead(x[:0], 95, 145, 4).tolist() == [1.0, 1.0]


def test_what_is_possible_and_moves() -> None:
    signal = np.sin(np.arange(200, dtype=np.float32))[None].repeat(2, axis=0)
    signal[0, 30:50], signal[0, 100:109], signal[1, 5], signal[1, 190:] = 1.0, 2.0, np.nan, 3.0
    signal[1, 60:72:2], signal[1, 100] = 1e5, -np.inf
    expected = np.abs(signal) < 1e4
    expected[0, 30:50] = expected[1, 190:] = False
    np.testing.assert_array_equal(possible_and_moving(signal, 1e4, 10), expected)


def test_the_detectors_filters_are_scipys(rng: np.random.Generator) -> None:
    signal = rng.normal(size=400)
    for width, ends in ((3, True), (13, True), (14, False)):
        mode = "nearest" if ends else "constant"
        expected = uniform_filter1d(signal, width, mode=mode)
        np.testing.assert_allclose(detector.box(signal, width, ends), expected, atol=1e-12)
    slope = np.zeros(400)
    slope[1:-1] = 60 * (signal[2:] - signal[:-2])
    energy = np.sqrt(np.maximum(uniform_filter1d(slope**2, 14, mode="constant"), 0))
    np.testing.assert_allclose(detector.energy_of(signal, 14, 120.0), energy, atol=1e-9)


def test_slowed_is_the_mean_of_samples_all_valid(rng: np.random.Generator) -> None:
    lead, valid = lead_of(rng, 32), rng.random(32) < 0.8
    out, whole = detector.slowed(lead, valid, 3)
    np.testing.assert_allclose(out, lead[:30].reshape(10, 3).mean(axis=1), atol=1e-6)
    np.testing.assert_array_equal(whole, valid[:30].reshape(10, 3).all(axis=1))


def test_peaks_are_the_highest_within_reach(rng: np.random.Generator) -> None:
    energy = np.round(np.abs(rng.normal(size=600)), 1)
    valid = rng.random(600) < 0.9
    top = (energy == maximum_filter1d(energy, 2 * 6 + 1)) & (energy > 0.5) & valid
    np.testing.assert_array_equal(detector.peaks_of(energy, valid, 6, 0.5), np.flatnonzero(top))


def test_levels_to_start_from(rng: np.random.Generator) -> None:
    energy, valid = np.abs(rng.normal(size=900)), rng.random(900) < 0.9
    candidates = detector.peaks_of(energy, valid, 12, 0.2)
    signal, noise, quiet = detector.levels_of(energy, valid, candidates, 0.2, 120.0)
    assert signal == np.median(energy.reshape(5, 180).max(axis=1))
    low = energy[candidates][energy[candidates] < 0.5 * signal]
    assert noise == (np.median(low) if len(low) else pytest.approx(0.1 * signal))
    usual = np.sort(energy[valid][::8])
    assert quiet == usual[len(usual) // 5]


def test_extrema_lie_between_samples() -> None:
    grid = np.arange(60.0)
    band = -np.exp(-(((grid - 30.3) / 4) ** 2))
    found = detector.extrema(band, np.array([27, 2]), 6)
    assert found[0] == pytest.approx(30.3, abs=0.05)
    assert abs(found[1] - 8) <= 0.5  # the largest within reach, where the slope goes on


def test_prior_medians_pass_over_the_unknown(rng: np.random.Generator) -> None:
    rr = rng.uniform(0.5, 1.0, 40)
    rr[[0, 7, 8, 30]] = np.nan
    for i, found in enumerate(prior_medians(rr, 8)):
        past = rr[max(0, i - 8) : i]
        known = past[np.isfinite(past)]
        np.testing.assert_equal(found, np.median(known) if len(known) else np.nan)


def test_qrs_velocity_and_levels(x: Any) -> None:
    weight, speed = np.array([1.0, 0.5], np.float32), np.empty(301, np.float32)
    slope = np.zeros_like(x)
    slope[:, :, 1:-1] = x[:, :, 2:] - x[:, :, :-2]
    expected = np.sqrt(((np.nan_to_num(slope) * weight[:, None]) ** 2).sum(axis=1))
    qrs.velocity_of(x[3], weight, speed)
    np.testing.assert_allclose(speed, expected[3], atol=1e-6)
    onset, end, quiet, known, baseline = qrs.bounds_of(x, weight)
    np.testing.assert_allclose(quiet, np.percentile(expected[:, ::4], 20, axis=1), rtol=1e-5)
    assert known.all()
    assert (np.abs(onset - 108) <= 3).all()
    assert (np.abs(end - 130) < 6).all()
    level = [x[i, :, o - 6 : o - 1].mean(axis=1) for i, o in enumerate(onset)]
    np.testing.assert_allclose(baseline, level, atol=1e-6)
    rr_after = np.r_[np.full(10, 0.8), 3.0, np.nan]
    drift = qrs.drift_of(baseline, rr_after, 2.0)
    np.testing.assert_allclose(drift[:10], np.diff(baseline, axis=0)[:10] / 0.8, atol=1e-6)
    assert not drift[10:].any()
    seconds = (np.arange(301) - onset[:, None]) / FS
    line = baseline[:, :, None] + drift[:, :, None] * seconds[:, None]
    np.testing.assert_allclose(qrs.above(x, onset, baseline, drift, FS), x - line, atol=1e-5)
    st = qrs.levels_after(x, end, onset, baseline, drift, rr_after, 20, FS)
    expected_st = [(x - line)[i, :, e + 18 : e + 23].mean(axis=1) for i, e in enumerate(end)]
    np.testing.assert_allclose(st[:3], expected_st[:3], atol=1e-4)
    height = qrs.heights_within(x, onset, end)
    np.testing.assert_allclose(height[5], np.ptp(x[5, :, onset[5] : end[5] + 1], axis=1))


def test_steadied_beats_are_the_mean_of_those_around(x: Any) -> None:
    level = steady.core_levels(x, 95, 160)
    np.testing.assert_allclose(level, np.nan_to_num(x)[:, :, 95:160].mean(axis=2), atol=1e-6)
    core = (x[:, :, 95:160] - level[:, :, None]).reshape(12, -1)
    usual = np.median(core, axis=0)
    alike = core @ usual / np.sqrt((core**2).sum(axis=1) * (usual**2).sum())
    np.testing.assert_allclose(steady.likeness(x, level, 95, 160), alike, atol=1e-5)
    usable = np.ones(12, dtype=bool)
    usable[6] = False
    out = steady.leaned(x, level, usable, np.array([0.5, 0.0], np.float32), 4)
    np.testing.assert_array_equal(out[6], x[6])
    np.testing.assert_array_equal(out[:, 1], x[:, 1])
    near = [1, 2, 3, 4, 5, 7, 8, 9]
    mean = np.nanmean(x[near, 0] - level[near, 0, None], axis=0) + level[5, 0]
    np.testing.assert_allclose(out[5, 0], (x[5, 0] + mean) / 2, atol=1e-5)


def test_shapes_and_how_they_fit(x: Any) -> None:
    whole = ectopy.coarse(x, 54, 2, 88)
    np.testing.assert_array_equal(whole, np.nan_to_num(x[:, :, 54:230:2]))
    middle = ectopy.weigh_leads(whole, np.arange(12), 20, 53, 5.0)
    np.testing.assert_allclose(np.sqrt((middle**2).sum(axis=1)) <= 5.0, True)
    core, level, power = ectopy.cores_of(whole, 20, 53)
    np.testing.assert_allclose(level, whole[:, :, 20:53].mean(axis=2), atol=1e-5)
    np.testing.assert_allclose(core, whole[:, :, 20:53] - level[:, :, None], atol=1e-5)
    np.testing.assert_allclose(power, (core**2).sum(axis=2), rtol=1e-5)
    weights = np.zeros((2, 12), np.float32)
    weights[0, :6], weights[1, 6:] = 1 / 6, 1 / 6
    templates = ectopy.mean_beats(weights, whole)
    np.testing.assert_allclose(templates, np.einsum("gn,nlk->glk", weights, whole), atol=1e-5)
    fit, group = ectopy.fits(whole, power, templates, 20, 53, 2)
    ours = templates[:, :, 20:53] - templates[:, :, 20:53].mean(axis=2, keepdims=True)
    moved = np.stack([whole[:, :, 20 + s : 53 + s] for s in (0, -1, 1, -2, 2)])
    dots = np.einsum("snlk,glk->ngsl", moved, ours)
    norm = np.sqrt(power.sum(axis=1)[:, None] * (ours**2).sum(axis=(1, 2)))
    joint = dots.sum(axis=3) / norm[:, :, None]
    np.testing.assert_allclose(fit[:, 0], 1 - joint.max(axis=(1, 2)), atol=1e-5)
    np.testing.assert_array_equal(group, joint.max(axis=2).argmax(axis=1))
    alike = np.einsum("nlk,lk->n", core, middle)
    alike /= np.sqrt(power.sum(axis=1) * (middle**2).sum())
    np.testing.assert_allclose(ectopy.likeness(core, power, middle), alike, atol=1e-5)


def test_beats_of_one_shape(x: Any) -> None:
    core, _, power = ectopy.cores_of(ectopy.coarse(x, 54, 2, 88), 20, 53)
    core[4] *= -1
    values = np.arange(24.0).reshape(12, 2)
    found = ectopy.same_shape(core, power, values, 0.9, 0.6)
    size = np.sqrt(power.sum(axis=1))
    close = (core.reshape(12, -1) @ core.reshape(12, -1).T) / np.outer(size, size)
    ratio = size / size[:, None]
    same = ((close > 0.9) & (ratio > 0.6) & (ratio < 1 / 0.6)) | np.eye(12, dtype=bool)
    np.testing.assert_allclose(found[:, 0], same.mean(axis=1))
    np.testing.assert_allclose(found[:, 1], (close - 3 * np.eye(12)).max(axis=1), atol=1e-5)
    np.testing.assert_allclose(found[:, 2:], same @ values / same.sum(axis=1)[:, None])


def test_trees_are_oblivious(rng: np.random.Generator) -> None:
    features, asked = rng.normal(size=(9, 5)), rng.integers(0, 5, 12)
    thresholds, leaves = rng.normal(size=12), rng.normal(size=48)
    answers = (features[:, asked] > thresholds).reshape(9, 3, 4)
    leaf = answers @ np.array([8, 4, 2, 1])
    expected = leaves.reshape(3, 16)[np.arange(3), leaf].sum(axis=1)
    found = ectopy.trees_say(features, asked, thresholds, leaves, 4)
    np.testing.assert_allclose(found, expected)


def test_a_segment_is_the_same_without_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kernel in plain Python: to the rounding, beats have the same values."""
    rng = np.random.default_rng(3)
    grid = np.arange(int(14 * FS)) / FS
    signal = rng.normal(0, 0.03, (2, len(grid)))
    for i, r in enumerate(np.arange(0.6, 13.5, 0.8)):
        early, wide = (0.25, 45.0) if i in (6, 11) else (0.0, 15.0)
        at = 1000 * (grid - r + early)
        signal += np.array([[1.0], [0.7]]) * np.exp(-((at / wide) ** 2))
        signal += 0.25 * np.exp(-(((at - 280) / 50) ** 2)) - 0.1 * np.exp(-(((at + 30) / 8) ** 2))
    signal[1, 1500:1600], signal[0, 2600:2900] = np.nan, 0.5
    args = (signal.astype(np.float32), FS, ("I", "II"), 0)
    fast = analyse(*args)
    called: set[str] = set()

    def slowly(kernel: Any, *values: Any) -> Any:
        called.add(kernel.__name__)
        return kernel.py_func(*values)

    monkeypatch.setattr(Kernel, "__call__", slowly)
    slow = analyse(*args)
    assert len(fast) > 12
    assert fast.ectopic.any()
    for name in ARRAYS:
        np.testing.assert_allclose(
            getattr(slow, name), getattr(fast, name), atol=2e-3, err_msg=name
        )
    modules = (detector, ectopy, order, qrs, steady, windows)
    every = {k for m in modules for k, v in vars(m).items() if isinstance(v, Kernel)}
    assert every - called <= {"search_back"}


@pytest.mark.parametrize("call", [detector.beats_among, detector.beats_among.py_func])
def test_a_low_beat_is_found_by_searching_back(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    at = np.arange(0, 1200, 100)
    height = np.full(len(at), 10.0)
    height[6] = 2.5
    assert call(at, height, 10.0, 0.5, 0.0, 120.0).tolist() == list(range(12))
    assert detector.search_back.py_func(at, height, 5, 7, 1.0, 120.0) == 6
    assert detector.search_back.py_func(at, height, 5, 7, 3.0, 120.0) == -1
