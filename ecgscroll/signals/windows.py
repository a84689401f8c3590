"""Beats cut out of the signal on one common grid of 4 ms around the R peak."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals import windows_kernels as kernels
from ecgscroll.signals.qrs_kernels import BEFORE as BEFORE
from ecgscroll.signals.quality import filled

RATE = 250.0
"""Samples per second of the grid."""
AFTER = 180
"""Grid points after it (720 ms)."""
MAX_NOISE = 0.22
"""Most noise in a lead that is measured; pure noise has 0.29, 99 % of mitdb's minutes under 0.2."""
MIN_QRS_MV = 0.03
"""Least swing within 100 ms of R of a beat that a lead shows; less is a lead off or mains alone."""
FULL_TRUST, LITTLE_TRUST = 0.10, 0.16
"""Noise up to which a lead counts fully beside a cleaner one, and from which it does not count."""
SMOOTH_S = 0.02
"""Width of the moving average before sampling; it cancels 50 Hz mains and most of 60 Hz."""
COMPLEX_S = 0.06
"""Reach around R in which the median beat tells how much of a complex's height smoothing takes."""
MAX_LEFT_NOISE = 0.1
"""Noise left in the median beat, as a share of its height, from which it does not tell that."""

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
    noise
        (L,) noise of each lead by :func:`noise_of`, 1 where nothing can be measured.
    lost_height
        (L,) height of the median complex before smoothing over that after it, 1 to 1.5.
    """

    x: Array
    rr_before: NDArray[np.float64]
    rr_after: NDArray[np.float64]
    noise: Array
    lost_height: Array

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
    smooth, lost = np.empty_like(signal), np.ones(len(signal), dtype=np.float32)
    width = max(1, round(SMOOTH_S * fs))
    for lead in range(len(signal)):
        kernels.moving_mean(filled(signal[lead], valid[lead]), valid[lead], width, smooth[lead])
        lost[lead] = _lost_height(signal[lead], smooth[lead], sample, fs)
    rr = np.diff(sample) / fs
    rr[after_gap[1:]] = np.nan
    edge = np.array([np.nan])
    x = _interpolate(smooth, sample, fs)
    return Windows(x, np.concatenate([edge, rr]), np.concatenate([rr, edge]), noise_of(x), lost)


def _lost_height(lead: Array, smooth: Array, sample: NDArray[np.int64], fs: float) -> float:
    """By what smoothing lowers complexes: the median beat tells, in which noise has cancelled."""
    inner, outer = round(COMPLEX_S * fs), round((COMPLEX_S + SMOOTH_S) * fs)
    raw, soft, noise = kernels.heights_of(lead, smooth, sample, inner, outer).tolist()
    if not noise < MAX_LEFT_NOISE * soft:
        return 1.0
    return float(np.clip(raw / soft, 1.0, 1.5))


def noise_of(x: Array) -> Array:
    """(L,) median slope of (n, L, W) beats over the steepest one within 100 ms of R.

    0.01 to 0.04 in clean leads, 0.09 and 0.15 with muscle noise at 12 and 6 dB; 1 without signal.
    """
    return np.asarray(kernels.noise_by_lead(x, BEFORE - 25, BEFORE + 25, 4))


def without_noise(windows: Windows) -> Windows:
    """Blank what no complex stands out of, so that nothing is measured there.

    That is a lead full of noise, and a beat where a lead does not move while another shows it.
    """
    near = windows.x[:, :, BEFORE - 25 : BEFORE + 25]
    windows.x[near.max(axis=2) - near.min(axis=2) < MIN_QRS_MV] = np.nan
    noisy = windows.noise > MAX_NOISE
    if noisy.any():
        windows.x[:, noisy] = np.nan
        windows.noise[noisy] = 1.0
    return windows


def trust(noise: Array) -> Array:
    """(L,) weight of each lead beside the others: less for a noisy one where a cleaner one is."""
    weight = np.clip((LITTLE_TRUST - noise) / (LITTLE_TRUST - FULL_TRUST), 0.0, 1.0)
    weight[noise <= 1.5 * noise.min(initial=1.0)] = 1.0
    return np.asarray(weight, dtype=np.float32)


def _interpolate(smooth: Array, sample: NDArray[np.int64], fs: float) -> Array:
    whole, part = _grid(fs)
    return np.asarray(kernels.interpolated(smooth, sample, whole, part))


@lru_cache(maxsize=16)
def _grid(fs: float) -> tuple[NDArray[np.int64], Array]:
    """(W,) whole samples from R to each grid point, and the part of the next one."""
    offset = np.arange(-BEFORE, AFTER + 1) * (fs / RATE)
    whole = np.floor(offset).astype(np.int64)
    return whole, (offset - whole).astype(np.float32)
