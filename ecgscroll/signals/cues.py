"""Skim cues: one number that says how strongly a span shows what the task looks for."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals import rr
from ecgscroll.signals.beats import WIDE_QRS_MS, Beats
from ecgscroll.signals.segment import Detail
from ecgscroll.tasks import Cue

N_BINS = 6
MIN_BIN_S = 4.0
CUE_DETAIL: dict[Cue, Detail] = {
    "rr_irregularity": "times",
    "st_deviation": "complexes",
    "ectopy": "complexes",
    "wide_beats": "complexes",
    "longest_rr": "times",
}
"""What each cue reads of beats."""
_DECIMALS = 3


def cue_value(cue: Cue, beats: Beats, t0: float, t1: float) -> float | None:
    """Value of one cue over [t0, t1), ``None`` where it cannot be told.

    - ``rr_irregularity``: coefficient of variation of the R-R intervals that end in the span.
    - ``st_deviation``: largest over leads of |median ST level| of the normal beats, millivolts.
    - ``ectopy``: n / (n + 2) for n ectopic beats, so that one shows (0.33) however long the span
      is, and many saturate towards 1 instead of hiding in a mean.
    - ``wide_beats``: share of the measured QRS complexes that are wide (120 ms or more).
    - ``longest_rr``: longest R-R interval that ends in the span, seconds, up to 10.
    """
    start, stop = beats.time.searchsorted((t0, t1)).tolist()
    return _CUES[cue](beats, start, stop)


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
    of = _CUES[cue]
    bins: list[list[float | None]] = []
    for (begin, end), (start, stop) in zip(pairwise(edges), pairwise(index), strict=True):
        value = of(beats, start, stop)
        shown = None if value is None else round(value, _DECIMALS)
        bins.append([round(begin, 1), round(end, 1), shown])
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


def _rr_irregularity(beats: Beats, start: int, stop: int) -> float | None:
    found = rr.intervals(beats.time[start:stop], beats.after_gap[start:stop])
    value = rr.variation(found.ms)
    return None if math.isnan(value) else value


def _st_deviation(beats: Beats, start: int, stop: int) -> float | None:
    normal = ~beats.ectopic[start:stop]
    sizes = np.abs(lead_medians(beats.st_mv[start:stop][normal])).tolist()
    return max((size for size in sizes if not math.isnan(size)), default=None)


def _ectopy(beats: Beats, start: int, stop: int) -> float | None:
    if start == stop:
        return None
    n = int(np.count_nonzero(beats.ectopic[start:stop]))
    return n / (n + 2)


def _wide_beats(beats: Beats, start: int, stop: int) -> float | None:
    width = beats.qrs_ms[start:stop]
    known = width[np.isfinite(width)]
    return float((known >= WIDE_QRS_MS).mean()) if len(known) else None


def _longest_rr(beats: Beats, start: int, stop: int) -> float | None:
    # The beat before the bin too: a pause over its edge counts where it ends.
    reach = slice(max(0, start - 1), stop)
    found = rr.trusted_seconds(beats.time[reach], beats.after_gap[reach])
    return float(found.max()) if len(found) else None


def lead_medians(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Median over beats of (n, L) values per lead; NaN for a lead that has none."""
    out = np.full(values.shape[1], np.nan)
    # Sorted, NaN comes last, so a lead's known values stand first: much faster than nanmedian.
    ordered = np.sort(values, axis=0)
    known = np.count_nonzero(ordered == ordered, axis=0).tolist()
    for lead, n in enumerate(known):
        if n:
            out[lead] = (float(ordered[(n - 1) // 2, lead]) + float(ordered[n // 2, lead])) / 2
    return out


_CUES = {
    "rr_irregularity": _rr_irregularity,
    "st_deviation": _st_deviation,
    "ectopy": _ectopy,
    "wide_beats": _wide_beats,
    "longest_rr": _longest_rr,
}
