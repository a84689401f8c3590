"""The field's own measures: beat by beat, by episode and by duration, as ANSI/AAMI EC57 asks.

Beats pair within 150 ms, the first five minutes are a learning period and ventricular flutter is
left out, as WFDB's ``bxb`` does; episodes count by any overlap (AF) or by the ST rule, as
``epicmp`` does. Sensitivity walks the reference, positive predictivity the answer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecgscroll.errors import ConfigError
from ecgscroll.scoring.intervals import Interval, Spans, Union, shared_length

EpisodeRule = Literal["overlap", "st"]

# AAMI classes of the beat symbols of the MIT annotation format (EC57, clause on beat labels).
AAMI_CLASS = {
    symbol: name
    for name, symbols in {
        "N": "NLRBej",
        "S": "AaJSn",
        "V": "VEr",
        "F": "F",
        "Q": "/fQ?",
    }.items()
    for symbol in symbols
}
CLASSES = ("N", "S", "V", "F", "Q")
MISSED = "O"  # the partner of a beat that has none

# A fusion or an unclassifiable beat called V, or an unclassifiable one called S, is no false alarm.
_FORGIVEN = {("F", "V"), ("Q", "V"), ("Q", "S")}


@dataclass(frozen=True)
class Rate:
    """Sensitivity (TP / reference) and positive predictivity (TP / called), None for 0 / 0."""

    true_positive: int
    reference: int
    detected: int

    @property
    def sensitivity(self) -> float | None:
        """Share of the reference that was found."""
        return self.true_positive / self.reference if self.reference else None

    @property
    def positive_predictivity(self) -> float | None:
        """Share of what was called that is right."""
        return self.true_positive / self.detected if self.detected else None


@dataclass(frozen=True)
class BeatComparison:
    """How often a reference beat of one class was called another: ``counts[(reference, test)]``.

    ``O`` stands for no beat at all on that side.
    """

    counts: dict[tuple[str, str], int]

    @property
    def detection(self) -> Rate:
        """QRS detection, whatever the class."""
        hits = sum(n for pair, n in self.counts.items() if MISSED not in pair)
        reference = sum(n for (left, _), n in self.counts.items() if left != MISSED)
        detected = sum(n for (_, right), n in self.counts.items() if right != MISSED)
        return Rate(hits, reference, detected)

    def of_class(self, name: str) -> Rate:
        """Return the figures of one AAMI class, N, S, V, F or Q."""
        reference = sum(n for (left, _), n in self.counts.items() if left == name)
        detected = sum(
            n for pair, n in self.counts.items() if pair[1] == name and pair not in _FORGIVEN
        )
        return Rate(self.counts.get((name, name), 0), reference, detected)


def pair_beats(
    reference: ArrayLike, test: ArrayLike, window_s: float = 0.15
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pair two sorted series of beat times one to one, each with its nearer neighbour.

    Parameters
    ----------
    reference, test
        Beat times in seconds, ascending, shapes (n,) and (m,).
    window_s
        Greatest distance of a pair, the end included.

    Returns
    -------
    Indices into ``reference`` and into ``test`` of the pairs, shape (k,) each.
    """
    left = np.asarray(reference, dtype=np.float64).tolist()
    right = np.asarray(test, dtype=np.float64).tolist()
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        gap = right[j] - left[i]
        if gap >= 0 and (gap > window_s or _nearer(left, i + 1, right[j], gap)):
            i += 1
        elif gap < 0 and (-gap > window_s or _nearer(right, j + 1, left[i], -gap)):
            j += 1
        else:
            pairs.append((i, j))
            i, j = i + 1, j + 1
    table = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _nearer(times: list[float], index: int, target: float, gap: float) -> bool:
    return index < len(times) and abs(times[index] - target) < gap


