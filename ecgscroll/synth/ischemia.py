"""Transient ST deviation, and steps of body position that only look like it.

An episode rises, holds and falls as in the European ST-T Database (Taddei A et al., "The European
ST-T database", Eur Heart J 1992;13:1164-1172), whose rule is kept: in each lead an episode begins
at the first beat whose deviation reaches 0.1 mV and ends at the first beat below it again, and
the extremum is marked with its size in microvolts. The deviation is that of the ST segment 80 ms
after the J point against the lead's reference level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecgscroll.synth.config import Ischemia
from ecgscroll.synth.streams import poisson_times

THRESHOLD_MV = 0.1
_DURATION_LIMITS_S = (60.0, 3600.0)
_GAP_S = 60.0
_EDGE_S = 20.0
_LESSER_LEADS = (0.3, 0.9)


@dataclass(frozen=True)
class StEvent:
    """One episode's course: half-cosine ramps around a plateau.

    Parameters
    ----------
    start, rise, fall, stop
        Corners of the course, s: it leaves zero, reaches its peak, leaves it, is back at zero.
    peak_mv
        Signed peak deviation per lead, mV, shape (n_leads,).
    """

    start: float
    rise: float
    fall: float
    stop: float
    peak_mv: NDArray[np.float64]

    def course(self, time: NDArray[np.float64]) -> NDArray[np.float64]:
        """Fraction of the peak at each time, in [0, 1]."""
        corners = [self.start, self.rise, self.fall, self.stop]
        return np.asarray(0.5 - 0.5 * np.cos(np.pi * np.interp(time, corners, [0, 1, 1, 0])))


def draw_episodes(
    config: Ischemia, n_leads: int, duration_s: float, rng: np.random.Generator
) -> list[StEvent]:
    """Episodes that do not overlap, in order of time."""
    if config.episodes_per_h == 0:
        return []
    count = max(1, int(rng.poisson(config.episodes_per_h * duration_s / 3600.0)))
    log = np.log(config.duration_median_s) + config.duration_log_sd * rng.standard_normal(count)
    longest = min(_DURATION_LIMITS_S[1], 0.8 * duration_s - 2 * _EDGE_S)
    lengths = np.minimum(np.clip(np.exp(log), *_DURATION_LIMITS_S), longest)
    while lengths.size > 1 and lengths.sum() + _GAP_S * lengths.size > 0.8 * duration_s:
        lengths = lengths[:-1]
    if lengths[0] < _DURATION_LIMITS_S[0]:
        return []
    return [
        _event(config, start, length, n_leads, rng)
        for start, length in zip(_starts(lengths, duration_s, rng), lengths, strict=True)
    ]


def _starts(
    lengths: NDArray[np.float64], duration_s: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Uniformly random starts with at least a gap between one episode and the next."""
    taken = np.concatenate([[0.0], np.cumsum(lengths + _GAP_S)])
    slack = duration_s - 2 * _EDGE_S - (taken[-1] - _GAP_S)
    return _EDGE_S + taken[:-1] + np.sort(rng.uniform(0.0, slack, lengths.size))


def _event(
    config: Ischemia, start: float, length: float, n_leads: int, rng: np.random.Generator
) -> StEvent:
    rise = float(rng.uniform(0.15, 0.3)) * length
    fall = float(rng.uniform(0.2, 0.4)) * length
    sign = 1.0 if rng.uniform() < config.elevation_share else -1.0
    peak = sign * rng.uniform(*config.peak_mv) * rng.uniform(*_LESSER_LEADS, n_leads)
    strongest = int(rng.integers(n_leads))
    peak[strongest] = sign * rng.uniform(*config.peak_mv)
    return StEvent(start, start + rise, start + length - fall, start + length, peak)


def deviation(
    events: list[StEvent], time: NDArray[np.float64], n_leads: int
) -> NDArray[np.float64]:
    """Deviation in mV at each time, shape (n_times, n_leads)."""
    total = np.zeros((time.size, n_leads))
    for event in events:
        a, b = np.searchsorted(time, [event.start, event.stop])
        total[a:b] += event.course(time[a:b])[:, None] * event.peak_mv
    return total


def position_gains(
    config: Ischemia,
    time: NDArray[np.float64],
    n_leads: int,
    duration_s: float,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Gain of QRS and T per beat and lead, shape (n_times, n_leads), a step at each shift.

    Turning in bed moves the heart under the electrodes within seconds, and the amplitudes with it:
    the axis shifts that the European ST-T and Long-Term ST Databases keep apart from ischemia.
    """
    shifts = poisson_times(rng, config.shifts_per_h, duration_s)
    gains = np.exp(0.15 * rng.standard_normal((shifts.size + 1, n_leads)))
    gains[0] = 1.0
    return np.asarray(gains[np.searchsorted(shifts, time, side="right")])
