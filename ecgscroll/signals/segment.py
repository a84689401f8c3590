"""One segment of signal to beats with their features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals.beats import Beats
from ecgscroll.signals.detector import detect


def analyse(signal: NDArray[np.float32], fs: float, leads: tuple[str, ...], origin: int) -> Beats:
    """Beats in a segment.

    Parameters
    ----------
    signal
        (L, n) ECG leads in millivolts, NaN where invalid.
    fs
        Sampling frequency, Hz.
    leads
        Names of the ``L`` leads.
    origin
        Absolute number of the first sample, so that times count from the record's start.
    """
    found = detect(signal, fs)
    beats = Beats.from_times((found.sample + origin) / fs, source="detected", leads=leads)
    return replace(beats, after_gap=found.after_gap)
