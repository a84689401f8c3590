"""The one object between the environment and a recording: nothing after its cursor gets through.

The cursor is a time in seconds. Samples have elapsed up to ``floor(cursor * fs + 1e-6)``; an
annotation is visible once its sample has elapsed; an interval that the annotations close later is
shown as lasting to the cursor, exactly as it would be if the files ended there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecgscroll.causal.labels import Interval, Known, Labels
from ecgscroll.causal.sources import Source
from ecgscroll.errors import CausalityError
from ecgscroll.records.databases import Kind
from ecgscroll.records.reference import StEpisode
from ecgscroll.signals.beats import Beats
from ecgscroll.signals.segment import Detail

_ROUNDING = 1e-6


class VisibleSt(NamedTuple):
    """One ST episode as the elapsed annotations show it, clipped to a window (s)."""

    start: float
    stop: float
    lead: str
    peak_mv: float | None


class Stream:
    """A recording up to a cursor.

    Parameters
    ----------
    source
        The opened recording with its annotations and its shared features.

    Attributes
    ----------
    cursor
        Seconds elapsed; only `advance` moves it.
    elapsed
        Samples that have passed.
    ended
        Whether the cursor is at T.
    total
        Length of the recording in seconds, by its header.
    fs
        Sampling frequency, Hz.
    n_samples
        Length of the recording in samples, by its header.
    leads
        Names of all channels.
    ecg
        Which channels are ECG.
    """

    def __init__(self, source: Source) -> None:
        recording = source.recording
        self.source = source
        self.total, self.n_samples = recording.duration, recording.n_samples
        self.fs, self.leads, self.ecg = recording.fs, recording.leads, recording.ecg
        self._move(0.0)

    def _move(self, cursor: float) -> None:
        self.cursor, self.ended = cursor, cursor >= self.total
        whole = math.floor(cursor * self.fs + _ROUNDING)
        self.elapsed = self.n_samples if self.ended else min(self.n_samples, whole)

    @property
    def beats_source(self) -> str:
        """``detected`` on a waveform, ``reference`` where only annotation times exist."""
        return "detected" if self.source.recording.has_signal else "reference"

    def advance(self, duration: float) -> tuple[float, float]:
        """Let ``duration`` seconds pass, at most to T; return the span (s) that has passed."""
        if not duration >= 0:
            raise CausalityError("Time only moves forward; advance by a duration above 0 seconds.")
        start = self.cursor
        stop = start + duration
        self._move(self.total if stop > self.total - _ROUNDING else stop)
        return start, self.cursor

    def read(self, start: int, stop: int) -> NDArray[np.float32]:
        """Return samples [start, stop) of every channel, (n_leads, stop - start), mV, NaN invalid.

        Raises
        ------
        CausalityError
            If ``stop`` lies after the samples that have elapsed.
        """
        if stop > self.elapsed:
            raise CausalityError(
                f"Sample {stop - 1} has not elapsed; the cursor is at sample {self.elapsed}."
            )
        return self.source.recording.read(start, stop)

    def raw(self, start: int, stop: int, step: int) -> list[bytes]:
        """Return bytes that fix samples [start, stop) given those before, ``step`` samples each.

        Raises
        ------
        CausalityError
            If ``stop`` lies after the samples that have elapsed.
        """
        if stop > self.elapsed:
            raise CausalityError(f"Sample {stop - 1} has not elapsed.")
        return self.source.recording.raw(start, stop, step)

    def stamp(self) -> Mapping[str, object]:
        """Return what changes when the recording's files do, by segment."""
        return self.source.recording.stamp()

    def beats(self, t0: float, t1: float, detail: Detail = "waves") -> Beats:
        """Return the beats in [t0, t1) s: detected, or the annotations' without a waveform.

        Who needs less detail of detected ones pays less; what is included is always the same.
        """
        if self.source.recording.has_signal:
            return self.source.features.beats(self, t0, t1, detail)
        return self.labels.beats().between(t0, min(t1, self._known.horizon))

    @property
    def labels(self) -> Labels:
        """The annotations' whole index; only this class looks into it."""
        return self.source.labels

    def annotates(self, kind: Kind) -> bool:
        """Whether labels of a kind are made here, as far as is known at the cursor."""
        return self.labels.annotates(kind, self._known)

    @property
    def _known(self) -> Known:
        """How far annotations are visible: half a sample before the first that has not elapsed."""
        return Known((self.elapsed - 0.5) / self.fs, self.cursor)

    def af(self, t0: float, t1: float) -> list[Interval]:
        """Return the AF episodes known so far, clipped to [t0, t1) s."""
        return [(start, stop) for start, stop, _ in self.labels.af.clipped(t0, t1, self._known)]

    def rhythms(self, t0: float, t1: float) -> list[tuple[str, float, float]]:
        """Return the rhythm notes in force, as (label, start, stop), clipped to [t0, t1) s."""
        found = self.labels.rhythm.clipped(t0, t1, self._known)
        return [(span.label, start, stop) for start, stop, span in found]

    def beat_labels(self, t0: float, t1: float) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
        """Return times (s) and symbols of the reference beats in [t0, t1)."""
        return self.labels.beat_labels(t0, min(t1, self._known.horizon))

    def pauses(self, t0: float, t1: float) -> list[Interval]:
        """Return the pauses (s) known so far between reference beats that end in [t0, t1) s."""
        return self.labels.pauses(t0, min(t1, self._known.horizon))

    def st(self, t0: float, t1: float) -> list[VisibleSt]:
        """Return the ST episodes known so far, clipped to [t0, t1) s; a peak once it is reached."""
        known = self._known
        return [
            self._visible_st(start, stop, episode, known)
            for start, stop, episode in self.labels.st.clipped(t0, t1, known)
        ]

    def _visible_st(self, start: float, stop: float, span: StEpisode, known: Known) -> VisibleSt:
        reached = [mv for time, mv in span.extrema if time < known.horizon]
        peak = max(reached, key=abs) if reached else None
        lead = self.leads[span.lead] if span.lead < len(self.leads) else str(span.lead)
        return VisibleSt(start, stop, lead, peak)
