"""Atrial fibrillation: R-R irregularity that no short period explains, without P waves.

For each interval, over the 41 around it, the median |RR(i) - RR(i+k)| over the median RR is taken
for lags k = 1 to 4, and the least of the four is kept. Fibrillation is irregular at every lag
(Moody & Mark, Comput Cardiol 10:227, 1983; Sarkar et al., IEEE Trans Biomed Eng 55:1219, 2008, for
R-R differences); bigeminy repeats at lag 2, trigeminy at 3, quadrigeminy at 4, and medians pass
over single ectopic beats. Where there is a waveform, irregular beats of which most have a P wave
(:mod:`ecgscroll.signals.waves`) are not fibrillation. The thresholds, with hysteresis, were chosen
on training patients: those of ltafdb for the intervals, mitdb DS1 for the P waves.

Known failures: flutter with fixed conduction is regular and is missed; frequent multifocal atrial
ectopy and marked sinus arrhythmia look like fibrillation; episodes under 20 beats are blurred.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter, uniform_filter1d

from ecgscroll.signals import rr
from ecgscroll.signals.beats import Beats

WINDOW = 41
LAGS = (1, 2, 3, 4)
ENTER, LEAVE = 0.08, 0.05
MIN_INTERVALS = 8
MAX_P_SHARE, MIN_P_JUDGED = 0.55, 0.2


@dataclass(frozen=True)
class Rhythm:
    """R-R intervals [start, stop) in seconds, (m,), and whether each is fibrillation."""

    start: NDArray[np.float64]
    stop: NDArray[np.float64]
    af: NDArray[np.bool_]

    def seconds(self, t0: float, t1: float) -> tuple[float, float]:
        """Seconds of [t0, t1) that are fibrillation, and that could be judged."""
        length = np.minimum(self.stop, t1) - np.maximum(self.start, t0)
        length = np.maximum(length, 0.0)
        return float(length[self.af].sum()), float(length.sum())


def judge(beats: Beats) -> Rhythm | None:
    """Judge every R-R interval of ``beats``; ``None`` under eight intervals."""
    found = rr.intervals(beats.time, beats.after_gap)
    if len(found.ms) < MIN_INTERVALS:
        return None
    af = hysteresis(irregularity(found.ms))
    present = beats.p_present[np.searchsorted(beats.time, found.end)]
    af &= ~(p_wave_share(present) > MAX_P_SHARE)
    return Rhythm(found.end - found.ms / 1000, found.end, af)


def p_wave_share(present: NDArray[np.float32]) -> NDArray[np.float64]:
    """Share of the beats around each that have a P wave; 0 where few can be judged."""
    judged = np.isfinite(present)
    count = uniform_filter1d(judged.astype(np.float64), WINDOW, mode="nearest")
    waves = uniform_filter1d(np.where(judged, present, 0.0), WINDOW, mode="nearest")
    return np.asarray(np.where(count > MIN_P_JUDGED, waves / np.maximum(count, 1e-9), 0.0))


def irregularity(ms: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m,) least over lags of the median relative difference; near 0.02 in sinus, 0.2 in AF."""
    usual = median_filter(ms, WINDOW, mode="nearest")
    lags = [np.pad(np.abs(ms[k:] - ms[:-k]), (k // 2, k - k // 2), mode="edge") for k in LAGS]
    return np.asarray(
        np.min([median_filter(lag, WINDOW, mode="nearest") for lag in lags], axis=0) / usual
    )


def hysteresis(score: NDArray[np.float64]) -> NDArray[np.bool_]:
    """True from where the score reaches ``ENTER`` to where it falls under ``LEAVE``."""
    state = np.where(score >= ENTER, 1, np.where(score < LEAVE, 0, -1))
    index = np.where(state >= 0, np.arange(len(state)), 0)
    return np.asarray(state[np.maximum.accumulate(index)] == 1)
