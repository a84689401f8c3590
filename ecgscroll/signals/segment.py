"""One segment of signal to beats with their features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals import qrs
from ecgscroll.signals.beats import Beats
from ecgscroll.signals.detector import detect
from ecgscroll.signals.ectopy import ectopy_features, is_ectopic
from ecgscroll.signals.quality import valid_samples
from ecgscroll.signals.waves import above_baseline, p_waves, t_waves
from ecgscroll.signals.windows import Windows, cut, without_noise

MAX_FS = 500.0
"""Faster signals are averaged down to between 300 Hz and this: no wave of the ECG needs more."""


@dataclass(frozen=True)
class CutBeats:
    """Beats found and cut out: (n,) times (s) and gaps, windows, QRS bounds, baseline drift.

    ``y`` is the windows' signal above the baseline, (n, L, W) millivolts.
    """

    time: NDArray[np.float64]
    after_gap: NDArray[np.bool_]
    windows: Windows
    complexes: qrs.Complexes
    drift: NDArray[np.float32]
    y: NDArray[np.float32]


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
    beats = cut_segment(signal, fs, origin)
    return measure(beats, leads) if len(beats.time) else Beats.empty(leads)


def cut_segment(signal: NDArray[np.float32], fs: float, origin: int) -> CutBeats:
    """Find the beats of a segment, cut them out and bound their QRS complexes."""
    factor = int(fs // 300) if fs > MAX_FS else 1
    signal, fs_used = averaged_down(signal, factor), fs / factor
    valid = valid_samples(signal, fs_used)
    found = detect(signal, valid, fs_used)
    time = np.asarray((origin + found.sample * factor + (factor - 1) / 2) / fs, dtype=np.float64)
    windows = without_noise(cut(signal, valid, fs_used, found.sample, found.after_gap))
    complexes = qrs.bound(windows)
    drift = qrs.baseline_drift(windows, complexes.baseline)
    y = above_baseline(windows, complexes, drift)
    return CutBeats(time, found.after_gap, windows, complexes, drift, y)


def measure(beats: CutBeats, leads: tuple[str, ...]) -> Beats:
    """Measure the waves of one beat or more; see each wave's module for method and failures."""
    windows, complexes = beats.windows, beats.complexes
    ectopic = is_ectopic(ectopy_features(windows, complexes, beats.y))
    t = t_waves(windows, complexes, beats.y)
    p = p_waves(windows, complexes, ~ectopic)
    return Beats(
        source="detected",
        leads=leads,
        time=beats.time,
        qrs_ms=complexes.width_ms,
        pr_ms=p.pr_ms,
        p_ms=p.peak_ms,
        p_amp=p.amplitude,
        p_present=p.present,
        qt_ms=t.qt_ms,
        qrs_amp=qrs.amplitude(windows, complexes),
        st_mv=qrs.st_level(windows, complexes, beats.drift, ~ectopic),
        t_amp=t.amplitude,
        ectopic=ectopic,
        after_gap=beats.after_gap,
    )


def averaged_down(signal: NDArray[np.float32], factor: int) -> NDArray[np.float32]:
    """(L, n) to (L, n // factor) by the mean of every ``factor`` samples."""
    if factor == 1:
        return signal
    n = signal.shape[1] // factor
    blocks = signal[:, : n * factor].reshape(len(signal), n, factor)
    return np.asarray(blocks.mean(axis=2), dtype=np.float32)
