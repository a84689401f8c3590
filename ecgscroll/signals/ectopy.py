"""Is a beat ventricular ectopic? Its timing, width and shape against the segment's normal beats.

After de Chazal et al. (IEEE Trans Biomed Eng 51:1196, 2004): R-R, width and morphology features,
each relative to the same patient's normal beats of the last minute, joined by one logistic model.
Its weights are fitted on the AAMI training records of mitdb (DS1, less 201) by
``benchmarks/fit_ectopy.py``; no other record was seen.

Known failures: where ectopic beats outnumber normal ones for a minute, the template is the ectopic
beat; intermittent bundle-branch block and aberrant supraventricular beats are wide and differ from
the template; fusion beats may pass as normal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals import rr
from ecgscroll.signals.qrs import MS, Complexes, Float
from ecgscroll.signals.quality import long_runs
from ecgscroll.signals.windows import BEFORE, Windows

FEATURES = ("early", "pause", "width", "widening", "unlike", "larger", "unlike_early", "noisy")
WEIGHTS = np.array([-3.39, 2.21, 1.53, 1.68, 3.73, 3.33, 1.60, -1.89])
BIAS = -3.78
MIN_RUN = 4
"""Beats in a row, without a change of rate, that make a second normal shape."""
_SHIFT = 4
"""Grid points (16 ms) by which a beat may be moved to fit the template."""


def is_ectopic(features: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Decide on (n, 8) features; True at a probability of one half or more."""
    return np.asarray(features @ WEIGHTS + BIAS > 0)


def ectopy_features(windows: Windows, complexes: Complexes, y: Float) -> NDArray[np.float64]:
    """(n, 8) features from ``y``, the windows above the baseline; 0 for an average normal beat.

    In the order of ``FEATURES``:

    - early, pause: log of the R-R interval before and after over the median of those before;
    - width: QRS duration over 100 ms, less 1; widening: its log against the template's;
    - unlike: 1 - correlation with the template over 260 ms, all leads together;
    - larger: log of the mean absolute QRS-T deflection against the template's;
    - unlike_early: unlike where the beat is early;
    - noisy: log of the beat's quietest slope against the median one.
    """
    usual = rr.prior_median(windows.rr_before)
    early = _log_ratio(windows.rr_before, usual)
    pause = _log_ratio(windows.rr_after, usual)
    wide = np.nan_to_num(y)
    groups = _normal_groups(wide[:, :, _span(0)], early, pause, complexes.known)
    corr, group = _fit(wide, groups)
    width = complexes.width_ms.astype(np.float64)
    size = np.abs(wide[:, :, _span(0)]).mean(axis=(1, 2), dtype=np.float64)
    quiet = complexes.quiet.astype(np.float64)
    columns = (
        early,
        pause,
        width / 100 - 1,
        _log_ratio(width, _medians(width, groups)[group]),
        1.0 - corr,
        _log_ratio(size, _medians(size, groups)[group]),
        (1.0 - corr) * (early < -0.1),
        _log_ratio(quiet, _medians(quiet, groups[:1])[np.zeros_like(group)]),
    )
    return np.nan_to_num(np.column_stack(columns))


def _span(shift: int) -> slice:
    """Grid points from 100 ms before R to 160 ms after, moved by ``shift``."""
    return slice(BEFORE - round(100 / MS) + shift, BEFORE + round(160 / MS) + shift)


def _normal_groups(
    y: Float, early: NDArray[np.float64], pause: NDArray[np.float64], known: NDArray[np.bool_]
) -> list[NDArray[np.bool_]]:
    """Masks of the beats that make up each shape of the segment's normal beats.

    The first is the beats on time and like one another; the second, where there is one, the on-time
    beats in a row which do not look like those: conduction that changes within the segment, such as
    intermittent bundle-branch block.
    """
    on_time = known & (early > -0.12)
    if on_time.sum() < 3:
        on_time = known if known.any() else np.ones(len(y), dtype=bool)
    like = on_time & (_correlation(y, np.median(y[on_time], axis=0)) > 0.8)
    groups = [like if like.sum() >= 3 else on_time]
    other = on_time & (np.abs(pause) < 0.12) & (np.abs(early) < 0.12)
    other &= _correlation(y, np.median(y[groups[0]], axis=0)) < 0.8
    other = long_runs(other, MIN_RUN)
    if other.any():
        groups.append(other)
    return groups


def _fit(
    wide: Float, groups: list[NDArray[np.bool_]]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Best correlation of each beat with a group's median over small shifts, and which group."""
    shifts = range(-_SHIFT, _SHIFT + 1, 2)
    scores = []
    for group in groups:
        template = np.median(wide[group][:, :, _span(0)], axis=0)
        moved = [_correlation(wide[:, :, _span(shift)], template) for shift in shifts]
        scores.append(np.max(moved, axis=0))
    table = np.array(scores)
    return table.max(axis=0), table.argmax(axis=0)


def _correlation(y: Float, template: Float) -> NDArray[np.float64]:
    """(n,) correlation of (n, L, k) beats with one (L, k) template, leads together."""
    centred = y - y.mean(axis=2, keepdims=True)
    pattern = template - template.mean(axis=1, keepdims=True)
    dot = np.einsum("nlk,lk->n", centred, pattern)
    norm = np.sqrt(np.einsum("nlk,nlk->n", centred, centred) * (pattern**2).sum())
    return np.asarray(dot / np.maximum(norm, 1e-9), dtype=np.float64)


def _log_ratio(value: NDArray[np.float64], reference: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log of a ratio, held to a factor of 3; 0 where either is unknown."""
    with np.errstate(invalid="ignore", divide="ignore"):
        log = np.log(np.maximum(value, 1e-6) / np.maximum(reference, 1e-6))
    return np.asarray(np.clip(np.nan_to_num(log), -1.1, 1.1))


def _medians(values: NDArray[np.float64], groups: list[NDArray[np.bool_]]) -> NDArray[np.float64]:
    """Median of (n,) values in each group; NaN where none is known."""
    known = [values[group & np.isfinite(values)] for group in groups]
    return np.array([np.median(v) if len(v) else np.nan for v in known])
