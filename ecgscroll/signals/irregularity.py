"""How R-R intervals repeat around each beat: what tells fibrillation from ectopy and from sinus.

Fibrillation repeats itself at no lag, ectopic rhythms do: a bigeminy at lag two, scattered ectopy
in the pattern short-long. So every interval is compared, in logarithms, with each of the eight
before it. Averages of how well they agree are the correlation sums of sample entropy (Lake &
Moorman, Am J Physiol 300:H319, 2011, order one and two) taken lag by lag; the other quantities are
the turning points and successive differences of the field (Dash et al., Ann Biomed Eng 37:1701,
2009; Sarkar et al., IEEE Trans Biomed Eng 55:1219, 2008), and the rate.

Averages run over five spans of intervals around a beat, none of them further than 60 s back or 30 s
ahead. They are sums of whole numbers, so they depend on the intervals of their span and the eight
before it, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float = NDArray[np.float64]

LAGS = 8
PAST_S, AHEAD_S = 60.0, 30.0
SPANS = ((-6, 6), (-20, 20), (-64, 40), (-14, 0), (1, 15))
"""First and last interval of each span, counted from the one that is judged."""
AGREE, AGREE_CLOSELY = 0.04, 0.015
"""Logarithmic difference at which agreement falls to one half; 0.04 is 32 ms of 800."""
_LEAST, _RARE = 6, 0.01
_SINGLE = 4
_UNIT = 4096.0


def features(ms: Float, end: Float, ahead_s: ArrayLike = AHEAD_S) -> Float:
    """Features of each interval, (m, N_FEATURES): see `feature_blocks`."""
    return np.concatenate(list(feature_blocks(ms, end, ahead_s)), axis=1)


def feature_blocks(ms: Float, end: Float, ahead_s: ArrayLike = AHEAD_S) -> Iterator[Float]:
    """Features of each interval in blocks of columns, (m, 24) for each span and (m, 1).

    Parameters
    ----------
    ms, end
        (m,) R-R intervals (ms) and the times of the beats that close them (s).
    ahead_s
        Seconds after each interval whose beats are used, one number or (m,); at most 30 count.
    """
    sums = np.zeros((len(ms) + 1, _COLUMNS), dtype=np.int64)
    np.cumsum(np.rint(quantities(ms) * _UNIT), axis=0, out=sums[1:], dtype=np.int64)
    for span in SPANS:
        low, high = spans(end, span, ahead_s)
        yield _of_means((sums[high + 1] - sums[low]) / (_UNIT * (high - low + 1))[:, None])
    furthest = spans(end, (0, _FULL_AHEAD), ahead_s)[1] - np.arange(len(ms))
    yield furthest[:, None] / _FULL_AHEAD


def entropy(ms: Float) -> float:
    """Sample entropy of order one of R-R intervals; NaN under six.

    Minus the logarithm of how often two intervals that agree follow on two that agree, over pairs
    at most eight beats apart, so that a slow change of rate does not count (after Lake & Moorman
    2011, who take pairs at any distance and a tolerance in ms). Under 0.7 in sinus rhythm and in
    ectopy that repeats itself, 1.2 to 1.8 in fibrillation. Low in flutter of regular conduction;
    high where ectopy has many couplings, and where beats are missed.

    Parameters
    ----------
    ms
        (m,) R-R intervals, milliseconds.

    Examples
    --------
    >>> bigeminy = np.tile([600.0, 1000.0], 20)
    >>> random = np.random.default_rng(0).uniform(400, 1100, 40)
    >>> round(entropy(bigeminy), 1), round(entropy(random), 1)
    (0.0, 1.6)
    """
    if len(ms) < _LEAST:
        return float("nan")
    x = np.log(ms)
    close = [1.0 / (1.0 + ((x[lag:] - x[:-lag]) / AGREE) ** 2) for lag in _lags(len(x))]
    agree = np.concatenate([one[1:] for one in close])
    both = np.concatenate([one[1:] * one[:-1] for one in close])
    return float(-np.log((both.mean() + _RARE) / (agree.mean() + _RARE)))


def _lags(count: int) -> range:
    """Distances at which there are pairs with a pair before them."""
    return range(1, min(LAGS, count - 2) + 1)


def spans(
    end: Float, span: tuple[int, int], ahead_s: ArrayLike = AHEAD_S
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and last interval of a span around each, no further than 60 s back or 30 s ahead."""
    index = np.arange(len(end))
    first = np.searchsorted(end, end - PAST_S, side="left")
    last = np.searchsorted(end, end + np.minimum(ahead_s, AHEAD_S), side="right") - 1
    high = np.minimum(index + span[1], last)
    return np.minimum(np.maximum(index + span[0], first), high), high


def quantities(ms: Float) -> Float:
    """What is averaged, (m, 21): each looks at an interval and at most nine before it."""
    x = np.log(np.clip(ms, 200.0, 3000.0) / 800.0)
    past = np.concatenate([np.full(LAGS + 1, x[0]), x])
    view = np.lib.stride_tricks.sliding_window_view(past, LAGS + 2)[:, ::-1]  # (m, lag 0 to 9)
    agree = 1.0 / (1.0 + ((view[:, :1] - view[:, 1:-1]) / AGREE) ** 2)
    both = agree / (1.0 + ((view[:, 1:2] - view[:, 2:]) / AGREE) ** 2)
    closely = 1.0 / (1.0 + ((view[:, :1] - view[:, 1:-1]) / AGREE_CLOSELY) ** 2)
    closely_both = closely / (1.0 + ((view[:, 1:2] - view[:, 2:]) / AGREE_CLOSELY) ** 2)
    step, before = view[:, 0] - view[:, 1], view[:, 1] - view[:, 2]
    size = np.abs(step)
    turn = (step * before < 0) & (np.minimum(size, np.abs(before)) > 0.02)
    return np.column_stack(
        [
            agree[:, :_SINGLE],
            both[:, :_SINGLE],
            agree.mean(axis=1),
            both.mean(axis=1),
            closely[:, 0],
            closely.mean(axis=1),
            closely_both.mean(axis=1),
            np.minimum(size, 0.6),
            np.minimum(np.abs(view[:, 0] - view[:, 2]), 0.6),
            size > 0.1,
            (before < -0.1) & (step > 0.2),
            turn,
            np.clip(10.0 * step * before, -1.0, 1.0),
            x,
            x * x,
        ]
    )


_COLUMNS = 21
_PER_SPAN = _COLUMNS + 3
_FULL_AHEAD = 40
N_FEATURES = _PER_SPAN * len(SPANS) + 1


def _of_means(mean: Float) -> Float:
    """The averages, the last as a spread, and what they say together: (m, 24)."""
    mean[:, -1] = np.sqrt(np.maximum(mean[:, -1] - mean[:, -2] ** 2, 0.0))
    single, double = mean[:, 2 * _SINGLE], mean[:, 2 * _SINGLE + 1]
    together = (
        mean[:, :_SINGLE].max(axis=1),
        mean[:, _SINGLE : 2 * _SINGLE].max(axis=1),
        np.log((double + 0.01) / (single + 0.01)),
    )
    return np.column_stack([mean, *together])
