"""The basic rhythm: sinus and fibrillation joined beat by beat, before any ectopy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecgscroll.synth.autonomic import Autonomic
from ecgscroll.synth.config import Fibrillation
from ecgscroll.synth.fibrillation import draw_intervals

SINUS, FIBRILLATION, VENTRICULAR = 0, 1, 2

# The sinus node, overdriven by the atria, recovers late: first sinus interval after AF, in R-R.
_RECOVERY = (1.15, 1.6)


@dataclass(frozen=True)
class BasicRhythm:
    """Conducted beats.

    Parameters
    ----------
    time
        R peaks, s, ascending.
    kind
        ``SINUS`` or ``FIBRILLATION`` per beat.
    """

    time: NDArray[np.float64]
    kind: NDArray[np.int8]


def draw_rhythm(
    tone: Autonomic,
    config: Fibrillation,
    episodes: list[tuple[float, float]],
    duration_s: float,
    rng: np.random.Generator,
) -> BasicRhythm:
    """Alternate sinus rhythm and the given episodes from 0 to ``duration_s``.

    An episode starts at the first fibrillating beat at or after its nominal start and ends at the
    first sinus beat after its last beat, so its length is the nominal one to within a beat or two.
    """
    times: list[NDArray[np.float64]] = []
    kinds: list[NDArray[np.int8]] = []

    def append(part: NDArray[np.float64], kind: int) -> None:
        times.append(part)
        kinds.append(np.full(part.size, kind, dtype=np.int8))

    following = float(rng.uniform(0.2, 0.6))
    for start, stop in episodes:
        sinus = tone.beats(following, max(start, following))
        append(sinus, SINUS)
        # The first conducted impulse finds the node as the last sinus beat left it.
        earliest = sinus[-1] + float(draw_intervals(config, 1, rng)[0]) if sinus.size else following
        beats = _fibrillating(config, max(start, earliest), stop, rng)
        append(beats, FIBRILLATION)
        following = beats[-1] + rng.uniform(*_RECOVERY) * tone.rr_at(beats[-1])
    if not episodes or episodes[-1][1] < duration_s:
        append(tone.beats(following, max(duration_s, following)), SINUS)
    time = np.concatenate(times)
    inside = time < duration_s
    return BasicRhythm(time[inside], np.concatenate(kinds)[inside])


def _fibrillating(
    config: Fibrillation, first: float, stop: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Beat times from ``first`` until ``stop``, at least one."""
    shortest = min(config.refractory_s, config.slow_refractory_s)
    count = int((stop - first) / shortest) + 2
    times = first + np.concatenate([[0.0], np.cumsum(draw_intervals(config, count, rng))])
    return times[: max(1, int(np.searchsorted(times, stop)))]
