"""Cutting beats out and measuring their noise, compiled; :mod:`ecgscroll.signals.windows` says why.

Shapes: ``signal``, ``valid`` and ``smooth`` (L, n), ``x`` (m, L, W) beats on the grid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ecgscroll.compiled import compiled
from ecgscroll.signals.order_kernels import median, rounded_up, sort_columns


@compiled
def moving_mean(lead: Any, valid: Any, width: int, out: Any) -> None:
    """Mean of ``width`` (n,) samples around each, mirrored at the ends; NaN where not valid."""
    n, before = len(lead), width // 2
    out[:] = 0.0
    for k in range(width):
        shift = k - before
        first, last = min(max(0, -shift), n), max(min(n, n - shift), 0)
        source, target = lead[first + shift : last + shift], out[first:last]
        for i in range(len(target)):
            target[i] += source[i]
        for i in range(first):
            out[i] += lead[min(-1 - (i + shift), n - 1)]
        for i in range(max(last, first), n):
            out[i] += lead[max(2 * n - 1 - (i + shift), 0)]
    scale = np.float32(1.0 / width)
    for i in range(n):
        out[i] = out[i] * scale if valid[i] else np.float32(np.nan)


@compiled
def heights_of(lead: Any, smooth: Any, sample: Any, inner: int, outer: int) -> Any:
    """Peak-to-peak heights of the median beat: raw, smoothed, and of their difference beside it.

    The first two within ``inner`` samples of R, the last from there to ``outer`` samples; zeros
    where no beat of the (n,) lead is known that far.
    """
    n, count = len(lead), 0
    whole = np.empty(len(sample), np.int64)
    raw, soft = np.empty(len(sample), np.float64), np.empty(len(sample), np.float64)
    for at in sample:
        known = at >= outer and at + outer < n
        for i in range(max(at - outer, 0), min(at + outer + 1, n)):
            known &= smooth[i] == smooth[i]
        if known:
            whole[count] = at
            count += 1
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for k in range(-outer, outer + 1 if count else -outer):
        for beat in range(count):
            raw[beat], soft[beat] = lead[whole[beat] + k], smooth[whole[beat] + k]
        mine, its = median(raw, count), median(soft, count)
        if abs(k) <= inner:
            low[0], high[0] = min(low[0], mine), max(high[0], mine)
            low[1], high[1] = min(low[1], its), max(high[1], its)
        else:
            low[2], high[2] = min(low[2], mine - its), max(high[2], mine - its)
    return high - low if count else np.zeros(3)


@compiled
def interpolated(smooth: Any, sample: Any, whole: Any, part: Any) -> Any:
    """Beats of ``smooth``: at each R peak plus ``whole`` samples plus ``part`` of the next."""
    n_leads, n = smooth.shape
    x = np.empty((len(sample), n_leads, len(whole)), np.float32)
    for beat in range(len(sample)):
        at = sample[beat]
        inside = at + whole[0] >= 0 and at + whole[-1] + 1 < n
        for lead in range(n_leads):
            row, source = x[beat, lead], smooth[lead]
            if inside:
                for k in range(len(whole)):
                    left = source[at + whole[k]]
                    row[k] = left + (source[at + whole[k] + 1] - left) * part[k]
            else:
                for k in range(len(whole)):
                    i = at + whole[k]
                    if i >= 0 and i + 1 < n:
                        row[k] = source[i] + (source[i + 1] - source[i]) * part[k]
                    else:
                        row[k] = np.float32(np.nan)
    return x


@compiled
def noise_by_lead(x: Any, start: int, stop: int, step: int) -> Any:
    """Median slope (every ``step`` points) over the steepest in the core, medians over beats."""
    n, n_leads, width = x.shape
    slopes = np.zeros(((width + step - 2) // step, rounded_up(n)), np.float32)
    steepest = np.empty(n, np.float32)
    out = np.ones(n_leads, np.float32)
    for lead in range(n_leads):
        for beat in range(n):
            row = x[beat, lead]
            steepest[beat] = 0.0
            for k in range(start, stop):
                steepest[beat] = max(steepest[beat], rise(row, k))
            for k in range(len(slopes)):
                slopes[k, beat] = rise(row, step * k)
        core = median(steepest, n) if n else np.float32(0.0)
        if core > 0:
            sort_columns(slopes)
            out[lead] = median(slopes[len(slopes) // 2], n) / max(core, np.float32(1e-9))
    return out


@compiled
def rise(row: Any, k: int) -> Any:
    """Size of the step to the next point; what is unknown is zero."""
    here, after = row[k], row[k + 1]
    here = here if here == here else np.float32(0.0)
    after = after if after == after else np.float32(0.0)
    return abs(after - here)
