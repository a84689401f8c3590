"""QRS detection in one segment: Pan and Tompkins, with thresholds that start from the segment.

Averaging down to between 120 and 240 Hz, band-pass by moving averages (zero phase), derivative,
root of the mean square over 120 ms, peaks at least 200 ms apart, adaptive signal and noise levels,
T-wave test, search back; after Pan & Tompkins, IEEE Trans Biomed Eng 32:230 (1985),
doi:10.1109/TBME.1985.325532. The widths of the averages were chosen on mitdb DS1. Three things
differ. The levels start
from the median of the maxima of 1.5 s pieces of the whole segment, so a segment needs no learning
phase and one artefact cannot set them. A peak moves the signal level by no more than half of it, so
a tall ectopic beat does not hide the beats behind it. A segment may have holes: no beat is reported
in one.

Known failures: ventricular flutter (its waves are counted as beats), a P or T wave as steep as half
the QRS complex, muscle noise of QRS size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from ecgscroll.signals.quality import HIDES_BEAT_S, filled, long_runs

SLOWER_S, FASTER_S = 0.108, 0.025
"""Widths of the moving averages that take out what is slower and faster than a QRS complex."""
WINDOW_S = 0.12
REFRACTORY_S = 0.20
T_WAVE_S = 0.36
THRESHOLD = 0.28
MAX_NOISE = 0.25
NOISE_PEAK = 2.5
"""Peaks of steady noise over the 20th percentile of the energy (white noise has 2.2 to 2.7).

A threshold never starts from less; chosen on mitdb DS1 with noise added at 12 and 6 dB.
"""
SEARCH_BACK_RR = 1.66
SEARCH_BACK_THRESHOLD = 0.5
FLOOR_MV_S = 0.25
"""Least root-mean-square slope of a QRS complex; what is under it is an idle input."""
CLEAR = 3.5
"""Least ratio of the QRS level to the 20th percentile of the energy.

White noise has 2.2 to 2.7, mains 1 to 1.6, a rate of 240 per minute 5.4, every minute of mitdb 8 or
more but for one of ventricular flutter.
"""
EDGE_S = 0.05
"""An R peak needs this much signal after it; nearer to the segment's end it is not yet told."""
MIN_SEGMENT_S = 0.5
SLOW_HZ = 120.0
"""Signals at twice this rate or more are averaged down to it or above: QRS energy ends at 30 Hz."""


@dataclass(frozen=True)
class Detection:
    """R peaks of a segment: (n,) sample numbers and whether lost signal precedes each."""

    sample: NDArray[np.int64]
    after_gap: NDArray[np.bool_]


def detect(signal: NDArray[np.float32], valid: NDArray[np.bool_], fs: float) -> Detection:
    """R peaks of a segment.

    Parameters
    ----------
    signal, valid
        (L, n) ECG leads in millivolts, and which samples can be believed.
    fs
        Sampling frequency, 60 Hz or more.

    Notes
    -----
    The first lead with 90 % of its samples valid (else the one with most) is read; in its holes the
    next lead that has signal stands in. A lead in which no complex stands out counts as a hole.
    """
    n = signal.shape[1]
    hole = np.ones(n, dtype=bool)
    found: list[NDArray[np.int64]] = []
    if n >= MIN_SEGMENT_S * fs:
        for lead in lead_order(valid):
            if not hole.any():
                break
            peaks = detect_lead(signal[lead], valid[lead], fs)
            if peaks is None:
                continue
            found.append(peaks[hole[peaks]])
            hole = long_runs(hole & ~valid[lead], round(HIDES_BEAT_S * fs))
    sample = _apart(np.sort(np.concatenate(found)), fs) if found else np.empty(0, np.int64)
    return Detection(sample, _after_gap(sample, hole))


def lead_order(valid: NDArray[np.bool_]) -> list[int]:
    """Leads in the order in which detection asks them."""
    share = np.count_nonzero(valid, axis=1) / max(1, valid.shape[1])
    first = int(np.argmax(share >= 0.9)) if (share >= 0.9).any() else int(np.argmax(share))
    return [first] + [i for i in range(len(share)) if i != first and share[i] > 0]


