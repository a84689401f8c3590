"""Beats of a growing recording, computed segment by segment from elapsed samples alone.

The recording is cut on an absolute grid of 60 s. A segment ends on the grid or at the cursor; it
begins 12.5 s before the grid point before its end and is read by itself, so the zero-phase filters
in it see no sample after its end. Beats of the last 2.5 s before a grid point want signal after
them: at a cursor on that point they come from the segment that ends there, and once the cursor is
past it from the next one. What :meth:`FeatureStore.beats` returns is therefore a function of the
header, of the samples before the cursor and of the window, whatever path the cursor took, and a
cursor that moves on the grid computes nothing twice.

Finding beats costs a tenth of measuring them, so who asks for less detail pays for no more. Each
segment's beats are computed once: kept in memory, and where there is a cache and the segment
ends on a grid of 10 s, on disk, under a hash of all samples up to its end.
"""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals.beats import Beats
from ecgscroll.signals.cache import CacheFile
from ecgscroll.signals.codec import decode, encode
from ecgscroll.signals.segment import DETAILS, Detail, analyse


class Elapsed(Protocol):
    """The part of a recording before a cursor; sample numbers are absolute."""

    @property
    def fs(self) -> float:
        """Sampling frequency, Hz."""

    @property
    def n_samples(self) -> int:
        """Length of the whole recording by its header."""

    @property
    def elapsed(self) -> int:
        """Samples that have passed."""

    @property
    def leads(self) -> tuple[str, ...]:
        """Names of all channels."""

    @property
    def ecg(self) -> tuple[int, ...]:
        """Which channels are ECG."""

    def read(self, start: int, stop: int) -> NDArray[np.float32]:
        """Samples [start, stop) of every channel, (n_leads, stop - start); NaN where invalid."""


class Stored(Elapsed, Protocol):
    """One whose samples can be told apart cheaply; a store with a cache needs it."""

    def raw(self, start: int, stop: int, step: int) -> list[bytes]:
        """Bytes that fix samples [start, stop) given those before, ``step`` samples each."""

    def stamp(self) -> Mapping[str, object]:
        """What changes when the files do, by file or segment."""


MAX_TAILS = 64
"""Tails kept, the last used: a few for each of some environments on the same recording."""
MAX_JOINED = 4
"""Joined spans kept: a measure asks for what the skim before it asked for."""
PIECES = 6
"""Pieces of a block at whose ends a tail is worth a place on disk."""

MOVED_S = 0.15
"""How far two segments may time one beat apart, since only one of them sees that it is paced; each
tells that much of the one before, so that neither leaves it to the other."""

_AT_ONCE = 180
_Segment = tuple[int, Detail]  # the sample where it ends, and what is told of its beats
_K = TypeVar("_K")


@dataclass(frozen=True)
class BlockScheme:
    """Seconds of a block, of what precedes it, and of what follows a beat before it is final."""

    block_s: float = 60.0
    context_s: float = 10.0
    guard_s: float = 2.5


class FeatureStore:
    """Beats of one recording, shared by every environment on it; each segment is computed once.

    Parameters
    ----------
    scheme
        How the recording is cut.
    cache
        Where segments are kept on disk; the streams are then `Stored` ones.
    """

    def __init__(self, scheme: BlockScheme = BlockScheme(), cache: CacheFile | None = None) -> None:
        self.scheme = scheme
        self._keys = Keys(cache) if cache else None
        self._grid: _Grid | None = None
        self._blocks: dict[_Segment, Beats] = {}
        self._tails: OrderedDict[_Segment, Beats] = OrderedDict()
        self._joined: OrderedDict[tuple[int, int, int, Detail], Beats] = OrderedDict()

    def beats(self, stream: Elapsed, t0: float, t1: float, detail: Detail = "waves") -> Beats:
        """Beats with ``t0 <= time < t1`` that the elapsed samples show.

        Parameters
        ----------
        stream
            The recording up to the cursor; every sample is read through it.
        t0, t1
            Window in seconds; what lies past the cursor holds no beats.
        detail
            What is asked for; see :data:`ecgscroll.signals.segment.Detail`. It never changes a
            value that it includes.
        """
        elapsed = stream.elapsed
        if not stream.ecg or t1 <= t0 or elapsed == 0:
            return Beats.empty(_leads(stream))
        if self._grid is None or self._grid.fs != stream.fs:
            self._grid = _Grid(self.scheme, stream.fs)
        grid = self._grid
        # One refractory period earlier, so that the join with the block before is always made.
        first, last = grid.owner(t0 - 0.25), grid.owner(min(t1, elapsed / stream.fs))
        newest = (elapsed - 1) // grid.step
        first, last = min(first, newest), min(last, newest)
        key = first, last, elapsed if last == newest else 0, detail
        joined = self._joined.get(key)
        if joined is None:
            joined = self._join(stream, grid, (first, last, newest), detail)
            _remember(self._joined, key, joined, MAX_JOINED)
        return joined.between(t0, t1)

    def _join(
        self, stream: Elapsed, grid: _Grid, span: tuple[int, int, int], detail: Detail
    ) -> Beats:
        """Beats of blocks ``first`` to ``last``; those before the ``newest`` are final."""
        first, last, newest = span
        ends = [(block + 1) * grid.step for block in range(first, min(last + 1, newest))]
        blocks = [self._block(stream, grid, (end, detail)) for end in ends]
        parts = [b.between(0.0, grid.final(end)) for b, end in zip(blocks, ends, strict=True)]
        if last == newest:
            parts.append(self._tail(stream, grid, (stream.elapsed, detail)))
        return _without_doubles(Beats.concatenate(parts))

    def _block(self, stream: Elapsed, grid: _Grid, segment: _Segment) -> Beats:
        end, detail = segment
        for richer in DETAILS[DETAILS.index(detail) :]:
            if (end, richer) in self._blocks:
                return self._blocks[end, richer]
        self._blocks[segment] = found = self._segment(stream, grid, segment)
        return found

    def _tail(self, stream: Elapsed, grid: _Grid, segment: _Segment) -> Beats:
        end, _ = segment
        if end % grid.step == 0:
            return self._block(stream, grid, segment)
        found = self._tails.pop(segment, None)
        if found is None:
            found = self._segment(stream, grid, segment)
        _remember(self._tails, segment, found, MAX_TAILS)
        return found

    def _segment(self, stream: Elapsed, grid: _Grid, segment: _Segment) -> Beats:
        """Beats of the segment that ends at a sample, from disk or computed."""
        end, detail = segment
        start = grid.start(end)
        first, last = start / stream.fs - MOVED_S, end / stream.fs
        key = self._keys.of(stream, grid, segment) if self._keys else None  # type: ignore[arg-type]
        if key and self._keys:
            found = self._keys.load(key, _leads(stream), first, last)
            if found is not None:
                return found
        origin = max(0, start - grid.context)
        signal = stream.read(origin, end)
        if len(stream.ecg) < len(signal):
            signal = signal[list(stream.ecg)]
        found = analyse(signal, stream.fs, _leads(stream), origin, detail)
        inside = (found.time >= first) & (found.time < last)
        found = found.take(inside).settled()  # or they keep the context's beats alive
        if key and self._keys:
            self._keys.save(stream, key, found)  # type: ignore[arg-type]
        return found


