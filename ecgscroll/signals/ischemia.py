"""ST episodes: a deviation from the recording's own usual level that lasts, and is no axis shift.

The rule is that of the European ST-T database (Taddei et al., Eur Heart J 13:1164, 1992): an
episode deviates by 0.1 mV or more for 30 s or more, and lasts while the deviation stays above 0.05
mV. Because a median over 10 s shortens a peak, 20 s of its course (:mod:`.st_course`) are asked
for; this was chosen on the training patients of edb's excerpts in qtdb. A stretch without level does not
end an episode unless it lasts 3 minutes.

An axis shift (a change of body position, of conduction or of pacemaker) moves the ST level together
with the QRS complex, and within seconds: Jager, Moody & Mark (1998) reject what is a step in both.
Here ST must do 65 % of its way within 20 s while the QRS amplitude of a lead changes by 35 %
(0.3 in the logarithm) or its width by 14 ms; chosen on mitdb DS1 and the same training excerpts.

Known failures: an episode under way at the start has no reference, and one that fills half of the
history becomes it; an episode that comes within seconds together with a QRS change is rejected; a
shift of body position that changes ST alone is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals.beats import Beats
from ecgscroll.signals.st_course import STEP_S, Array, Course, course, reference

DEVIATION_MV = 0.10
LASTS_S = 20.0
EDGE_MV = 0.05
BRIDGE_S = 15.0
"""A deviation that is gone for less than this goes on."""
UNKNOWN_S = 180.0
"""A stretch without level that is shorter goes on as the line between its ends."""
PAST_S = 2400.0
"""History that a window is judged by."""
PASSES = 2
_SPAN = 2
"""Steps of 5 s before and after a moment at which it is asked whether it is a shift."""
_AROUND_S = 20.0
SHIFT_ST, SHIFT_LOG_AMPLITUDE, SHIFT_QRS_MS = 0.65, 0.2, 26.0


@dataclass(frozen=True)
class Episode:
    """One episode in one lead: seconds, and the largest deviation, signed, in millivolts."""

    start: float
    stop: float
    lead: str
    peak_mv: float


def episodes(beats: Beats) -> list[Episode]:
    """Episodes in ``beats``, which should begin long before the window of interest."""
    seen = course(beats)
    return [episode for lead in range(len(seen.leads)) for episode in _in_lead(seen, lead)]


def _in_lead(seen: Course, lead: int) -> list[Episode]:
    level = seen.st_mv[lead]
    if not np.isfinite(level).any():
        return []
    usual = np.full(len(level), np.nanmedian(level))
    for _ in range(PASSES - 1):
        inside = [(seen.time >= e.start) & (seen.time <= e.stop) for e in _deviate(seen, lead, usual)]
        usual = reference(seen.time, level, ~np.any([np.zeros_like(level, bool), *inside], axis=0))
    found = _deviate(seen, lead, usual)
    return [episode for episode in found if not _is_shift(seen, lead, episode)]


def _deviate(seen: Course, lead: int, usual: Array) -> list[Episode]:
    """Return what lasts, whatever the cause."""
    deviation = seen.st_mv[lead] - usual
    filled = bridged(seen.time, deviation)
    found = []
    for sign in (1.0, -1.0):
        strong = runs(seen.time, sign * deviation >= DEVIATION_MV, BRIDGE_S)
        peaks = [(a, b) for a, b in strong if b - a >= LASTS_S]
        for start, stop in runs(seen.time, sign * filled >= EDGE_MV, BRIDGE_S):
            if any(start <= a and b <= stop for a, b in peaks):
                inside = (seen.time >= start) & (seen.time <= stop)
                peak = float(np.nanmax(sign * deviation[inside]))
                found.append(Episode(start, stop, seen.leads[lead], sign * peak))
    return found
    

def _is_shift(seen: Course, lead: int, episode: Episode) -> bool:
    """Whether ST and QRS jump together where the episode begins; if it is under way, where it ends."""
    begins = episode.start > seen.time[0] + 4 * STEP_S
    edge = episode.start if begins else episode.stop
    near = np.abs(seen.time - edge) <= _AROUND_S
    st = _largest(step(seen.st_mv[lead])[near]) / abs(episode.peak_mv)
    size = _largest(step(seen.log_amplitude)[:, near])
    width = _largest(step(seen.qrs_ms)[near])
    return st >= SHIFT_ST and (size >= SHIFT_LOG_AMPLITUDE or width >= SHIFT_QRS_MS)


def step(values: Array) -> Array:
    """Change from 10 s before to 10 s after along the last axis; NaN at the ends."""
    change = np.full(values.shape, np.nan)
    if values.shape[-1] > 2 * _SPAN:
        change[..., _SPAN:-_SPAN] = values[..., 2 * _SPAN :] - values[..., : -2 * _SPAN]
    return change


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0, where=np.isfinite(values)))


def bridged(time: Array, values: Array) -> Array:
    """(n,) values with a line over each unknown stretch under 3 minutes between known ones."""
    known = np.flatnonzero(np.isfinite(values))
    if len(known) == 0:
        return values
    line = np.interp(time, time[known], values[known], left=np.nan, right=np.nan)
    after = np.clip(np.searchsorted(known, np.arange(len(time))), 1, max(1, len(known) - 1))
    if len(known) > 1:
        line[time[known[after]] - time[known[after - 1]] >= UNKNOWN_S] = np.nan
    return np.where(np.isfinite(values), values, line)


def runs(time: Array, mask: NDArray[np.bool_], bridge_s: float) -> list[tuple[float, float]]:
    """Spans (s) of consecutive True steps, half a step added at each end; short breaks joined.

    What goes on at the last step is taken to go on for the step that follows.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    spans: list[tuple[float, float]] = []
    for first, end in zip(edges[::2], edges[1::2], strict=True):
        start = max(0.0, float(time[first]) - STEP_S / 2)
        stop = float(time[end - 1]) + (STEP_S / 2 if end < len(time) else STEP_S)
        if spans and start - spans[-1][1] < bridge_s:
            spans[-1] = (spans[-1][0], stop)
        else:
            spans.append((start, stop))
    return spans
