"""Beats cut out of the signal on one common grid of 4 ms around the R peak."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from ecgscroll.signals.quality import filled

RATE = 250.0
"""Samples per second of the grid."""
BEFORE = 90
"""Grid points before the R peak (360 ms)."""
AFTER = 160
"""Grid points after it (640 ms)."""
CLEAR = 4.5
"""Least ratio of QRS slope to usual slope; noise has 3.5, 99 % of mitdb's minutes 5 or more."""
SMOOTH_S = 0.02
"""Width of the moving average before sampling; it cancels 50 Hz mains and most of 60 Hz."""

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Windows:
    """Cut-out beats.

    Parameters
    ----------
    x
        (n, L, W) millivolts, NaN where invalid or outside the segment.
    rr_before, rr_after
        (n,) seconds to the beats before and after, NaN where unknown.
    """

    x: Array
    rr_before: NDArray[np.float64]
    rr_after: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.x)


def cut(
    signal: Array,
    valid: NDArray[np.bool_],
    fs: float,
    sample: NDArray[np.int64],
    after_gap: NDArray[np.bool_],
) -> Windows:
    """Cut the beats at ``sample`` out of (L, n) ``signal``, by linear interpolation."""
    smooth = np.empty_like(signal)
    width = max(1, round(SMOOTH_S * fs))
    for lead in range(len(signal)):
        smooth[lead] = uniform_filter1d(filled(signal[lead], valid[lead]), width)
    smooth[~valid] = np.nan
    rr = np.diff(sample) / fs
    rr[after_gap[1:]] = np.nan
    edge = np.array([np.nan])
    return Windows(
        _interpolate(smooth, sample, fs), np.concatenate([edge, rr]), np.concatenate([rr, edge])
    )


def without_noise(windows: Windows) -> Windows:
    """Blank the leads whose QRS complexes do not stand out, so that nothing is measured there.

    A lead is blanked where the steepest slope within 100 ms of R, in the median beat, is under
    ``CLEAR`` times the median slope.
    """
    if len(windows) == 0:
        return windows
    slope = np.abs(np.diff(np.nan_to_num(windows.x), axis=2))
    core = slope[:, :, BEFORE - 25 : BEFORE + 25].max(axis=2)
    usual = np.median(slope[:, :, ::4], axis=2)
    noisy = np.median(core, axis=0) < CLEAR * np.median(usual, axis=0)
    if noisy.any():
        windows.x[:, noisy] = np.nan
    return windows


def _interpolate(smooth: Array, sample: NDArray[np.int64], fs: float) -> Array:
    offset = np.arange(-BEFORE, AFTER + 1) * (fs / RATE)
    whole = np.floor(offset).astype(np.int64)
    part = (offset - whole).astype(np.float32)
    padded = np.pad(smooth, ((0, 0), (0, 1)), constant_values=np.nan)
    index = sample[:, None] + whole
    last = smooth.shape[1]
    index = np.where((index < 0) | (index >= last), last, index)
    left = padded[:, index]
    right = padded[:, np.minimum(index + 1, last)]
    right -= left
    right *= part
    right += left
    return np.ascontiguousarray(right.transpose(1, 0, 2))
