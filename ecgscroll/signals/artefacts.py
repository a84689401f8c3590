"""What is in the signal and is neither heart nor noise: pacing spikes and clipped peaks.

A pacing spike lasts 2 ms or less, so after a recorder's filter it stands alone: 8 ms before and
after it the signal is where it was, while the flank of a QRS complex goes on. It is cut out and
replaced by a straight line, as pacemaker-aware monitors do (AHA, Circulation 115:1306, 2007).

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
CLIP_STEP_MV = 0.03
CLIP_RUN, CLIP_TIMES = 2, 5
"""Equal samples in a row at a lead's extreme, and how often, that tell a clipped lead."""

Signal = NDArray[np.float32]


def without_spikes(signal: Signal, fs: float) -> Signal:
    """(L, n) signal with its pacing spikes cut out; the same object where there are none."""
    k = max(2, round(SPIKE_S * fs))
    if fs < SPIKE_MIN_FS or signal.shape[1] < 4 * k + 1:
        return signal
    found = [kernels.spikes_of(lead, k, SPIKE_MV, LEVEL) for lead in signal]
    if not any(map(len, found)):
        return signal
    out, part = signal.copy(), np.linspace(0, 1, 2 * k + 1, dtype=np.float32)
    for lead, spikes in enumerate(found):
        for n in spikes.tolist():
            first, last = signal[lead, n - k], signal[lead, n + k]
            out[lead, n - k : n + k + 1] = first + (last - first) * part
    return out


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
