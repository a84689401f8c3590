"""A WFDB recording, read lazily by window.

The header is parsed once and no samples are held. A window depends on the header and on samples
before its end alone, so a reader that keeps behind the cursor is causal whatever the file's future
holds; that is why no checksum of the whole file is verified.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ecgscroll.errors import DataError
from ecgscroll.files import inside, read_inside
from ecgscroll.records.wfdb_header import MAX_HEADER_BYTES, Header, SignalSpec, parse_header
from ecgscroll.records.wfdb_segment import NO_FILE, Segment

_MAX_WINDOW = 1 << 29  # values in one window, 2 GB: beyond this a request is a mistake
_MAX_OPEN_SEGMENTS = 64
_TO_MILLIVOLTS = {"v": 1e3, "mv": 1.0, "uv": 1e-3, "µv": 1e-3, "μv": 1e-3, "nv": 1e-6}
_NOT_ECG = re.compile(
    r"\b(ppg|pleth|bvp|resp\w*|abp|art|cvp|pap|icp|bp|eeg|eog|emg|eda|gsr|scg|temp|spo2|co2|so2)\b"
    r"|pressure|pleth|airflow|oxygen",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Piece:
    """A segment's place in the recording; ``segment`` is ``~`` where nothing was recorded."""

    segment: str
    start: int
    stop: int


