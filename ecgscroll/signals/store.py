"""Beats of a growing recording, computed block by block from elapsed samples alone.

The recording is cut on an absolute grid into blocks of 60 s. A block is final once the cursor has
passed its end by a guard of 2.5 s (or the recording ends); its beats come from the samples
[start - 10 s, end + 2.5 s] and from nothing else, so zero-phase filters inside it see no future
that the cursor does not. Beats after the last final block are computed from the samples up to the
cursor. What :meth:`FeatureStore.beats` returns is therefore a function of the header, of the
samples before the cursor and of the window, whatever path the cursor took.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals.beats import Beats
from ecgscroll.signals.segment import analyse


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


MAX_TAILS = 8
"""Tails kept, the last used: one for each of a few environments on the same recording."""


@dataclass(frozen=True)
class BlockScheme:
    """Seconds of a block, of what precedes it, and of what must follow before it is final."""

    block_s: float = 60.0
    context_s: float = 10.0
    guard_s: float = 2.5


class FeatureStore:
    """Beats of one recording, shared by every environment on it; each block is computed once."""

    def __init__(self, scheme: BlockScheme = BlockScheme()) -> None:
        self.scheme = scheme
        self._final: dict[int, Beats] = {}
        self._tails: dict[int, Beats] = {}

    def beats(self, stream: Elapsed, t0: float, t1: float) -> Beats:
        """Beats with ``t0 <= time < t1`` that the elapsed samples show.

        Parameters
        ----------
        stream
            The recording up to the cursor; every sample is read through it.
        t0, t1
            Window in seconds; what lies past the cursor holds no beats.
        """
        leads = tuple(stream.leads[i] for i in stream.ecg)
        if not leads or t1 <= t0:
            return Beats.empty(leads)
        # One refractory period earlier, so that the join with the block before is always made.
        step = self._step(stream)
        first = max(0, math.floor((t0 - 0.25) * stream.fs / step))
        last = math.floor(min(t1 * stream.fs, stream.elapsed) / step)
        n_final = self._final_blocks(stream)
        parts = [self._block(stream, b) for b in range(first, min(last + 1, n_final))]
        if last >= n_final and n_final * step < stream.elapsed:
            parts.append(self._tail_beats(stream, n_final))
        joined = Beats.concatenate(parts) if parts else Beats.empty(leads)
        return _without_doubles(joined).between(t0, t1)

    def _step(self, stream: Elapsed) -> int:
        return round(self.scheme.block_s * stream.fs)

    def _final_blocks(self, stream: Elapsed) -> int:
        """How many blocks the cursor has made final."""
        step = self._step(stream)
        if stream.elapsed >= stream.n_samples:
            return -(-stream.n_samples // step)
        return max(0, (stream.elapsed - round(self.scheme.guard_s * stream.fs)) // step)

    def _block(self, stream: Elapsed, block: int) -> Beats:
        if block not in self._final:
            start = block * self._step(stream)
            stop = min(start + self._step(stream), stream.n_samples)
            end = min(stop + round(self.scheme.guard_s * stream.fs), stream.n_samples)
            self._final[block] = self._compute(stream, start, stop, end)
        return self._final[block]

    def _tail_beats(self, stream: Elapsed, n_final: int) -> Beats:
        tail = self._tails.pop(stream.elapsed, None)
        if tail is None:
            start = n_final * self._step(stream)
            tail = self._compute(stream, start, stream.elapsed, stream.elapsed)
        self._tails[stream.elapsed] = tail
        if len(self._tails) > MAX_TAILS:
            self._tails.pop(next(iter(self._tails)), None)
        return tail

    def _compute(self, stream: Elapsed, start: int, stop: int, end: int) -> Beats:
        """Beats in samples [start, stop), from samples [start - context, end)."""
        origin = max(0, start - round(self.scheme.context_s * stream.fs))
        signal = stream.read(origin, end)[list(stream.ecg)]
        leads = tuple(stream.leads[i] for i in stream.ecg)
        found = analyse(signal, stream.fs, leads, origin)
        inside = (found.time >= start / stream.fs) & (found.time < stop / stream.fs)
        return found.take(inside)  # a copy: a slice would keep the context's beats alive


def _without_doubles(beats: Beats) -> Beats:
    """Drop the second of two beats under 200 ms apart, which only a block's edge can leave."""
    close = np.diff(beats.time) < 0.2
    if not close.any():
        return beats
    return beats.take(np.concatenate([[True], ~close]))
