"""Ventricular ectopic beats on made-up recordings, and the model's own arithmetic."""

from dataclasses import replace

import numpy as np
import pytest

from ecgscroll.signals import ectopy, ectopy_trees, qrs
from ecgscroll.signals.segment import cut_segment
from ecgscroll.signals.waves import above_baseline

FS = 250.0


def heart(at, wide, leads=2, noise=0.0, seed=0):
    """A recording with a beat at each time: P, QRS and T, or a broad complex with T against it."""
    grid = np.arange(round((at[-1] + 2) * FS)) / FS

    def bump(centre, width, height):
        return height * np.exp(-0.5 * ((grid - centre) / width) ** 2)

    lead = np.zeros_like(grid)
    for t, ectopic in zip(at, wide, strict=True):
        if ectopic:
            lead += bump(t, 0.035, 1.6) + bump(t + 0.26, 0.06, -0.5)
        else:
            lead += bump(t - 0.16, 0.02, 0.15) + bump(t, 0.012, 1.2) + bump(t + 0.25, 0.045, 0.3)
    rng = np.random.default_rng(seed)
    scales = np.array([1.0, 0.6, -0.4])[:leads, None]
    return (scales * lead + noise * rng.standard_normal((leads, len(grid)))).astype(np.float32)


def rhythm(n=60, every=9):
    """Beats at 75 a minute; each ``every``-th comes early, wide and with a pause after it."""
    at = 1 + 0.8 * np.arange(n)
    wide = np.arange(n) % every == every - 1
    at[wide] -= 0.28
    return at, wide


def features_of(signal):
    cut = cut_segment(signal, FS, 0)
    return cut, ectopy.ectopy_features(cut.windows, cut.complexes, cut.y)


@pytest.mark.parametrize("leads", [1, 2, 3])
@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_early_wide_beats_are_ectopic_and_the_others_are_not(leads, noise):
    at, wide = rhythm()
    cut, features = features_of(heart(at, wide, leads, noise))
    assert len(cut.time) == len(at)
    assert ectopy.is_ectopic(features)[1:-1].tolist() == wide[1:-1].tolist()


def test_early_narrow_beats_are_not_ectopic():
    at, early = rhythm()
    _, features = features_of(heart(at, np.zeros_like(early)))
    assert not ectopy.is_ectopic(features).any()


def test_a_lead_full_of_motion_does_not_make_beats_ectopic():
    at, wide = rhythm()
    signal = heart(at, np.zeros_like(wide))
    rng = np.random.default_rng(1)
    signal[1] += 0.08 * np.cumsum(rng.standard_normal(signal.shape[1])).astype(np.float32)
    _, features = features_of(signal)
    assert ectopy.is_ectopic(features).mean() < 0.05


def test_features_are_finite_for_any_number_of_beats_and_holes():
    at, wide = rhythm(20)
    signal = heart(at, wide, noise=0.02)
    signal[1, 1000:2500] = np.nan
    cut = cut_segment(signal, FS, 0)
    for n in (1, 2, 3, 7):
        x = cut.windows.x[:n]
        rr_before, rr_after = cut.windows.rr_before[:n], cut.windows.rr_after[:n]
        part = replace(cut.windows, x=x, rr_before=rr_before, rr_after=rr_after)
        bounds = qrs.bound(part)
        y = above_baseline(part, bounds, qrs.baseline_drift(part, bounds.baseline))
        features = ectopy.ectopy_features(part, bounds, y)
        assert features.shape == (n, len(ectopy.FEATURES))
        assert np.isfinite(features).all()


def test_the_scale_of_the_signal_and_the_sign_of_a_lead_do_not_matter():
    at, wide = rhythm()
    signal = heart(at, wide, noise=0.02)
    _, features = features_of(signal)
    _, other = features_of(signal * np.array([[-1.0], [2.0]], dtype=np.float32))
    assert (ectopy.is_ectopic(features) == ectopy.is_ectopic(other)).mean() > 0.97


def test_log_odds_walk_the_trees_as_written():
    rng = np.random.default_rng(2)
    features = rng.normal(size=(5, len(ectopy.FEATURES)))
    asked, thresholds = ectopy_trees.ASKED.split(), ectopy_trees.THRESHOLDS.split()
    leaves = ectopy_trees.LEAVES.split()
    for row, found in zip(features, ectopy.log_odds(features), strict=True):
        total = ectopy_trees.BIAS
        for tree in range(len(asked) // 4):
            leaf = 0
            for i in range(4 * tree, 4 * tree + 4):
                above = row[ectopy.FEATURES.index(asked[i])] > int(thresholds[i]) / 1000
                leaf = 2 * leaf + above
            total += int(leaves[16 * tree + leaf]) / 100
        assert found == pytest.approx(total)
