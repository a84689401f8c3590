"""Which samples can be believed: invalid, flat and saturated stretches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals.artefacts_kernels import extremes
from ecgscroll.signals.quality_kernels import possible_and_moving

FLAT_S = 1.0
"""A constant value for this long is a lead off or an amplifier at its rail, never an ECG."""
STILL_S, STILL_MV = 5.0, 0.02
"""So little change for so long is an idle input or a rail that flickers; longer than any pause that
is believed (:data:`ecgscroll.signals.rr.MAX_RR_MS`)."""
IMPOSSIBLE_MV = 1e4
"""No body gives this much; NaN and infinity fail the same test."""
_STILL_PIECES = 5
HIDES_BEAT_S = 0.15
"""A hole this long can hide a QRS complex, so it breaks the R-R chain."""


def valid_samples(signal: NDArray[np.float32], fs: float) -> NDArray[np.bool_]:
    """Mask (L, n) of the samples that are possible and in no flat or still stretch."""
    length = max(2, round(FLAT_S * fs))
    valid = np.asarray(possible_and_moving(signal, IMPOSSIBLE_MV, length))
    for lead in range(len(signal)):
        _without_still(signal[lead], max(1, round(STILL_S * fs / _STILL_PIECES)), valid[lead])
    return valid


def _without_still(lead: NDArray[np.float32], size: int, valid: NDArray[np.bool_]) -> None:
    """Unmask pieces of ``size`` samples, five or more in a row, that hardly change in all."""
    low, high = extremes(lead, size)
    quiet = high - low < STILL_MV
    # The pieces that hardly change are few; only among them is a run sought.
    for start in np.flatnonzero(long_runs(quiet, _STILL_PIECES)).tolist():
        run = slice(max(0, start - _STILL_PIECES + 1), start + _STILL_PIECES)
        if quiet[run].sum() >= _STILL_PIECES and np.ptp([low[run], high[run]]) < 2 * STILL_MV:
            last = start + 1 == len(low)
            valid[start * size : None if last else (start + 1) * size] = False


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
