"""QRS bounds and levels of beats on the grid, compiled; :mod:`ecgscroll.signals.qrs` says why.

Shapes: ``x`` (n, L, W) millivolts, NaN where unknown; ``onset``, ``end`` (n,) grid points;
``baseline``, ``drift`` (n, L).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ecgscroll.compiled import compiled
from ecgscroll.signals.order_kernels import median, rounded_up, sort_columns

BEFORE = 120
"""Grid points before the R peak (480 ms)."""
ONSET_THRESHOLD, END_THRESHOLD = 0.06, 0.10
"""Of the top velocity."""
ONSET_QUIET, END_QUIET = 3.0, 2.0
"""The least threshold, in multiples of the slope that the stillest fifth stays under."""
MOST_QUIET = 0.25
CORE = 0.25
EYE_POINTS = 2.0
"""Points by which the onset of the velocity lies after the one that the eye sees."""
CORE_START, CORE_STOP = BEFORE - 25, BEFORE + 30
"""100 ms before R to 120 ms after: where the top velocity is sought."""
BEND_START = BEFORE - 40
FIRST_ONSET, LAST_END = BEFORE - 38, BEFORE + 55
"""150 ms before R, 220 ms after: no complex reaches further."""
WHOLE_START, WHOLE_STOP = BEFORE - 40, BEFORE + 40
QUIET_STEP, QUIET_RANK = 4, 15
"""Of every fourth point's slope (76 of 301), the 20th percentile."""
BASELINE_POINTS, ST_REACH = 4, 2
"""Points from the onset back to the middle of the PR baseline, and half the width of a level."""