def detect_lead(
    lead: NDArray[np.float32], valid: NDArray[np.bool_], fs: float
) -> NDArray[np.int64] | None:
    """R peaks (sample numbers) of one (n,) lead; ``None`` if nothing in it stands out."""
    factor = max(1, int(fs // SLOW_HZ))
    whole = bool(valid.all())
    rate, signal = fs / factor, lead if whole else filled(lead, valid)
    signal, valid = _slowed(signal, valid, factor)
    band = _filtered(signal, rate)
    energy = _energy(band, rate)
    spacing = 2 * (int(REFRACTORY_S * rate) // 2) + 1
    peak = (energy == maximum_filter1d(energy, spacing)) & (energy > FLOOR_MV_S)
    candidates = np.flatnonzero(peak & valid)
    if len(candidates) == 0:
        return None
    usual = energy[::8] if whole else energy[valid][::8]
    quiet = float(np.partition(usual, len(usual) // 5)[len(usual) // 5])
    levels = *_levels(energy, candidates, rate), NOISE_PEAK * quiet
    if levels[0] < CLEAR * quiet:
        return None
    chosen = _choose(candidates, energy[candidates], levels, rate)
    refined = _extremum(band, candidates[chosen], rate)
    sample = np.rint((refined + 0.5) * factor - 0.5).astype(np.int64)
    return _apart(sample[sample < len(lead) - EDGE_S * fs], fs)


def _slowed(
    signal: NDArray[np.floating], valid: NDArray[np.bool_], factor: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Every ``factor`` samples as their mean, valid where all of them are."""
    n = len(signal) // factor * factor
    total, all_valid = signal[:n:factor].astype(np.float64), valid[:n:factor].copy()
    for i in range(1, factor):
        total += signal[i:n:factor]
        all_valid &= valid[i:n:factor]
    total *= 1.0 / factor
    return total, all_valid


def _filtered(signal: NDArray[np.float64], fs: float) -> NDArray[np.float64]:
    """Zero-phase band-pass: the signal less its mean over 108 ms, averaged twice over 25 ms."""
    band = signal - uniform_filter1d(signal, _odd(SLOWER_S * fs), mode="nearest")
    smooth = _odd(FASTER_S * fs)
    if smooth > 1:
        uniform_filter1d(band, smooth, output=band, mode="nearest")
        uniform_filter1d(band, smooth, output=band, mode="nearest")
    return band


def _odd(width: float) -> int:
    """Odd whole number nearest to a width in samples."""
    return 2 * max(0, round((width - 1) / 2)) + 1


def _energy(band: NDArray[np.float64], fs: float) -> NDArray[np.float64]:
    """Root of the mean squared slope over 120 ms, mV/s."""
    slope = np.zeros_like(band)
    np.subtract(band[2:], band[:-2], out=slope[1:-1])
    slope *= 0.5 * fs
    slope *= slope
    mean = uniform_filter1d(slope, max(1, round(WINDOW_S * fs)), mode="constant")
    return np.sqrt(np.maximum(mean, 0.0, out=mean), out=mean)


def _levels(
    energy: NDArray[np.float64], candidates: NDArray[np.int64], fs: float
) -> tuple[float, float]:
    """Signal and noise level to start from."""
    count = max(1, int(len(energy) / (1.5 * fs)))
    starts = np.arange(count) * len(energy) // count
    maxima = np.maximum.reduceat(energy, starts)
    signal = float(np.median(maxima[maxima > FLOOR_MV_S]))
    low = energy[candidates]
    low = low[low < 0.5 * signal]
    return signal, float(np.median(low)) if len(low) else 0.1 * signal


def _choose(
    candidates: NDArray[np.int64],
    heights: NDArray[np.float64],
    levels: tuple[float, float, float],
    fs: float,
) -> list[int]:
    """Indices of the candidates that are beats: adaptive thresholds over the list of peaks."""
    at: list[int] = candidates.tolist()
    height: list[float] = heights.tolist()
    signal, noise, floor = levels
    refractory, t_wave = REFRACTORY_S * fs, T_WAVE_S * fs
    beats: list[int] = []
    recent: list[int] = []
    last, top, overdue = -math.inf, 0.0, math.inf
    for i, (t, h) in enumerate(zip(at, height, strict=True)):
        # Ectopic beats of half the usual slope must not be learned as noise.
        base = max(floor, min(noise, MAX_NOISE * signal))
        threshold = base + THRESHOLD * (signal - base)
        if t - last > overdue:
            missed = _search_back(at, height, beats[-1], i, SEARCH_BACK_THRESHOLD * threshold, fs)
            if missed is not None:
                recent = [*recent[-7:], at[missed] - at[beats[-1]]]
                beats.append(missed)
                last, top = at[missed], height[missed]
                overdue = SEARCH_BACK_RR * _usual(recent, fs)
                signal += 0.25 * (min(top, 1.5 * signal) - signal)
        since = t - last
        if h <= threshold or (refractory <= since < t_wave and h < 0.5 * top):
            noise += 0.125 * (h - noise)
        elif since >= refractory:
            if beats:
                recent = [*recent[-7:], t - at[beats[-1]]]
            beats.append(i)
            last, top, overdue = t, h, SEARCH_BACK_RR * _usual(recent, fs)
            signal += 0.125 * (min(h, 1.5 * signal) - signal)
        elif h > top:
            beats[-1], last, top = i, t, h
    return beats


def _usual(recent: list[int], fs: float) -> float:
    """Median of the last intervals in samples; 1.2 s before there are two."""
    n = len(recent)
    if n < 2:
        return 1.2 * fs
    ordered = sorted(recent)
    return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2


def _search_back(
    at: list[int], height: list[float], last: int, now: int, threshold: float, fs: float
) -> int | None:
    """Highest candidate between two beats too far apart, by a lower threshold."""
    best, top = None, threshold
    for j in range(last + 1, now):
        since = at[j] - at[last]
        clear = since > REFRACTORY_S * fs and at[now] - at[j] >= REFRACTORY_S * fs
        t_wave = since <= T_WAVE_S * fs and height[j] <= 0.5 * height[last]
        if clear and not t_wave and height[j] > top:
            best, top = j, height[j]
    return best


def _extremum(band: NDArray[np.float64], peaks: NDArray[np.intp], fs: float) -> NDArray[np.float64]:
    """Move each peak of the energy to the largest deflection within 80 ms, between samples."""
    reach = round(0.08 * fs)
    index = np.clip(peaks[:, None] + np.arange(-reach, reach + 1), 0, len(band) - 1)
    size = np.abs(band[index])
    best = index[np.arange(len(peaks)), np.argmax(size, axis=1)]
    inner = np.clip(best, 1, len(band) - 2)
    left, top, right = band[inner - 1], band[inner], band[inner + 1]
    bend = left - 2 * top + right
    safe = np.where(bend == 0, 1.0, bend)
    shift = np.clip(0.5 * (left - right) / safe, -0.5, 0.5)
    return np.asarray(np.where((best == inner) & (bend != 0), best + shift, best))


def _apart(sample: NDArray[np.int64], fs: float) -> NDArray[np.int64]:
    """Drop peaks that follow another within the refractory period."""
    if len(sample) < 2:
        return sample
    kept = np.concatenate([[True], np.diff(sample) >= REFRACTORY_S * fs])
    return np.asarray(sample[kept])


def _after_gap(sample: NDArray[np.int64], hole: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether a hole lies between the beat before (or the segment's start) and each beat."""
    if len(sample) == 0:
        return np.empty(0, dtype=bool)
    lost = np.cumsum(hole)[sample]
    return np.diff(lost, prepend=0) > 0
