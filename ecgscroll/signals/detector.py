"""QRS detection in one segment: Pan and Tompkins, with thresholds that start from the segment.

Averaging down to between 120 and 240 Hz, band-pass by moving averages (zero phase), derivative,
root of the mean square over 120 ms, peaks at least 200 ms apart, adaptive signal and noise levels,
T-wave test, search back; after Pan & Tompkins, IEEE Trans Biomed Eng 32:230 (1985),
doi:10.1109/TBME.1985.325532. The widths of the averages were chosen on mitdb DS1. Four things
differ. The levels start
from the median of the maxima of 1.5 s pieces of the whole segment, so a segment needs no learning
phase and one artefact cannot set them. A peak moves the signal level by no more than half of it, so
a tall ectopic beat does not hide the beats behind it. A segment may have holes: no beat is reported
in one. A long interval in which a beat may be hidden, by a hole or by noise, is told as unknown.

Known failures: ventricular flutter (its waves are counted as beats), a P or T wave as steep as half
the QRS complex; noise of QRS size, of 0.5 to 10 Hz, in every lead at once is taken for beats here
and there; quiet where the heart was (leads off without a flat line) for under 5 s is a pause.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals import detector_kernels as kernels
from ecgscroll.signals.detector_kernels import REFRACTORY_S
from ecgscroll.signals.leads import LeadPeaks, contrast, spread, together
from ecgscroll.signals.quality import HIDES_BEAT_S, filled, long_runs
from ecgscroll.signals.quality_kernels import still_in_all

SLOWER_S, FASTER_S = 0.108, 0.025
"""Widths of the moving averages that take out what is slower and faster than a QRS complex."""
WINDOW_S = 0.12
NOISE_PEAK = 2.5
"""Peaks of steady noise over the 20th percentile of the energy (white noise has 2.2 to 2.7).

A threshold never starts from less; chosen on mitdb DS1 with noise added at 12 and 6 dB.
"""
FLOOR_MV_S = 0.25
"""Least root-mean-square slope of a QRS complex; what is under it is an idle input."""
CLEAR = 3.5
"""Least ratio of the QRS level to the 20th percentile of the energy.

