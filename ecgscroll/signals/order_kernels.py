"""Order statistics of a few dozen values, compiled."""

from __future__ import annotations

from typing import Any

from ecgscroll.compiled import compiled


@compiled
def nth_smallest(values: Any, count: int, rank: int) -> Any:
    """Value of ``rank`` (from 0) among the first ``count``, by selection (Hoare); moves them."""
    low, high = 0, count - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return values[rank]


@compiled
def median(values: Any, count: int) -> Any:
    """Median of the first ``count`` values, the mean of the middle two; moves them."""
    upper = nth_smallest(values, count, count // 2)
    if count % 2:
        return upper
    # What lies before an upper middle that was selected is not above it.
    lower = values[0]
    for i in range(1, count // 2):
        lower = max(lower, values[i])
    return (lower + upper) / 2


@compiled
def nth_smallest_size(bits: Any, rank: int) -> Any:
    """Bits of the value of ``rank`` (from 0) among floats not below zero, seen as int32.

    Their bits are in their own order, so the answer is built from its highest bit down, by counting
    how many are below: no branches, and many values at a time.
    """
    found = 0
    for shift in range(30, -1, -1):
        trial = found | (1 << shift)
        below = 0
        for i in range(len(bits)):
            below += bits[i] < trial
        if below <= rank:
            found = trial
    return found
