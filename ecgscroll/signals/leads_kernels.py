"""The loops of :mod:`ecgscroll.signals.leads`, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecgscroll.compiled import compiled
from ecgscroll.signals.order_kernels import median, nth_smallest


@compiled
def running_median(values: Any, width: int) -> Any:
    """Median of ``width`` (odd) values around each; past the ends they are the last ones."""
    n, half = len(values), width // 2
    out, near = np.empty(n, np.float64), np.empty(width, np.float64)
    for i in range(n):
        for k in range(width):
            near[k] = values[min(max(i + k - half, 0), n - 1)]
        out[i] = median(near, width)
    return out


@compiled
def tops_and_quiets(energy: Any, size: int) -> Any:
    """(p,) largest energy of every ``size`` samples, and (p,) the 20th percentile; p >= 1."""
    n = len(energy)
    count = max(1, n // size)
    tops, quiets = np.empty(count, np.float64), np.empty(count, np.float64)
    values = np.empty(size, np.float64)
    for piece in range(count):
        start, top = piece * size, 0.0
        length = min(size, n - start)
        for i in range(length):
            values[i] = energy[start + i]
            top = max(top, values[i])
        tops[piece], quiets[piece] = top, nth_smallest(values, length, length // 5)
    return tops, quiets


@compiled
def keep_best(sample: Any, score: Any, least: float) -> Any:
    """Indices of ascending samples with a score above 0, the best of those nearer than ``least``.

    Of equal ones the earlier stays.
    """
    kept, count = np.empty(len(sample), np.int64), 0
    for i in range(len(sample)):
        if score[i] <= 0:
            continue
        if count and sample[i] - sample[kept[count - 1]] < least:
            if score[i] > score[kept[count - 1]]:
                kept[count - 1] = i
        else:
            kept[count] = i
            count += 1
    return kept[:count]
