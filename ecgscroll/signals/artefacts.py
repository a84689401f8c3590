"""What is in the signal and is neither heart nor noise: pacing spikes and clipped peaks.

A pacing spike lasts 2 ms or less, so after a recorder's filter it stands alone: 8 ms before and
after it the signal is where it was, while the flank of a QRS complex goes on. It is cut out and
replaced by a straight line, as pacemaker-aware monitors do (AHA, Circulation 115:1306, 2007). A
beat that it paces is timed by it: captured and fused complexes peak up to 0.1 s apart, which would
read as an irregular rhythm.

Known failures: at under 200 Hz a spike cannot be told from a narrow complex and stays; a spike on
the flank of a complex, or one with a large after-potential, is cut out in part.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals import artefacts_kernels as kernels

SPIKE_MV = 0.3
SPIKE_S = 0.008
"""Reach of a spike to either side of its peak."""
LEVEL = 0.25
"""Change of the signal beside a spike, at most, as a share of its height."""
SPIKE_MIN_FS = 200.0
PACES_S = (-0.02, 0.13)
"""From a spike to the R peak that it paces; an atrial spike lies farther before it."""
CAPTURES, CAPTURED = 5, 0.45
"""Least number, and share of the spikes, that a beat must follow for them to be held for pacing."""
CLIP_STEP_MV = 0.03
CLIP_RUN, CLIP_TIMES = 2, 5
"""Equal samples in a row at a lead's extreme, and how often, that tell a clipped lead."""

Signal = NDArray[np.float32]
Float = NDArray[np.float64]
Samples = NDArray[np.int64]


def spikes_of(signal: Signal, fs: float) -> list[Samples]:
    """Return the sample numbers of the pacing spikes of each lead of a (L, n) signal."""
    k = _reach(fs)
    if fs < SPIKE_MIN_FS or signal.shape[1] < 4 * k + 1:
        return [np.empty(0, np.int64) for _ in signal]
    return [kernels.spikes_of(lead, k, SPIKE_MV, LEVEL) for lead in signal]


def without_spikes(signal: Signal, fs: float, spikes: list[Samples] | None = None) -> Signal:
    """(L, n) signal with its pacing spikes cut out; the same object where there are none."""
    found = spikes_of(signal, fs) if spikes is None else spikes
    if not any(map(len, found)):
        return signal
    k = _reach(fs)
    out, part = signal.copy(), np.linspace(0, 1, 2 * k + 1, dtype=np.float32)
    for lead, at in enumerate(found):
        for n in at.tolist():
            first, last = signal[lead, n - k], signal[lead, n + k]
            out[lead, n - k : n + k + 1] = first + (last - first) * part
    return out


def stimulus_before(r: Float, spikes: list[Samples], fs: float) -> Float:
    """(n,) sample of the spike that paced each beat, of R peaks ``r``; ``r`` itself if none did.

    Spikes that beats do not follow (no capture, a loose wire) pace nothing.
    """
    at = np.unique(np.concatenate(spikes)) if spikes else np.empty(0, np.int64)
    if len(at) < CAPTURES:
        return r
    least, most = (s * fs for s in PACES_S)
    last = np.searchsorted(at, r - least, side="right") - 1
    stimulus = at[np.maximum(last, 0)]
    paced = (last >= 0) & (r - stimulus <= most)
    if np.count_nonzero(paced) < max(CAPTURES, CAPTURED * len(at)):
        return r
    return np.where(paced, stimulus, r).astype(np.float64)


def _reach(fs: float) -> int:
    return max(2, round(SPIKE_S * fs))


def clipped(signal: Signal) -> NDArray[np.bool_] | None:
    """(L, n) samples of steep waves that are cut off at the largest or least value of their lead.

    A wave that is cut off arrives there in a step and stays; a lead is held for clipped where five
    waves do. None where no lead is.
    """
    out: NDArray[np.bool_] | None = None
    for lead, values in enumerate(signal):
        for rail in kernels.known_range(values):
            if kernels.steps_to(values, rail, CLIP_RUN, CLIP_STEP_MV) >= CLIP_TIMES:
                out = np.zeros(signal.shape, dtype=bool) if out is None else out
                out[lead] |= values == np.float32(rail)
    return out
