"""The course of ST level, QRS amplitude and QRS width through some history of beats.

Levels are running medians over 13 beats (about 10 s) that can be believed, read every 5 s: Jager,
Moody & Mark (Comput Biomed Res 31:305, 1998, doi:10.1006/cbmr.1998.1483) average beats over 15 s.
The reference level of a lead is a running median over 15 minutes, after and before, from which
episodes are left out, so that it follows slow drift and an episode does not become its own
reference.

Believed is a beat that is not ectopic and has half the lead's usual QRS amplitude or more: a P
wave, T wave or artefact that was taken for a beat is smaller.

Known failures: where more than half of the history is one episode, that is the reference; ST levels
that alternate with breathing widen the median's error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter, uniform_filter1d

from ecgscroll.signals.beats import Beats

STEP_S = 5.0
SMOOTH = 11
"""Beats of the running median; an odd number."""
NEAR_S = 7.5
"""A level further than this from the nearest believed beat is unknown."""
LEAST_AMPLITUDE = 0.5
LEAST_SHARE = 0.5
"""Of the beats around a moment, believed ones; what is under it has no level."""
KNOT_S, REACH_S = 60.0, 300.0
LEAST_KNOWN = 12
"""Levels (1 minute) that a reference needs."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Course:
    """Levels every 5 s, on multiples of 5 s; NaN where unknown.

    Parameters
    ----------
    leads
        Names of the ``L`` leads.
    time
        (n,) seconds from the record's start.
    st_mv
        (L, n) ST level, millivolts.
    log_amplitude
        (L, n) logarithm of the peak-to-peak QRS amplitude in millivolts.
    qrs_ms
        (n,) QRS duration, milliseconds.
    """

    leads: tuple[str, ...]
    time: Array
    st_mv: Array
    log_amplitude: Array
    qrs_ms: Array


def course(beats: Beats) -> Course:
    """Levels from the first of ``beats`` to the last."""
    first, last = (beats.time[0], beats.time[-1]) if len(beats) else (0.0, 0.0)
    time = np.arange(np.ceil(first / STEP_S), np.floor(last / STEP_S) + 1) * STEP_S
    shape = (len(beats.leads), len(time))
    st_mv, log_amplitude = np.full(shape, np.nan), np.full(shape, np.nan)
    for lead in range(len(beats.leads)):
        size = beats.qrs_amp[:, lead]
        good = believed(beats, lead)
        st_mv[lead] = _levels(beats.time, beats.st_mv[:, lead], good, time)
        log_amplitude[lead] = _levels(beats.time, np.log(np.maximum(size, 1e-3)), good, time)
    width = _levels(beats.time, beats.qrs_ms, ~beats.ectopic, time)
    return Course(beats.leads, time, st_mv, log_amplitude, width)


def believed(beats: Beats, lead: int) -> NDArray[np.bool_]:
    """(n,) whether a beat's ST level counts in a lead."""
    size = beats.qrs_amp[:, lead]
    good = ~beats.ectopic & np.isfinite(beats.st_mv[:, lead]) & np.isfinite(size)
    if good.any():
        good &= size >= LEAST_AMPLITUDE * np.median(size[good])
    return good


def _levels(
    beat_time: Array, values: NDArray[np.float32], good: NDArray[np.bool_], time: Array
) -> Array:
    """Running median of the good beats' values, read at the beat nearest to each time."""
    good = good & np.isfinite(values)
    if good.sum() < SMOOTH:
        return np.full(len(time), np.nan)
    share = uniform_filter1d(good.astype(np.float64), SMOOTH, mode="nearest")[good]
    known = beat_time[good]
    smooth = median_filter(values[good].astype(np.float64), SMOOTH, mode="nearest")
    after = np.clip(np.searchsorted(known, time), 1, len(known) - 1)
    nearest = np.where(time - known[after - 1] < known[after] - time, after - 1, after)
    level = smooth[nearest]
    level[(np.abs(known[nearest] - time) > NEAR_S) | (share[nearest] < LEAST_SHARE)] = np.nan
    return level


def reference(time: Array, level: Array, counted: NDArray[np.bool_]) -> Array:
    """(n,) slow running median of the (n,) levels that are ``counted``, by way of minute knots.

    A constant median where under a minute of them is known, NaN without any.
    """
    use = counted & np.isfinite(level)
    if not use.any():
        return np.full(len(time), np.nan)
    knots = np.arange(np.floor(time[0] / KNOT_S), np.floor(time[-1] / KNOT_S) + 2) * KNOT_S
    medians = [_median_near(knot, time[use], level[use]) for knot in knots]
    known = np.isfinite(medians)
    if not known.any():
        return np.full(len(time), np.median(level[use]))
    return np.interp(time, knots[known], np.asarray(medians)[known])


def _median_near(knot: float, time: Array, level: Array) -> float:
    first, last = np.searchsorted(time, (knot - REACH_S, knot + REACH_S))
    return float(np.median(level[first:last])) if last - first >= LEAST_KNOWN else np.nan
