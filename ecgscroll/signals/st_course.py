"""The course of ST level, and of QRS amplitude and width, through some history of beats.

Levels are running medians over 13 beats (about 10 s) that can be believed, read every 5 s: Jager,
Moody & Mark (Comput Biomed Res 31:305, 1998, doi:10.1006/cbmr.1998.1483) average beats over 15 s.
The reference level of a lead is a running median over 10 minutes, before and after, from which
episodes are left out, so that it follows slow drift and an episode does not become its own
reference.

Believed is a beat that is not ectopic, has half the usual QRS amplitude or more in every lead that
is measured, and is not followed by another within 360 ms: a P wave, T wave or artefact that was
taken for a beat is smaller in one lead at least, and the line through the baselines of a beat and
of one so near lies on the ST segment.

Known failures: where more than half of the history is one episode, that is the reference; ST levels
that alternate with breathing widen the median's error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter, uniform_filter1d

from ecgscroll.signals.beats import Beats, lead_medians

STEP_S = 5.0
SMOOTH = 11
"""Beats of the running median; an odd number."""
NEAR_S = 7.5
"""A level further than this from the nearest believed beat is unknown."""
LEAST_AMPLITUDE = 0.5
NEAREST_S = 0.36
"""The PR baseline of a beat that follows within this lies on the ST segment or the T wave."""
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
    time
        (n,) seconds from the record's start.
    values
        (L, n) one row a lead.
    """

    time: Array
    values: Array


def st_course(beats: Beats) -> Course:
    """ST level (mV) in each lead, from the first of ``beats`` to the last."""
    time = _grid(beats)
    rows = [
        _levels(beats.time, beats.st_mv[:, lead], believed(beats, lead), time)
        for lead in range(len(beats.leads))
    ]
    return Course(time, np.array(rows).reshape(len(rows), len(time)))


def qrs_course(beats: Beats) -> Course:
    """Logarithm of the QRS amplitude in each lead, and in a last row the QRS duration (ms)."""
    time = _grid(beats)
    size = np.log(np.maximum(beats.qrs_amp, 1e-3))
    rows = [
        _levels(beats.time, size[:, lead], believed(beats, lead), time)
        for lead in range(len(beats.leads))
    ]
    rows.append(_levels(beats.time, beats.qrs_ms, ~beats.ectopic, time))
    return Course(time, np.array(rows))


def _grid(beats: Beats) -> Array:
    if len(beats) == 0:
        return np.empty(0)
    first, last = np.ceil(beats.time[0] / STEP_S), np.floor(beats.time[-1] / STEP_S)
    return np.arange(first, last + 1) * STEP_S


def st_medians(beats: Beats) -> Array:
    """(L,) median ST level (mV) of the believed beats; NaN without any."""
    return lead_medians(believed_levels(beats))


def believed_levels(beats: Beats) -> NDArray[np.float32]:
    """(n, L) ST level (mV), NaN where it does not count."""
    counts = _complexes(beats)[:, None] & np.isfinite(beats.qrs_amp)
    return np.where(counts, beats.st_mv, np.float32(np.nan))


def believed(beats: Beats, lead: int) -> NDArray[np.bool_]:
    """(n,) whether a beat's ST level counts in a lead."""
    known = np.isfinite(beats.st_mv[:, lead]) & np.isfinite(beats.qrs_amp[:, lead])
    return np.asarray(known & _complexes(beats))


def _complexes(beats: Beats) -> NDArray[np.bool_]:
    """(n,) whether it is a QRS complex, not ectopic, and no other beat lies on its ST segment."""
    good = ~beats.ectopic
    good[:-1] &= np.diff(beats.time) >= NEAREST_S
    usual = lead_medians(beats.qrs_amp[good])
    small = beats.qrs_amp < (LEAST_AMPLITUDE * usual).astype(np.float32)
    return np.asarray(good & ~small.any(axis=1))


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

    A constant median where no knot has a minute of them, NaN without any.
    """
    use = np.where(counted, level, np.nan)
    if not np.isfinite(use).any():
        return use
    knots = np.arange(np.floor(time[0] / KNOT_S), np.floor(time[-1] / KNOT_S) + 2) * KNOT_S
    medians = _medians_near(np.round((knots - time[0]) / STEP_S).astype(np.int64), use)
    known = np.isfinite(medians)
    if not known.any():
        return np.full(len(time), np.nanmedian(use))
    return np.interp(time, knots[known], medians[known])


def _medians_near(index: NDArray[np.int64], level: Array) -> Array:
    """Median of the known levels within reach of each index; NaN where they are too few."""
    reach = round(REACH_S / STEP_S)
    padded = np.pad(level, 2 * reach, constant_values=np.nan)
    rows = np.sort(padded[index[:, None] + np.arange(reach, 3 * reach + 1)], axis=1)
    count = np.isfinite(rows).sum(axis=1)
    each = np.arange(len(rows))
    middle = rows[each, np.maximum(count - 1, 0) // 2] + rows[each, count // 2]
    return np.where(count >= LEAST_KNOWN, middle / 2, np.nan)
