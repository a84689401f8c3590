"""ST episodes: a deviation from the recording's own usual level that lasts, and is no axis shift.

The rule is that of the European ST-T database (Taddei et al., Eur Heart J 13:1164, 1992): an
episode deviates by 0.1 mV or more for 30 s or more, and lasts while the deviation stays above 0.05
mV. Because the median over 10 s that levels are (:mod:`.st_course`) shortens a peak, 20 s are asked
for; 25 lost two of twelve episodes of the training patients of edb's excerpts in qtdb. A stretch
without level does not end an episode unless it lasts 3 minutes.

An axis shift (a change of body position, of conduction or of pacemaker) moves the ST level together
with the QRS complex, and within seconds: Jager, Moody & Mark (1998) reject what is a step in both.
Here ST goes 65 % of its way within 20 s while the QRS amplitude of a lead changes by 0.2 in the
logarithm or its duration by 26 ms; chosen on mitdb DS1, which shows many such shifts, on the
training excerpts and on synthetic recordings. A jump of 75 % within 10 s is a shift whatever the
QRS does, as where pre-excitation comes and goes: no annotated episode of the training patients
went more than 59 % so fast, the shifts of mitdb that were left 85 % or more.

What is said of elapsed time may be refined as the cursor advances: bounds and peak move, an episode
is first told once it has lasted, and rarely one is withdrawn when later levels move the reference.

Known failures: an episode under way at the start has no reference, and in the first minutes there
is little of one; an episode that fills half of the first 40 minutes, or 40 minutes at any time,
becomes it; one that comes within seconds is rejected; a shift that comes slowly, or while there is
no level, is not; a level at the foot of an S wave moves with
breathing; paced beats and bundle-branch block deviate without ischemia (mitdb 107).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals.beats import Beats
from ecgscroll.signals.st_course import (
    STEP_S,
    Array,
    qrs_course,
    reference,
    st_course,
    st_medians,
)

DEVIATION_MV = 0.10
LASTS_S = 20.0
EDGE_MV = 0.05
BRIDGE_S = 15.0
"""A deviation that is gone for less than this goes on."""
UNKNOWN_S = 180.0
"""A stretch without level that is shorter goes on as the line between its ends."""
PAST_S = 2400.0
"""History that a window is judged by."""
START_S = 300.0
"""What is read of the recording's start, where history does not reach it."""
FIRST_S = 600.0
SHIFT_ST, SHIFT_LOG_AMPLITUDE, SHIFT_QRS_MS = 0.65, 0.2, 26.0
JUMP_ST = 0.75
"""Share of an episode's peak; 0.6 to 0.85 call the same of the training excerpts."""
_SHIFT_SPAN, _JUMP_SPAN = 2, 1
"""Steps of 5 s before and after a moment at which it is asked whether it is a shift."""
_AROUND_S = 20.0
_NEAR_S = 60.0


@dataclass(frozen=True)
class Episode:
    """One episode in one lead: seconds, and the largest deviation, signed, in millivolts."""

    start: float
    stop: float
    lead: str
    peak_mv: float


def episodes(beats: Beats, start: Beats | None = None) -> list[Episode]:
    """Episodes in ``beats``, which should begin long before the window of interest.

    Parameters
    ----------
    beats
        History and window.
    start
        The first minutes of the recording, where ``beats`` does not hold them: they tell whether an
        episode that fills most of the history, or the rest of it, is the usual level.
    """
    seen = st_course(beats)
    origins = np.full(len(beats.leads), np.nan) if start is None else st_medians(start)
    found = []
    for lead, level in enumerate(seen.values):
        if np.isfinite(level).any():
            deviation = level - _reference(seen.time, level, float(origins[lead]))
            lasting = _deviating(seen.time, deviation, beats.leads[lead])
            found += [e for e in lasting if not _is_shift(beats, seen.time, level, e)]
    return found


