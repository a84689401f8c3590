"""Beats of a segment as bytes, and back: arrays one after another, no pickle."""

from __future__ import annotations

import struct
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ecgscroll.signals.beats import ARRAYS, Beats

_COUNT = struct.Struct("<Q")
_Field = tuple["np.dtype[np.generic]", tuple[int, ...], int]


def encode(beats: Beats) -> bytes:
    """Bytes of detected beats; leads and source are the reader's to know."""
    arrays = (np.ascontiguousarray(getattr(beats, name)).tobytes() for name in ARRAYS)
    return b"".join([_COUNT.pack(len(beats)), *arrays])


def decode(data: bytes | memoryview, leads: tuple[str, ...], t0: float, t1: float) -> Beats | None:
    """Beats out of their bytes, read where they lie; None if they cannot be beats of [t0, t1) s."""
    fields, size = _fields(leads)
    if len(data) < _COUNT.size:
        return None
    (n,) = _COUNT.unpack_from(data)
    if len(data) != _COUNT.size + n * size:
        return None

    def array(name: str) -> np.ndarray[Any, Any]:
        dtype, shape, before = fields[name]
        return np.ndarray((n, *shape), dtype, data, _COUNT.size + n * before)

    time = array("time")
    if n and not (t0 <= time[0] and time[-1] < t1 and (time[1:] > time[:-1]).all()):
        return None
    return Beats.lazy("detected", leads, array)


@lru_cache(maxsize=64)
def _fields(leads: tuple[str, ...]) -> tuple[dict[str, _Field], int]:
    """Type and shape of what one beat has in each array, and bytes of a beat before it; in all."""
    none, fields, size = Beats.empty(leads), {}, 0
    for name in ARRAYS:
        array = getattr(none, name)
        shape = array.shape[1:]
        fields[name] = array.dtype, shape, size
        size += array.dtype.itemsize * prod(shape)
    return fields, size
