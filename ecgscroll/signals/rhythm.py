"""Atrial fibrillation from R-R intervals: irregularity that no short period explains.

For each interval, over the 41 around it, the median |RR(i) - RR(i+k)| over the median RR is taken
for lags k = 1 to 4, and the least of the four is kept. Fibrillation is irregular at every lag
(Moody & Mark, Comput Cardiol 10:227, 1983; Sarkar et al., IEEE Trans Biomed Eng 55:1219, 2008, for
R-R differences); bigeminy repeats at lag 2, trigeminy at 3, quadrigeminy at 4, and medians pass
over single ectopic beats. Thresholds with hysteresis were chosen on every fifth record of ltafdb.

Known failures: flutter with fixed conduction is regular and is missed; frequent multifocal atrial
ectopy and marked sinus arrhythmia look like fibrillation; episodes under 20 beats are blurred.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter

from ecgscroll.signals import rr
from ecgscroll.signals.beats import Beats

WINDOW = 41
LAGS = (1, 2, 3, 4)
ENTER, LEAVE = 0.08, 0.06
MIN_INTERVALS = 8


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
    return Rhythm(found.end - found.ms / 1000, found.end, hysteresis(irregularity(found.ms)))


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
