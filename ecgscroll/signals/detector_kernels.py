"""The loops of QRS detection, compiled; :mod:`ecgscroll.signals.detector` says what they are for.

All (n,) signals are float64 at the slowed rate ``fs``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ecgscroll.compiled import compiled
from ecgscroll.signals.order_kernels import median, nth_smallest

REFRACTORY_S = 0.20
T_WAVE_S = 0.36
THRESHOLD = 0.28
MAX_NOISE = 0.25
SEARCH_BACK_RR = 1.66
SEARCH_BACK_THRESHOLD = 0.5
_KEPT = 8
"""R-R intervals of which the median is the usual one."""


@compiled
def slowed(signal: Any, valid: Any, factor: int) -> Any:
    """Every ``factor`` samples as their mean, valid where all of them are."""
    n = len(signal) // factor
    out, whole = np.empty(n, np.float64), np.empty(n, np.bool_)
    for i in range(n):
        total, ok = 0.0, True
        for j in range(i * factor, (i + 1) * factor):
            total += signal[j]
            ok &= valid[j]
        out[i], whole[i] = total * (1.0 / factor), ok
    return out, whole


@compiled
def box(signal: Any, width: int, ends: bool) -> Any:
    """Mean of ``width`` samples around each; past the ends they are the last ones, or else zero."""
    n, before = len(signal), width // 2
    padded, out = np.zeros(n + width - 1, np.float64), np.zeros(n, np.float64)
    padded[before : before + n] = signal
    if ends:
        padded[:before], padded[before + n :] = signal[0], signal[-1]
    for k in range(width):
        part = padded[k : k + n]
        for i in range(n):
            out[i] += part[i]
    for i in range(n):
        out[i] *= 1.0 / width
    return out


@compiled
def energy_of(band: Any, width: int, fs: float) -> Any:
    """Root of the mean squared slope over ``width`` samples."""
    n = len(band)
    square = np.zeros(n, np.float64)
    for i in range(1, n - 1):
        slope = 0.5 * fs * (band[i + 1] - band[i - 1])
        square[i] = slope * slope
    energy = box(square, width, False)
    for i in range(n):
        energy[i] = math.sqrt(max(energy[i], 0.0))
    return energy


@compiled
def peaks_of(energy: Any, valid: Any, reach: int, floor: float) -> Any:
    """Samples above ``floor`` and no lower than any within ``reach``."""
    n = len(energy)
    found, count = np.empty(n, np.int64), 0
    i = 0
    while i < n:
        top, after = energy[i], i + 1
        if top > floor and (i == 0 or energy[i - 1] <= top):
            stop, first = min(n, i + reach + 1), max(0, i - reach)
            while after < stop and energy[after] <= top:
                after += 1
            if after < stop:
                i = after  # what lies between is lower than this one
                continue
            before = i - 1
            while before >= first and energy[before] <= top:
                before -= 1
            if before < first and valid[i]:
                found[count] = i
                count += 1
        i += 1
    return found[:count]


@compiled
def levels_of(energy: Any, valid: Any, candidates: Any, floor: float, fs: float) -> Any:
    """Signal and noise level to start from, and the 20th percentile of the valid energy."""
    n, pieces = len(energy), max(1, int(len(energy) / (1.5 * fs)))
    values, count = np.empty(max(n, pieces), np.float64), 0
    for piece in range(pieces):
        top = 0.0
        for i in range(piece * n // pieces, (piece + 1) * n // pieces):
            top = max(top, energy[i])
        if top > floor:
            values[count] = top
            count += 1
    signal = median(values, count)
    count = 0
    for i in candidates:
        if energy[i] < 0.5 * signal:
            values[count] = energy[i]
            count += 1
    noise = median(values, count) if count else 0.1 * signal
    count, seen = 0, 0
    for i in range(n):
        if valid[i]:
            if seen % 8 == 0:
                values[count] = energy[i]
                count += 1
            seen += 1
    return signal, noise, nth_smallest(values, count, count // 5)


@compiled
def beats_among(at: Any, height: Any, signal: float, noise: float, floor: float, fs: float) -> Any:
    """Indices of the candidates that are beats: adaptive thresholds over the list of peaks."""
    refractory, t_wave = REFRACTORY_S * fs, T_WAVE_S * fs
    beats, count = np.empty(2 * len(at) + 1, np.int64), 0
    recent, known = np.empty(_KEPT, np.float64), 0
    last, top, overdue = -math.inf, 0.0, math.inf
    for i in range(len(at)):
        t, h = at[i], height[i]
        # Ectopic beats of half the usual slope must not be learned as noise.
        base = max(floor, min(noise, MAX_NOISE * signal))
        threshold = base + THRESHOLD * (signal - base)
        if t - last > overdue:
            before = beats[count - 1]
            missed = search_back(at, height, before, i, SEARCH_BACK_THRESHOLD * threshold, fs)
            if missed >= 0:
                known = remember(recent, known, at[missed] - at[before])
                beats[count] = missed
                count += 1
                last, top = at[missed], height[missed]
                overdue = SEARCH_BACK_RR * usual_interval(recent, known, fs)
                signal += 0.25 * (min(top, 1.5 * signal) - signal)
        since = t - last
        if h <= threshold or (refractory <= since < t_wave and h < 0.5 * top):
            noise += 0.125 * (h - noise)
        elif since >= refractory:
            if count:
                known = remember(recent, known, t - at[beats[count - 1]])
            beats[count] = i
            count += 1
            last, top, overdue = t, h, SEARCH_BACK_RR * usual_interval(recent, known, fs)
            signal += 0.125 * (min(h, 1.5 * signal) - signal)
        elif h > top:
            beats[count - 1], last, top = i, t, h
    return beats[:count]


@compiled
def remember(recent: Any, known: int, interval: float) -> int:
    """Put an interval into the ring of the last eight; how many have been put there."""
    recent[known % _KEPT] = interval
    return known + 1


@compiled
def usual_interval(recent: Any, known: int, fs: float) -> float:
    """Median of the last intervals in samples; 1.2 s before there are two."""
    if known < 2:
        return 1.2 * fs
    return float(median(recent.copy(), min(known, _KEPT)))


@compiled
def search_back(at: Any, height: Any, last: int, now: int, threshold: float, fs: float) -> int:
    """Highest candidate between two beats too far apart, by a lower threshold; -1 for none."""
    best, top = -1, threshold
    for j in range(last + 1, now):
        since = at[j] - at[last]
        clear = since > REFRACTORY_S * fs and at[now] - at[j] >= REFRACTORY_S * fs
        t_wave = since <= T_WAVE_S * fs and height[j] <= 0.5 * height[last]
        if clear and not t_wave and height[j] > top:
            best, top = j, height[j]
    return best


@compiled
def extrema(band: Any, peaks: Any, reach: int) -> Any:
    """Move each peak of the energy to the largest deflection within ``reach``, between samples."""
    n = len(band)
    out = np.empty(len(peaks), np.float64)
    for k in range(len(peaks)):
        best = max(0, peaks[k] - reach)
        for i in range(best, min(n, peaks[k] + reach + 1)):
            if abs(band[i]) > abs(band[best]):
                best = i
        out[k] = best
        if 1 <= best <= n - 2:
            left, top, right = band[best - 1], band[best], band[best + 1]
            bend = left - 2 * top + right
            if bend != 0:
                out[k] += min(max(0.5 * (left - right) / bend, -0.5), 0.5)
    return out
