"""Which samples can be believed: invalid, flat and saturated stretches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FLAT_S = 1.0
"""A constant value for this long is a lead off or an amplifier at its rail, never an ECG."""
IMPOSSIBLE_MV = 1e4
"""No body gives this much; NaN and infinity fail the same test."""
HIDES_BEAT_S = 0.15
"""A hole this long can hide a QRS complex, so it breaks the R-R chain."""


def valid_samples(signal: NDArray[np.float32], fs: float) -> NDArray[np.bool_]:
    """Mask (L, n) of the samples that are possible and in no flat stretch of a second."""
    finite = np.abs(signal) < IMPOSSIBLE_MV
    flat = np.zeros_like(finite)
    if signal.shape[1] > 1:
        same = np.zeros_like(finite)
        same[:, 1:] = signal[:, 1:] == signal[:, :-1]
        for lead in range(len(signal)):
            flat[lead] = _long_flat(same[lead], max(2, round(FLAT_S * fs)))
    return finite & ~flat


def _long_flat(same: NDArray[np.bool_], length: int) -> NDArray[np.bool_]:
    """Stretches of at least ``length`` equal samples, their first sample included."""
    mask = long_runs(same, length - 1)
    mask[:-1] |= mask[1:]
    return mask


def long_runs(mask: NDArray[np.bool_], length: int) -> NDArray[np.bool_]:
    """Keep the True runs of a (n,) mask that last at least ``length`` samples."""
    out = np.zeros_like(mask)
    # A run this long covers a whole chunk of half its length; most masks have none, cheaply told.
    chunk = max(1, length // 2)
    whole = len(mask) // chunk * chunk
    if not mask.any() or (whole and length > 1 and not _has_chunk(mask[:whole], chunk)):
        return out
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        if stop - start >= length:
            out[start:stop] = True
    return out


def _has_chunk(mask: NDArray[np.bool_], chunk: int) -> bool:
    return bool(mask.reshape(-1, chunk).all(axis=1).any())


def filled(lead: NDArray[np.float32], valid: NDArray[np.bool_]) -> NDArray[np.float64]:
    """A (n,) lead as float64 with a straight line over its invalid stretches; zeros if all are."""
    signal = lead.astype(np.float64)
    if valid.all():
        return signal
    if not valid.any():
        return np.zeros_like(signal)
    index = np.arange(len(signal))
    signal[~valid] = np.interp(index[~valid], index[valid], signal[valid])
    return signal
