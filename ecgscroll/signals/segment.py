"""One segment of signal to beats with their features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals import qrs
from ecgscroll.signals.artefacts import clipped, spikes_of, stimulus_before, without_spikes
from ecgscroll.signals.beats import Beats, lead_medians
from ecgscroll.signals.detector import Detection, detect
from ecgscroll.signals.ectopy import ectopy_features, is_ectopic
from ecgscroll.signals.p_wave import PWaves, p_waves
from ecgscroll.signals.quality import valid_samples
from ecgscroll.signals.steady import steadied
from ecgscroll.signals.t_wave import TWaves, t_waves
from ecgscroll.signals.waves import above_baseline
from ecgscroll.signals.windows import Windows, cut, without_noise

Detail = Literal["times", "complexes", "waves"]
DETAILS: tuple[Detail, ...] = get_args(Detail)
"""What is told of beats, each with what stands before it: time and gap; QRS, ST level and ectopy;
P, T and QT. A seventh of the work is spent on the last, nine tenths on the last two."""
Float = NDArray[np.float64]
MAX_FS = 500.0
"""Faster signals are averaged down to between 300 Hz and this: no wave of the ECG needs more."""

MAX_BOUNDED_NOISE = 0.12
"""Noise of the cleanest lead (:func:`ecgscroll.signals.windows.noise_of`), about 8 dB of muscle
noise, from which no bound is told: there the s.d. of the T end's error exceeds 40 ms."""
MAX_QRS_MV = 20.0
"""No heart gives more at the skin (hypertrophy reaches 8 mV): the header's gain or unit is wrong,
and times and durations can be told, but no level."""


@dataclass(frozen=True)
class CutBeats:
    """Beats found and cut out: (n,) times (s) and gaps, windows, QRS bounds, baseline drift.

    Marks lie against R, which comes ``r_ms`` after the time: above 0 in a paced beat.
    ``steady`` holds the windows with noise averaged out, in which the waves are bounded; ``y`` is
    the windows' own signal above the baseline, (n, L, W) millivolts.
    """

    time: Float
    r_ms: Float
    after_gap: NDArray[np.bool_]
    windows: Windows
    steady: Windows
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
        time, _, found, *_ = _detected(signal, fs, origin)
        beats = Beats.from_times(time, source="detected", leads=leads)
        return replace(beats, after_gap=found.after_gap, ectopic=np.zeros(len(time), dtype=bool))
    cut = cut_segment(signal, fs, origin)
    return measure(cut, leads, waves=detail == "waves") if len(cut.time) else Beats.empty(leads)


