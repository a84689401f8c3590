"""WFDB header files, parsed from bytes: nothing they name is opened here, everything is bounded.

Follows the header(5) page of the WFDB Applications Guide (Moody, physionet.org/physiotools/wag).
wfdb-python is not used for this: it follows paths that a header names, and its patterns accept
what no reader can honour.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from ecgscroll.errors import DataError
from ecgscroll.records.wfdb_formats import FORMATS

MAX_HEADER_BYTES = 4 << 20
MAX_SIGNALS = 512
MAX_SEGMENTS = 100_000
MAX_SAMPLES_PER_FRAME = 1000
MAX_SKEW = 100_000
MAX_SECONDS = 400 * 86400.0
DEFAULT_GAIN = 200.0
DEFAULT_FS = 250.0

_FORMAT = re.compile(r"(\d{1,4})(?:x(\d{1,9}))?(?::(\d{1,9}))?(?:\+(\d{1,15}))?")
_GAIN = re.compile(r"([^(/\s]+)(?:\(([+-]?\d{1,12})\))?(?:/(\S{1,40}))?")
_DESCRIPTION_FIELD = 8


@dataclass(frozen=True)
class SignalSpec:
    """One signal line of a header.

    ``file`` is ``~`` for a signal without samples; ``spf`` is samples per frame, ``skew`` in
    frames, ``offset`` in bytes; physical value = (sample - ``baseline``) / ``gain`` in ``units``.
    """

    file: str
    fmt: int
    spf: int
    skew: int
    offset: int
    gain: float
    baseline: int
    units: str
    initial: int
    name: str


@dataclass(frozen=True)
class Header:
    """What a header says: rate in Hz, length in frames, and signals or segments."""

    fs: float
    n_samples: int
    signals: tuple[SignalSpec, ...]
    segments: tuple[tuple[str, int], ...]


def parse_header(data: bytes, record: str, *, layout: bool = False) -> Header:
    """Parse the bytes of a header file.

    Parameters
    ----------
    data
        Content of the ``.hea`` file.
    record
        Name for messages.
    layout
        Whether this is the layout segment of a multi-segment record, which has no length.

    Raises
    ------
    DataError
        If the header is empty, malformed, or claims what cannot be true.
    """
    lines = [line.strip() for line in _text(data).splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    if not lines:
        raise DataError(f"The header of {record} is empty; fetch the record again.")
    n_segments, n_signals, fs, n_samples = _record_line(lines[0], record)
    if n_samples == 0 and not layout:
        raise DataError(f"The header of {record} gives no length; add the number of samples.")
    if n_segments is None:
        signals = _signal_lines(lines[1:], n_signals, record)
        return Header(fs, n_samples, signals, ())
    segments = _segment_lines(lines[1:], n_segments, n_samples, record)
    return Header(fs, n_samples, (), segments)


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _record_line(line: str, record: str) -> tuple[int | None, int, float, int]:
    fields = line.split()
    name, slash, segments = fields[0].partition("/")
    if len(fields) < 2 or not re.fullmatch(r"[\w.+-]+", name):
        raise DataError(f"The first line of the header of {record} is not a WFDB record line.")
    n_signals = _whole(fields[1], "number of signals", record, 0, MAX_SIGNALS)
    fs = DEFAULT_FS
    if len(fields) > 2:
        fs = _real(fields[2].partition("/")[0], "sampling rate", record)
    if not 0.001 <= fs <= 1e6:
        raise DataError(f"The header of {record} gives a sampling rate of {fs} Hz; correct it.")
    limit = int(MAX_SECONDS * fs)
    claimed = fields[3] if len(fields) > 3 else "0"
    n_samples = _whole(claimed, "number of samples", record, 0, limit)
    n_segments = None
    if slash:
        n_segments = _whole(segments, "number of segments", record, 1, MAX_SEGMENTS)
    return n_segments, n_signals, fs, n_samples


def _signal_lines(lines: list[str], n_signals: int, record: str) -> tuple[SignalSpec, ...]:
    if len(lines) < n_signals:
        raise DataError(f"The header of {record} lacks signal lines: {len(lines)} of {n_signals}.")
    return tuple(_signal_line(line, record) for line in lines[:n_signals])


def _signal_line(line: str, record: str) -> SignalSpec:
    fields = line.split(None, _DESCRIPTION_FIELD)
    match = _FORMAT.fullmatch(fields[1]) if len(fields) > 1 else None
    if match is None:
        raise DataError(f"A signal line of {record} has no storage format; fetch the header again.")
    fmt, spf, skew, offset = (int(group or 0) for group in match.groups())
    if fmt not in FORMATS and fields[0] != "~":
        known = ", ".join(str(code) for code in FORMATS)
        raise DataError(f"{record} is stored in format {fmt}; convert it to one of {known}.")
    if spf > MAX_SAMPLES_PER_FRAME or skew > MAX_SKEW:
        raise DataError(f"{record} claims {spf} samples a frame and a skew of {skew} frames.")
    zero = _optional(fields, 4, "ADC zero", record)
    gain, baseline, units = _gain(fields[2] if len(fields) > 2 else "0", zero, record)
    return SignalSpec(
        file=fields[0],
        fmt=fmt,
        spf=spf or 1,
        skew=skew,
        offset=offset,
        gain=gain,
        baseline=baseline,
        units=units,
        initial=_optional(fields, 5, "initial value", record),
        name=_printable(fields[_DESCRIPTION_FIELD]) if len(fields) > _DESCRIPTION_FIELD else "",
    )


def _gain(field: str, zero: int, record: str) -> tuple[float, int, str]:
    """Return gain, baseline and units; a gain of 0 means uncalibrated, 200 per mV by convention."""
    match = _GAIN.fullmatch(field)
    if match is None:
        raise DataError(f"A signal of {record} has the gain {field[:40]!r}; correct the header.")
    gain = _real(match[1], "gain", record)
    if gain != 0 and not 1e-30 < abs(gain) < 1e30:
        raise DataError(f"A signal of {record} has a gain of {gain}; correct the header.")
    baseline = zero if match[2] is None else int(match[2])
    return gain or DEFAULT_GAIN, baseline, match[3] or "mV"


def _segment_lines(
    lines: list[str], n_segments: int, n_samples: int, record: str
) -> tuple[tuple[str, int], ...]:
    if len(lines) < n_segments:
        raise DataError(f"The header of {record} lacks segments: {len(lines)} of {n_segments}.")
    segments = []
    for line in lines[:n_segments]:
        fields = line.split()
        if len(fields) < 2:
            raise DataError(f"A segment line of {record} has no length; fetch the header again.")
        length = _whole(fields[1], "segment length", record, 0, n_samples)
        segments.append((fields[0], length))
    total = sum(length for _, length in segments)
    if total != n_samples:
        raise DataError(f"The segments of {record} hold {total} samples, its header {n_samples}.")
    return tuple(segments)


def _optional(fields: list[str], index: int, what: str, record: str) -> int:
    if len(fields) <= index:
        return 0
    return _whole(fields[index], what, record, -(1 << 40), 1 << 40)


def _whole(text: str, what: str, record: str, low: int, high: int) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text) or not low <= int(text) <= high:
        raise DataError(f"The header of {record} gives {text[:40]!r} as its {what}; correct it.")
    return int(text)


def _real(text: str, what: str, record: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"The header of {record} gives {text[:40]!r} as a {what}; correct it.")
    return value


def _printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable()).strip()[:80]
