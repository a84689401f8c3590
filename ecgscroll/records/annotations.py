"""WFDB annotation files in MIT format, parsed whole from their bytes.

The format is annot(5) of the WFDB Applications Guide: 16-bit words, a type in the upper six bits
and a time step in the lower ten. wfdb-python is not used: it can loop for ever on a damaged file
and takes half a second for a day of beats. The tests hold the result against it on real files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ecgscroll.errors import DataError
from ecgscroll.files import read_inside

MAX_ANNOTATION_BYTES = 32 << 20
_SKIP, _NUM, _SUB, _CHN, _AUX, _NOTE = 59, 60, 61, 62, 63, 22
_SYMBOLS = np.array(list(' NLRaVFJASEj/Q~ | sT*D"=pB^t+u?![]en@xf()r'.ljust(64)), dtype="<U1")
_SYMBOLS[_SYMBOLS == " "] = ""
_RESOLUTION = re.compile(r"## time resolution: (\d{1,7}(?:\.\d{1,9})?)")


@dataclass(frozen=True)
class Annotations:
    """What an annotation file holds, in file order.

    Attributes
    ----------
    fs
        Rate at which ``sample`` counts (Hz): the file's own if it states one, else the record's.
    sample
        Sample numbers, int64, shape (n,).
    symbol
        Annotation symbols, shape (n,); empty for a code without one.
    aux
        Auxiliary notes without control characters or padding, shape (n,); empty for none.
    chan, num
        Signal number and annotator's number, int16, shape (n,).
    """

    fs: float
    sample: NDArray[np.int64]
    symbol: NDArray[np.str_]
    aux: NDArray[np.object_]
    chan: NDArray[np.int16]
    num: NDArray[np.int16]

    @property
    def seconds(self) -> NDArray[np.float64]:
        """Times in seconds."""
        return self.sample / self.fs


def read_annotations(folder: Path, name: str, extension: str, fs: float) -> Annotations:
    """Read ``folder/name.extension``.

    Parameters
    ----------
    folder, name, extension
        Which file.
    fs
        The record's sampling rate in Hz.

    Raises
    ------
    DataError
        If the file is absent, damaged, or cut short.
    """
    file = f"{name}.{extension}"
    return parse_annotations(read_inside(Path(folder), file, MAX_ANNOTATION_BYTES), file, fs)


def parse_annotations(data: bytes, file: str, fs: float) -> Annotations:
    """Parse the bytes of an annotation file; see `read_annotations`."""
    words = np.frombuffer(data[: len(data) // 2 * 2], dtype="<u2")
    plain, skips, notes, end = _scan(words, file)
    code = (words[:end] >> 10).astype(np.int16)
    value = (words[:end] & 0x3FF).astype(np.int64)
    step = np.where(plain & (code < _SKIP), value, 0)
    for at, jump in skips:
        step[at] = jump
    is_note = plain & (code < _SKIP)
    number = np.cumsum(is_note) - 1  # of the annotation each word belongs to
    sample = np.cumsum(step)[is_note]
    aux = np.full(len(sample), "", dtype=object)
    for at, text in notes:
        if number[at] >= 0:
            aux[number[at]] = text
    kind = code[is_note]
    own_fs, definition = _definitions(sample, kind, aux)
    keep = (kind != 0) & ~definition
    byte = (value & 0xFF).astype(np.uint8)
    return Annotations(
        fs=own_fs or fs,
        sample=sample[keep],
        symbol=_SYMBOLS[kind[keep]],
        aux=aux[keep],
        chan=_carried(plain & (code == _CHN), number, byte, len(sample))[keep],
        num=_carried(plain & (code == _NUM), number, byte.view(np.int8), len(sample))[keep],
    )


def _scan(
    words: NDArray[np.uint16], file: str
) -> tuple[NDArray[np.bool_], list[tuple[int, int]], list[tuple[int, str]], int]:
    """Find the words that are not payload, the jumps in time, the notes, and the end mark."""
    code = words >> 10
    plain = np.ones(len(words), dtype=np.bool_)
    skips: list[tuple[int, int]] = []
    notes: list[tuple[int, str]] = []
    free = 0
    for at in np.flatnonzero((code == _SKIP) | (code == _AUX) | (words == 0)).tolist():
        if at < free:
            continue
        if words[at] == 0:
            return plain[:at], skips, notes, at
        length = 4 if code[at] == _SKIP else int(words[at]) & 0xFF
        free = at + 1 + (length + 1) // 2
        payload = words[at + 1 : free]
        plain[at + 1 : free] = False
        if code[at] == _SKIP and len(payload) == 2:
            jump = (int(payload[0]) << 16) | int(payload[1])
            skips.append((at, jump - (1 << 32) if jump >= 1 << 31 else jump))
        elif code[at] == _AUX:
            notes.append((at, _clean(payload.tobytes()[:length])))
    raise DataError(f"{file} is cut short or is not an annotation file; fetch it again.")


def _clean(note: bytes) -> str:
    """Drop padding and control characters: real files hold both."""
    text = note.decode("latin-1")
    return "".join(character for character in text if character.isprintable()).strip()


def _definitions(
    sample: NDArray[np.int64], kind: NDArray[np.int16], aux: NDArray[np.object_]
) -> tuple[float | None, NDArray[np.bool_]]:
    """Find the notes at sample 0 that describe the file, and the time resolution they state."""
    definition = (sample == 0) & (kind == _NOTE)
    definition &= np.array([str(text).startswith("## ") for text in aux], dtype=np.bool_)
    for text in aux[definition]:
        match = _RESOLUTION.match(text)
        if match and float(match[1]) > 0:
            return float(match[1]), definition
    return None, definition


def _carried(
    given: NDArray[np.bool_],
    number: NDArray[np.int64],
    value: NDArray[np.uint8] | NDArray[np.int8],
    n: int,
) -> NDArray[np.int16]:
    """Spread a field over annotations: each keeps the last value given up to it, 0 at first."""
    out = np.zeros(n, dtype=np.int16)
    at = number[given]
    out[at[at >= 0]] = value[given][at >= 0]
    last = np.zeros(n, dtype=np.int64)
    last[at[at >= 0]] = at[at >= 0]
    return out[np.maximum.accumulate(last)] if n else out
