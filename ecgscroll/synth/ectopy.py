"""Ventricular ectopic beats and sinus pauses, woven into the basic rhythm.

A ventricular beat comes early, at a coupling interval that is nearly fixed for its focus. It
finds the ventricles before the sinus beat does, which is then blocked; the sinus node is not
reset, so the next conducted beat comes on time and the pause is fully compensatory (Wagner GS,
Marriott's Practical Electrocardiography). Couplets and runs repeat at 110 to 180 per minute; in
bigeminy every second beat is ventricular. Exit-block pauses drop whole sinus beats, so they last
a multiple of the R-R interval.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ecgscroll.synth.config import Ectopy
from ecgscroll.synth.rhythm import SINUS, VENTRICULAR, BasicRhythm

Kind = Literal["single", "couplet", "run", "bigeminy", "pause"]

_COUPLING_JITTER_S = 0.012
_LEAST_COUPLING_S = 0.36
_RUN_RR_S = (0.34, 0.52)
_BLOCKED_RR = 0.75
_PAUSE_S = 2.0
# Basic beats left alone before and after an event.
_MARGIN = 2


@dataclass(frozen=True)
class Beats:
    """All beats of a recording.

    Parameters
    ----------
    time
        R peaks, s, ascending.
    kind
        ``SINUS``, ``FIBRILLATION`` or ``VENTRICULAR`` per beat.
    focus
        Shape of a ventricular beat, 0 for the others.
    events
        (kind, start, stop) of every run, bigeminy and pause, s: from its first ventricular beat (or
        the beat before the pause) to the first ordinary beat after it.
    """

    time: NDArray[np.float64]
    kind: NDArray[np.int8]
    focus: NDArray[np.int8]
    events: tuple[tuple[Kind, float, float], ...]


@dataclass(frozen=True)
class _Event:
    kind: Kind
    beat: int
    size: int  # ventricular beats, pairs in bigeminy, most beats dropped in a pause
    focus: int

    @property
    def last(self) -> int:
        """Basic beat by which the rhythm is surely back."""
        return self.beat + (2 * self.size if self.kind == "bigeminy" else self.size) + 1


def weave(rhythm: BasicRhythm, config: Ectopy, rng: np.random.Generator) -> Beats:
    """Put ectopic beats and pauses into the basic rhythm."""
    duration = float(rhythm.time[-1]) if rhythm.time.size else 0.0
    events = list(_apart(_draw_events(rhythm, config, duration, rng), rhythm, config))
    keep = np.ones(rhythm.time.size, dtype=bool)
    added: list[tuple[float, int]] = []
    for event in events:
        times = _occurrences(event, rhythm, keep, config, rng)
        added += [(time, event.focus) for time in times]
    return _merge(rhythm, keep, added, events)


def _draw_events(
    rhythm: BasicRhythm, config: Ectopy, duration_s: float, rng: np.random.Generator
) -> list[_Event]:
    if config.count is not None:
        slots = np.arange(_MARGIN, rhythm.time.size - _MARGIN - 2, 2 * _MARGIN + 3)
        chosen = rng.permutation(slots)
        return [_Event("single", int(beat), 1, 0) for beat in chosen]
    plan: list[tuple[Kind, float, int, int]] = [
        ("single", config.singles_per_h, 1, 1),
        ("couplet", config.couplets_per_h, 2, 2),
        ("run", config.runs_per_h, 3, 8),
        ("bigeminy", config.bigeminy_per_h, 4, 15),
        ("pause", config.pauses_per_h, 4, 4),
    ]
    events = []
    for kind, per_hour, least, most in plan:
        count = int(rng.poisson(per_hour * duration_s / 3600.0))
        beats = rng.integers(0, max(rhythm.time.size, 1), count)
        sizes = rng.integers(least, most + 1, count)
        # The first focus is the busiest.
        foci = np.minimum(rng.geometric(0.7, count) - 1, config.foci - 1)
        events += [
            _Event(kind, int(b), int(s), int(f)) for b, s, f in zip(beats, sizes, foci, strict=True)
        ]
    # Longer events are placed first; singles fill what is left.
    return sorted(events, key=lambda event: -event.size)


def _apart(events: list[_Event], rhythm: BasicRhythm, config: Ectopy) -> Iterator[_Event]:
    """Events that fit their surroundings and do not meet, in order of time."""
    free = np.ones(rhythm.time.size, dtype=bool)
    fitting: list[_Event] = []
    for event in events:
        if config.count is not None and len(fitting) == config.count:
            break
        first, last = event.beat - _MARGIN, event.last + _MARGIN
        if first < 0 or last >= free.size or not free[first : last + 1].all():
            continue
        kinds = rhythm.kind[first : last + 1]
        atrial_ok = event.kind in ("single", "couplet") or kinds[0] == SINUS
        if (kinds == kinds[0]).all() and atrial_ok:
            free[event.beat : event.last + 1] = False
            fitting.append(event)
    return iter(sorted(fitting, key=lambda event: event.beat))


def _occurrences(
    event: _Event,
    rhythm: BasicRhythm,
    keep: NDArray[np.bool_],
    config: Ectopy,
    rng: np.random.Generator,
) -> Iterator[float]:
    """Times of the event's ventricular beats; strikes what they block from ``keep``."""
    if event.kind == "pause":
        interval = rhythm.time[event.beat + 1] - rhythm.time[event.beat]
        keep[event.beat + 1 : event.beat + max(2, int(np.ceil(_PAUSE_S / interval)))] = False
        return
    train = 1 if event.kind == "bigeminy" else event.size
    for pair in range(event.size if event.kind == "bigeminy" else 1):
        times = _train(event.beat + 2 * pair, train, rhythm, config, rng)
        _block(event.beat + 2 * pair, times[-1], rhythm, keep)
        yield from times


