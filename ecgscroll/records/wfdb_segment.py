"""One WFDB segment: a header and the signal files it names, read by window.

A window depends on the header and on frames before its end, nothing else: a file cut there, or
with another future, gives the same array.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ecgscroll.errors import DataError
from ecgscroll.files import inside, read_inside
from ecgscroll.records.wfdb_formats import FORMATS, Format, decode
from ecgscroll.records.wfdb_header import MAX_HEADER_BYTES, SignalSpec, parse_header
from ecgscroll.records.wfdb_kernels import scaled

NO_FILE = "~"
_CHUNK = 1 << 18  # samples decoded at a time: bounds what a long window holds beside its result
_CHECKPOINT = 1 << 16  # frames between the sums that let format 8 be read from the middle
_DIFFERENCES = 8


@dataclass(frozen=True)
class _File:
    """A signal file: its frames interleave ``width`` samples of the signals ``channels``."""

    path: Path
    fmt: Format
    differences: bool
    offset: int
    width: int
    channels: tuple[tuple[int, int, SignalSpec], ...]  # channel, first slot in a frame, signal
    sums: list[NDArray[np.int64]] = field(default_factory=list, compare=False, repr=False)

    def frames(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return frames [start, stop) as raw sample values, NaN where invalid or absent."""
        digital = self._samples(start, stop)
        flat = np.full((stop - start) * self.width, np.nan)
        flat[: len(digital)] = digital
        if self.fmt.invalid is not None:
            flat[: len(digital)][digital == self.fmt.invalid] = np.nan
        values = flat.reshape(-1, self.width)
        if self.differences:
            self._integrate(values, start)
        return values

    @cached_property
    def plain(self) -> bool:
        """Whether a frame holds one sample of each signal, as it is and in its place."""
        signals = [signal for _, _, signal in self.channels]
        return not self.differences and all(s.spf == 1 and s.skew == 0 for s in signals)

    def scale_into(self, out: NDArray[np.float32], start: int, stop: int, origin: int) -> None:
        """Write frames [start, stop) of a plain file, in physical units, into ``out``.

        Its first column is frame ``origin``; where there is no sample it is left as it is.
        """
        digital = self._samples(start, stop)
        invalid = -(1 << 31) - 1 if self.fmt.invalid is None else self.fmt.invalid
        for channel, slot, signal in self.channels:
            row = out[channel, start - origin : stop - origin]
            baseline, gain = float(signal.baseline), float(signal.gain)
            scaled(digital, self.width, slot, invalid, baseline, gain, row)

    def raw(self, start: int, stop: int, step: int) -> list[bytes]:
        """Return what is stored of frames [start, stop), ``step`` frames each.

        The file's bytes where every bound lies between groups of samples; else the samples, since
        a shared group would let the next frame in.
        """
        bounds = [(at, min(at + step, stop)) for at in range(start, stop, step)]
        whole = all(n * self.width % self.fmt.samples == 0 for n in (start, stop, step))
        if not whole:
            return [self._samples(low, high).tobytes() for low, high in bounds]
        size = self.fmt.size * self.width // self.fmt.samples
        if self.fmt.size * self.width % self.fmt.samples:
            return [self._bytes(*self._groups(low, high)[:2]) for low, high in bounds]
        data = self._bytes(*self._groups(start, stop)[:2])
        return [data[(low - start) * size : (high - start) * size] for low, high in bounds]

    def _groups(self, start: int, stop: int) -> tuple[int, int, int, int]:
        """Return where the groups that hold frames [start, stop) begin and how many bytes they are.

        The samples to skip in them, and how many samples follow, come third and fourth.
        """
        first, count = start * self.width, (stop - start) * self.width
        group, skip = divmod(first, self.fmt.samples)
        n_groups = -(-(skip + count) // self.fmt.samples)
        return self.offset + group * self.fmt.size, n_groups * self.fmt.size, skip, count

    def _bytes(self, at: int, size: int) -> bytes:
        try:
            # Twice as fast as a file object, and a walk reads at every step.
            handle = os.open(self.path, os.O_RDONLY)
            try:
                return os.pread(handle, size, at)
            finally:
                os.close(handle)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise DataError(f"{self.path.name!r} cannot be read: {error.strerror}.") from None

    def _samples(self, start: int, stop: int) -> NDArray[np.int32]:
        at, size, skip, count = self._groups(start, stop)
        return decode(self._bytes(at, size), self.fmt, skip, count)

    def _integrate(self, values: NDArray[np.float64], start: int) -> None:
        """Turn first differences into samples, in place."""
        base = self.sum_before(start)
        for _, slot, signal in self.channels:
            slots = slice(slot, slot + signal.spf)
            steps = values[:, slots].ravel()
            steps[:1] += base[slot]
            values[:, slots] = np.cumsum(steps).reshape(-1, signal.spf)

    def sum_before(self, start: int) -> NDArray[np.int64]:
        """Return each signal's sample value just before frame ``start``, at its first slot."""
        if not self.sums:
            first = np.zeros(self.width, dtype=np.int64)
            for _, slot, signal in self.channels:
                first[slot] = signal.initial
            self.sums.append(first)
        block = min(start // _CHECKPOINT, len(self.sums) - 1)
        total = self.sums[block]
        for at in range(block * _CHECKPOINT, start, _CHECKPOINT):
            end = min(at + _CHECKPOINT, start)
            digital = self._samples(at, end)
            total = total + self._steps(digital, end - at)
            whole = len(digital) == _CHECKPOINT * self.width
            if whole and len(self.sums) == end // _CHECKPOINT:
                self.sums.append(total)
        return total

    def _steps(self, digital: NDArray[np.int32], n_frames: int) -> NDArray[np.int64]:
        steps = np.zeros(n_frames * self.width, dtype=np.int64)
        steps[: len(digital)] = digital
        per_slot = steps.reshape(-1, self.width).sum(axis=0)
        total = np.zeros(self.width, dtype=np.int64)
        for _, slot, signal in self.channels:
            total[slot] = per_slot[slot : slot + signal.spf].sum()
        return total


@dataclass(frozen=True)
class Segment:
    """A single-segment record, or one segment of a longer one."""

    fs: float
    n_samples: int
    signals: tuple[SignalSpec, ...]
    files: tuple[_File, ...]

    @classmethod
    def open(cls, folder: Path, name: str) -> Segment:
        """Open ``folder/name.hea``.

        Raises
        ------
        DataError
            If the header is absent, malformed, holds segments, or names what it may not.
        """
        header = parse_header(read_inside(folder, f"{name}.hea", MAX_HEADER_BYTES), name)
        if header.segments:
            raise DataError(f"{name} is a segment that holds segments; flatten the record.")
        return cls(header.fs, header.n_samples, header.signals, _files(folder, header.signals))

    @property
    def has_signal(self) -> bool:
        """Whether any of its signal files is there."""
        return any(file.path.is_file() for file in self.files)

    def stamps(self) -> tuple[tuple[int, int], ...]:
        """Return size and time of every signal file; zeros for one that is not there."""
        found = []
        for file in self.files:
            try:
                status = file.path.stat()
                found.append((status.st_size, status.st_mtime_ns))
            except OSError:
                found.append((0, 0))
        return tuple(found)

    def raw(self, start: int, stop: int, step: int) -> list[bytes]:
        """Return bytes that fix frames [start, stop), ``step`` each, after those before them.

        What `facts` says is left out.
        """
        pieces = [file.raw(start, stop, step) for file in self.files]
        if len(pieces) == 1:
            return pieces[0]
        return [
            b"".join([*(b"%d," % len(part) for part in parts), *parts])
            for parts in zip(*pieces, strict=True)
        ]

    def before(self, frame: int) -> bytes:
        """Return what `raw` leaves out of a stretch that begins at a frame: sums of differences."""
        sums = (file.sum_before(frame) for file in self.files if file.differences and frame)
        return b"".join(sum_.tobytes() for sum_ in sums)

    @cached_property
    def facts(self) -> str:
        """What the header says of how the files' bytes become samples."""
        return repr(self.signals)

    def read(self, start: int, stop: int) -> NDArray[np.float32]:
        """Return frames [start, stop) in physical units, NaN where there is no sample.

        Several samples in a frame are averaged. A signal with a skew of k frames is aligned with
        the others from frames before ``stop`` alone, so its last k values are NaN.

        Returns
        -------
        ndarray of float32, shape (n_signals, stop - start)
        """
        out = np.full((len(self.signals), stop - start), np.nan, dtype=np.float32)
        for file in self.files:
            step = max(1, _CHUNK // file.width)
            for at in range(start, stop, step):
                end = min(at + step, stop)
                if file.plain:
                    file.scale_into(out, at, end, start)
                    continue
                frames = file.frames(at, end)
                for channel, slot, signal in file.channels:
                    values = _physical(frames[:, slot : slot + signal.spf], signal)
                    _place(out[channel], values, at - start - signal.skew)
        return out


def _physical(samples: NDArray[np.float64], signal: SignalSpec) -> NDArray[np.float64]:
    values = samples[:, 0] if signal.spf == 1 else samples.mean(axis=1)
    return np.asarray((values - signal.baseline) / signal.gain, dtype=np.float64)


def _place(row: NDArray[np.float32], values: NDArray[np.float64], at: int) -> None:
    """Write ``values`` into ``row`` from index ``at``, which may lie before its start."""
    values = values[max(0, -at) :]
    row[max(0, at) : max(0, at) + len(values)] = values


def _files(folder: Path, signals: tuple[SignalSpec, ...]) -> tuple[_File, ...]:
    by_name: dict[str, list[tuple[int, int, SignalSpec]]] = {}
    widths: dict[str, int] = {}
    for channel, signal in enumerate(signals):
        if signal.file != NO_FILE:
            slot = widths.get(signal.file, 0)
            by_name.setdefault(signal.file, []).append((channel, slot, signal))
            widths[signal.file] = slot + signal.spf
    return tuple(_file(folder, name, widths[name], channels) for name, channels in by_name.items())


def _file(
    folder: Path, name: str, width: int, channels: list[tuple[int, int, SignalSpec]]
) -> _File:
    path = inside(folder, name)
    formats = {signal.fmt for _, _, signal in channels}
    if len(formats) > 1:
        raise DataError(f"The header gives {name!r} two formats; fetch the record again.")
    code = formats.pop()
    offset = channels[0][2].offset
    return _File(path, FORMATS[code], code == _DIFFERENCES, offset, width, tuple(channels))
