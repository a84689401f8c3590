"""Unpacking and scaling samples, compiled; :mod:`ecgscroll.records.wfdb_formats` says how."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecgscroll.compiled import compiled


@compiled
def unpack_212(raw: Any) -> Any:
    """Two samples of 12 bits, two's complement, out of every three bytes."""
    n = len(raw) // 3
    out = np.empty(2 * n, np.int32)
    for i in range(n):
        low, middle, high = np.int32(raw[3 * i]), np.int32(raw[3 * i + 1]), np.int32(raw[3 * i + 2])
        first, second = low + ((middle & 15) << 8), high + ((middle & 240) << 4)
        out[2 * i] = first - ((first & 2048) << 1)
        out[2 * i + 1] = second - ((second & 2048) << 1)
    return out


@compiled
def scaled(
    samples: Any, width: int, slot: int, invalid: int, baseline: float, gain: float, out: Any
) -> None:
    """Write the samples of one ``slot`` of each frame of ``width`` into ``out``, NaN if invalid."""
    for i in range(min(len(out), (len(samples) - slot + width - 1) // width)):
        value = samples[width * i + slot]
        physical = (value - baseline) / gain
        out[i] = np.float32(np.nan) if value == invalid else physical
