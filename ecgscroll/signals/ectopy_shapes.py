"""Beats as shapes on a coarse grid, their leads weighed, and the segment's normal ones.

A lead counts by its clarity: the size of its median complex over what a usual beat differs from it,
so that a lead full of motion is hardly heard. The normal shape is the mean of the beats that come
on time and look like the median one.

Known failure: where ectopic beats outnumber normal ones for a minute, the template is the ectopic
beat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals import ectopy_kernels as kernels
from ecgscroll.signals.quality import long_runs
from ecgscroll.signals.windows import BEFORE

Float = NDArray[np.float32]
Values = NDArray[np.float64]
Flags = NDArray[np.bool_]

STEP = 2
"""Grid points (8 ms) between those that shapes are compared on."""
STEP_MS = 8
LEFT_MS, RIGHT_MS = 264, 440
"""The part of a beat that is looked at, before and after R."""
CORE = slice((LEFT_MS - 104) // STEP_MS, (LEFT_MS + 160) // STEP_MS)
"""The QRS complex and the start of ST, 104 ms before R to 160 ms after."""
MAX_CLEAR = 5.0
"""A lead counts by the size of its complex over what its beats differ by, to this much."""
MAX_ASKED = 32
"""Beats, spread over the segment, whose median is the first template."""
MIN_RUN = 4
"""Beats in a row, without a change of rate, that make a second normal shape."""


@dataclass(frozen=True)
class Shapes:
    """Beats on the coarse grid, their leads weighed: what every shape feature reads.

    ``whole`` (n, L, K) is the beat above its baseline; ``core`` (n, L, k) its complex less the
    complex's mean, ``level`` (n, L); ``power`` (n, L) is the sum of squares of the core.
    """

    whole: Float
    core: Float
    level: Float
    power: Float


@dataclass(frozen=True)
class Groups:
    """Shapes of the segment's normal beats: (G, n) weights of the beats, (G, L, K) mean beats."""

    weights: Float
    templates: Float


def weighed_shapes(y: Float, on_time: Flags) -> tuple[Shapes, Float]:
    """Weigh the leads; the beats' shapes and the median complex, (L, k), of those on time."""
    first, count = BEFORE - LEFT_MS // 4, (LEFT_MS + RIGHT_MS) // STEP_MS
    whole = kernels.coarse(y, first, STEP, count)
    on = np.flatnonzero(on_time)
    asked = np.ascontiguousarray(on[:: 1 + len(on) // MAX_ASKED])
    middle = kernels.weigh_leads(whole, asked, CORE.start, CORE.stop, MAX_CLEAR)
    return Shapes(whole, *kernels.cores_of(whole, CORE.start, CORE.stop)), middle


def normal_groups(
    shapes: Shapes, middle: Float, early: Values, pause: Values, known: Flags
) -> Groups:
    """Find the normal shapes.

    The first is that of the beats on time and like the median one; the second, where there is one,
    of the on-time beats in a row which do not look like it: conduction that changes within the
    segment, such as intermittent bundle-branch block.
    """
    on_time = on_time_beats(early, known)
    like = on_time & (kernels.likeness(shapes.core, shapes.power, middle) > 0.8)
    enough = like.sum() >= 3
    masks = [like if enough else on_time]
    other = on_time & ~like & (np.abs(pause) < 0.12) & (np.abs(early) < 0.12)
    other = long_runs(other, MIN_RUN)
    if enough and other.any():
        masks.append(other)
    weights = np.array(masks, dtype=np.float32)
    weights /= weights.sum(axis=1, keepdims=True)
    return Groups(weights, kernels.mean_beats(weights, shapes.whole))


def on_time_beats(early: Values, known: Flags) -> Flags:
    """Beats that come when expected; all that are known, or all, where those are under three."""
    on_time = known & (early > -0.12)
    if on_time.sum() >= 3:
        return on_time
    return known if known.any() else np.ones(len(known), dtype=bool)
