"""Skim cues: one number that says how strongly a span shows what the task looks for."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals import rr
from ecgscroll.signals.beats import Beats
from ecgscroll.signals.segment import Detail
from ecgscroll.tasks import Cue

N_BINS = 6
MIN_BIN_S = 4.0
CUE_DETAIL: dict[Cue, Detail] = {
    "rr_irregularity": "times",
    "st_deviation": "complexes",
    "ectopy": "complexes",
}
"""What each cue reads of beats."""
_DECIMALS = 3


def cue_value(cue: Cue, beats: Beats, t0: float, t1: float) -> float | None:
    """Value of one cue over [t0, t1), ``None`` where it cannot be told.

    - ``rr_irregularity``: coefficient of variation of the R-R intervals that end in the span.
    - ``st_deviation``: largest over leads of |median ST level| of the normal beats, millivolts.
    - ``ectopy``: n / (n + 2) for n ectopic beats, so that one shows (0.33) however long the span
      is, and many saturate towards 1 instead of hiding in a mean.
    """
    return _CUES[cue](beats, beats.time.searchsorted((t0, t1)).tolist())[0]


def profile(cue: Cue, beats: Beats, t0: float, t1: float) -> dict[str, Any]:
    """Lossy profile of a span: up to six equal bins, the highest of them and the mean.

    Parameters
    ----------
    beats
        Beats of at least [t0, t1).
    t0, t1
        Span in seconds; bins are never under 4 s, so a short span has fewer.

    Returns
    -------
    dict
        ``peak``, ``peak_t0``, ``peak_t1``, ``mean`` and ``bins`` as [[t0, t1, value], ...];
        ``None`` where no bin has a value.
    """
    count = min(N_BINS, max(1, int((t1 - t0) / MIN_BIN_S)))
    edges = [t0 + (t1 - t0) * i / count for i in range(count)] + [t1]
    index = beats.time.searchsorted(edges).tolist()
    shown = [round(edge, 1) for edge in edges]
    bins: list[list[float | None]] = []
    for begin, end, value in zip(shown, shown[1:], _CUES[cue](beats, index), strict=False):
        bins.append([begin, end, None if value is None else round(value, _DECIMALS)])
    return {**_peak(bins), "bins": bins}


def _peak(bins: list[list[float | None]]) -> dict[str, float | None]:
    known = [b for b in bins if b[2] is not None]
    if not known:
        return {"peak": None, "peak_t0": None, "peak_t1": None, "mean": None}
    top = max(known, key=lambda b: b[2] or 0.0)
    mean = math.fsum(b[2] or 0.0 for b in known) / len(known)
    return {
        "peak": top[2],
        "peak_t0": top[0],
        "peak_t1": top[1],
        "mean": round(mean, _DECIMALS),
    }


def _rr_irregularity(beats: Beats, index: list[int]) -> list[float | None]:
    time, after_gap = beats.time, beats.after_gap
    found = [rr.intervals(time[a:b], after_gap[a:b]).ms for a, b in pairwise(index)]
    return [None if math.isnan(value) else value for value in map(rr.variation, found)]


def _st_deviation(beats: Beats, index: list[int]) -> list[float | None]:
    normal, st_mv = ~beats.ectopic, beats.st_mv
    levels = [lead_medians(st_mv[a:b][normal[a:b]]).tolist() for a, b in pairwise(index)]
    return [max((abs(x) for x in level if not math.isnan(x)), default=None) for level in levels]


def _ectopy(beats: Beats, index: list[int]) -> list[float | None]:
    ectopic = beats.ectopic.tolist()
    counts = [ectopic[a:b].count(True) if a < b else None for a, b in pairwise(index)]
    return [None if n is None else n / (n + 2) for n in counts]


def lead_medians(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Median over beats of (n, L) values per lead; NaN for a lead that has none."""
    out = np.full(values.shape[1], np.nan)
    # Sorted, NaN comes last, so a lead's known values stand first: much faster than nanmedian.
    for lead, ordered in enumerate(np.sort(values.T, axis=1)):
        n = int(ordered.searchsorted(np.nan))
        if n:
            out[lead] = (float(ordered[(n - 1) // 2]) + float(ordered[n // 2])) / 2
    return out


_CUES = {
    "rr_irregularity": _rr_irregularity,
    "st_deviation": _st_deviation,
    "ectopy": _ectopy,
}
