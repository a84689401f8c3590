"""P waves of beats cut on the 4 ms grid.

A P wave is there when the beats of the segment agree on one, since it stands still against the R
peak while fibrillation and noise do not. Its bounds are its feet (:mod:`ecgscroll.signals.waves`)
within 96 ms before and 80 ms after the peak; the onset is moved 12 ms out, to where the eyes of
qtdb's annotators see it (q1c, training records).

Known failures: P waves that ride on T (tachycardia) or march through (AV block of second degree or
more) are not found; nor are those over 420 ms before R.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from ecgscroll.signals.beats import lead_medians
from ecgscroll.signals.qrs import MS, Complexes, Float
from ecgscroll.signals.waves import Position, bump, foot
from ecgscroll.signals.windows import BEFORE, RATE, Windows

MIN_P_MV = 0.03
P_AGREEMENT = 0.5
"""Least mean of two correlations with the median P wave: the beat's and that of those around it."""
VERY_CLEAR, P_SHARE = 5.0, 0.6
"""Bump over its error, and share of its size, from which a noisy beat has the P wave."""
MAX_HIDDEN_MV, MAX_NOISE = 0.05, 0.06
"""Where noise could hide a larger P wave than this, or a lead has more noise
(:func:`ecgscroll.signals.windows.noise_of`), P waves not very clear are unknown, not absent."""
LOW_SHARE = 0.07
"""Share of the QRS height that a P wave may have; where that is under 0.03 mV (complexes under 0.43
mV in every lead), P waves that are not found are unknown, not absent."""
EYE_MS = 12.0
REACH_BEFORE, REACH_AFTER = 24, 20
_HALF = 14
"""Half width of the bump that a P wave makes: 56 ms."""
_AROUND = 9
"""Beats over which the agreement of the neighbourhood is averaged."""


@dataclass(frozen=True)
class PWaves:
    """(n,) presence (1, 0, NaN); onset, peak, end against R, milliseconds; amplitude (mV)."""

    present: Float
    on_ms: Position
    peak_ms: Position
    off_ms: Position
    amplitude: Float


def p_waves(
    windows: Windows,
    steady: Windows,
    complexes: Complexes,
    normal: NDArray[np.bool_],
    t_off_ms: Position,
) -> PWaves:
    """Find the P wave of every beat of ``windows`` and bound it in ``steady``.

    The segment's normal beats, aligned at R and levelled on the PR baseline, give a median wave per
    lead; its largest bump (the signal against its mean at 56 ms on either side) between the end of
    the T wave before (``t_off_ms``, against its own R) and 20 ms before the QRS onset is the P wave
    if it exceeds 0.03 mV and three times its own standard error. A beat has a P wave

    - if its correlation with the median there and the mean one of the normal beats around it come
      to 0.5 on average, so that neither noise on one beat hides it nor one lucky beat in
      fibrillation shows it; or,
    - of a normal beat, if the bump exceeds its error many times over and the beats around have it
      in more than half its size: then it is noise that spoils the correlation.

    Where a noisy lead shows no such clear bump, or complexes are so low that a P wave may be under
    0.03 mV, whether there are P waves is unknown.
    """
    n = len(windows)
    usable = normal & complexes.known & ~(windows.rr_before < 0.45)
    if usable.sum() < 3:
        return _no_p(n, np.nan)
    y = _before_qrs(windows, complexes)
    bumps = bump(y, _HALF)
    _blank_t(bumps, windows, t_off_ms)
    stop = max(int(np.median(complexes.onset[usable])) - 5, _HALF + 1)
    common = _common_p(bumps[usable][:, :, :stop])
    if isinstance(common, float):
        hidden = common > MAX_HIDDEN_MV or windows.noise.min() > MAX_NOISE
        hidden = hidden or _height(windows.x[usable]) * LOW_SHARE < MIN_P_MV
        return _no_p(n, np.nan if hidden else 0.0)
    if common.clear < VERY_CLEAR and windows.noise[common.lead] > MAX_NOISE:
        return _no_p(n, np.nan)
    shown = _shown(y[:, common.lead] * common.sign, common, usable)
    if steady is not windows:
        y = _before_qrs(steady, complexes)
        bumps = bump(y, _HALF)
    return _bounded(y[:, common.lead], bumps[:, common.lead], common, shown, complexes)


def _height(x: Float) -> float:
    """Median height (mV) of the complexes of (n, L, W) beats, in the lead where it is largest."""
    near = x[:, :, BEFORE - 25 : BEFORE + 25]
    return float(np.nanmax(lead_medians(near.max(axis=2) - near.min(axis=2)), initial=0.0))


