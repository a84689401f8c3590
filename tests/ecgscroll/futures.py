"""Copies of a real record whose future after one sample is noise, NaN, a stranger's or none."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import numpy as np

FUTURES = ("noise", "nan", "other", "cut")
_FRAME = {16: 4, 212: 3}  # bytes of a two-lead frame
_NAN = {16: b"\x00\x80\x00\x80", 212: b"\x00\x88\x00"}
_SKIP, _NUM, _SUB, _CHN, _AUX = 59, 60, 61, 62, 63


def altered(
    record: Path, elapsed: int, future: str, folder: Path, other: Path, rng: np.random.Generator
) -> None:
    """Write ``record`` into ``folder`` with its first ``elapsed`` samples and another future.

    Parameters
    ----------
    record, other
        Paths without extension; ``other`` gives the stranger's samples and annotations.
    elapsed
        Samples that stay.
    future
        One of ``FUTURES``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(record.with_suffix(".hea"), folder)
    samples = _samples(record, elapsed, future, other, rng)
    (folder / f"{record.name}.dat").write_bytes(samples)
    for ending in (".atr", ".qrs"):
        if record.with_suffix(ending).exists():
            notes = _notes(record.with_suffix(ending), elapsed, future, other, rng)
            (folder / f"{record.name}{ending}").write_bytes(notes)


def _samples(
    record: Path, elapsed: int, future: str, other: Path, rng: np.random.Generator
) -> bytes:
    fmt = int(record.with_suffix(".hea").read_text().splitlines()[1].split()[1])
    data = record.with_suffix(".dat").read_bytes()
    kept, rest = data[: elapsed * _FRAME[fmt]], len(data) - elapsed * _FRAME[fmt]
    if future == "noise":
        return kept + rng.bytes(rest)
    if future == "nan":
        return kept + _NAN[fmt] * (rest // _FRAME[fmt])
    if future == "other":
        return kept + other.with_suffix(".dat").read_bytes()[:rest]
    return kept


def _notes(path: Path, elapsed: int, future: str, other: Path, rng: np.random.Generator) -> bytes:
    """Return the annotations before ``elapsed``; the NaN future keeps the true ones after it."""
    data = path.read_bytes()
    if future == "nan":
        return data
    kept, last = split(data, elapsed)
    if future == "noise":
        return kept + _invented(elapsed - last, rng) + b"\0\0"
    if future == "other" and other.with_suffix(".atr").exists():
        stranger = other.with_suffix(".atr").read_bytes()
        begin = len(split(stranger, 1)[0])
        return kept + _skip(elapsed - last) + split(stranger, 20_000)[0][begin:] + b"\0\0"
    return kept + b"\0\0"


def split(data: bytes, elapsed: int) -> tuple[bytes, int]:
    """Return the bytes of the annotations before sample ``elapsed``, and the last one's sample.

    The layout is that of the WFDB manual's annot(5), MIT format: words of 6 bits of code over 10
    bits of time since the last annotation; SKIP holds a longer time, AUX a string.
    """
    at, sample, last, pending, end = 0, 0, 0, 0, 0
    while at + 2 <= len(data):
        word = struct.unpack_from("<H", data, at)[0]
        code, low = word >> 10, word & 0x3FF
        if word == 0:
            break
        if code == _SKIP:
            high, low = struct.unpack_from("<HH", data, at + 2)
            pending += struct.unpack("<i", struct.pack("<I", high << 16 | low))[0]
            at += 6
            continue
        if code in (_NUM, _SUB, _CHN):
            at += 2
        elif code == _AUX:
            at += 2 + low + low % 2
        else:
            sample += low + pending
            if sample >= elapsed:
                break
            last, pending = sample, 0
            at += 2
        end = at
    return data[:end], last


def _skip(gap: int) -> bytes:
    """Return a SKIP of ``gap`` samples, then a beat of no further delay."""
    return struct.pack("<HHH", _SKIP << 10, gap >> 16, gap & 0xFFFF) + struct.pack("<H", 1 << 10)


def _invented(gap: int, rng: np.random.Generator) -> bytes:
    """Return ectopic beats, rhythm changes and ST notes that nobody made, from the cursor on."""
    out = _skip(gap)
    for note in (b"(AFIB", b"(ST0+", b"AST0+900", b"(N", b"ST0+)", b"(VT"):
        beats = [5 << 10 | int(d) for d in rng.integers(50, 400, 6)]
        out += struct.pack(f"<{len(beats)}H", *beats)
        out += struct.pack("<HH", 28 << 10 | 7, _AUX << 10 | len(note))
        out += note + b"\0" * (len(note) % 2)
    return out
