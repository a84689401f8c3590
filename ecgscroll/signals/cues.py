"""Skim cues: one number that says how strongly a span shows what the task looks for."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from ecgscroll.signals import rr
from ecgscroll.signals.beats import WIDE_QRS_MS, Beats, lead_medians
from ecgscroll.signals.ischemia import PAST_S
from ecgscroll.signals.segment import Detail
from ecgscroll.signals.st_course import believed_levels
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


def history_start(cue: Cue, t0: float, t1: float) -> float:
    """Second from which on a cue over [t0, t1) reads beats."""
    starts = {"st_deviation": min(t0, t1 - PAST_S), "longest_rr": t0 - rr.MAX_PAUSE_S}
    return max(0.0, starts.get(cue, t0))


def cue_value(cue: Cue, beats: Beats, t0: float, t1: float) -> float | None:
    """Value of one cue over [t0, t1), ``None`` where it cannot be told.

    - ``rr_irregularity``: coefficient of variation of the R-R intervals that end in the span.
    - ``st_deviation``: largest over leads of |median ST level - the usual one|, millivolts: only
      beats that can be believed (:func:`ecgscroll.signals.st_course.believed`) count, and the usual
      level is the median of all of ``beats`` up to ``t1``. Against the PR baseline alone, a lead
      whose ST segment never lies on it would stand out for the whole of a recording.
    - ``ectopy``: n / (n + 2) for n ectopic beats, so that one shows (0.33) however long the span
      is, and many saturate towards 1 instead of hiding in a mean.
    - ``wide_beats``: share of the measured QRS complexes that are wide (120 ms or more).
    - ``longest_rr``: longest R-R interval that ends in the span, seconds, up to 10.
    """
    return _CUES[cue](beats, beats.time.searchsorted((t0, t1)).tolist())[0]


def profile(cue: Cue, beats: Beats, t0: float, t1: float) -> dict[str, Any]:
    """Lossy profile of a span: up to six equal bins, the highest of them and the mean.

    Parameters
    ----------
    beats
        Beats from `history_start` to ``t1``.
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
    level = believed_levels(beats.take(slice(0, index[-1])))
    deviation = level - lead_medians(level).astype(np.float32)
    sizes = [np.abs(lead_medians(deviation[a:b])).tolist() for a, b in pairwise(index)]
    return [max((x for x in size if not math.isnan(x)), default=None) for size in sizes]


def _ectopy(beats: Beats, index: list[int]) -> list[float | None]:
    ectopic = beats.ectopic.tolist()
    counts = [ectopic[a:b].count(True) if a < b else None for a, b in pairwise(index)]
    return [None if n is None else n / (n + 2) for n in counts]


def _wide_beats(beats: Beats, index: list[int]) -> list[float | None]:
    widths = [beats.qrs_ms[a:b] for a, b in pairwise(index)]
    known = [width[np.isfinite(width)] for width in widths]
    return [float((width >= WIDE_QRS_MS).mean()) if len(width) else None for width in known]


def _longest_rr(beats: Beats, index: list[int]) -> list[float | None]:
    # The beat before the bin too: a pause over its edge counts where it ends.
    reach = [slice(max(0, a - 1), b) for a, b in pairwise(index)]
    found = [rr.trusted_seconds(beats.time[part], beats.after_gap[part]) for part in reach]
    return [float(seconds.max()) if len(seconds) else None for seconds in found]


_CUES = {
    "rr_irregularity": _rr_irregularity,
    "st_deviation": _st_deviation,
    "ectopy": _ectopy,
    "wide_beats": _wide_beats,
    "longest_rr": _longest_rr,
}
