"""R-R intervals: which are trustworthy, which beats are early, and how irregular a stretch is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals.rr_kernels import prior_medians

MIN_RR_MS = 200.0
"""Shorter is a double detection: the ventricle is refractory (Pan & Tompkins 1985)."""
MAX_RR_MS = 5000.0
"""Longer is taken for lost signal, not for a pause."""
MIN_PAUSE_S, MAX_PAUSE_S = 2.0, 10.0
"""Bounds of a pause; longer is taken for lost signal even where the signal seems to be there."""
EARLY_RATIO = 0.80
"""A beat is early when its interval is under this share of the median of those before it."""
_PAST = 8


@dataclass(frozen=True)
class Intervals:
    """R-R intervals of consecutive beats.

    Parameters
    ----------
    ms
        (m,) trustworthy intervals, milliseconds.
    end
        (m,) time of the beat that closes each, seconds.
    excluded
        Intervals left out as artefacts.
    """

    ms: NDArray[np.float64]
    end: NDArray[np.float64]
    excluded: int


def intervals(time: NDArray[np.float64], after_gap: NDArray[np.bool_]) -> Intervals:
    """R-R intervals between beats at ``time`` (s), without those that artefacts made.

    Left out are intervals over missing signal, under 200 ms, over 5 s, and those that a missed or a
    doubled beat explains: an interval within 10 % of twice or three times *both* its neighbours,
    which agree with each other within 10 % (a missed beat in a regular rhythm; a compensatory pause
    has a short neighbour and stays). Ectopic beats stay in.
    """
    rr = (time[1:] - time[:-1]) * 1000.0
    bad = after_gap[1:] | (rr < MIN_RR_MS) | (rr > MAX_RR_MS) | _missed(rr)
    excluded = int(np.count_nonzero(bad))
    if not excluded:
        return Intervals(rr, time[1:], 0)
    return Intervals(rr[~bad], time[1:][~bad], excluded)


def _missed(rr: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Intervals that hide one or two beats of an otherwise regular rhythm."""
    flagged = np.zeros(len(rr), dtype=bool)
    if len(rr) < 3:
        return flagged
    left, middle, right = rr[:-2], rr[1:-1], rr[2:]
    base = (left + right) / 2
    regular = np.abs(left - right) < 0.1 * base
    ratio = middle / np.maximum(base, 1e-9)
    flagged[1:-1] = regular & ((np.abs(ratio - 2) < 0.2) | (np.abs(ratio - 3) < 0.3))
    return flagged


def pauses(time: NDArray[np.float64], after_gap: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """Return the bounds (s) of R-R intervals of 2 to 10 s without missing signal.

    A beat that the detector missed in a slow rhythm makes a false one.
    """
    length = time[1:] - time[:-1]
    long = (length >= MIN_PAUSE_S) & (length <= MAX_PAUSE_S) & ~after_gap[1:]
    return [(float(time[i]), float(time[i + 1])) for i in np.flatnonzero(long)]


def trusted_seconds(time: NDArray[np.float64], after_gap: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the R-R intervals (s) over signal that is all there, up to 10 s, in order."""
    length = time[1:] - time[:-1]
    return np.asarray(length[(length <= MAX_PAUSE_S) & ~after_gap[1:]])


def prior_median(rr: NDArray[np.float64], count: int = _PAST) -> NDArray[np.float64]:
    """Median of up to ``count`` intervals before each, NaN for the first; causal.

    Parameters
    ----------
    rr
        (m,) intervals; NaN ones are passed over.
    """
    return np.asarray(prior_medians(rr, count))


def premature(time: NDArray[np.float64], after_gap: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Beats whose interval is under 80 % of the median of the eight before it.

    A beat needs at least one interval before its own. In atrial fibrillation many beats are early
    by this rule; it is a cue, not a diagnosis.
    """
    early = np.zeros(len(time), dtype=bool)
    if len(time) < 3:
        return early
    rr = np.diff(time) * 1000.0
    rr[after_gap[1:] | (rr < MIN_RR_MS) | (rr > MAX_RR_MS)] = np.nan
    with np.errstate(invalid="ignore"):
        early[1:] = rr < EARLY_RATIO * prior_median(rr)
    return early


def variation(ms: NDArray[np.float64]) -> float:
    """Coefficient of variation (population s.d. over mean); NaN under two intervals."""
    if len(ms) < 2:
        return float("nan")
    mean = ms.sum() / len(ms)
    off = ms - mean
    return float(np.sqrt((off * off).sum() / len(ms)) / mean)
