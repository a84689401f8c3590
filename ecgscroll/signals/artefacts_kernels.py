"""The loops of :mod:`ecgscroll.signals.artefacts`, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecgscroll.compiled import compiled


@compiled
def spikes_of(lead: Any, k: int, least: float, level: float) -> Any:
    """Samples of a (n,) lead that stand ``least`` above or below both those ``k`` beside.

    These and the ones ``2 k`` beside must not differ by more than ``level`` of that height.
    """
    found, count = np.empty(len(lead), np.int64), 0
    for i in range(2 * k, len(lead) - 2 * k):
        up = lead[i] - lead[i - k]
        if not abs(up) > least:  # most samples end here
            continue
        down = lead[i] - lead[i + k]
        if not up * down > 0:
            continue
        height = min(abs(up), abs(down))
        if not height > least:
            continue
        most = level * height
        before, after = lead[i - k] - lead[i - 2 * k], lead[i + k] - lead[i + 2 * k]
        if abs(before) < most and abs(after) < most and abs(lead[i - k] - lead[i + k]) < most:
            found[count] = i
            count += 1
    return found[:count]


@compiled
def steps_to(lead: Any, rail: float, run: int, step: float) -> int:
    """How often a (n,) lead comes to ``rail`` by a ``step`` or more and stays ``run`` samples."""
    count, i, n = 0, 0, len(lead)
    while i < n:
        if lead[i] != rail:
            i += 1
            continue
        start = i
        while i < n and lead[i] == rail:
            i += 1
        if start and i - start >= run and abs(lead[start - 1] - rail) >= step:
            count += 1
    return count


@compiled
def extremes(lead: Any, size: int) -> Any:
    """(p,) least and largest value of every ``size`` samples; NaN where one is."""
    count = len(lead) // size
    low, high = np.empty(count, np.float64), np.empty(count, np.float64)
    for piece in range(count):
        least = most = lead[piece * size]
        lost = False
        for i in range(piece * size, (piece + 1) * size):
            least, most = min(least, lead[i]), max(most, lead[i])
            lost |= lead[i] != lead[i]
        low[piece] = np.nan if lost else least
        high[piece] = np.nan if lost else most
    return low, high


@compiled
def known_range(lead: Any) -> Any:
    """Least and largest finite value of a (n,) lead; infinity where it has none."""
    least, most = np.inf, -np.inf
    for value in lead:
        if np.isfinite(value):
            least, most = min(least, value), max(most, value)
    return least, most