def _reference(time: Array, level: Array, origin: float) -> Array:
    """Return the slow reference without the episodes that a constant one shows."""
    usual = first_reference(time, level, origin)
    counted = np.ones(len(time), dtype=bool)
    for episode in _deviating(time, level - usual, ""):
        counted &= (time < episode.start) | (time > episode.stop)
    return reference(time, level, counted)


def first_reference(time: Array, level: Array, origin: float) -> float:
    """Level against which episodes are sought first.

    It is the median of the history; where the level at the recording's start (``origin``) is known,
    the nearest to that of three: this one, the median of the first 10 minutes and of the last.
    """
    parts = (level, level[time < time[0] + FIRST_S], level[time > time[-1] - FIRST_S])
    medians = [float(np.nanmedian(part)) for part in parts if np.isfinite(part).any()]
    if not np.isfinite(origin):
        return medians[0]
    return min(medians, key=lambda median: abs(median - origin))


def _deviating(time: Array, deviation: Array, lead: str) -> list[Episode]:
    """Return what lasts, whatever its cause."""
    filled = bridged(time, deviation)
    found = []
    for sign in (1.0, -1.0):
        strong = runs(time, sign * deviation >= DEVIATION_MV)
        peaks = [(a, b) for a, b in strong if b - a >= LASTS_S]
        for start, stop in runs(time, sign * filled >= EDGE_MV) if peaks else []:
            if any(start <= a and b <= stop for a, b in peaks):
                inside = (time >= start) & (time <= stop)
                peak = float(np.nanmax(sign * deviation[inside]))
                found.append(Episode(start, stop, lead, sign * peak))
    return found


def _is_shift(beats: Beats, time: Array, level: Array, episode: Episode) -> bool:
    """Whether ST and QRS jump together where it begins; if it is under way, where it ends."""
    begins = episode.start > time[0] + 4 * STEP_S
    edge = episode.start if begins else episode.stop
    around = np.abs(time - edge) <= _AROUND_S
    if _largest(step(level, _JUMP_SPAN)[around]) >= JUMP_ST * abs(episode.peak_mv):
        return True
    if _largest(step(level)[around]) < SHIFT_ST * abs(episode.peak_mv):
        return False
    qrs = qrs_course(beats.between(edge - _NEAR_S, edge + _NEAR_S))
    change = step(qrs.values)[:, np.abs(qrs.time - edge) <= _AROUND_S]
    return _largest(change[:-1]) >= SHIFT_LOG_AMPLITUDE or _largest(change[-1]) >= SHIFT_QRS_MS


def step(values: Array, span: int = _SHIFT_SPAN) -> Array:
    """Change from ``span`` steps before to ``span`` after along the last axis; NaN at the ends."""
    change = np.full(values.shape, np.nan)
    if values.shape[-1] > 2 * span:
        change[..., span:-span] = values[..., 2 * span :] - values[..., : -2 * span]
    return change


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0, where=np.isfinite(values)))


def bridged(time: Array, values: Array) -> Array:
    """(n,) values with a line over each unknown stretch under 3 minutes between known ones."""
    known = np.isfinite(values)
    if known.all() or known.sum() < 2:
        return values
    line = np.interp(time, time[known], values[known], left=np.nan, right=np.nan)
    after = np.clip(np.searchsorted(time[known], time), 1, known.sum() - 1)
    line[time[known][after] - time[known][after - 1] >= UNKNOWN_S] = np.nan
    return np.where(known, values, line)


def runs(time: Array, mask: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """Spans (s) of consecutive True steps, half a step added at each end; short breaks joined.

    What goes on at the last step is taken to go on for the step that follows.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    spans: list[tuple[float, float]] = []
    for first, end in zip(edges[::2], edges[1::2], strict=True):
        start = max(0.0, float(time[first]) - STEP_S / 2)
        stop = float(time[end - 1]) + (STEP_S / 2 if end < len(time) else STEP_S)
        if spans and start - spans[-1][1] < BRIDGE_S:
            spans[-1] = (spans[-1][0], stop)
        else:
            spans.append((start, stop))
    return spans