class _Grid:
    """Sample numbers of the grid: ``step`` between points, a block's reach and its context."""

    def __init__(self, scheme: BlockScheme, fs: float) -> None:
        self.fs = fs
        self.piece = max(1, round(scheme.block_s * fs / PIECES))
        self.step = self.piece * PIECES
        self.guard = round(scheme.guard_s * fs)
        self.context = round(scheme.context_s * fs)

    def owner(self, t: float) -> int:
        """Which block's final beats hold time ``t``."""
        return max(0, math.floor((t * self.fs + self.guard) / self.step))

    def start(self, end: int) -> int:
        """First sample whose beats the segment that ends at ``end`` tells."""
        return max(0, (end - 1) // self.step * self.step - self.guard)

    def final(self, end: int) -> float:
        """Time (s) from which a later segment tells the beats better than the one to ``end``."""
        return (end - self.guard) / self.fs


class Keys:
    """Keys of segments: a chain of hashes over the recording's pieces, each over the one before.

    A key is thus a function of the cache file's own key and of all samples up to a segment's end.
    """

    def __init__(self, cache: CacheFile) -> None:
        self.cache = cache
        self._chain = [hashlib.sha256(cache.key).digest()]
        self._stamps: dict[str, object] = {}

    def of(self, stream: Stored, grid: _Grid, segment: _Segment) -> bytes | None:
        """Key of a segment; None where it is not worth a place on disk."""
        end, detail = segment
        count, rest = divmod(end, grid.piece)
        if rest and end != stream.n_samples:
            return None
        self._extend(stream, grid.piece, count)
        state = hashlib.sha256(self._chain[count])
        for piece in stream.raw(end - rest, end, rest) if rest else ():
            state.update(piece)
        state.update(f"{detail} {end}".encode())
        self._same_files(stream)
        return state.digest()

    def _same_files(self, stream: Stored) -> bool:
        """Whether no file changed since it was first hashed."""
        return all(
            self._stamps.setdefault(name, stamp) == stamp for name, stamp in stream.stamp().items()
        )

    def _extend(self, stream: Stored, piece: int, count: int) -> None:
        while (known := len(self._chain) - 1) < count:
            stop = min(count, known + _AT_ONCE)
            for raw in stream.raw(known * piece, stop * piece, piece):
                state = hashlib.sha256(self._chain[-1])
                state.update(raw)
                self._chain.append(state.digest())

    def load(self, key: bytes, leads: tuple[str, ...], t0: float, t1: float) -> Beats | None:
        """Beats on disk under a key."""
        data = self.cache.get(key)
        return None if data is None else decode(data, leads, t0, t1)

    def save(self, stream: Stored, key: bytes, beats: Beats) -> None:
        """Put beats on disk, unless the recording's files changed since their first hash."""
        if self._same_files(stream):
            self.cache.put(key, encode(beats))


def _leads(stream: Elapsed) -> tuple[str, ...]:
    return tuple(stream.leads[i] for i in stream.ecg)


def _remember(store: OrderedDict[_K, Beats], key: _K, value: Beats, limit: int) -> None:
    store[key] = value
    while len(store) > limit:
        store.popitem(last=False)


def _without_doubles(beats: Beats) -> Beats:
    """Drop the second of two beats under 200 ms apart, which only a block's edge leaves."""
    close = beats.time[1:] - beats.time[:-1] < 0.2
    if not np.count_nonzero(close):
        return beats
    return beats.take(np.concatenate([[True], ~close]))