def _before_qrs(windows: Windows, complexes: Complexes) -> Float:
    """(n, L, BEFORE) signal against the PR baseline, held level from 8 ms before the QRS onset."""
    y = windows.x[:, :, :BEFORE] - complexes.baseline[:, :, None]
    qrs = np.arange(BEFORE) >= (complexes.onset - 2)[:, None]
    return np.where(qrs[:, None, :], np.float32(0.0), y)


def _blank_t(bumps: Float, windows: Windows, t_off_ms: Position) -> None:
    """Take out of the search what lies before the end of the T wave before."""
    before = np.concatenate([[np.nan], t_off_ms[:-1] / 1000])
    before = np.where(np.isnan(before), 0.45 * windows.rr_before, before) - windows.rr_before
    first = BEFORE + np.nan_to_num(before, nan=-1.0) * RATE
    covered = np.arange(bumps.shape[2]) < np.minimum(first, BEFORE - 40)[:, None]
    bumps[np.broadcast_to(covered[:, None, :], bumps.shape)] = np.nan


@dataclass(frozen=True)
class _Common:
    """Lead, grid position and sign of the bump that the beats agree on, and bump over error."""

    lead: int
    at: int
    sign: int
    clear: float


def _common_p(bumps: Float) -> _Common | float:
    """Find the common bump, or else how large a P wave noise could hide (mV)."""
    known = np.isfinite(bumps).sum(axis=0) >= 3
    safe = np.nan_to_num(np.where(known, bumps, 0.0))
    middle = np.median(safe, axis=0)
    error = 1.25 * 1.4826 * np.median(np.abs(safe - middle), axis=0) / np.sqrt(len(safe))
    least = np.maximum(MIN_P_MV, 3 * error)
    size = np.where(np.abs(middle) > least, np.abs(middle), 0.0)
    lead, at = np.unravel_index(int(size.argmax()), size.shape)
    if size[lead, at] == 0:
        return float(np.median(least[known])) if known.any() else np.inf
    clear = float(size[lead, at] / max(error[lead, at], 1e-6))
    return _Common(int(lead), int(at), 1 if middle[lead, at] > 0 else -1, clear)


def _shown(y: Float, common: _Common, usable: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(n,) whether each beat has the common P wave, from the upright ``y`` of its lead."""
    shapes = np.nan_to_num(y[:, max(0, common.at - 18) : min(BEFORE, common.at + 19)])
    shapes -= shapes.mean(axis=1, keepdims=True)
    wave = np.median(shapes[usable], axis=0)
    along, norm = np.einsum("nk,k->n", shapes, wave), float(np.sqrt((wave * wave).sum()))
    alike = along / np.maximum(np.linalg.norm(shapes, axis=1) * norm, 1e-9)
    shown = alike + _around(alike, usable) >= 2 * P_AGREEMENT
    if common.clear >= VERY_CLEAR:
        shown |= usable & (_around(along / max(norm**2, 1e-9), usable) >= P_SHARE)
    return np.asarray(shown)


def _bounded(
    y: Float, bumps: Float, common: _Common, shown: NDArray[np.bool_], complexes: Complexes
) -> PWaves:
    """Peak near the common position, and feet, of every beat that shows the P wave."""
    near = slice(max(_HALF, common.at - 8), min(BEFORE - _HALF, common.at + 9))
    rows = np.arange(len(y))
    local = np.nan_to_num(bumps[:, near] * common.sign, nan=-np.inf)
    peak = near.start + local.argmax(axis=1)
    judged = complexes.known & np.isfinite(y[rows, peak])
    shown = shown & judged & (local.max(axis=1) > 0.5 * MIN_P_MV)
    upright = y * common.sign
    on = foot(upright, peak, REACH_BEFORE, forward=False)
    off = np.minimum(foot(upright, peak, REACH_AFTER, forward=True), complexes.onset)
    return PWaves(
        np.where(judged, shown, np.nan).astype(np.float32),
        np.where(shown, (on - BEFORE) * MS - EYE_MS, np.nan),
        np.where(shown, (peak - BEFORE) * MS, np.nan),
        np.where(shown, (off - BEFORE) * MS, np.nan),
        np.where(shown, y[rows, peak], np.nan).astype(np.float32),
    )


def _around(alike: Float, usable: NDArray[np.bool_]) -> Float:
    """Mean agreement of the usable beats around each."""
    total = uniform_filter1d(np.where(usable, alike, 0.0), _AROUND, mode="nearest")
    count = uniform_filter1d(usable.astype(np.float64), _AROUND, mode="nearest")
    return np.asarray(total / np.maximum(count, 1e-9), dtype=np.float32)


def _no_p(n: int, present: float) -> PWaves:
    nan = np.full(n, np.nan)
    return PWaves(
        np.full(n, present, dtype=np.float32), nan, nan, nan, np.full(n, np.nan, dtype=np.float32)
    )
