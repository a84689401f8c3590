"""Which samples can be believed: invalid, flat and saturated stretches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals.quality_kernels import possible_and_moving

FLAT_S = 1.0
"""A constant value for this long is a lead off or an amplifier at its rail, never an ECG."""
IMPOSSIBLE_MV = 1e4
"""No body gives this much; NaN and infinity fail the same test."""
HIDES_BEAT_S = 0.15
"""A hole this long can hide a QRS complex, so it breaks the R-R chain."""


def valid_samples(signal: NDArray[np.float32], fs: float) -> NDArray[np.bool_]:
    """Mask (L, n) of the samples that are possible and in no flat stretch of a second."""
    length = max(2, round(FLAT_S * fs))
    return np.asarray(possible_and_moving(signal, IMPOSSIBLE_MV, length))


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


def filled(lead: NDArray[np.float32], valid: NDArray[np.bool_]) -> NDArray[np.float32]:
    """A (n,) lead with a straight line over its invalid stretches; zeros if all are."""
    if valid.all():
        return lead
    if not valid.any():
        return np.zeros_like(lead)
    signal = lead.copy()
    index = np.arange(len(signal))
    signal[~valid] = np.interp(index[~valid], index[valid], signal[valid])
    return signal
