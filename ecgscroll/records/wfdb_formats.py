"""Sample formats of WFDB signal files, decoded by window from the signal(5) page.

wfdb-python reads these too; it is not used for windows because format 8 comes out wrong from
anywhere but the start, a file cut short is an error, and a window costs a parse of the header.
The tests hold every format against it, sample for sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecgscroll.records.wfdb_kernels import unpack_212

Bytes = NDArray[np.uint8]
Samples = NDArray[np.int32]


@dataclass(frozen=True)
class Format:
    """How samples are packed: ``samples`` of them in every ``size`` bytes.

    ``tail[r]`` is how many samples ``r`` bytes of a last, unfinished group hold, and ``invalid``
    the sample value that means "no measurement".
    """

    samples: int
    size: int
    tail: tuple[int, ...]
    invalid: int | None
    unpack: Callable[[Bytes], Samples]

    def count(self, n_bytes: int) -> int:
        """Return how many whole samples ``n_bytes`` hold."""
        groups, rest = divmod(n_bytes, self.size)
        return groups * self.samples + self.tail[rest]


def _as(dtype: str, offset: int = 0) -> Callable[[Bytes], Samples]:
    def unpack(raw: Bytes) -> Samples:
        return raw.view(dtype).astype(np.int32) - np.int32(offset)

    return unpack


def _signed(values: NDArray[np.int32], bits: int) -> Samples:
    """Read the low ``bits`` of each value as two's complement."""
    shift = np.int32(32 - bits)
    return np.asarray((values << shift) >> shift, dtype=np.int32)


def _unpack_24(raw: Bytes) -> Samples:
    triples = raw.reshape(-1, 3).astype(np.int32)
    return _signed(triples[:, 0] | (triples[:, 1] << 8) | (triples[:, 2] << 16), 24)


def _unpack_310(raw: Bytes) -> Samples:
    words = raw.view("<u2").reshape(-1, 2).astype(np.int32)
    out = np.empty((len(words), 3), dtype=np.int32)
    out[:, :2] = (words >> 1) & 0x3FF
    out[:, 2] = (words[:, 0] >> 11) | ((words[:, 1] >> 11) << 5)
    return _signed(out.ravel(), 10)


def _unpack_311(raw: Bytes) -> Samples:
    words = raw.view("<u4")
    out = np.stack([(words >> np.uint32(shift)) & np.uint32(0x3FF) for shift in (0, 10, 20)], 1)
    return _signed(out.ravel().astype(np.int32), 10)


# Format 8 holds first differences; the reader sums them.
FORMATS: dict[int, Format] = {
    8: Format(1, 1, (0,), None, _as("i1")),
    16: Format(1, 2, (0, 0), -(1 << 15), _as("<i2")),
    24: Format(1, 3, (0, 0, 0), -(1 << 23), _unpack_24),
    32: Format(1, 4, (0, 0, 0, 0), -(1 << 31), _as("<i4")),
    61: Format(1, 2, (0, 0), -(1 << 15), _as(">i2")),
    80: Format(1, 1, (0,), -(1 << 7), _as("u1", 1 << 7)),
    160: Format(1, 2, (0, 0), -(1 << 15), _as("<u2", 1 << 15)),
    212: Format(2, 3, (0, 0, 1), -(1 << 11), unpack_212),
    310: Format(3, 4, (0, 0, 1, 1), -(1 << 9), _unpack_310),
    311: Format(3, 4, (0, 0, 1, 2), -(1 << 9), _unpack_311),
}


def decode(raw: bytes, fmt: Format, skip: int, count: int) -> Samples:
    """Decode ``count`` samples after the first ``skip`` of ``raw``; fewer where it ends early.

    Parameters
    ----------
    raw
        Bytes from the start of a group on.
    fmt
        Packing.
    skip, count
        In samples.

    Returns
    -------
    ndarray of int32, shape (at most ``count``,)
    """
    held = min(fmt.count(len(raw)), skip + count)
    padding = -len(raw) % fmt.size
    packed = np.frombuffer(raw + b"\0" * padding, dtype=np.uint8)
    return fmt.unpack(packed)[skip : max(held, skip)]
