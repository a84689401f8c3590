"""Cutting beats out and measuring their noise, compiled; :mod:`ecgscroll.signals.windows` says why.

Shapes: ``signal``, ``valid`` and ``smooth`` (L, n), ``x`` (m, L, W) beats on the grid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ecgscroll.compiled import compiled
from ecgscroll.signals.order_kernels import median, nth_smallest_size


@compiled
def moving_mean(lead: Any, valid: Any, width: int, out: Any) -> None:
    """Mean of ``width`` (n,) samples around each, mirrored at the ends; NaN where not valid."""
    n, before = len(lead), width // 2
    for i in range(n):
        out[i] = 0.0
    for k in range(width):
        shift = k - before
        first, last = max(0, -shift), min(n, n - shift)
        for i in range(first, last):
            out[i] += lead[i + shift]
        for i in range(first):
            out[i] += lead[min(-1 - (i + shift), n - 1)]
        for i in range(max(last, first), n):
            out[i] += lead[max(2 * n - 1 - (i + shift), 0)]
    scale = np.float32(1.0 / width)
    for i in range(n):
        out[i] = out[i] * scale if valid[i] else np.float32(np.nan)


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
def noise_by_lead(x: Any, core_start: int, core_stop: int, step: int) -> Any:
    """Median slope (every ``step`` points) over the steepest in the core, medians over beats."""
    n, n_leads, width = x.shape
    count = (width - 1 + step - 1) // step
    slopes, steepest, usual = (
        np.empty(count, np.float32),
        np.empty(n, np.float32),
        np.empty(n, np.float32),
    )
    row = np.empty(width, np.float32)
    bits = slopes.view(np.int32)
    chosen = np.empty(1, np.int32)
    out = np.ones(n_leads, np.float32)
    zero = np.float32(0.0)
    for lead in range(n_leads):
        for beat in range(n):
            for k in range(width):
                value = x[beat, lead, k]
                row[k] = value if value == value else zero
            top = zero
            for k in range(core_start, core_stop):
                top = max(top, abs(row[k + 1] - row[k]))
            for k in range(count):
                slopes[k] = abs(row[step * k + 1] - row[step * k])
            chosen[0] = nth_smallest_size(bits, count // 2)
            steepest[beat], usual[beat] = top, chosen.view(np.float32)[0]
        core = median(steepest, n)
        if core > 0:
            out[lead] = median(usual, n) / max(core, np.float32(1e-9))
    return out
