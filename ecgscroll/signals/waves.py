"""P and T waves of beats cut on the 4 ms grid.

T: the largest deflection from the PR baseline after the ST segment; its end where the tangent of
steepest descent meets the baseline (Lepeschkin & Surawicz, Circulation 6:378, 1952), in the lead
with the largest T wave. P: a wave is there when the beats of the segment agree on one, since it
stands still against the R peak while fibrillation and noise do not; its onset by the same tangent.

Known failures: the tangent ends the T wave about 25 ms before the eye does (qtdb, q1c); a U wave
joined to T lengthens QT; flat or notched T waves have no reliable end; P waves that ride on T
(tachycardia) or march through (AV block) are not found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals.qrs import MS, Complexes, Float, Index
from ecgscroll.signals.windows import BEFORE, RATE, Windows

MIN_T_MV = 0.05
MIN_P_MV = 0.03
P_AGREEMENT = 0.5
"""Least correlation of a beat's P window with the segment's median one."""
_P_HALF = 14
"""Half width of the bump that a P wave makes: 56 ms."""


@dataclass(frozen=True)
class TWaves:
    """(n, L) peak amplitude, millivolts, and (n,) QT interval, milliseconds."""

    amplitude: Float
    qt_ms: Float


@dataclass(frozen=True)
class PWaves:
    """(n,) presence (1, 0, NaN), peak against R and PR interval (ms), amplitude (mV)."""

    present: Float
    peak_ms: Float
    pr_ms: Float
    amplitude: Float


def t_waves(windows: Windows, complexes: Complexes, y: Float) -> TWaves:
    """Measure the T wave of every beat from ``y``, the windows above the baseline.

    The search runs from J+60 ms to 72 % of the way to the next R peak, 600 ms at most; of the
    R-R interval before where the next beat is not known.
    """
    grid = np.arange(y.shape[2])
    rr = np.where(np.isnan(windows.rr_after), windows.rr_before, windows.rr_after)
    stop = BEFORE + np.minimum(0.72 * np.nan_to_num(rr, nan=0.8), 0.60) * RATE
    inside = (grid >= (complexes.end + 15)[:, None]) & (grid <= stop[:, None])
    size = np.where(inside[:, None, :], np.nan_to_num(np.abs(y), nan=-1.0), -1.0)
    peak = size.argmax(axis=2)
    amplitude = np.take_along_axis(y, peak[:, :, None], axis=2)[:, :, 0]
    missing = (size.max(axis=2) < 0) | ~complexes.known[:, None]
    amplitude = np.where(missing, np.float32(np.nan), amplitude).astype(np.float32)
    return TWaves(amplitude, _qt(y, peak, amplitude, complexes))


def above_baseline(windows: Windows, complexes: Complexes, drift: Float) -> Float:
    """(n, L, W) signal against the line through successive PR baselines."""
    seconds = ((np.arange(windows.x.shape[2]) - complexes.onset[:, None]) / RATE).astype(np.float32)
    line = complexes.baseline[:, :, None] + drift[:, :, None] * seconds[:, None, :]
    return np.asarray(windows.x - line, dtype=np.float32)


def _qt(y: Float, peak: Index, amplitude: Float, complexes: Complexes) -> Float:
    lead = largest_lead(amplitude)
    rows = np.arange(len(y))
    height = amplitude[:, lead]
    falling = y[:, lead, :] * np.sign(height)[:, None]
    end = tangent_foot(falling, peak[rows, lead], reach=50)
    qt = (end - complexes.onset) * MS
    with np.errstate(invalid="ignore"):
        poor = ~(np.abs(height) >= MIN_T_MV) | (qt < 200) | (qt > 640)
    return np.where(poor, np.nan, qt).astype(np.float32)


def largest_lead(amplitude: Float) -> int:
    """Lead whose (n, L) amplitudes are the largest in the median; 0 where none is known."""
    size = np.abs(amplitude)
    known = np.isfinite(size).any(axis=0)
    medians = np.full(size.shape[1], -1.0)
    if known.any():
        medians[known] = np.nanmedian(size[:, known], axis=0)
    return int(np.argmax(medians))


def tangent_foot(wave: Float, peak: Index, reach: int) -> NDArray[np.float64]:
    """Grid position where the steepest descent after each peak, drawn on, meets zero.

    Parameters
    ----------
    wave
        (n, W) upright waves.
    peak
        (n,) their peaks.
    reach
        Points after the peak in which the descent is sought; the foot lies at most 30 further.
    """
    index = np.minimum(peak[:, None] + np.arange(reach + 1), wave.shape[1] - 1)
    after = np.take_along_axis(wave, index, axis=1).astype(np.float64)
    slope = np.full_like(after, np.inf)
    slope[:, 1:-1] = (after[:, 2:] - after[:, :-2]) / 2
    slope = np.nan_to_num(slope, nan=np.inf, posinf=np.inf)
    steepest = slope.argmin(axis=1)
    rows = np.arange(len(wave))
    fall, level = slope[rows, steepest], after[rows, steepest]
    ok = np.isfinite(fall) & (fall < 0) & np.isfinite(level)
    run = np.where(ok, np.maximum(level, 0.0) / np.where(ok, -fall, 1.0), np.nan)
    return np.where(run <= 30, peak + steepest + run, np.nan)


def p_waves(windows: Windows, complexes: Complexes, normal: NDArray[np.bool_]) -> PWaves:
    """Find the P wave of every beat.

    The segment's normal beats, aligned at R and levelled on the PR baseline, give a median wave per
    lead; its largest bump (the signal against its mean at 56 ms on either side) from 300 ms before
    R to 20 ms before the QRS onset is the P wave if it exceeds 0.03 mV and three times its own
    standard error. A beat has a P wave if it follows the median there (correlation 0.5 or more).
    """
    n = len(windows)
    usable = normal & complexes.known & ~(windows.rr_before < 0.45)
    if usable.sum() < 3:
        return _no_p(n, np.nan)
    y = _before_qrs(windows, complexes)
    bumps = bump(y)
    onset = int(np.median(complexes.onset[usable]))
    span = slice(BEFORE - 75, max(onset - 5, BEFORE - 74))
    lead, at, sign = _common_p(bumps[usable][:, :, span])
    if lead < 0:
        return _no_p(n, 0.0)
    return _each_p(y[:, lead] * sign, bumps[:, lead] * sign, span.start + at, sign, complexes)


def _before_qrs(windows: Windows, complexes: Complexes) -> Float:
    """(n, L, BEFORE) signal against the PR baseline, held level from 8 ms before the QRS onset."""
    y = windows.x[:, :, :BEFORE] - complexes.baseline[:, :, None]
    qrs = np.arange(BEFORE) >= (complexes.onset - 2)[:, None]
    return np.where(qrs[:, None, :], np.float32(0.0), y)


def bump(y: Float) -> Float:
    """How far each point stands above the mean of the points 56 ms before and after it."""
    out = np.full_like(y, np.nan)
    h = _P_HALF
    out[..., h:-h] = y[..., h:-h] - 0.5 * (y[..., : -2 * h] + y[..., 2 * h :])
    return out


def _common_p(bumps: Float) -> tuple[int, int, int]:
    """Lead, position and sign of the bump that the beats agree on; lead -1 without one."""
    known = np.isfinite(bumps).sum(axis=0) >= 3
    safe = np.where(known, bumps, 0.0)
    safe = np.nan_to_num(safe)
    middle = np.median(safe, axis=0)
    error = 1.25 * 1.4826 * np.median(np.abs(safe - middle), axis=0) / np.sqrt(len(safe))
    clear = np.where(np.abs(middle) > np.maximum(MIN_P_MV, 3 * error), np.abs(middle), 0.0)
    lead, at = np.unravel_index(int(clear.argmax()), clear.shape)
    if clear[lead, at] == 0:
        return -1, 0, 1
    return int(lead), int(at), 1 if middle[lead, at] > 0 else -1


def _each_p(y: Float, bumps: Float, at: int, sign: int, complexes: Complexes) -> PWaves:
    """P of every beat near the common position, in the lead and direction of the common wave."""
    near = slice(max(_P_HALF, at - 8), min(BEFORE - _P_HALF, at + 9))
    rows = np.arange(len(y))
    local = np.nan_to_num(bumps[:, near], nan=-np.inf)
    peak = near.start + local.argmax(axis=1)
    height = y[rows, peak]
    shape = slice(max(0, at - 18), min(BEFORE, at + 19))
    follows = agreement(y[:, shape]) >= P_AGREEMENT
    present = follows & (bumps[rows, peak] > 0.5 * MIN_P_MV)
    start = y.shape[1] - 1 - tangent_foot(y[:, ::-1], y.shape[1] - 1 - peak, reach=20)
    pr = (complexes.onset - start) * MS
    judged = complexes.known & np.isfinite(height)
    shown = present & judged
    return PWaves(
        np.where(judged, present, np.nan).astype(np.float32),
        np.where(shown, (peak - BEFORE) * MS, np.nan).astype(np.float32),
        np.where(shown & (pr > 40), pr, np.nan).astype(np.float32),
        np.where(shown, height * sign, np.nan).astype(np.float32),
    )


def agreement(shapes: Float) -> Float:
    """(n,) correlation of each (n, k) shape with the median shape; 0 for a flat or invalid one."""
    safe = np.nan_to_num(shapes)
    common = np.median(safe, axis=0)
    common = common - common.mean()
    centred = safe - safe.mean(axis=1, keepdims=True)
    norm = np.linalg.norm(centred, axis=1) * np.linalg.norm(common)
    return np.asarray(centred @ common / np.maximum(norm, 1e-9), dtype=np.float32)


def _no_p(n: int, present: float) -> PWaves:
    nan = np.full(n, np.nan, dtype=np.float32)
    return PWaves(np.full(n, present, dtype=np.float32), nan, nan, nan)