White noise has 2.2 to 2.7, mains 1 to 1.6, a rate of 240 per minute 5.4, every minute of mitdb 8 or
more but for one of ventricular flutter.
"""
CLEAR_HERE = 3.3
"""The same over 10 s anywhere in the segment; what is under it is a lead without an ECG."""
DOUBT, ALIKE, FAR, EARLY = 20.0, (0.6, 1.7), 0.3, 0.7
"""One lead is believed alone where that ratio is 20 or more all over the segment, no beat's energy
is unlike the median one (0.6 to 1.7 times it), no other peak is over 0.3 of it, and no interval
under 0.7 of the median. Chosen on mitdb DS1: with noise added a second lead gains nothing there."""
EDGE_S = 0.05
"""An R peak needs this much signal after it; nearer to the segment's end it is not yet told."""
LONG, PAUSE_S = 1.5, 2.0
"""An interval of this many times the median one may hide a beat in a hole of any length; one of
this many seconds may hide one in what follows."""
UNMOVED_S = 0.2
"""No lead moving for so long is lost signal if an interval is long; it never happens in the 40 h of
recordings at hand."""
HIDING_PEAK, HIDING_NOISE = 0.6, 0.15
"""Energy of a peak in one lead, or half the time in every lead, over the usual beat's, from which a
beat may be hidden. In the pauses of the training patients peaks reach 0.32 and noise 0.05; where a
beat was missed, peaks have 0.74 or more; muscle noise in which beats are lost has 0.17 or more."""
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
    The first lead with 90 % of its samples valid (else the one with most) is read. Where it has
    holes, or its complexes do not stand out well, the next lead in which some do decides with it
    (:mod:`ecgscroll.signals.leads`); the others stand in where neither has signal. Where no complex
    stands out of a lead, it counts as a hole.
    """
    n = signal.shape[1]
    lost, hole = np.ones(n, dtype=bool), np.ones(n, dtype=bool)
    heard: list[LeadPeaks] = []
    if n >= MIN_SEGMENT_S * fs:
        for lead in lead_order(valid):
            if heard and not hole.any() and (len(heard) > 1 or heard[0].clear):
                break
            peaks = read_lead(signal[lead], valid[lead], fs)
            if peaks is not None:
                heard.append(peaks)
                lost = lost & ~peaks.full(n)
                hole = long_runs(lost, round(HIDES_BEAT_S * fs))
    sample = _apart(together(heard, fs), fs)
    sample = sample[~hole[sample]]
    for first, last in still_in_all(signal, max(3, round(UNMOVED_S * fs))).tolist():
        lost[first : last + 1] = True
    return Detection(sample, _after_gap(sample, hole) | _hides_beat(sample, lost, heard, fs))


def lead_order(valid: NDArray[np.bool_]) -> list[int]:
    """Leads in the order in which detection asks them."""
    share = np.array([np.count_nonzero(lead) for lead in valid]) / max(1, valid.shape[1])
    first = int(np.argmax(share >= 0.9)) if (share >= 0.9).any() else int(np.argmax(share))
    return [first] + [i for i in range(len(share)) if i != first and share[i] > 0]


def detect_lead(
    lead: NDArray[np.float32], valid: NDArray[np.bool_], fs: float
) -> NDArray[np.int64] | None:
    """R peaks (sample numbers) of one (n,) lead; ``None`` if nothing in it stands out."""
    peaks = read_lead(lead, valid, fs)
    return None if peaks is None else _apart(peaks.sample, fs)


def read_lead(lead: NDArray[np.float32], valid: NDArray[np.bool_], fs: float) -> LeadPeaks | None:
    """What one (n,) lead shows; ``None`` if nothing in it stands out."""
    factor = max(1, int(fs // SLOW_HZ))
    rate = fs / factor
    signal, valid = kernels.slowed(filled(lead, valid), valid, factor)
    if len(signal) == 0:
        return None
    band = _filtered(signal, rate)
    energy = kernels.energy_of(band, max(1, round(WINDOW_S * rate)), rate)
    candidates = kernels.peaks_of(energy, valid, int(REFRACTORY_S * rate) // 2, FLOOR_MV_S)
    if len(candidates) == 0:
        return None
    level, noise, quiet = kernels.levels_of(energy, valid, candidates, FLOOR_MV_S, rate)
    if level < CLEAR * quiet:
        return None
    least = NOISE_PEAK * quiet
    chosen = kernels.beats_among(candidates, energy[candidates], level, noise, least, rate)
    refined = kernels.extrema(band, candidates[chosen], round(0.08 * rate))
    sample = np.rint((refined + 0.5) * factor - 0.5).astype(np.int64)
    at, clear = candidates[chosen], contrast(energy, rate)
    valid = valid & spread(clear, np.log(CLEAR_HERE), len(energy), rate)
    kept = (sample < len(lead) - EDGE_S * fs) & valid[at]
    return LeadPeaks(
        sample[kept],
        at[kept],
        band,
        energy,
        valid,
        factor,
        rate,
        clear,
        clear=bool(valid.all()) and _sure(clear, candidates, energy[candidates], chosen),
    )


def _sure(
    clear: NDArray[np.float64],
    at: NDArray[np.int64],
    height: NDArray[np.float64],
    beats: NDArray[np.int64],
) -> bool:
    """Whether beats are told beyond doubt: alike, none early, far above every other peak."""
    taken, gaps = height[beats], np.diff(at[beats])
    usual = np.median(taken)
    other = height.copy()
    other[beats] = 0.0
    alike = taken.min() > ALIKE[0] * usual and taken.max() < ALIKE[1] * usual
    early = len(gaps) > 0 and gaps.min() < EARLY * np.median(gaps)
    return bool(clear.min() >= np.log(DOUBT) and alike and not early and other.max() < FAR * usual)


def _filtered(signal: NDArray[np.float64], fs: float) -> NDArray[np.float64]:
    """Zero-phase band-pass: the signal less its mean over 108 ms, averaged twice over 25 ms."""
    band = signal - kernels.box(signal, _odd(SLOWER_S * fs), True)
    smooth = _odd(FASTER_S * fs)
    if smooth > 1:
        band = kernels.box(kernels.box(band, smooth, True), smooth, True)
    return np.asarray(band)


def _odd(width: float) -> int:
    """Odd whole number nearest to a width in samples."""
    return 2 * max(0, round((width - 1) / 2)) + 1


def _apart(sample: NDArray[np.int64], fs: float) -> NDArray[np.int64]:
    """Drop peaks that follow another within the refractory period."""
    if len(sample) < 2:
        return sample
    kept = np.concatenate([[True], np.diff(sample) >= REFRACTORY_S * fs])
    return np.asarray(sample[kept])


def _after_gap(sample: NDArray[np.int64], hole: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether a hole lies between the beat before (or the segment's start) and each beat."""
    if len(sample) == 0 or not hole.any():
        return np.zeros(len(sample), dtype=bool)
    lost = np.cumsum(hole)[sample]
    return np.diff(lost, prepend=0) > 0


def _hides_beat(
    sample: NDArray[np.int64], lost: NDArray[np.bool_], heard: list[LeadPeaks], fs: float
) -> NDArray[np.bool_]:
    """Whether the interval before each beat is so long that a beat may lie unseen in it."""
    length = np.diff(sample)
    hides = np.zeros(len(sample), dtype=bool)
    if len(length) == 0:
        return hides
    for i in np.flatnonzero(length >= min(LONG * np.median(length), PAUSE_S * fs)).tolist():
        hides[i + 1] = lost[sample[i] : sample[i + 1]].any() or (
            length[i] >= PAUSE_S * fs and _noisy(heard, sample[i] / fs, sample[i + 1] / fs)
        )
    return hides


def _noisy(heard: list[LeadPeaks], start: float, stop: float) -> bool:
    """Whether there is enough between two beats (s) to hide another."""
    noise = []
    for lead in heard:
        inside = slice(round((start + 0.3) * lead.rate), round((stop - 0.15) * lead.rate))
        energy = lead.energy[inside][lead.valid[inside]]
        if len(energy) and len(lead.at):
            usual = np.median(lead.energy[lead.at])
            if energy.max() >= HIDING_PEAK * usual:
                return True
            noise.append(float(np.median(energy) / usual))
    return len(noise) > 0 and min(noise) >= HIDING_NOISE
