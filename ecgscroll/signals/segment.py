"""One segment of signal to beats with their features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals import qrs
from ecgscroll.signals.beats import Beats
from ecgscroll.signals.detector import Detection, detect
from ecgscroll.signals.ectopy import ectopy_features, is_ectopic
from ecgscroll.signals.quality import valid_samples
from ecgscroll.signals.waves import above_baseline, p_waves, t_waves
from ecgscroll.signals.windows import cut

MAX_FS = 500.0
"""Faster signals are averaged down to between 300 Hz and this: no wave of the ECG needs more."""


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
    factor = int(fs // 300) if fs > MAX_FS else 1
    signal = averaged_down(signal, factor)
    valid = valid_samples(signal, fs / factor)
    found = detect(signal, valid, fs / factor)
    if len(found.sample) == 0:
        return Beats.empty(leads)
    time = np.asarray((origin + found.sample * factor + (factor - 1) / 2) / fs, np.float64)
    return measure(signal, valid, fs / factor, found, time, leads)


def measure(
    signal: NDArray[np.float32],
    valid: NDArray[np.bool_],
    fs: float,
    found: Detection,
    time: NDArray[np.float64],
    leads: tuple[str, ...],
) -> Beats:
    """Measure the waves of detected beats; see the modules of each for method and failures."""
    windows = cut(signal, valid, fs, found.sample, found.after_gap)
    complexes = qrs.bound(windows)
    drift = qrs.baseline_drift(windows, complexes.baseline)
    y = above_baseline(windows, complexes, drift)
    ectopic = is_ectopic(ectopy_features(windows, complexes, y))
    t = t_waves(windows, complexes, y)
    p = p_waves(windows, complexes, ~ectopic)
    return Beats(
        source="detected",
        leads=leads,
        time=time,
        qrs_ms=complexes.width_ms,
        pr_ms=p.pr_ms,
        p_ms=p.peak_ms,
        p_amp=p.amplitude,
        p_present=p.present,
        qt_ms=t.qt_ms,
        qrs_amp=qrs.amplitude(windows, complexes),
        st_mv=qrs.st_level(windows, complexes, drift, ~ectopic),
        t_amp=t.amplitude,
        ectopic=ectopic,
        after_gap=found.after_gap,
    )


def averaged_down(signal: NDArray[np.float32], factor: int) -> NDArray[np.float32]:
    """(L, n) to (L, n // factor) by the mean of every ``factor`` samples."""
    if factor == 1:
        return signal
    n = signal.shape[1] // factor
    blocks = signal[:, : n * factor].reshape(len(signal), n, factor)
    return np.asarray(blocks.mean(axis=2), dtype=np.float32)
