"""One segment of signal to beats with their features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals import qrs
from ecgscroll.signals.beats import Beats
from ecgscroll.signals.detector import Detection, detect
from ecgscroll.signals.ectopy import ectopy_features, is_ectopic
from ecgscroll.signals.quality import valid_samples
from ecgscroll.signals.waves import PWaves, TWaves, above_baseline, p_waves, t_waves
from ecgscroll.signals.windows import Windows, cut, without_noise

Detail = Literal["times", "complexes", "waves"]
DETAILS: tuple[Detail, ...] = get_args(Detail)
"""What is told of beats, each with what stands before it: time and gap; QRS, ST level and ectopy;
P, T and QT. A quarter of the work is spent on the last, four fifths on the last two."""
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


def analyse(
    signal: NDArray[np.float32],
    fs: float,
    leads: tuple[str, ...],
    origin: int,
    detail: Detail = "waves",
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
    detail
        What to measure; the rest is NaN or False.
    """
    if detail == "times":
        time, found, *_ = _detected(signal, fs, origin)
        beats = Beats.from_times(time, source="detected", leads=leads)
        return replace(beats, after_gap=found.after_gap, ectopic=np.zeros(len(time), dtype=bool))
    cut = cut_segment(signal, fs, origin)
    return measure(cut, leads, waves=detail == "waves") if len(cut.time) else Beats.empty(leads)


def _detected(
    signal: NDArray[np.float32], fs: float, origin: int
) -> tuple[NDArray[np.float64], Detection, NDArray[np.float32], NDArray[np.bool_], float]:
    """Times (s) and samples of the beats; the signal they were found in, validity and rate."""
    factor = int(fs // 300) if fs > MAX_FS else 1
    signal, fs_used = averaged_down(signal, factor), fs / factor
    valid = valid_samples(signal, fs_used)
    found = detect(signal, valid, fs_used)
    time = np.asarray((origin + found.sample * factor + (factor - 1) / 2) / fs, dtype=np.float64)
    return time, found, signal, valid, fs_used


def cut_segment(signal: NDArray[np.float32], fs: float, origin: int) -> CutBeats:
    """Find the beats of a segment, cut them out and bound their QRS complexes."""
    time, found, signal, valid, fs_used = _detected(signal, fs, origin)
    windows = without_noise(cut(signal, valid, fs_used, found.sample, found.after_gap))
    complexes = qrs.bound(windows)
    drift = qrs.baseline_drift(windows, complexes.baseline)
    y = above_baseline(windows, complexes, drift)
    return CutBeats(time, found.after_gap, windows, complexes, drift, y)


def measure(beats: CutBeats, leads: tuple[str, ...], *, waves: bool = True) -> Beats:
    """Measure one beat or more, P and T if asked for; each wave's module tells how it fails."""
    windows, complexes = beats.windows, beats.complexes
    ectopic = is_ectopic(ectopy_features(windows, complexes, beats.y))
    if waves:
        t, p = t_waves(windows, complexes, beats.y), p_waves(windows, complexes, ~ectopic)
    else:
        t, p = _unmeasured(len(beats.time), len(leads))
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


def _unmeasured(n: int, n_leads: int) -> tuple[TWaves, PWaves]:
    none = np.full(n, np.nan, dtype=np.float32)
    amplitude = np.full((n, n_leads), np.nan, dtype=np.float32)
    return TWaves(amplitude, none), PWaves(none, none, none, none)


def averaged_down(signal: NDArray[np.float32], factor: int) -> NDArray[np.float32]:
    """(L, n) to (L, n // factor) by the mean of every ``factor`` samples."""
    if factor == 1:
        return signal
    n = signal.shape[1] // factor
    blocks = signal[:, : n * factor].reshape(len(signal), n, factor)
    return np.asarray(blocks.mean(axis=2), dtype=np.float32)