def _detected(
    signal: NDArray[np.float32], fs: float, origin: int
) -> tuple[Float, Float, Detection, NDArray[np.float32], NDArray[np.bool_], float]:
    """Times of the beats and from there to R (s); samples; the signal, validity and rate used."""
    factor = int(fs // 300) if fs > MAX_FS else 1
    spikes = spikes_of(signal, fs)
    signal, fs_used = averaged_down(without_spikes(signal, fs, spikes), factor), fs / factor
    valid = valid_samples(signal, fs_used)
    found = detect(signal, valid, fs_used)
    peak = np.asarray(found.sample * factor + (factor - 1) / 2, dtype=np.float64)
    time = np.asarray((origin + stimulus_before(peak, spikes, fs)) / fs, dtype=np.float64)
    return time, (origin + peak) / fs - time, found, signal, valid, fs_used


def cut_segment(signal: NDArray[np.float32], fs: float, origin: int) -> CutBeats:
    """Find the beats of a segment, cut them out and bound their QRS complexes."""
    time, to_r, found, signal, valid, fs_used = _detected(signal, fs, origin)
    off = clipped(signal)
    if off is not None:  # a wave cut off tells when it comes, but nothing can be measured on it
        valid = valid & ~off
    windows = without_noise(cut(signal, valid, fs_used, found.sample, found.after_gap))
    steady = steadied(windows)
    complexes = qrs.bound(steady)
    drift = qrs.baseline_drift(windows, complexes.baseline)
    y = above_baseline(windows, complexes, drift)
    return CutBeats(time, to_r * 1000, found.after_gap, windows, steady, complexes, drift, y)


def measure(beats: CutBeats, leads: tuple[str, ...], *, waves: bool = True) -> Beats:
    """Measure one beat or more, P and T if asked for; each wave's module tells how it fails.

    Where every lead is so noisy that averaging does not mend it, waves keep their amplitudes, but
    have neither bounds nor intervals. A paced beat is not ectopic, and has no ST level: its ST
    segment follows from where it began, not from the myocardium's state.
    """
    windows, complexes = beats.steady, beats.complexes
    paced = beats.r_ms > 0
    ectopic = is_ectopic(ectopy_features(beats.windows, complexes, beats.y)) & ~paced
    t, p = _waves(beats, ~ectopic) if waves else _unmeasured(len(beats.time), len(leads))
    height = qrs.amplitude(windows, complexes, ~ectopic)
    level = qrs.st_level(windows, complexes, beats.drift, ~ectopic)
    impossible = lead_medians(height) > MAX_QRS_MV
    level[paced] = np.nan
    for values in (height, level, t.amplitude):
        values[:, impossible] = np.nan
    if impossible.any():  # which lead showed the P wave is not told
        p.amplitude[:] = np.nan
    return Beats(
        source="detected",
        leads=leads,
        time=beats.time,
        **_marks(complexes, p, t, beats.r_ms, bounded=windows.noise.min() <= MAX_BOUNDED_NOISE),
        p_ms=(p.peak_ms + beats.r_ms).astype(np.float32),
        p_amp=p.amplitude,
        p_present=p.present,
        qrs_amp=height,
        st_mv=level,
        t_amp=t.amplitude,
        ectopic=ectopic,
        after_gap=beats.after_gap,
    )


def _waves(beats: CutBeats, normal: NDArray[np.bool_]) -> tuple[TWaves, PWaves]:
    windows, complexes, y = beats.steady, beats.complexes, beats.y
    if windows is not beats.windows:
        y = above_baseline(windows, complexes, beats.drift)
    t = t_waves(windows, complexes, y, normal)
    return t, p_waves(beats.windows, windows, complexes, normal, t.off_ms)


def _unmeasured(n: int, n_leads: int) -> tuple[TWaves, PWaves]:
    value, mark = np.full(n, np.nan, dtype=np.float32), np.full(n, np.nan)
    amplitude = np.full((n, n_leads), np.nan, dtype=np.float32)
    return TWaves(amplitude, mark, mark), PWaves(value, mark, mark, mark, value)


def _marks(
    complexes: qrs.Complexes, p: PWaves, t: TWaves, r_ms: Float, *, bounded: bool
) -> dict[str, NDArray[Any]]:
    """Marks of every beat against its time and the intervals between them, milliseconds."""
    on, off = complexes.on_ms, complexes.off_ms
    found: dict[str, NDArray[Any]] = {"qrs_ms": _interval(on, off, least=20.0, most=400.0)}
    found["pr_ms"] = _interval(p.on_ms, on, least=40.0, most=480.0)
    found["qt_ms"] = _interval(on, t.off_ms, least=200.0, most=720.0)
    marks = {"p_on_ms": p.on_ms, "p_off_ms": p.off_ms, "qrs_on_ms": on, "qrs_off_ms": off}
    marks |= {"t_peak_ms": t.peak_ms, "t_off_ms": t.off_ms}
    found |= {name: (mark + r_ms).astype(np.float16) for name, mark in marks.items()}
    if not bounded:
        for values in found.values():
            values[:] = np.nan
    return found


def _interval(
    start: NDArray[np.float64], stop: NDArray[np.float64], *, least: float, most: float
) -> NDArray[np.float32]:
    """(n,) milliseconds from one mark to another; NaN where no heart has such an interval."""
    length = (stop - start).astype(np.float32)
    with np.errstate(invalid="ignore"):
        length[~((length >= least) & (length <= most))] = np.nan
    return length


def averaged_down(signal: NDArray[np.float32], factor: int) -> NDArray[np.float32]:
    """(L, n) to (L, n // factor) by the mean of every ``factor`` samples."""
    if factor == 1:
        return signal
    n = signal.shape[1] // factor
    blocks = signal[:, : n * factor].reshape(len(signal), n, factor)
    return np.asarray(blocks.mean(axis=2), dtype=np.float32)
