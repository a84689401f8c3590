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
def sort_columns(table: Any) -> None:
    """Sort each column of (n, m) values in place, by merging odd and even places (Batcher 1968).

    Which rows are compared does not depend on the values, so many columns go at a time.
    """
    n, m = table.shape
    block = 1
    while block < n:
        step = block
        while step >= 1:
            for base in range(step % block, n - step, 2 * step):
                for i in range(base, min(base + step, n - step)):
                    if i // (2 * block) == (i + step) // (2 * block):
                        low, high = table[i], table[i + step]
                        for k in range(m):
                            a, b = low[k], high[k]
                            low[k] = a if a < b else b
                            high[k] = b if a < b else a
            step //= 2
        block *= 2
