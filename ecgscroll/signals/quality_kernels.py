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


@compiled
def still_in_all(signal: Any, length: int) -> Any:
    """(k, 2) first and last sample of the runs of ``length`` or more in which no lead moves."""
    n = signal.shape[1]
    found, count, i = np.empty((n // length + 1, 2), np.int64), 0, 0
    half = max(1, length // 2)  # a run this long holds a multiple of it and the sample after
    while i + 1 < n:
        if not still(signal, i):
            i += half
            continue
        first, last = i, i + 1
        while first > 0 and still(signal, first - 1):
            first -= 1
        while last + 1 < n and still(signal, last):
            last += 1
        if last - first + 1 >= length:
            found[count, 0], found[count, 1] = first, last
            count += 1
        i += half * max(1, (last - i) // half + 1)
    return found[:count]


@compiled
def still(signal: Any, i: int) -> bool:
    """Whether no lead changes from sample ``i`` to the next; what stays invalid does not."""
    for lead in range(len(signal)):
        here, after = signal[lead, i], signal[lead, i + 1]
        if here != after and (here == here or after == after):
            return False
    return True
