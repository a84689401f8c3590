"""Which samples can be believed: invalid, flat and saturated stretches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals.artefacts_kernels import extremes, known_range
from ecgscroll.signals.quality_kernels import possible_and_moving, still_in_all

FLAT_S = 1.0
"""A constant value for this long is a lead off or an amplifier at its rail, never an ECG."""
STILL_S, STILL_MV = 5.0, 0.02
"""So little change for so long is an idle input or a rail that flickers; longer than any pause that
is believed (:data:`ecgscroll.signals.rr.MAX_RR_MS`)."""
DROP_S, DROP_MV, DROP_STEPS = 0.04, 0.1, 4
"""Equal samples for so long in every lead at once, with a jump of so much and of so many of the
lead's own steps before or after, are data that got lost on the way (zeros, or the last value held).
Not one is in the 40 h of mitdb, qtdb, cpsc2021, ltafdb_1h and icentia11k at hand."""
IMPOSSIBLE_MV = 1e4
"""No body gives this much; NaN and infinity fail the same test."""
_STILL_PIECES = 5
HIDES_BEAT_S = 0.15
"""A hole this long can hide a QRS complex, so it breaks the R-R chain; a shorter one does where the
interval is long (:mod:`ecgscroll.signals.detector`)."""


def valid_samples(signal: NDArray[np.float32], fs: float) -> NDArray[np.bool_]:
    """Mask (L, n) of the samples that are possible and in no flat or still stretch."""
    length = max(2, round(FLAT_S * fs))
    valid = np.asarray(possible_and_moving(signal, IMPOSSIBLE_MV, length))
    for lead in range(len(signal)):
        _without_still(signal[lead], max(1, round(STILL_S * fs / _STILL_PIECES)), valid[lead])
    for first, last in still_in_all(signal, max(3, round(DROP_S * fs))).tolist():
        if any(_jumps(lead, first, last) for lead in signal):
            valid[:, first : last + 1] = False
    return valid


def _jumps(lead: NDArray[np.float32], first: int, last: int) -> bool:
    """Whether a lead jumps to or from its equal samples ``first`` to ``last``, off its rails."""
    low, high = known_range(lead)
    if not low < lead[first] < high:
        return False
    steps = np.abs(np.diff(lead))
    jump = float(np.nanmax(np.append(steps[max(0, first - 1) : first], steps[last : last + 1])))
    return jump >= DROP_MV and jump >= DROP_STEPS * float(steps[steps > 0].min())


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
