"""Detection latency: how long after an event the ledger first answered it.

An event is detected at the stamp of the first entry after which the assembled answer matches it, so
one written in pieces is timed when the pieces first match. Two delays are kept: from the event's
onset, and from the earliest moment at which any causal agent could have matched it (onset + tau x
duration, with tau the IoU that a match needs; the onset itself where a match needs none).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ecgscroll.scoring.intervals import Interval, Spans


@dataclass(frozen=True)
class Quartiles:
    """First quartile, median and third quartile by linear interpolation."""

    q1: float
    median: float
    q3: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Quartiles | None:
        """Return the quartiles of finite values, or None where there are none."""
        array = np.asarray(list(values), dtype=np.float64)
        if not len(array):
            return None
        return cls(*(round(float(q), 6) for q in np.quantile(array, (0.25, 0.5, 0.75))))


@dataclass(frozen=True)
class Latency:
    """When each reference event was detected; summaries are over detected events, misses beside.

    Parameters
    ----------
    onsets, offsets
        Reference events in seconds, by onset; equal for an instant.
    stamps
        Cursor in seconds at which each was detected, None for a miss.
    tau
        Fraction of an event that must have passed before any causal agent could match it.
    """

    onsets: tuple[float, ...]
    offsets: tuple[float, ...]
    stamps: tuple[float | None, ...]
    tau: float

    @property
    def events(self) -> int:
        """Number of reference events."""
        return len(self.onsets)

    @property
    def missed(self) -> int:
        """Number of events never matched."""
        return sum(stamp is None for stamp in self.stamps)

    @property
    def missed_share(self) -> float | None:
        """Share of events never matched; None without events."""
        return self.missed / self.events if self.events else None

    def onset_delays(self) -> list[float | None]:
        """Return stamp minus onset for each event in seconds, None for a miss."""
        return self._delays(0.0)

    def earliest_delays(self) -> list[float | None]:
        """Return stamp minus the earliest possible moment for each event (s), None for a miss."""
        return self._delays(self.tau)

    def _delays(self, tau: float) -> list[float | None]:
        events = zip(self.onsets, self.offsets, self.stamps, strict=True)
        return [
            None if stamp is None else round(stamp - (onset + tau * (offset - onset)), 6)
            for onset, offset, stamp in events
        ]

    def to_dict(self, per_event: bool = False) -> dict[str, Any]:
        """Return a summary that JSON can carry, with the delay of every event if asked."""
        onset, earliest = self.onset_delays(), self.earliest_delays()
        summary: dict[str, Any] = {
            "events": self.events,
            "missed": self.missed,
            "missed_share": self.missed_share,
            "tau": self.tau,
            "from_onset": _quartiles_dict(onset),
            "from_earliest": _quartiles_dict(earliest),
        }
        return summary | {"onset_s": onset, "earliest_s": earliest} if per_event else summary


def _quartiles_dict(delays: Iterable[float | None]) -> dict[str, float] | None:
    quartiles = Quartiles.of(delay for delay in delays if delay is not None)
    return None if quartiles is None else dict(vars(quartiles))


class EventClock:
    """Stamps reference events as an answer grows; an event once detected stays so.

    Each ``mark`` method stamps what the answer now matches and returns the indices (events by
    onset) that were not detected before.

    Parameters
    ----------
    events
        Onset and offset of each event in seconds; equal for an instant.
    tau
        See ``Latency``.
    """

    def __init__(self, events: Iterable[Interval], tau: float) -> None:
        self.spans = Spans(events)
        self.tau = tau
        self._stamps: list[float | None] = [None] * len(self.spans)

    def copy(self) -> EventClock:
        """Return a clock that goes on alone; the events are shared."""
        twin = copy.copy(self)
        twin._stamps = list(self._stamps)
        return twin

    def mark_overlapping(self, start: float, stop: float, stamp: float) -> list[int]:
        """Stamp what shares time with [start, stop); an instant also at the ends."""
        return self._mark(self.spans.overlapping(start, stop), stamp)

    def mark_matching(self, start: float, stop: float, iou: float, stamp: float) -> list[int]:
        """Stamp what has at least this IoU with [start, stop)."""
        return self._mark(self.spans.matching(start, stop, iou), stamp)

    def mark_all(self, stamp: float) -> list[int]:
        """Stamp every event: the one answer there is hits the one target there is."""
        return self._mark(range(len(self.spans)), stamp)

    def _mark(self, indices: Iterable[int], stamp: float) -> list[int]:
        new = [index for index in indices if self._stamps[index] is None]
        for index in new:
            self._stamps[index] = stamp
        return new

    def delay(self, index: int) -> float:
        """Return an event's stamp minus its earliest possible moment (s); NaN if undetected."""
        onset, offset, stamp = (
            self.spans.onsets[index],
            self.spans.offsets[index],
            self._stamps[index],
        )
        return math.nan if stamp is None else stamp - (onset + self.tau * (offset - onset))

    def latency(self) -> Latency:
        """Return what is known so far."""
        onsets, offsets = tuple(self.spans.onsets), tuple(self.spans.offsets)
        return Latency(onsets, offsets, tuple(self._stamps), self.tau)
