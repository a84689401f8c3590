"""Where in which recording a span lies: random draws that follow from a seed and a number."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecgscroll.catalogue.instances import Instance
from ecgscroll.catalogue.spans import with_span
from ecgscroll.catalogue.truths import MAX_RARE_EVENTS

_LEAST_EVENTS = {"change_detection": 1, "rare_event": 1}
_MOST_EVENTS = {"rare_event": MAX_RARE_EVENTS}
_TRIES = 20  # places tried in a recording


@dataclass(frozen=True)
class Draw:
    """Draws spans of ``length`` s for a task."""

    task: str
    length: int
    seed: int
    with_events: float

    def spans(self, ground: Sequence[Instance], count: int) -> list[str]:
        """Return ids of spans, each another; fewer where no more are found."""
        people: dict[str, list[Ground]] = {}
        for one in ground:
            if one.duration >= self.length:
                people.setdefault(one.patient, []).append(Ground.of(one))
        found: dict[str, None] = {}
        for number in range(count if people else 0):
            wanted = math.floor((number + 1) * self.with_events) > math.floor(
                number * self.with_events
            )
            rng = np.random.default_rng(
                [self.seed, zlib.crc32(self.task.encode()), self.length, number]
            )
            name = self._one(rng, people, wanted, found) or self._one(rng, people, None, found)
            if name is not None:
                found[name] = None
        return list(found)

    def _one(
        self,
        rng: np.random.Generator,
        people: dict[str, list[Ground]],
        wanted: bool | None,
        taken: dict[str, None],
    ) -> str | None:
        """Return a span of a random patient, with or without events as wanted."""
        names, near = sorted(people), wanted is True or self.task in _LEAST_EVENTS
        for index in rng.permutation(len(names)):
            own = people[names[index]]
            for which in rng.permutation(len(own)):
                for start in own[which].places(rng, self.length, near):
                    name = f"{self.task}/{with_span(own[which].name, (start, start + self.length))}"
                    held = own[which].count(start, start + self.length)
                    if name not in taken and self._fits(held, wanted):
                        return name
        return None

    def _fits(self, events: int, wanted: bool | None) -> bool:
        least, most = _LEAST_EVENTS.get(self.task, 0), _MOST_EVENTS.get(self.task, math.inf)
        if not least <= events <= most:
            return False
        return wanted is None or least > 0 or wanted == (events > 0)


@dataclass(frozen=True)
class Ground:
    """A recording and where its events lie (s)."""

    name: str
    duration: float
    starts: NDArray[np.float64]
    stops: NDArray[np.float64]

    @classmethod
    def of(cls, one: Instance) -> Ground:
        """Take the bounds of an instance's events; it is a whole recording."""
        events = one.truth.events if one.truth else ()
        bounds = np.array(events, dtype=np.float64).reshape(-1, 2)
        return cls(f"{one.database}/{one.record}", one.duration, bounds[:, 0], bounds[:, 1])

    def count(self, t0: float, t1: float) -> int:
        """How many events lie in [t0, t1) or reach into it."""
        inside = (self.stops > t0) | (self.starts >= t0)
        return int(np.count_nonzero(inside & (self.starts < t1)))

    def places(self, rng: np.random.Generator, length: int, near: bool) -> Iterator[int]:
        """Yield random starts of spans in whole seconds, such that they meet an event if near."""
        room = math.floor(self.duration) - length
        for _ in range(_TRIES if room >= 0 else 0):
            low, high = 0, room
            if near and len(self.starts):
                event = int(rng.integers(len(self.starts)))
                low = max(0, math.floor(self.starts[event]) - length + 1)
                high = min(room, math.floor(self.stops[event]))
            if low <= high:
                yield int(rng.integers(low, high + 1))
