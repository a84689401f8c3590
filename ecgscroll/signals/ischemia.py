"""ST episodes: a deviation from the recording's own earlier level that lasts.

The rule is that of the European ST-T database (Taddei et al., Eur Heart J 13:1164, 1992): an
episode deviates by 0.1 mV or more for 30 s or more, and lasts while the deviation stays above 0.05
mV. There the reference is the beginning of the recording, judged by eye; here it is the median
level of the normal beats in the first 5 minutes and from 20 minutes before the window to its end,
so that slow drift moves it and an episode of some minutes does not.

Known failures: an episode under way at the start has no reference; changes of axis or of body
position look like episodes; one longer than half the reference becomes it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter

from ecgscroll.signals.beats import Beats

DEVIATION_MV = 0.10
LASTS_S = 30.0
EDGE_MV = 0.05
START_S, PAST_S = 300.0, 1200.0
_SMOOTH = 11
"""Beats of the running median (about 10 s)."""


@dataclass(frozen=True)
class Episode:
    """One episode in one lead: seconds, and the largest deviation, signed, in millivolts."""

    start: float
    stop: float
    lead: str
    peak_mv: float


def references(start: Beats, past: Beats) -> NDArray[np.float64]:
    """(L,) reference ST level from the recording's start and its recent past; NaN without any."""
    levels = np.concatenate([start.st_mv[~start.ectopic], past.st_mv[~past.ectopic]])
    out = np.full(levels.shape[1], np.nan)
    for lead in range(levels.shape[1]):
        known = levels[np.isfinite(levels[:, lead]), lead]
        out[lead] = np.median(known) if len(known) else np.nan
    return out


def episodes(beats: Beats, reference: NDArray[np.float64]) -> list[Episode]:
    """Episodes in ``beats`` against an (L,) reference level, lead by lead."""
    found = []
    for lead, level in enumerate(reference):
        known = np.isfinite(beats.st_mv[:, lead]) & ~beats.ectopic
        if known.sum() < _SMOOTH or not np.isfinite(level):
            continue
        smooth = median_filter(beats.st_mv[known, lead].astype(np.float64), _SMOOTH, mode="nearest")
        found += _in_lead(beats.time[known], smooth - level, beats.leads[lead])
    return found


def _in_lead(time: NDArray[np.float64], deviation: NDArray[np.float64], lead: str) -> list[Episode]:
    found = []
    for sign in (1.0, -1.0):
        size = sign * deviation
        strong = [(a, b) for a, b in runs(time, size >= DEVIATION_MV) if b - a >= LASTS_S]
        for start, stop in runs(time, size >= EDGE_MV):
            if any(start <= a and b <= stop for a, b in strong):
                inside = (time >= start) & (time <= stop)
                found.append(Episode(start, stop, lead, sign * float(size[inside].max())))
    return found


def runs(time: NDArray[np.float64], mask: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """Spans (s) of consecutive True beats; a break shorter than 5 s does not end one."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    spans: list[tuple[float, float]] = []
    for first, end in zip(edges[::2], edges[1::2], strict=True):
        start, stop = float(time[first]), float(time[end - 1])
        if spans and start - spans[-1][1] < 5.0:
            spans[-1] = (spans[-1][0], stop)
        else:
            spans.append((start, stop))
    return spans