@dataclass(frozen=True)
class Recording:
    """An ambulatory recording on disk; cheap to hold, copy and pickle.

    Attributes
    ----------
    folder, database, name
        Where it lies, the database it belongs to and its record name.
    fs
        Frames per second (Hz); several samples in a frame are averaged.
    n_samples
        Length in frames by the header, never by the file.
    duration
        ``n_samples / fs``, in seconds.
    leads
        Unique channel names; equal ones become ``ECG[0]``, ``ECG[1]``.
    units
        Unit of each channel; millivolts for ECG.
    ecg
        Indices of the channels that are ECG.
    has_signal
        False where the signal files are absent (annotation-only).
    span
        Of a part: its bounds in whole seconds of the recording on disk; see `part`.
    """

    folder: Path
    database: str
    name: str
    fs: float
    n_samples: int
    leads: tuple[str, ...]
    units: tuple[str, ...]
    ecg: tuple[int, ...]
    has_signal: bool
    _names: tuple[str, ...] | None = field(repr=False)  # by which segments of any layout are read
    _pieces: tuple[_Piece, ...] = field(repr=False)
    _open: dict[str, Segment] = field(default_factory=dict, repr=False, compare=False)
    span: tuple[int, int] | None = None

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return self.n_samples / self.fs

    @property
    def first(self) -> int:
        """Which sample of the recording on disk is this one's first."""
        return 0 if self.span is None else round(self.span[0] * self.fs)

    def part(self, span: tuple[int, int] | None) -> Recording:
        """Return the stretch [t0, t1) whole seconds as a recording of its own.

        Its first sample is the first at t0, which lies at 0 s; None gives the whole recording.

        Raises
        ------
        DataError
            If the span ends after the recording.
        """
        if span is None:
            return self
        first, last = (round(bound * self.fs) for bound in span)
        if not 0 <= first < last <= self.n_samples:
            raise DataError(
                f"{self.database}/{self.name} lasts {self.duration:.3f} s, so it has no span "
                f"{span[0]}-{span[1]}."
            )
        return replace(self, n_samples=last - first, span=span)

    @property
    def facts(self) -> str:
        """All that `read` depends on besides what `raw` returns."""
        own = repr((self.fs, self.leads, self.units, self.ecg, self._names, self.span))
        return own if len(self._pieces) > 1 else own + self._segment(self._pieces[0].segment).facts

    @classmethod
    def open(cls, folder: Path, name: str, database: str | None = None) -> Recording:
        """Open the record ``name`` of ``folder``.

        Parameters
        ----------
        folder
            Folder that holds the header and every file it names.
        name
            Record name without extension or path.
        database
            Name of the database; the folder's if it is not given.

        Raises
        ------
        DataError
            If the header is absent, malformed, or names a file outside the folder.
        """
        folder = Path(folder)
        header = parse_header(read_inside(folder, f"{name}.hea", MAX_HEADER_BYTES), name)
        opened: dict[str, Segment] = {}
        if header.segments:
            signals, names = _layout(folder, name, header, opened)
            pieces = _pieces(header)
            has_signal = _any_signal(folder, pieces, opened)
        else:
            opened[name] = segment = Segment.open(folder, name)
            signals, names, has_signal = header.signals, None, segment.has_signal
            pieces = (_Piece(name, 0, header.n_samples),)
        ecg = _ecg_channels(signals)
        return cls(
            folder=folder,
            database=database or folder.resolve().name,
            name=name,
            fs=header.fs,
            n_samples=header.n_samples,
            leads=_unique([signal.name for signal in signals]),
            units=tuple("mV" if i in ecg else s.units for i, s in enumerate(signals)),
            ecg=ecg,
            has_signal=has_signal,
            _names=names,
            _pieces=pieces,
            _open=opened,
        )

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_open": {}}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    def read(self, start: int, stop: int) -> NDArray[np.float32]:
        """Return samples [start, stop) of every channel.

        Parameters
        ----------
        start, stop
            Sample numbers, 0 <= start <= stop <= n_samples.

        Returns
        -------
        ndarray of float32, shape (n_leads, stop - start)
            Millivolts for ECG, the channel's own unit otherwise; NaN where a sample is invalid,
            was never recorded, or lies after the end of a file that is shorter than its header.

        Raises
        ------
        DataError
            If there is no waveform, the window is outside the recording or absurdly large, or a
            segment cannot be opened.
        """
        if not self.has_signal:
            raise DataError(f"{self.name} has annotations only; fetch its signal files first.")
        if not 0 <= start <= stop <= self.n_samples:
            raise DataError(f"[{start}, {stop}) is outside {self.name}'s {self.n_samples} samples.")
        if (stop - start) * max(1, len(self.leads)) > _MAX_WINDOW:
            raise DataError(f"A window of {stop - start} samples is too large; ask for less.")
        start, stop = start + self.first, stop + self.first
        if self._pieces[0].segment != self.name:
            return self._join(start, stop)
        segment = self._segment(self.name)
        out = segment.read(start, stop)
        for channel in self.ecg:
            factor = _millivolts(segment.signals[channel].units)
            if factor != 1.0:
                out[channel] *= np.float32(factor)
        return out

    def raw(self, start: int, stop: int, step: int) -> list[bytes]:
        """Return bytes that fix samples [start, stop) given those before, ``step`` frames each.

        They depend on frames before ``stop`` alone, as :meth:`read` does, and cost less: most are
        the files' own. In a recording of several segments, what the headers say of each is part
        of them.
        """
        first, start, stop = start == 0, start + self.first, stop + self.first
        if len(self._pieces) == 1:
            segment = self._segment(self._pieces[0].segment)
            found = segment.raw(start, stop, step)
            return [segment.before(start) + found[0], *found[1:]] if first and found else found
        bounds = [(at, min(at + step, stop)) for at in range(start, stop, step)]
        return [self._raw_across(low, high) for low, high in bounds]

    def _raw_across(self, start: int, stop: int) -> bytes:
        parts: list[bytes] = []
        first = bisect_right(self._pieces, start, key=lambda piece: piece.stop)
        for piece in self._pieces[first:]:
            if piece.start >= stop:
                break
            low, high = max(start, piece.start), min(stop, piece.stop)
            parts.append(b"%d,%d:" % (low, high))
            if piece.segment != NO_FILE:
                segment = self._segment(piece.segment)
                parts.append(segment.facts.encode())
                if low == self.first:
                    parts.append(segment.before(low - piece.start))
                parts += segment.raw(low - piece.start, high - piece.start, high - low)
        return b"".join(parts)

    def stamp(self) -> dict[str, tuple[tuple[int, int], ...]]:
        """Return sizes and times of the signal files of each segment opened, to tell a change."""
        return {name: segment.stamps() for name, segment in self._open.items()}

    def lead_index(self, lead: str | int) -> int:
        """Return the channel index of a lead given by name or index.

        Raises
        ------
        DataError
            If there is no such lead, or the name is shared by several.
        """
        if isinstance(lead, int) and not isinstance(lead, bool) and 0 <= lead < len(self.leads):
            return lead
        if lead in self.leads:
            return self.leads.index(str(lead))
        raise DataError(f"{self.name} has no lead {lead!r}; choose one of {', '.join(self.leads)}.")

    def _join(self, start: int, stop: int) -> NDArray[np.float32]:
        out = np.full((len(self.leads), stop - start), np.nan, dtype=np.float32)
        first = bisect_right(self._pieces, start, key=lambda piece: piece.stop)
        ecg = frozenset(self.ecg)
        for piece in self._pieces[first:]:
            if piece.start >= stop:
                break
            if piece.segment != NO_FILE:
                low, high = max(start, piece.start), min(stop, piece.stop)
                segment = self._segment(piece.segment)
                values = segment.read(low - piece.start, high - piece.start)
                for channel, source in self._channels(segment):
                    factor = _millivolts(segment.signals[source].units) if channel in ecg else 1.0
                    out[channel, low - start : high - start] = values[source] * np.float32(factor)
        return out

    def _channels(self, segment: Segment) -> list[tuple[int, int]]:
        """Pair this recording's channels with the segment's; equal names in their order."""
        if self._names is None:
            return [(i, i) for i in range(min(len(self.leads), len(segment.signals)))]
        theirs: defaultdict[str, list[int]] = defaultdict(list)
        for index, signal in reversed(list(enumerate(segment.signals))):
            theirs[signal.name].append(index)
        return [(i, theirs[name].pop()) for i, name in enumerate(self._names) if theirs[name]]

    def _segment(self, name: str) -> Segment:
        segment = self._open.get(name)
        if segment is None:
            segment = Segment.open(self.folder, name)
            if segment.fs != self.fs:
                raise DataError(f"{name} is sampled at {segment.fs} Hz, {self.name} at {self.fs}.")
            if len(self._open) >= _MAX_OPEN_SEGMENTS:
                self._open.clear()
            self._open[name] = segment
        return segment


