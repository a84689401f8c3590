"""The loops behind the ectopy features and trees, compiled.

:mod:`ecgscroll.signals.ectopy_features` and :mod:`ecgscroll.signals.ectopy_shapes` say what they
are for. Shapes: ``whole`` (n, L, K) beats on the coarse grid, ``core`` (n, L, k) their complexes,
``templates`` (G, L, K) normal beats, ``group`` (n,) which of them fits a beat best.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ecgscroll.compiled import compiled
from ecgscroll.signals.order_kernels import nth_smallest, rounded_up, sort_columns


@compiled
def relative_intervals(before: Any, after: Any, usual: Any, most: float) -> Any:
    """(n, 7) intervals over a usual one, between ``1 / most`` and ``most``; 1 where unknown.

    Before, after, before the last beat, after the next; before and after, over the segment's
    median; before and after together.
    """
    n = len(before)
    known, count = np.empty(n, np.float64), 0
    for value in before:
        if value == value:
            known[count] = value
            count += 1
    typical = nth_smallest(known, count, count // 2) if count else np.nan
    out = np.ones((n, 7), np.float64)
    for i in range(n):
        out[i, 0], out[i, 1] = before[i] / usual[i], after[i] / usual[i]
        out[i, 2] = before[i - 1] / usual[i] if i else np.nan
        out[i, 3] = after[i + 1] / usual[i] if i + 1 < n else np.nan
        out[i, 4], out[i, 5] = before[i] / typical, after[i] / typical
        out[i, 6] = 0.5 * (before[i] + after[i]) / usual[i]
        for j in range(7):
            known_ratio = out[i, j] == out[i, j]
            out[i, j] = min(max(out[i, j], 1.0 / most), most) if known_ratio else 1.0
    return out


@compiled
def coarse(y: Any, first: int, step: int, count: int) -> Any:
    """Every ``step`` th of ``count`` points from ``first``; what is unknown is zero."""
    n, n_leads, _ = y.shape
    whole = np.empty((n, n_leads, count), np.float32)
    for beat in range(n):
        for lead in range(n_leads):
            row, out = y[beat, lead], whole[beat, lead]
            for k in range(count):
                value = row[first + step * k]
                out[k] = value if math.isfinite(value) else np.float32(0.0)
    return whole


@compiled
def weigh_leads(whole: Any, asked: Any, start: int, stop: int, most: float) -> Any:
    """Scale each lead, in place, by its clarity over its size; the asked beats' median core (L, k).

    Clarity is the size of that complex over what a usual beat differs from it.
    """
    n_leads, width, n = whole.shape[1], stop - start, len(asked)
    middle, differ = np.empty((n_leads, width), np.float32), np.empty(n, np.float32)
    table = np.zeros((n, rounded_up(width)), np.float32)
    for lead in range(n_leads):
        for i in range(n):
            table[i, :width] = whole[asked[i], lead, start:stop]
        sort_columns(table)
        usual = middle[lead]
        usual[:] = table[n // 2, :width]
        for i in range(n):
            row, apart = whole[asked[i], lead, start:stop], 0.0
            for k in range(width):
                apart += (row[k] - usual[k]) * (row[k] - usual[k])
            differ[i] = apart
        centre(usual)
        size = power_of(usual)
        clear = math.sqrt(size / (nth_smallest(differ, n, n // 2) + 1e-9))
        scale = np.float32(min(clear, most) / math.sqrt(max(size, 1e-6)))
        for k in range(width):
            usual[k] *= scale
        for beat in range(len(whole)):
            row = whole[beat, lead]
            for k in range(len(row)):
                row[k] *= scale
    return middle


@compiled
def centre(row: Any) -> Any:
    """Take the mean out of a row, in place; return it."""
    mean = 0.0
    for k in range(len(row)):
        mean += row[k]
    level = np.float32(mean / len(row))
    for k in range(len(row)):
        row[k] -= level
    return level


@compiled
def power_of(row: Any) -> float:
    """Sum of squares."""
    total = 0.0
    for k in range(len(row)):
        total += row[k] * row[k]
    return total


@compiled
def product_of(a: Any, b: Any) -> float:
    """Sum of products."""
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@compiled
def cores_of(whole: Any, start: int, stop: int) -> Any:
    """Centred parts [start, stop), their means (n, L) and sums of squares (n, L)."""
    n, n_leads, _ = whole.shape
    core = whole[:, :, start:stop].copy()
    level, power = np.empty((n, n_leads), np.float32), np.empty((n, n_leads), np.float32)
    for beat in range(n):
        for lead in range(n_leads):
            level[beat, lead] = centre(core[beat, lead])
            power[beat, lead] = power_of(core[beat, lead])
    return core, level, power


@compiled
def likeness(core: Any, power: Any, middle: Any) -> Any:
    """(n,) correlation of each beat, over all leads, with one (L, k) core."""
    n, n_leads, _ = core.shape
    out, theirs = np.empty(n, np.float64), 0.0
    for lead in range(n_leads):
        theirs += power_of(middle[lead])
    for beat in range(n):
        dot, own = 0.0, 0.0
        for lead in range(n_leads):
            dot += product_of(core[beat, lead], middle[lead])
            own += power[beat, lead]
        out[beat] = dot / max(math.sqrt(own * theirs), 1e-9)
    return out


@compiled
def mean_beats(weights: Any, whole: Any) -> Any:
    """(G, L, K) weighted means over beats."""
    n, n_leads, width = whole.shape
    out = np.zeros((len(weights), n_leads, width), np.float32)
    for g in range(len(weights)):
        for beat in range(n):
            weight = weights[g, beat]
            if weight:
                for lead in range(n_leads):
                    row, target = whole[beat, lead], out[g, lead]
                    for k in range(width):
                        target[k] += weight * row[k]
    return out


@compiled
def fits(whole: Any, power: Any, templates: Any, start: int, stop: int, reach: int) -> Any:
    """How each beat fits the templates moved by up to ``reach``: (n, 4), and the best group.

    1 - correlation over all leads, in the best lead and in the worst; root of the squared
    difference over the template's norm.
    """
    n, n_leads, _ = whole.shape
    template, _, theirs = cores_of(templates, start, stop)
    out, group = np.empty((n, 4), np.float64), np.empty(n, np.int64)
    dot, best_dot = np.empty(n_leads, np.float64), np.empty(n_leads, np.float64)
    for beat in range(n):
        own, top = power[beat].sum(), -math.inf
        for g in range(len(template)):
            norm = max(math.sqrt(own * theirs[g].sum()), 1e-6)
            for place in range(2 * reach + 1):
                # The nearest first: 0, -1, 1, -2, 2.
                shift = (place + 1) // 2 * (-1 if place % 2 else 1)
                joint = 0.0
                for lead in range(n_leads):
                    total = 0.0
                    for k in range(stop - start):
                        total += whole[beat, lead, start + shift + k] * template[g, lead, k]
                    dot[lead] = total
                    joint += total
                if joint / norm > top:
                    top, group[beat] = joint / norm, g
                    best_dot[:] = dot
        out[beat, 0] = 1 - top
        high, low, usual = -math.inf, math.inf, theirs[group[beat]].sum() + 1e-6
        for lead in range(n_leads):
            size = math.sqrt(power[beat, lead] * theirs[group[beat], lead])
            high = max(high, best_dot[lead] / max(size, 1e-6))
            low = min(low, best_dot[lead] / max(size, 1e-6))
        out[beat, 1], out[beat, 2] = 1 - high, 1 - low
        apart = own + usual - 2 * best_dot.sum()
        out[beat, 3] = math.sqrt(max(apart, 0.0) / usual)
    return out, group


@compiled
def sizes_of(core: Any, quiet: Any) -> Any:
    """(n, 6) mean size, steepest slope, its spread in time, height, sharpness and stillness."""
    n, n_leads, width = core.shape
    out = np.empty((n, 6), np.float64)
    speed = np.empty(width - 1, np.float32)
    for beat in range(n):
        size, height = 0.0, 0.0
        speed[:] = 0.0
        for lead in range(n_leads):
            row = core[beat, lead]
            high, low = row[0], row[0]
            for k in range(width):
                size += abs(row[k])
                high, low = max(high, row[k]), min(low, row[k])
            height = max(height, high - low)
            for k in range(width - 1):
                slope = row[k + 1] - row[k]
                speed[k] += slope * slope
        top, total, first, second = 0.0, 0.0, 0.0, 0.0
        for k in range(width - 1):
            value = math.sqrt(speed[k]) + 1e-6
            top = max(top, value)
            total += value
            first += value * k
            second += value * k * k
        spread = math.sqrt(max(second / total - (first / total) ** 2, 0.1))
        out[beat, 0], out[beat, 1], out[beat, 2] = size, top, spread
        out[beat, 3], out[beat, 4], out[beat, 5] = height, top / max(height, 1e-6), quiet[beat]
    return out


@compiled
def st_t_apart(
    whole: Any, level: Any, templates: Any, group: Any, shown: Any, st_t: Any, core: Any
) -> Any:
    """(n, 2) distance of the mean ST-T level from the template's, and the level against the QRS.

    ``shown`` (n,) is how many of the points [st_t[0], st_t[1]) count; both in sizes of the
    template's core [core[0], core[1]).
    """
    n, n_leads, _ = whole.shape
    out = np.empty((n, 2), np.float64)
    start, stop = st_t
    for beat in range(n):
        template, size, away, against = templates[group[beat]], 0.0, 0.0, 0.0
        for lead in range(n_leads):
            for k in range(core[0], core[1]):
                size += abs(template[lead, k])
        size = size / (n_leads * (core[1] - core[0])) + 1e-3
        for lead in range(n_leads):
            mine, usual = 0.0, 0.0
            for k in range(start, start + shown[beat]):
                mine += whole[beat, lead, k]
            for k in range(start, stop):
                usual += template[lead, k]
            away += ((mine - usual) / (stop - start)) ** 2
            against -= mine / (stop - start) * level[beat, lead]
        out[beat, 0], out[beat, 1] = math.sqrt(away) / size, against / size**2
    return out


@compiled
def p_apart(whole: Any, weights: Any, stop: int, power: float) -> Any:
    """(n, 2) distances of the parts before ``stop`` from their weighted mean.

    1 - correlation, and root of the squared difference over ``power``.
    """
    n, n_leads, _ = whole.shape
    before, _, own = cores_of(whole, 0, stop)
    usual = mean_beats(weights[:1], before)[0]
    out, size = np.empty((n, 2), np.float64), 1e-6
    for lead in range(n_leads):
        size += power_of(usual[lead])
    for beat in range(n):
        dot, mine = 0.0, own[beat].sum()
        for lead in range(n_leads):
            dot += product_of(before[beat, lead], usual[lead])
        out[beat, 0] = 1 - dot / math.sqrt(size * mine + 1e-9)
        out[beat, 1] = math.sqrt(max(mine + size - 2 * dot, 0.0) / (power + 1e-6))
    return out


@compiled
def same_shape(core: Any, power: Any, values: Any, alike: float, like_size: float) -> Any:
    """(n, 2 + m) share and best likeness of beats of one's shape, means of (n, m) values over them.

    Two beats have one shape from a correlation and a ratio of sizes on.
    """
    n, n_leads, width = core.shape
    unit = np.zeros((n_leads * width, rounded_up(n)), np.float32)
    size = np.empty(n, np.float64)
    for beat in range(n):
        size[beat] = math.sqrt(power[beat].sum()) + 1e-6
        scale = np.float32(1.0 / size[beat])
        for lead in range(n_leads):
            for k in range(width):
                unit[lead * width + k, beat] = core[beat, lead, k] * scale
    out = np.zeros((n, 2 + values.shape[1]), np.float64)
    close, same = np.empty(unit.shape[1], np.float32), np.empty(n, np.float64)
    for beat in range(n):
        close[:] = 0.0
        for k in range(len(unit)):
            mine = unit[k, beat]
            for other in range(len(close)):
                close[other] += mine * unit[k, other]
        best, count, least, own = -1.0, 0.0, like_size * size[beat], size[beat]
        for other in range(n):
            if other != beat:
                best = max(best, close[other])
            alike_size = (size[other] > least) & (own > like_size * size[other])
            same[other] = 1.0 if (close[other] > alike) & alike_size else 0.0
        same[beat] = 1.0
        for other in range(n):
            count += same[other]
            for j in range(values.shape[1]):
                out[beat, 2 + j] += same[other] * values[other, j]
        out[beat, 0], out[beat, 1] = count / n, best
        for j in range(values.shape[1]):
            out[beat, 2 + j] /= count
    return out


@compiled
def trees_say(features: Any, asked: Any, thresholds: Any, leaves: Any, depth: int) -> Any:
    """(n,) sum over trees of the leaf that (n, F) features lead to; first answer highest."""
    n, n_leaves = len(features), 1 << depth
    out, columns = np.zeros(n, np.float64), np.ascontiguousarray(features.T)
    leaf = np.empty(n, np.int64)
    for tree in range(len(leaves) // n_leaves):
        leaf[:] = 0
        for question in range(tree * depth, (tree + 1) * depth):
            column, threshold = columns[asked[question]], thresholds[question]
            for i in range(n):
                leaf[i] = 2 * leaf[i] + (column[i] > threshold)
        for i in range(n):
            out[i] += leaves[tree * n_leaves + leaf[i]]
    return out
