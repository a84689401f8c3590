"""Hand-encoded WFDB files for tests: wfdb-python cannot write every format, nor damaged files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

BITS = {8: 7, 16: 16, 24: 24, 32: 32, 61: 16, 80: 8, 160: 16, 212: 12, 310: 10, 311: 10}


def encode(fmt: int, samples: Sequence[int] | NDArray[np.integer]) -> bytes:
    """Pack samples; for format 8 they are differences already."""
    values = np.asarray(samples, dtype=np.int64)
    simple = {8: "i1", 16: "<i2", 32: "<i4", 61: ">i2"}
    if fmt in simple:
        return values.astype(simple[fmt]).tobytes()
    if fmt in (80, 160):
        bits = BITS[fmt]
        return (values + (1 << (bits - 1))).astype(f"<u{bits // 8}").tobytes()
    if fmt == 24:
        return b"".join(int(v & 0xFFFFFF).to_bytes(3, "little") for v in values)
    return _packed(fmt, [int(v) for v in values])


def _packed(fmt: int, values: list[int]) -> bytes:
    size = 2 if fmt == 212 else 3
    whole = values + [0] * (-len(values) % size)
    groups = [whole[i : i + size] for i in range(0, len(whole), size)]
    return b"".join({212: _pack_212, 310: _pack_310, 311: _pack_311}[fmt](g) for g in groups)


def _pack_212(group: list[int]) -> bytes:
    a, b = (v & 0xFFF for v in group)
    return bytes([a & 0xFF, (a >> 8) | ((b >> 8) << 4), b & 0xFF])


def _pack_310(group: list[int]) -> bytes:
    a, b, c = (v & 0x3FF for v in group)
    first = (a << 1) | ((c & 0x1F) << 11)
    second = (b << 1) | ((c >> 5) << 11)
    return first.to_bytes(2, "little") + second.to_bytes(2, "little")


def _pack_311(group: list[int]) -> bytes:
    a, b, c = (v & 0x3FF for v in group)
    return (a | (b << 10) | (c << 20)).to_bytes(4, "little")


def random_samples(fmt: int, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw samples over the format's whole range, the invalid value among them."""
    limit = 1 << (BITS[fmt] - 1)
    samples = rng.integers(-limit, limit, n, dtype=np.int64)
    if fmt != 8:
        samples[rng.integers(0, n, max(1, n // 50))] = -limit
    return samples


def write_record(
    folder: Path,
    name: str,
    lines: Sequence[str],
    n: int,
    files: dict[str, bytes] | None = None,
    fs: float = 100,
) -> Path:
    """Write a header with these signal lines, and signal files; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join([f"{name} {len(lines)} {fs} {n}", *lines]) + "\n"
    (folder / f"{name}.hea").write_text(text)
    for file, content in (files or {}).items():
        (folder / file).write_bytes(content)
    return folder


def word(code: int, value: int) -> bytes:
    """Return one annotation word."""
    return ((code << 10) | value).to_bytes(2, "little")


def skip(samples: int) -> bytes:
    """Return a jump in time."""
    jump = samples & 0xFFFFFFFF
    return word(59, 0) + (jump >> 16).to_bytes(2, "little") + (jump & 0xFFFF).to_bytes(2, "little")


def aux(text: str | bytes) -> bytes:
    """Return an auxiliary note, padded to whole words."""
    note = text.encode() if isinstance(text, str) else text
    return word(63, len(note)) + note + b"\0" * (len(note) % 2)


END = b"\0\0"
CODES = {
    "N": 1, "L": 2, "R": 3, "V": 5, "E": 10, "/": 12, "~": 14, "|": 16, "s": 18, "T": 19,
    '"': 22, "+": 28, "!": 31, "[": 32, "]": 33, "x": 37,
}  # fmt: skip


def annotation_bytes(notes: Sequence[tuple[int, str, str]]) -> bytes:
    """Encode (sample, symbol, aux) in order of time, with the end mark."""
    out, last = b"", 0
    for sample, symbol, text in notes:
        step = sample - last
        out += (skip(step) if step > 1023 else b"") + word(
            CODES[symbol], step % 1024 * (step < 1024)
        )
        out += aux(text) if text else b""
        last = sample
    return out + END
