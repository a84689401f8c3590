"""Beats as shapes on a coarse grid, their leads weighed, and the segment's normal ones.

A lead counts by its clarity: the size of its median complex over what a usual beat differs from it,
so that a lead full of motion is hardly heard. The normal shape is the mean of the beats that come
on time and look like the median one.

Known failure: where ectopic beats outnumber normal ones for a minute, the template is the ectopic
beat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    half = LEFT_MS // 4
    whole = y[:, :, BEFORE - half : BEFORE + RIGHT_MS // 4 : STEP].copy()
    whole[~np.isfinite(whole)] = 0.0
    middle = _weigh_leads(whole, np.flatnonzero(on_time))
    core, level = centred(whole[:, :, CORE])
    return Shapes(whole, core, level, np.einsum("nlk,nlk->nl", core, core)), middle


def _weigh_leads(whole: Float, on_time: NDArray[np.intp]) -> Float:
    """Scale each lead, in place, by its clarity over its size; the median complex on time, (L, k).

    Clarity is the size of that complex over what a usual beat differs from it.
    """
    core = whole[on_time[:: 1 + len(on_time) // MAX_ASKED], :, CORE]
    middle = middle_of(core)
    apart = core - middle
    differ = middle_of(np.einsum("nlk,nlk->nl", apart, apart))
    middle, _ = centred(middle)
    size = np.einsum("lk,lk->l", middle, middle)
    clear = np.minimum(np.sqrt(size / (differ + 1e-9)), MAX_CLEAR)
    scale = (clear / np.sqrt(np.maximum(size, 1e-6))).astype(np.float32)[:, None]
    whole *= scale
    return np.asarray(middle * scale, dtype=np.float32)


def middle_of(x: Any) -> Any:
    """Median over the first axis, the upper one of an even number: cheaper than numpy's."""
    half = len(x) // 2
    return np.partition(x, half, axis=0)[half]


def centred(x: Float) -> tuple[Float, Float]:
    """(..., k) less its mean over the last axis, and that mean."""
    x = np.ascontiguousarray(x)
    k = x.shape[-1]
    mean = (x.reshape(-1, k) @ np.full(k, 1 / k, np.float32)).reshape(x.shape[:-1])
    return x - mean[..., None], mean


def normal_groups(
    shapes: Shapes, middle: Float, early: Values, pause: Values, known: Flags
) -> Groups:
    """Find the normal shapes.

    The first is that of the beats on time and like the median one; the second, where there is one,
    of the on-time beats in a row which do not look like it: conduction that changes within the
    segment, such as intermittent bundle-branch block.
    """
    n, on_time = len(early), on_time_beats(early, known)
    norm = np.sqrt(shapes.power.sum(axis=1) * (middle * middle).sum())
    dot = shapes.core.reshape(n, -1) @ middle.ravel()
    like = on_time & (dot > 0.8 * norm)
    enough = like.sum() >= 3
    masks = [like if enough else on_time]
    other = on_time & ~like & (np.abs(pause) < 0.12) & (np.abs(early) < 0.12)
    other = long_runs(other, MIN_RUN)
    if enough and other.any():
        masks.append(other)
    weights = np.array(masks, dtype=np.float32)
    weights /= weights.sum(axis=1, keepdims=True)
    templates = weights @ shapes.whole.reshape(n, -1)
    return Groups(weights, templates.reshape(-1, *shapes.whole.shape[1:]))


def on_time_beats(early: Values, known: Flags) -> Flags:
    """Beats that come when expected; all that are known, or all, where those are under three."""
    on_time = known & (early > -0.12)
    if on_time.sum() >= 3:
        return on_time
    return known if known.any() else np.ones(len(known), dtype=bool)
