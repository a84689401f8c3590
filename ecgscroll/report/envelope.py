"""Signals made small: quantised samples, and the least and greatest of every stretch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ecgscroll.records.recording import Recording

SAMPLE_MV = 0.005
"""Millivolts of one unit of a sample: a twentieth of a millimetre on paper."""
BAND_MV = 0.05
"""Millivolts of one unit of an envelope."""
BUCKETS_S = (0.04, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0)
"""Seconds of a stretch, finest first; the browser joins them for wider views."""
_AT_ONCE = 1 << 20

Band = NDArray[np.float32]


def quantised(signal: NDArray[np.float32], unit: float, bits: int) -> NDArray[np.int64]:
    """Return a signal in units of ``unit``; the least integer stands for an invalid sample."""
    top = (1 << (bits - 1)) - 1
    whole = np.rint(np.nan_to_num(signal, posinf=0, neginf=0) / unit)
    held = np.clip(whole, -top, top).astype(np.int64)
    return np.where(np.isfinite(signal), held, -top - 1)


def envelope(
    recording: Recording, leads: tuple[int, ...], bucket_s: float
) -> tuple[Band, Band, float]:
    """Return the least and the greatest of every stretch of a whole recording.

    Parameters
    ----------
    recording
        One with a waveform.
    leads
        Channels.
    bucket_s
        Length of a stretch in seconds; rounded to whole samples.

    Returns
    -------
    low, high
        (n_leads, n_buckets) millivolts; NaN where a stretch has no valid sample.
    bucket_s
        Its length as rounded.
    """
    size = max(1, round(bucket_s * recording.fs))
    pairs = [_bands(signal[list(leads)], size) for signal in _blocks(recording, size)]
    low, high = (np.concatenate([pair[side] for pair in pairs], axis=1) for side in (0, 1))
    return low, high, size / recording.fs


def coarser(low: Band, high: Band, times: int) -> tuple[Band, Band]:
    """Join every ``times`` stretches into one; the last may be of fewer."""
    starts = np.arange(0, low.shape[1], times)
    return np.fmin.reduceat(low, starts, axis=1), np.fmax.reduceat(high, starts, axis=1)


def _blocks(recording: Recording, size: int) -> Iterator[NDArray[np.float32]]:
    step = max(1, _AT_ONCE // size) * size
    for start in range(0, recording.n_samples, step):
        yield recording.read(start, min(start + step, recording.n_samples))


def _bands(signal: NDArray[np.float32], size: int) -> tuple[Band, Band]:
    starts = np.arange(0, signal.shape[1], size)
    return (
        np.fmin.reduceat(signal, starts, axis=1),
        np.fmax.reduceat(signal, starts, axis=1),
    )
