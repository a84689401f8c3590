"""What the P and the T wave have in common: levels against the baseline, bumps, and feet.

A wave's foot is where it has fallen to 15 % of its height above the lowest point beyond it (the
amplitude threshold of the T end in Hunt's comparison, J Electrocardiol 35:179, 2002, taken locally,
so that a sloping baseline does not move it). The eye puts it a little further out; each wave's
module says by how much on the training records of qtdb.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals.qrs import Complexes, Float, Index
from ecgscroll.signals.qrs_kernels import above
from ecgscroll.signals.windows import RATE, Windows

FOOT = 0.15
"""Share of a wave's height at which its foot lies."""
Position = NDArray[np.float64]


def above_baseline(windows: Windows, complexes: Complexes, drift: Float) -> Float:
    """(n, L, W) signal against the line through successive PR baselines."""
    return np.asarray(above(windows.x, complexes.onset, complexes.baseline, drift, RATE))


def foot(wave: Float, peak: Index, reach: int, *, forward: bool) -> Position:
    """Grid position of the foot of each wave, between two points; NaN where signal is missing.

    Parameters
    ----------
    wave
        (n, W) upright waves.
    peak
        (n,) their peaks.
    reach
        Points from the peak within which the lowest point, and so the foot, is sought.
    forward
        Whether the foot after the peak or the one before it is meant.
    """
    step = 1 if forward else -1
    index = np.clip(peak[:, None] + step * np.arange(reach + 1), 0, wave.shape[1] - 1)
    outward = np.take_along_axis(wave, index, axis=1).astype(np.float64)
    low = outward.min(axis=1)
    level = low + FOOT * (outward[:, 0] - low)
    under = np.argmax(outward <= level[:, None], axis=1)
    rows = np.arange(len(wave))
    above, below = outward[rows, np.maximum(under - 1, 0)], outward[rows, under]
    part = (above - level) / np.maximum(above - below, 1e-9)
    distance = np.where(under > 0, under - 1 + np.clip(part, 0.0, 1.0), np.nan)
    return np.where(np.isfinite(low), peak + step * distance, np.nan)


def bump(y: Float, half: int) -> Float:
    """How far each point stands above the mean of the points ``half`` before and after it."""
    out = np.full_like(y, np.nan)
    out[..., half:-half] = y[..., half:-half] - 0.5 * (y[..., : -2 * half] + y[..., 2 * half :])
    return out