@compiled
def bounds_of(x: Any, weight: Any) -> Any:
    """Onset, end, quiet slope (n,), whether known (n,), and PR baseline (n, L) of every beat."""
    n, n_leads, width = x.shape
    onset, end = np.empty(n, np.int64), np.empty(n, np.int64)
    known, baseline = np.empty(n, np.bool_), np.empty((n, n_leads), np.float32)
    speed = np.empty((n, width), np.float32)
    still = np.zeros(((width + QUIET_STEP - 1) // QUIET_STEP, rounded_up(n)), np.float32)
    for beat in range(n):
        velocity_of(x[beat], weight, speed[beat])
        for k in range(len(still)):
            still[k, beat] = speed[beat, QUIET_STEP * k]
    sort_columns(still)
    quiet = still[QUIET_RANK, :n].copy()
    for beat in range(n):
        top = np.float32(0.0)
        for k in range(CORE_START, CORE_STOP):
            top = max(top, speed[beat, k])
        onset[beat], end[beat] = bounds_by_speed(speed[beat], top, quiet[beat])
        known[beat] = top > 0 and any_whole(x[beat])
        for lead in range(n_leads):
            baseline[beat, lead] = level_at(x[beat, lead], onset[beat] - BASELINE_POINTS)
    return onset, end, quiet, known, baseline


@compiled
def velocity_of(x: Any, weight: Any, speed: Any) -> None:
    """Root of the squared slope of (L, W) leads, weighted and summed; an invalid one is still."""
    width = x.shape[1]
    for k in range(width):
        speed[k] = 0.0
    for lead in range(len(x)):
        row, scale = x[lead], weight[lead]
        for k in range(1, width - 1):
            slope = row[k + 1] - row[k - 1]
            slope = slope * scale if slope == slope else np.float32(0.0)
            speed[k] += slope * slope
    for k in range(width):
        speed[k] = math.sqrt(speed[k])


@compiled
def bounds_by_speed(speed: Any, top: Any, quiet: Any) -> Any:
    """Onset and end: out from the core until the velocity stays under a threshold for 12 ms."""
    before = max(ONSET_THRESHOLD * top, min(ONSET_QUIET * quiet, MOST_QUIET * top))
    after = max(END_THRESHOLD * top, min(END_QUIET * quiet, MOST_QUIET * top))
    first, last = CORE_START, CORE_STOP - 1
    while first < CORE_STOP and not speed[first] > CORE * top:
        first += 1
    while last >= CORE_START and not speed[last] > CORE * top:
        last -= 1
    # Without a steep point the core is the whole of where it was sought.
    first = first if first < CORE_STOP else CORE_START
    last = last if last >= CORE_START else CORE_STOP - 1
    on = first - 1
    while on > FIRST_ONSET and not max(speed[on], speed[on - 1], speed[on - 2]) < before:
        on -= 1
    off = last + 1
    while off < LAST_END and not max(speed[off], speed[off + 1], speed[off + 2]) < after:
        off += 1
    start = (max(on, FIRST_ONSET) + bend_of(speed)) / 2 - EYE_POINTS
    return max(int(np.rint(start)), FIRST_ONSET), min(off, LAST_END)


@compiled
def bend_of(speed: Any) -> int:
    """Where the summed velocity of the 160 ms before R lies furthest under its chord."""
    total = 0.0
    for k in range(BEND_START, BEFORE):
        total += speed[k]
    begin, at = speed[BEND_START], BEND_START
    step, length, furthest = (total - begin) / (BEFORE - BEND_START - 1), 0.0, -math.inf
    for k in range(BEND_START, BEFORE):
        length += speed[k]
        under = begin + step * (k - BEND_START) - length
        if under > furthest:
            furthest, at = under, k
    return at


@compiled
def any_whole(x: Any) -> bool:
    """Whether any of (L, W) leads has all its samples within 160 ms of R."""
    for lead in range(len(x)):
        whole = True
        for k in range(WHOLE_START, WHOLE_STOP):
            whole &= math.isfinite(x[lead, k])
        if whole:
            return True
    return False


@compiled
def level_at(row: Any, point: int) -> Any:
    """Mean of the 20 ms around a point; NaN where they are not all on the grid."""
    if point - ST_REACH < 0 or point + ST_REACH >= len(row):
        return np.float32(np.nan)
    total = np.float32(0.0)
    for k in range(point - ST_REACH, point + ST_REACH + 1):
        total += row[k]
    return total / np.float32(2 * ST_REACH + 1)


@compiled
def drift_of(baseline: Any, rr_after: Any, longest: float) -> Any:
    """(n, L) slope to the next beat's baseline, per second; zero where it is unknown or far."""
    n, n_leads = baseline.shape
    drift = np.zeros((n, n_leads), np.float32)
    for beat in range(n - 1):
        if rr_after[beat] < longest:
            for lead in range(n_leads):
                slope = (baseline[beat + 1, lead] - baseline[beat, lead]) / rr_after[beat]
                if slope == slope:
                    drift[beat, lead] = slope
    return drift


@compiled
def above(x: Any, onset: Any, baseline: Any, drift: Any, rate: float) -> Any:
    """``x`` less the line through successive baselines."""
    n, n_leads, width = x.shape
    y = np.empty((n, n_leads, width), np.float32)
    for beat in range(n):
        for lead in range(n_leads):
            row, out = x[beat, lead], y[beat, lead]
            level, slope = baseline[beat, lead], np.float32(drift[beat, lead] / rate)
            start = np.float32(onset[beat])
            for k in range(width):
                out[k] = row[k] - (level + slope * (np.float32(k) - start))
    return y


@compiled
def usual_point(points: Any, used: Any) -> int:
    """Median of the points that are used, to the nearest one; -1 without any."""
    values, count = np.empty(len(points), np.float64), 0
    for i in range(len(points)):
        if used[i]:
            values[count] = points[i]
            count += 1
    return int(np.rint(median(values, count))) if count else -1


@compiled
def levels_after(
    x: Any, end: Any, onset: Any, baseline: Any, drift: Any, rr_after: Any, delay: int, rate: float
) -> Any:
    """(n, L) levels ``delay`` points after each end against the baseline's line.

    NaN where the next beat is less than 100 ms further on.
    """
    n, n_leads = baseline.shape
    level = np.empty((n, n_leads), np.float32)
    for beat in range(n):
        point = end[beat] + delay
        seconds = np.float32((point - onset[beat]) / rate)
        hidden = (point - BEFORE) / rate > rr_after[beat] - 0.1
        for lead in range(n_leads):
            value = level_at(x[beat, lead], point) - baseline[beat, lead]
            value -= drift[beat, lead] * seconds
            level[beat, lead] = np.float32(np.nan) if hidden else value
    return level


@compiled
def heights_within(x: Any, onset: Any, end: Any) -> Any:
    """(n, L) highest less lowest value from onset to end; NaN where one is missing."""
    n, n_leads, _ = x.shape
    size = np.empty((n, n_leads), np.float32)
    for beat in range(n):
        for lead in range(n_leads):
            whole = True
            high = low = x[beat, lead, onset[beat]]
            for k in range(onset[beat], end[beat] + 1):
                value = x[beat, lead, k]
                whole &= math.isfinite(value)
                high, low = max(high, value), min(low, value)
            size[beat, lead] = high - low if whole else np.nan
    return size
