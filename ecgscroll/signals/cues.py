"""Skim cues: one number that says how strongly a span shows what the task looks for."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ecgscroll.signals import rr
from ecgscroll.signals.beats import Beats
from ecgscroll.tasks import Cue

N_BINS = 6
MIN_BIN_S = 4.0
_DECIMALS = 3


def cue_value(cue: Cue, beats: Beats, t0: float, t1: float) -> float | None:
    """Value of one cue over [t0, t1), ``None`` where it cannot be told.

    - ``rr_irregularity``: coefficient of variation of the R-R intervals that end in the span.
    - ``st_deviation``: largest over leads of |median ST level| of the normal beats, millivolts.
    - ``ectopy``: n / (n + 2) for n ectopic beats, so that one shows (0.33) however long the span
      is, and many saturate towards 1 instead of hiding in a mean.
    """
    return _CUES[cue](beats.between(t0, t1))


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
    edges = np.linspace(t0, t1, count + 1)
    bins: list[list[float | None]] = []
    for start, stop in pairwise(edges.tolist()):
        value = cue_value(cue, beats, start, stop)
        shown = None if value is None else round(value, _DECIMALS)
        bins.append([round(start, 1), round(stop, 1), shown])
    return {**_peak(bins), "bins": bins}


def _peak(bins: list[list[float | None]]) -> dict[str, float | None]:
    known = [b for b in bins if b[2] is not None]
    if not known:
        return {"peak": None, "peak_t0": None, "peak_t1": None, "mean": None}
    top = max(known, key=lambda b: b[2] or 0.0)
    mean = float(np.mean([b[2] for b in known]))
    return {
        "peak": top[2],
        "peak_t0": top[0],
        "peak_t1": top[1],
        "mean": round(mean, _DECIMALS),
    }


def _rr_irregularity(beats: Beats) -> float | None:
    value = rr.variation(rr.intervals(beats.time, beats.after_gap).ms)
    return None if np.isnan(value) else value


def _st_deviation(beats: Beats) -> float | None:
    level = lead_medians(beats.st_mv[~beats.ectopic])
    if not np.isfinite(level).any():
        return None
    return float(np.nanmax(np.abs(level)))


def _ectopy(beats: Beats) -> float | None:
    if len(beats) == 0:
        return None
    n = int(beats.ectopic.sum())
    return n / (n + 2)


def lead_medians(values: np.typing.NDArray[np.float32]) -> np.typing.NDArray[np.float64]:
    """Median over beats of (n, L) values per lead; NaN for a lead that has none."""
    out = np.full(values.shape[1], np.nan)
    known = np.isfinite(values).any(axis=0)
    if known.any():
        out[known] = np.nanmedian(values[:, known], axis=0)
    return out


_CUES = {
    "rr_irregularity": _rr_irregularity,
    "st_deviation": _st_deviation,
    "ectopy": _ectopy,
}