def compare_beats(
    reference: ArrayLike,
    reference_symbols: Sequence[str],
    test: ArrayLike,
    test_symbols: Sequence[str],
    *,
    window_s: float = 0.15,
    learning_s: float = 300.0,
    exclude: Iterable[Interval] = (),
) -> BeatComparison:
    """Compare beats with beats, class by class.

    Parameters
    ----------
    reference, test
        Beat times in seconds, ascending.
    reference_symbols, test_symbols
        A beat symbol of the MIT annotation format for each; an unknown one counts as Q.
    window_s
        Greatest distance of a pair.
    learning_s
        Length of the learning period at the start, left out (0 to count everything).
    exclude
        Intervals in seconds left out as well: ventricular flutter or fibrillation.
    """
    left, right = np.asarray(reference, np.float64), np.asarray(test, np.float64)
    left_class = [AAMI_CLASS.get(symbol, "Q") for symbol in reference_symbols]
    right_class = [AAMI_CLASS.get(symbol, "Q") for symbol in test_symbols]
    if len(left_class) != len(left) or len(right_class) != len(right):
        raise ConfigError("Beat times and beat symbols differ in number; give one symbol a beat.")
    pairs = dict(zip(*pair_beats(left, right, window_s), strict=True))
    paired = set(pairs.values())
    excluded = Spans([(-np.inf, learning_s), *exclude])
    counts: Counter[tuple[str, str]] = Counter()
    for i in np.flatnonzero(_counts_at(left, excluded)).tolist():
        counts[left_class[i], right_class[pairs[i]] if i in pairs else MISSED] += 1
    for j in np.flatnonzero(_counts_at(right, excluded)).tolist():
        if j not in paired:
            counts[MISSED, right_class[j]] += 1
    return BeatComparison(dict(counts))


def _counts_at(times: NDArray[np.float64], excluded: Spans) -> NDArray[np.bool_]:
    starts, stops = np.asarray(excluded.onsets), np.asarray(excluded.offsets)
    left_out = (times[:, None] >= starts) & (times[:, None] < stops)
    return np.asarray(~left_out.any(axis=1), dtype=np.bool_)


def episode_rate(
    reference: Sequence[Interval],
    test: Sequence[Interval],
    rule: EpisodeRule = "overlap",
    reference_extrema: Sequence[float | None] | None = None,
    test_extrema: Sequence[float | None] | None = None,
) -> tuple[Rate, Rate]:
    """Count episodes found, and episodes called that are right.

    Parameters
    ----------
    reference, test
        Episodes in seconds.
    rule
        ``overlap``: any shared time. ``st``: what is shared holds the episode's extremum, or is
        at least half of it.
    reference_extrema, test_extrema
        Time of each episode's extremum in seconds, where known.

    Returns
    -------
    A rate whose ``sensitivity`` counts reference episodes, and one whose
    ``positive_predictivity`` counts test episodes: they walk different lists.
    """
    found = _walk(reference, test, rule, reference_extrema)
    right = _walk(test, reference, rule, test_extrema)
    return Rate(found, len(reference), 0), Rate(right, 0, len(test))


def _walk(
    episodes: Sequence[Interval],
    others: Sequence[Interval],
    rule: EpisodeRule,
    extrema: Sequence[float | None] | None,
) -> int:
    """Return how many episodes the others match."""
    spans = Spans(Union(others).intervals())
    peaks = extrema if extrema is not None else [None] * len(episodes)
    matched = 0
    for (start, stop), peak in zip(episodes, peaks, strict=True):
        near = spans.overlapping(start, stop)
        shared = math.fsum(spans.shared(k, start, stop) for k in near)
        if rule == "overlap":
            matched += shared > 0
        else:
            at_peak = peak is not None and any(spans.shared(k, peak, peak) >= 0 for k in near)
            matched += at_peak or (shared > 0 and shared >= 0.5 * (stop - start))
    return matched


def interval_measures(
    reference: Sequence[Interval],
    answer: Sequence[Interval],
    rule: EpisodeRule = "overlap",
    reference_extrema: Sequence[float | None] | None = None,
) -> dict[str, Any]:
    """Return episode and duration sensitivity and positive predictivity of interval answers.

    Parameters
    ----------
    reference, answer
        Intervals in seconds.
    rule, reference_extrema
        See ``episode_rate``.

    Returns
    -------
    ``rule``, ``episode_se``, ``episode_ppv``, ``duration_se``, ``duration_ppv``; None for 0 / 0.
    """
    found, right = episode_rate(reference, answer, rule, reference_extrema)
    left, other = Union(reference), Union(answer)
    shared = shared_length(left, other)
    return {
        "rule": rule,
        "episode_se": found.sensitivity,
        "episode_ppv": right.positive_predictivity,
        "duration_se": shared / left.length() if left.length() else None,
        "duration_ppv": shared / other.length() if other.length() else None,
    }
