"""Beats of a segment as bytes, and back: arrays one after another, no pickle."""

from __future__ import annotations

import struct
from functools import lru_cache
from math import prod

import numpy as np

from ecgscroll.signals.beats import ARRAYS, Beats

_COUNT = struct.Struct("<Q")
_Field = tuple[str, "np.dtype[np.generic]", tuple[int, ...], int]


def encode(beats: Beats) -> bytes:
    """Bytes of detected beats; leads and source are the reader's to know."""
    arrays = (np.ascontiguousarray(getattr(beats, name)).tobytes() for name in ARRAYS)
    return b"".join([_COUNT.pack(len(beats)), *arrays])


def decode(data: bytes, leads: tuple[str, ...], t0: float, t1: float) -> Beats | None:
    """Beats out of their bytes, read where they lie; None if they cannot be beats of [t0, t1) s."""
    fields, size = _fields(leads)
    if len(data) < _COUNT.size:
        return None
    (n,) = _COUNT.unpack_from(data)
    if len(data) != _COUNT.size + n * size:
        return None
    at, arrays = _COUNT.size, {}
    for name, dtype, shape, width in fields:
        # ndarray reads the buffer in place, as frombuffer does, at half the cost.
        arrays[name] = np.ndarray((n, *shape), dtype, data, at)
        at += n * width
    time = arrays["time"]
    if n and not (t0 <= time[0] and time[-1] < t1 and (time[1:] > time[:-1]).all()):
        return None
    return Beats.of("detected", leads, arrays)


@lru_cache(maxsize=64)
def _fields(leads: tuple[str, ...]) -> tuple[list[_Field], int]:
    """Name, type, shape and bytes of what one beat has in each array, and bytes of a beat."""
    none = Beats.empty(leads)
    arrays = [(name, getattr(none, name)) for name in ARRAYS]
    fields = [
        (name, a.dtype, a.shape[1:], a.dtype.itemsize * prod(a.shape[1:])) for name, a in arrays
    ]
    return fields, sum(width for *_, width in fields)
