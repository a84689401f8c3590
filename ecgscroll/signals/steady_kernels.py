"""Beats that lean on those around them, compiled; :mod:`ecgscroll.signals.steady` says why.

``x`` (n, L, W) millivolts, NaN where unknown; the core is the grid points [start, stop).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ecgscroll.compiled import compiled
from ecgscroll.signals.order_kernels import median


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
    core = np.empty((n_leads * width, n), np.float32)
    column = np.empty(n, np.float32)
    own, dot, usual_power = np.zeros(n, np.float32), np.zeros(n, np.float32), 0.0
    for j in range(n_leads * width):
        lead, k = j // width, start + j % width
        row = core[j]
        for beat in range(n):
            value = x[beat, lead, k]
            row[beat] = (value if value == value else np.float32(0.0)) - level[beat, lead]
            column[beat] = row[beat]
        usual = np.float32(median(column, n))
        usual_power += usual * usual
        for beat in range(n):
            own[beat] += row[beat] * row[beat]
            dot[beat] += row[beat] * usual
    for beat in range(n):
        dot[beat] /= max(math.sqrt(own[beat] * usual_power), 1e-9)
    return dot


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
                    row, own = x[other, lead], level[other, lead]
                    for k in range(width):
                        known = row[k] == row[k]
                        total[k] += row[k] - own if known else np.float32(0.0)
                        count[k] += np.float32(1.0) if known else np.float32(0.0)
            row, own, part = x[beat, lead], level[beat, lead], share[lead]
            for k in range(width):
                mean = total[k] / max(count[k], np.float32(1.0)) + own
                out[beat, lead, k] = row[k] + part * (mean - row[k])
    return out
