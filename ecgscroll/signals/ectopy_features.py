"""What tells a ventricular ectopic beat: its timing, width, shape, P and T against normal beats.

After de Chazal et al. (IEEE Trans Biomed Eng 51:1196, 2004): R-R, width and morphology features,
each relative to the same patient's normal beats of the last minute. Added here: the leads are
weighted by how well the beats repeat in them, so that a lead full of motion is hardly heard; and a
beat is seen beside those of its own shape (do they all come early?), as clustering methods do
(Llamedo & Martínez, IEEE Trans Biomed Eng 58:616, 2011).

Known failures: where ectopic beats outnumber normal ones for a minute, the template is the ectopic
beat; fusion beats and ventricular beats as narrow as the normal ones resemble these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals import rr
from ecgscroll.signals.ectopy_shapes import (
    CORE,
    LEFT_MS,
    RIGHT_MS,
    STEP_MS,
    Float,
    Groups,
    Shapes,
    Values,
    centred,
    middle_of,
    normal_groups,
    on_time_beats,
    weighed_shapes,
)
from ecgscroll.signals.qrs import Complexes
from ecgscroll.signals.windows import BEFORE, Windows

ST_T = slice((LEFT_MS + 184) // STEP_MS, (LEFT_MS + RIGHT_MS) // STEP_MS)
SHIFTS = (0, -1, 1, -2, 2)
"""Steps of 8 ms by which a template may be moved to fit a beat."""
ALIKE, LIKE_SIZE = 0.9, 0.6
"""Correlation, and ratio of sizes, from which two beats have one shape."""

FEATURES = (
    *("early", "pause", "prev", "next", "early_seg", "pause_seg", "both", "irregular"),
    *("width", "spread", "sharp"),
    *("widening", "larger", "steeper", "spreading", "taller", "sharper", "noisier"),
    *("unlike", "unlike_best", "unlike_worst", "distance"),
    *("t_unlike", "discordant", "p_unlike", "p_distance"),
    *("share", "alike", "shape_early", "shape_pause", "shape_width", "shape_spread", "second"),
)


def ectopy_features(windows: Windows, complexes: Complexes, y: Float) -> Values:
    """(n, F) features in the order of ``FEATURES`` from ``y``, the windows above the baseline.

    - early, pause, prev, next: log of the R-R interval before, after, before the last beat and
      after the next one, over the median of the eight before; early_seg, pause_seg: over the
      segment's median; both: before and after together; irregular: the segment's median |early|;
    - width, spread, sharp: logs of QRS duration, of the spread of its slope in time, and of its
      steepest slope over its height;
    - widening to noisier: logs of duration, mean |QRS-T|, steepest slope, spread, height, sharpness
      and stillest slope, over those of the template's beats;
    - unlike: 1 - correlation with the template, all leads, and in the leads where it is best and
      worst; distance: root of the squared difference over the template's norm;
    - t_unlike, discordant: mean ST-T level away from the template's, and against the QRS complex;
      p_unlike, p_distance: as unlike and distance, before the complex;
    - share, alike: part of the segment's beats of the same shape, best correlation with another;
      shape_early to shape_spread: means of early, pause, widening and spreading over those beats;
    - second: whether the second template fits better.
    """
    timing, early, pause = _timing(windows)
    shapes, middle = weighed_shapes(y, on_time_beats(early, complexes.known))
    groups = normal_groups(shapes, middle, early, pause, complexes.known)
    fit, group = _fit(shapes, groups)
    sizes = _sizes(shapes, complexes)
    relative = sizes - (groups.weights @ sizes)[group]
    st_t = _st_t(shapes, groups.templates, group, windows)
    p = _p(shapes, groups, complexes)
    like = _same_shape(shapes, np.column_stack([early, pause, relative[:, 0], relative[:, 3]]))
    columns = (timing, sizes[:, [0, 3, 5]], relative, fit, st_t, p, like, group)
    features = np.asarray(np.column_stack(columns), dtype=np.float64)
    features[~np.isfinite(features)] = 0.0
    return features


def _timing(windows: Windows) -> tuple[Values, Values, Values]:
    """Timing features (n, 8), with the first two of them; 0 where an interval is unknown."""
    before, after = windows.rr_before, windows.rr_after
    usual = rr.prior_median(before)
    known = before[np.isfinite(before)]
    typical = np.log(middle_of(known)) if len(known) else np.nan
    nan = [np.nan]
    prev, following = np.concatenate([nan, before[:-1]]), np.concatenate([after[1:], nan])
    both = 0.5 * (before + after)
    u, a, b, p, f, c = np.log([usual, before, after, prev, following, both])
    logs = np.stack([a - u, b - u, p - u, f - u, a - typical, b - typical, c - u], axis=1)
    logs = np.clip(np.nan_to_num(logs), -1.5, 1.5)
    irregular = np.full(len(u), middle_of(np.abs(logs[:, 0])))
    return np.column_stack([logs, irregular]), logs[:, 0], logs[:, 1]


def _fit(shapes: Shapes, groups: Groups) -> tuple[Values, NDArray[np.intp]]:
    """unlike, unlike_best, unlike_worst and distance (n, 4), and which group fits best."""
    template, _ = centred(groups.templates[:, :, CORE])
    theirs = np.einsum("glk,glk->gl", template, template)
    power, dots = shapes.power, _moved_dots(shapes.whole, template)
    total = power.sum(axis=1)
    norm = np.sqrt(total[:, None] * np.repeat(theirs.sum(axis=1), len(SHIFTS)))
    joint = dots.sum(axis=0) / np.maximum(norm, 1e-6)
    best = joint.argmax(axis=1)
    rows, group = np.arange(len(best)), best // len(SHIFTS)
    dot = dots[:, rows, best].T
    each = dot / np.maximum(np.sqrt(power * theirs[group]), 1e-6)
    usual = theirs.sum(axis=1)[group] + 1e-6
    apart = np.maximum(total + usual - 2 * dot.sum(axis=1), 0.0) / usual
    unlike = (1 - joint[rows, best], 1 - each.max(axis=1), 1 - each.min(axis=1))
    return np.column_stack([*unlike, np.log1p(np.sqrt(apart))]), group


def _moved_dots(whole: Float, template: Float) -> Float:
    """(L, n, G * shifts) products of each beat with each (G, L, k) template at each shift."""
    reach = max(SHIFTS)
    near = whole[:, :, CORE.start - reach : CORE.stop + reach].transpose(1, 0, 2)
    moved = np.zeros((len(near), len(SHIFTS) * len(template), near.shape[2]), np.float32)
    for i, shift in enumerate(SHIFTS):
        at = slice(reach + shift, reach + shift + template.shape[2])
        moved[:, i :: len(SHIFTS), at] = template.transpose(1, 0, 2)
    return np.asarray(near @ moved.transpose(0, 2, 1), dtype=np.float32)


def _sizes(shapes: Shapes, complexes: Complexes) -> Values:
    """Logs (n, 7) of width, size, slope, spread, height, sharpness and stillness."""
    core = shapes.core
    slope = core[:, :, 1:] - core[:, :, :-1]
    speed = np.sqrt(np.einsum("nlk,nlk->nk", slope, slope)) + np.float32(1e-6)
    at = np.arange(speed.shape[1], dtype=np.float32)
    total, first, second = (speed @ np.stack([at**0, at, at * at], axis=1)).T
    spread = np.sqrt(np.maximum(second / total - (first / total) ** 2, 0.1))
    top = speed.max(axis=1)
    height = (core.max(axis=2) - core.min(axis=2)).max(axis=1)
    size = np.abs(core).sum(axis=(1, 2))
    width = complexes.width_ms
    values = [width, size, top, spread, height, top / np.maximum(height, 1e-6), complexes.quiet]
    logs: Values = np.log(np.maximum(np.stack(values, axis=1), 1e-4)).astype(np.float64)
    logs[~complexes.known, 0] = np.log(100.0)
    return logs


def _st_t(shapes: Shapes, templates: Float, group: NDArray[np.intp], windows: Windows) -> Values:
    """t_unlike and discordant (n, 2), over 184 to 440 ms after R, to 80 ms before the next beat."""
    at = np.arange(ST_T.start, ST_T.stop) * STEP_MS - LEFT_MS
    after = 1000 * np.nan_to_num(windows.rr_after, nan=1.0) - 80
    shown = (at < after[:, None]).astype(np.float32) / len(at)
    level = np.einsum("nlk,nk->nl", shapes.whole[:, :, ST_T], shown)
    usual = templates[:, :, ST_T].mean(axis=2)[group]
    size = np.abs(templates[:, :, CORE]).mean(axis=(1, 2))[group] + 1e-3
    away = np.sqrt(((level - usual) ** 2).sum(axis=1)) / size
    against = -(level * shapes.level).sum(axis=1) / size**2
    return np.column_stack([np.log1p(away), np.arcsinh(against)])


def _p(shapes: Shapes, groups: Groups, complexes: Complexes) -> Values:
    """p_unlike and p_distance (n, 2), up to 12 ms before the usual QRS onset."""
    first = groups.weights[0]
    onset = float(first @ complexes.onset) - BEFORE
    stop = max(8, int((LEFT_MS + 4 * onset - 12) // STEP_MS))
    before, _ = centred(shapes.whole[:, :, :stop])
    flat = before.reshape(len(before), -1)
    usual = first @ flat
    size, power = usual @ usual + 1e-6, np.einsum("nk,nk->n", flat, flat)
    dot = flat @ usual
    apart = np.maximum(power + size - 2 * dot, 0.0)
    core, _ = centred(groups.templates[0][:, CORE])
    unlike = 1 - dot / np.sqrt(size * power + 1e-9)
    distance = np.log1p(np.sqrt(apart / ((core * core).sum() + 1e-6)))
    return np.column_stack([unlike, distance])


def _same_shape(shapes: Shapes, values: Values) -> Values:
    """Share and alike, then the means of (n, m) values over the beats of the same shape."""
    size = np.sqrt(shapes.power.sum(axis=1)) + np.float32(1e-6)
    unit = shapes.core.reshape(len(size), -1) / size[:, None]
    close = unit @ unit.T
    np.fill_diagonal(close, -1.0)
    best = close.max(axis=1)
    np.fill_diagonal(close, 1.0)
    ratio = size / size[:, None]
    same = (close > ALIKE) & (ratio > LIKE_SIZE) & (ratio < 1 / LIKE_SIZE)
    count = same.sum(axis=1)
    means = same.astype(np.float32) @ values.astype(np.float32) / count[:, None]
    return np.column_stack([count / len(count), best, means])