def _train(
    beat: int, size: int, rhythm: BasicRhythm, config: Ectopy, rng: np.random.Generator
) -> list[float]:
    before = float(rhythm.time[beat])
    interval = _basic_interval(beat, rhythm)
    coupling = config.coupling * interval + _COUPLING_JITTER_S * float(rng.standard_normal())
    first = before + max(coupling, _LEAST_COUPLING_S)
    steady = min(rng.uniform(*_RUN_RR_S), 0.85 * interval)
    steps = steady * (1 + 0.04 * rng.standard_normal(size - 1))
    return [first, *(first + np.cumsum(steps)).tolist()]


def _basic_interval(beat: int, rhythm: BasicRhythm) -> float:
    around = rhythm.time[max(0, beat - _MARGIN) : beat + _MARGIN + 1]
    return float(np.median(np.diff(around)))


def _block(beat: int, last: float, rhythm: BasicRhythm, keep: NDArray[np.bool_]) -> None:
    until = last + _BLOCKED_RR * _basic_interval(beat, rhythm)
    stop = int(np.searchsorted(rhythm.time, until))
    keep[beat + 1 : stop] = False


def _merge(
    rhythm: BasicRhythm,
    keep: NDArray[np.bool_],
    added: list[tuple[float, int]],
    events: list[_Event],
) -> Beats:
    kept = rhythm.time[keep]
    early = np.array([time for time, _ in added])
    time = np.concatenate([kept, early])
    kind = np.concatenate([rhythm.kind[keep], np.full(early.size, VENTRICULAR, dtype=np.int8)])
    focus = np.concatenate([np.zeros(kept.size), [focus for _, focus in added]]).astype(np.int8)
    order = np.argsort(time, kind="stable")
    spans = tuple(
        (event.kind, *_extent(event, rhythm, kept, early))
        for event in events
        if event.kind in ("run", "bigeminy", "pause")
    )
    return Beats(time[order], kind[order], focus[order], spans)


def _extent(
    event: _Event,
    rhythm: BasicRhythm,
    kept: NDArray[np.float64],
    early: NDArray[np.float64],
) -> tuple[float, float]:
    anchor = rhythm.time[event.beat]
    if event.kind == "pause":
        return float(anchor), float(kept[np.searchsorted(kept, anchor, side="right")])
    start = early[np.searchsorted(early, anchor)]
    last = rhythm.time[event.beat + 2 * event.size - 2] if event.kind == "bigeminy" else start
    return float(start), float(kept[np.searchsorted(kept, last, side="right")])
