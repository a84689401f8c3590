"""T waves of beats cut on the 4 ms grid.

The peak is the largest turning point of the signal, against the PR baseline, after the ST segment;
a later one of the other sign and half its size or more is preferred, since the last phase of a
biphasic T wave, or the T wave after a depressed ST segment, is the one that ends it. In the lead
with the largest T wave, the normal beats' peaks are held within 64 ms of their median. The end is
the wave's foot (:mod:`ecgscroll.signals.waves`) within 160 ms of the peak, and 18 ms more: so much
later do the eyes of qtdb's annotators (q1c, training records) see it.

Known failures: a flat or notched T wave has no reliable end; a U wave joined to T hides it; a P
wave that rides on T (tachycardia) ends it early; another lead may show an end 30 ms later, which an
annotator who sees both takes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals.qrs import MS, Complexes, Float, Index
from ecgscroll.signals.waves import Position, foot
from ecgscroll.signals.windows import BEFORE, RATE, Windows

MIN_T_MV = 0.04
"""A smaller T wave is flat: it has an amplitude, but neither peak nor end."""
LAST_PHASE = 0.5
EYE_MS = 18.0
REACH = 40
"""Points after the peak within which T ends (160 ms)."""
_HOLD = 16
"""Points from the median peak within which a normal beat's peak lies."""
_TURN = 3


@dataclass(frozen=True)
class TWaves:
    """(n, L) peak amplitude, millivolts; (n,) peak and end against R, milliseconds."""

    amplitude: Float
    peak_ms: Position
    off_ms: Position


def t_waves(windows: Windows, complexes: Complexes, y: Float, normal: NDArray[np.bool_]) -> TWaves:
    """Measure the T wave of every beat from ``y``, the windows above the baseline.

    The search runs from J+60 ms to 72 % of the way to the next R peak, 620 ms at most; of the
    R-R interval before where the next beat is not known. A lead that is not seen over the whole of
    it, as at the cursor, has no T wave to measure.
    """
    y = y[:, :, BEFORE:]  # from here on, grid points count from R
    inside = _search(windows, complexes, y.shape[2])
    size = np.where(inside[:, None, :] & _turning(y), np.abs(y), np.float32(-1.0))
    unseen = (inside[:, None, :] & np.isnan(y)).any(axis=2)
    size[unseen | ~complexes.known[:, None]] = -1.0
    peak = _last_phase(y, size)
    found = np.take_along_axis(size, peak[:, :, None], axis=2)[:, :, 0] > 0
    amplitude = np.where(found, _at(y, peak), np.float32(np.nan))
    lead = largest_lead(amplitude)
    usable = normal & found[:, lead]
    if usable.sum() >= 3:
        peak[usable, lead] = _held(y[usable, lead], peak[usable, lead], inside[usable])
    amplitude = np.where(found, _at(y, peak), np.float32(np.nan))
    return TWaves(amplitude, *_peak_and_end(y[:, lead], peak[:, lead], amplitude[:, lead], windows))


def _search(windows: Windows, complexes: Complexes, width: int) -> NDArray[np.bool_]:
    rr = np.where(np.isnan(windows.rr_after), windows.rr_before, windows.rr_after)
    last = np.minimum(0.72 * np.nan_to_num(rr, nan=0.8), 0.62) * RATE
    grid = np.arange(BEFORE, BEFORE + width)
    return np.asarray((grid >= (complexes.end + 15)[:, None]) & (grid <= BEFORE + last[:, None]))


def _turning(y: Float) -> NDArray[np.bool_]:
    """Points that stand no lower than those 12 ms before and after; none beside missing signal."""
    size = np.abs(y)
    out = np.zeros(y.shape, dtype=bool)
    before, middle, after = size[..., : -2 * _TURN], size[..., _TURN:-_TURN], size[..., 2 * _TURN :]
    out[..., _TURN:-_TURN] = (middle >= before) & (middle >= after)
    return out


def _last_phase(y: Float, size: Float) -> Index:
    """(n, L) largest turning point, or a later one of the other sign if it is large enough."""
    peak = size.argmax(axis=2)
    first = _at(y, peak)
    later = np.arange(y.shape[2]) > peak[:, :, None]
    later &= y * np.sign(first)[:, :, None] < 0
    rest = np.where(later, size, np.float32(-1.0))
    second = rest.argmax(axis=2)
    least = np.maximum(LAST_PHASE * np.abs(first), MIN_T_MV)
    return np.asarray(np.where(rest.max(axis=2) >= least, second, peak))


def _held(y: Float, peak: Index, inside: NDArray[np.bool_]) -> Index:
    """Peaks of (n, W) normal beats near their median one and of its sign."""
    usual = int(np.median(peak))
    near = slice(max(0, usual - _HOLD), usual + _HOLD + 1)
    sign = np.sign(np.nanmedian(y[:, usual]))
    local = np.where(inside[:, near], y[:, near] * sign, np.float32(-1.0))
    best = np.nan_to_num(local, nan=-1.0)
    return np.asarray(np.where(best.max(axis=1) > 0, near.start + best.argmax(axis=1), peak))


def _peak_and_end(
    y: Float, peak: Index, height: Float, windows: Windows
) -> tuple[Position, Position]:
    off = foot(y * np.sign(height)[:, None], peak, REACH, forward=True) * MS + EYE_MS
    with np.errstate(invalid="ignore"):
        flat = ~(np.abs(height) >= MIN_T_MV)
        poor = flat | (off > 1000 * windows.rr_after - 60)
    return np.where(flat, np.nan, peak * MS), np.where(poor, np.nan, off)


def _at(y: Float, point: Index) -> Float:
    return np.asarray(np.take_along_axis(y, point[:, :, None], axis=2)[:, :, 0])


def largest_lead(amplitude: Float) -> int:
    """Lead whose (n, L) amplitudes are the largest in the median; 0 where none is known."""
    size = np.abs(amplitude)
    known = np.isfinite(size).any(axis=0)
    medians = np.full(size.shape[1], -1.0)
    if known.any():
        medians[known] = np.nanmedian(size[:, known], axis=0)
    return int(np.argmax(medians))
