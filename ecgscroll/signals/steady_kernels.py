"""Beats that lean on those around them, compiled; :mod:`ecgscroll.signals.steady` says why.

``x`` (n, L, W) millivolts, NaN where unknown; the core is the grid points [start, stop).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ecgscroll.compiled import compiled
from ecgscroll.signals.order_kernels import rounded_up, sort_columns


@compiled
def core_levels(x: Any, start: int, stop: int) -> Any:
    """(n, L) mean over the core, what is unknown being zero."""
    n, n_leads, _ = x.shape
    level = np.empty((n, n_leads), np.float32)
    for beat in range(n):
        for lead in range(n_leads):
            total = np.float32(0.0)
            for k in range(start, stop):
                value = x[beat, lead, k]
                total += value if value == value else np.float32(0.0)
            level[beat, lead] = total / np.float32(stop - start)
    return level


@compiled
def likeness(x: Any, level: Any, start: int, stop: int) -> Any:
    """(n,) correlation of each beat's core, over all leads, with the median one."""
    n, n_leads, _ = x.shape
    width = stop - start
    core = np.zeros((n, rounded_up(n_leads * width)), np.float32)
    for beat in range(n):
        for lead in range(n_leads):
            row, out = x[beat, lead, start:stop], core[beat, lead * width : (lead + 1) * width]
            for k in range(width):
                out[k] = (row[k] if row[k] == row[k] else np.float32(0.0)) - level[beat, lead]
    ordered = core.copy()
    sort_columns(ordered)
    usual, power = np.empty(n_leads * width, np.float32), 0.0
    for k in range(n_leads * width):
        usual[k] = (ordered[(n - 1) // 2, k] + ordered[n // 2, k]) * np.float32(0.5)
        power += usual[k] * usual[k]
    alike = np.empty(n, np.float32)
    for beat in range(n):
        own, dot = 0.0, 0.0
        for k in range(n_leads * width):
            own += core[beat, k] * core[beat, k]
            dot += core[beat, k] * usual[k]
        alike[beat] = dot / max(math.sqrt(own * power), 1e-9)
    return alike


@compiled
def leaned(x: Any, level: Any, usable: Any, share: Any, reach: int) -> Any:
    """Usable beats, by each lead's share moved to the mean of usable ones within ``reach``."""
    n, n_leads, width = x.shape
    out = x.copy()
    total, count = np.empty(width, np.float32), np.empty(width, np.float32)
    for beat in range(n):
        if not usable[beat]:
            continue
        for lead in range(n_leads):
            if share[lead] == 0:
                continue
            total[:], count[:] = 0.0, 0.0
            for other in range(max(0, beat - reach), min(n, beat + reach + 1)):
                if usable[other]:
                    own = level[other, lead]
                    for k in range(width):
                        value = x[other, lead, k]
                        known = value == value
                        total[k] += value - own if known else np.float32(0.0)
                        count[k] += np.float32(1.0) if known else np.float32(0.0)
            own, part = level[beat, lead], share[lead]
            for k in range(width):
                mean = total[k] / max(count[k], np.float32(1.0)) + own
                out[beat, lead, k] += part * (mean - out[beat, lead, k])
    return out
