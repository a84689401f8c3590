"""QRS detection in one segment: Pan and Tompkins, with thresholds that start from the segment.

Band-pass 5-22 Hz (zero phase), derivative, root of the mean square over 120 ms, peaks at least 200
ms apart, adaptive signal and noise levels, T-wave test, search back; after Pan & Tompkins, IEEE
Trans Biomed Eng 32:230 (1985), doi:10.1109/TBME.1985.325532. Three things differ. The levels start
from the median of the maxima of 1.5 s pieces of the whole segment, so a segment needs no learning
phase and one artefact cannot set them. A peak moves the signal level by no more than half of it, so
a tall ectopic beat does not hide the beats behind it. A segment may have holes: no beat is reported
in one.

Known failures: ventricular flutter (its waves are counted as beats), a P or T wave as steep as half
the QRS complex, muscle noise of QRS size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from statistics import median

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d, uniform_filter1d
from scipy.signal import butter, sosfilt, sosfilt_zi

from ecgscroll.signals.quality import HIDES_BEAT_S, filled, long_runs

BAND_HZ = (5.0, 22.0)
WINDOW_S = 0.12
REFRACTORY_S = 0.20
T_WAVE_S = 0.36
THRESHOLD = 0.28
MAX_NOISE = 0.25
SEARCH_BACK_RR = 1.66
SEARCH_BACK_THRESHOLD = 0.5
FLOOR_MV_S = 0.25
"""Least root-mean-square slope of a QRS complex; what is under it is an idle input."""
CLEAR = 3.5
"""Least ratio of the QRS level to the 20th percentile of the energy.

White noise has 2.3, mains 1, a rate of 240 per minute 5.6, every minute of mitdb 8 or more.
"""
EDGE_S = 0.05
"""An R peak needs this much signal after it; nearer to the segment's end it is not yet told."""
MIN_SEGMENT_S = 0.5


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
    signal = filled(lead, valid)
    band = _filtered(signal, fs)
    energy = _energy(band, fs)
    spacing = 2 * (int(REFRACTORY_S * fs) // 2) + 1
    peak = (energy == maximum_filter1d(energy, spacing)) & (energy > FLOOR_MV_S)
    candidates = np.flatnonzero(peak & valid)
    if len(candidates) == 0:
        return None
    levels = _levels(energy, candidates, fs)
    if levels[0] < CLEAR * np.percentile(energy[valid][::8], 20):
        return None
    chosen = _choose(candidates, energy[candidates], levels, fs)
    refined = _extremum(band, candidates[chosen], fs)
    return _apart(refined[refined < len(lead) - EDGE_S * fs], fs)


@lru_cache(maxsize=32)
def _band_pass(fs: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Second-order sections and their steady state."""
    sections = np.asarray(butter(2, BAND_HZ, "bandpass", output="sos", fs=fs))
    return sections, np.asarray(sosfilt_zi(sections))


def _filtered(signal: NDArray[np.float64], fs: float) -> NDArray[np.float64]:
    """Zero-phase band-pass, as scipy's sosfiltfilt, but for the steady state computed once."""
    sections, state = _band_pass(fs)
    edge = min(15, len(signal) - 1)
    head = 2 * signal[0] - signal[edge:0:-1]
    tail = 2 * signal[-1] - signal[-2 : -edge - 2 : -1]
    extended = np.concatenate([head, signal, tail])
    once, _ = sosfilt(sections, extended, zi=state * extended[0])
    back = np.ascontiguousarray(once[::-1])
    twice, _ = sosfilt(sections, back, zi=state * back[0])
    return np.ascontiguousarray(twice[::-1][edge : len(extended) - edge])


def _energy(band: NDArray[np.float64], fs: float) -> NDArray[np.float64]:
    """Root of the mean squared slope over 120 ms, mV/s."""
    slope = np.gradient(band) * fs
    mean = uniform_filter1d(slope * slope, max(1, round(WINDOW_S * fs)), mode="constant")
    return np.sqrt(np.maximum(mean, 0.0))


def _levels(
    energy: NDArray[np.float64], candidates: NDArray[np.int64], fs: float
) -> tuple[float, float]:
    """Signal and noise level to start from."""
    pieces = np.array_split(energy, max(1, int(len(energy) / (1.5 * fs))))
    maxima = np.array([piece.max() for piece in pieces])
    signal = float(np.median(maxima[maxima > FLOOR_MV_S]))
    low = energy[candidates]
    low = low[low < 0.5 * signal]
    return signal, float(np.median(low)) if len(low) else 0.1 * signal


def _choose(
    candidates: NDArray[np.int64],
    heights: NDArray[np.float64],
    levels: tuple[float, float],
    fs: float,
) -> list[int]:
    """Indices of the candidates that are beats: adaptive thresholds over the list of peaks."""
    at: list[int] = candidates.tolist()
    height: list[float] = heights.tolist()
    signal, noise = levels
    refractory, t_wave = REFRACTORY_S * fs, T_WAVE_S * fs
    beats: list[int] = []
    recent: list[float] = []
    for i, (t, h) in enumerate(zip(at, height, strict=True)):
        # Ectopic beats of half the usual slope must not be learned as noise.
        base = min(noise, MAX_NOISE * signal)
        threshold = base + THRESHOLD * (signal - base)
        usual = median(recent) if len(recent) > 1 else 1.2 * fs
        if beats and t - at[beats[-1]] > SEARCH_BACK_RR * usual:
            missed = _search_back(at, height, beats[-1], i, SEARCH_BACK_THRESHOLD * threshold, fs)
            if missed is not None:
                recent = [*recent[-7:], at[missed] - at[beats[-1]]]
                beats.append(missed)
                signal += 0.25 * (min(height[missed], 1.5 * signal) - signal)
        since = t - at[beats[-1]] if beats else fs
        is_t_wave = since < t_wave and h < 0.5 * height[beats[-1]]
        if h <= threshold or (is_t_wave and since >= refractory):
            noise += 0.125 * (h - noise)
        elif since < refractory:
            if h > height[beats[-1]]:
                beats[-1] = i
        else:
            if beats:
                recent = [*recent[-7:], since]
            beats.append(i)
            signal += 0.125 * (min(h, 1.5 * signal) - signal)
    return beats


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


def _extremum(band: NDArray[np.float64], peaks: NDArray[np.int64], fs: float) -> NDArray[np.int64]:
    """Move each peak of the energy to the largest deflection within 80 ms."""
    reach = round(0.08 * fs)
    index = np.clip(peaks[:, None] + np.arange(-reach, reach + 1), 0, len(band) - 1)
    best = np.argmax(np.abs(band[index]), axis=1)
    return np.asarray(index[np.arange(len(peaks)), best])


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