def _layout(
    folder: Path, record: str, header: Header, opened: dict[str, Segment]
) -> tuple[tuple[SignalSpec, ...], tuple[str, ...] | None]:
    """Return the signals of a multi-segment record, and their names if the layout varies."""
    name, length = header.segments[0]
    if length == 0:
        data = read_inside(folder, f"{name}.hea", MAX_HEADER_BYTES)
        signals = parse_header(data, name, layout=True).signals
        return signals, tuple(signal.name for signal in signals)
    name = next((name for name, _ in header.segments if name != NO_FILE), NO_FILE)
    if name == NO_FILE:
        raise DataError(f"{record} consists of empty segments only.")
    opened[name] = Segment.open(folder, name)
    return opened[name].signals, None


def _pieces(header: Header) -> tuple[_Piece, ...]:
    pieces, at = [], 0
    for name, length in header.segments:
        if length:
            pieces.append(_Piece(name, at, at + length))
            at += length
    return tuple(pieces)


def _any_signal(folder: Path, pieces: tuple[_Piece, ...], opened: dict[str, Segment]) -> bool:
    """Check every segment's name and presence; tell whether one of them has its samples."""
    names = dict.fromkeys(piece.segment for piece in pieces if piece.segment != NO_FILE)
    for name in names:
        if not inside(folder, f"{name}.hea").is_file():
            raise DataError(f"The segment {name!r} is missing; fetch the record again.")
    return any((opened.get(name) or Segment.open(folder, name)).has_signal for name in names)


def _millivolts(units: str) -> float:
    return _TO_MILLIVOLTS.get(units.lower(), 1.0)


def _ecg_channels(signals: tuple[SignalSpec, ...]) -> tuple[int, ...]:
    """Return the channels that are voltages and not called after something else."""
    return tuple(
        index
        for index, signal in enumerate(signals)
        if signal.units.lower() in _TO_MILLIVOLTS and not _NOT_ECG.search(signal.name)
    )


def _unique(names: list[str]) -> tuple[str, ...]:
    """Make names unique: equal ones are numbered in order, nameless ones called ``lead``."""
    names = [name or "lead" for name in names]
    counts = Counter(names)
    seen: Counter[str] = Counter()
    unique: list[str] = []
    for name in names:
        label = name
        while label in unique or (label == name and counts[name] > 1):
            label = f"{name}[{seen[name]}]"
            seen[name] += 1
        unique.append(label)
    return tuple(unique)
