"""R-R intervals beside those before them, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecgscroll.compiled import compiled
from ecgscroll.signals.order_kernels import median


@compiled
def prior_medians(rr: Any, count: int) -> Any:
    """Median of the known ones among the ``count`` values before each; NaN without any."""
    out, past = np.empty(len(rr), np.float64), np.empty(count, np.float64)
    for i in range(len(rr)):
        known = 0
        for j in range(max(0, i - count), i):
            if rr[j] == rr[j]:
                past[known] = rr[j]
                known += 1
        out[i] = median(past, known) if known else np.nan
    return out
