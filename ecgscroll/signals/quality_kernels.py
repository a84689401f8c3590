"""Which samples can be believed, compiled; :mod:`ecgscroll.signals.quality` says why."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecgscroll.compiled import compiled


@compiled
def possible_and_moving(signal: Any, limit: float, length: int) -> Any:
    """(L, n) samples under ``limit`` in size, in no run of ``length`` (two or more) equal ones."""
    n_leads, n = signal.shape
    valid = np.empty((n_leads, n), np.bool_)
    # A run this long holds a multiple of half its length and the sample after it.
    half = max(1, length // 2)
    for lead in range(n_leads):
        x, ok = signal[lead], valid[lead]
        for i in range(n):
            ok[i] = abs(x[i]) < limit
        i = 0
        while i + 1 < n:
            if x[i] != x[i + 1]:
                i += half
                continue
            first, last = i, i + 1
            while first > 0 and x[first - 1] == x[i]:
                first -= 1
            while last + 1 < n and x[last + 1] == x[i]:
                last += 1
            if last - first + 1 >= length:
                ok[first : last + 1] = False
            i += half * max(1, (last - i) // half)
    return valid
