"""Order statistics of a few dozen values, compiled.

Here and in every kernel, inner loops index whole arrays: a view of a row costs as much as ten of
its values.
"""

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
def rounded_up(m: int) -> int:
    """Columns of a table for ``m`` of them: a whole number of the widest vectors in a loop."""
    return (m + 31) // 32 * 32


@compiled
def order_rows(table: Any, i: int, j: int, m: int) -> None:
    """Put the smaller of each pair of values into row ``i``, the larger into row ``j``."""
    for k in range(m):
        a, b = table[i, k], table[j, k]
        ordered = a < b
        low = a if ordered else b
        high = b if ordered else a
        table[i, k] = low
        table[j, k] = high


@compiled
def sort_columns(table: Any) -> None:
    """Sort each column of (n, m) values in place, by merging odd and even places (Batcher 1968).

    Which rows are compared does not depend on the values, so many columns go at a time.
    """
    n, m = table.shape
    places = 1
    while 1 << (places - 1) < n:
        block = step = 1 << (places - 1)
        while step >= 1:
            for base in range(step % block, n - step, 2 * step):
                for i in range(base, min(base + step, n - step)):
                    if i >> places == (i + step) >> places:
                        order_rows(table, i, i + step, m)
            step >>= 1
        places += 1
