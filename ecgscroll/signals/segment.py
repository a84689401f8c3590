"""One segment of signal to beats with their features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals.beats import Beats
from ecgscroll.signals.detector import detect
from ecgscroll.signals.quality import valid_samples

MAX_FS = 500.0
"""Faster signals are averaged down to between 300 Hz and this: no wave of the ECG needs more."""


def analyse(
    signal: NDArray[np.float32], fs: float, leads: tuple[str, ...], origin: int
) -> Beats:
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
    factor = int(fs // 300) if fs > MAX_FS else 1
    signal = averaged_down(signal, factor)
    valid = valid_samples(signal, fs / factor)
    found = detect(signal, valid, fs / factor)
    time = (origin + found.sample * factor + (factor - 1) / 2) / fs
    beats = Beats.from_times(time, source="detected", leads=leads)
    return replace(beats, after_gap=found.after_gap)


def averaged_down(signal: NDArray[np.float32], factor: int) -> NDArray[np.float32]:
    """(L, n) to (L, n // factor) by the mean of every ``factor`` samples."""
    if factor == 1:
        return signal
    n = signal.shape[1] // factor
    blocks = signal[:, : n * factor].reshape(len(signal), n, factor)
    return np.asarray(blocks.mean(axis=2), dtype=np.float32)
