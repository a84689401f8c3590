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

from ecgscroll.signals import ectopy_kernels as kernels
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
    normal_groups,
    on_time_beats,
    weighed_shapes,
)
from ecgscroll.signals.qrs import MS, Complexes
from ecgscroll.signals.windows import BEFORE, Windows

ST_T = slice((LEFT_MS + 184) // STEP_MS, (LEFT_MS + RIGHT_MS) // STEP_MS)
REACH = 2
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
    core = CORE.start, CORE.stop
    fit, group = kernels.fits(shapes.whole, shapes.power, groups.templates, *core, REACH)
    fit[:, 3] = np.log1p(fit[:, 3])
    sizes = _sizes(shapes, complexes)
    relative = sizes - np.einsum("gn,nf->gf", groups.weights, sizes)[group]
    st_t = _st_t(shapes, groups.templates, group, windows)
    p = _p(shapes, groups, complexes)
    values = np.column_stack([early, pause, relative[:, 0], relative[:, 3]])
    like = kernels.same_shape(shapes.core, shapes.power, values, ALIKE, LIKE_SIZE)
    parts = (timing, sizes[:, [0, 3, 5]], relative, fit, st_t, p, like, group[:, None])
    features = np.concatenate(parts, axis=1)
    features[~np.isfinite(features)] = 0.0
    return features


def _timing(windows: Windows) -> tuple[Values, Values, Values]:
    """Timing features (n, 8), with the first two of them; 0 where an interval is unknown."""
    usual = rr.prior_median(windows.rr_before)
    most = float(np.exp(1.5))
    logs = np.log(kernels.relative_intervals(windows.rr_before, windows.rr_after, usual, most))
    early, pause = logs[:, 0], logs[:, 1]
    half = len(early) // 2
    irregular = np.full(len(early), np.partition(np.abs(early), half)[half])
    return np.column_stack([logs, irregular]), early, pause


def _sizes(shapes: Shapes, complexes: Complexes) -> Values:
    """Logs (n, 7) of width, size, slope, spread, height, sharpness and stillness."""
    width = np.where(complexes.known, (complexes.end - complexes.onset) * MS, 100.0)
    values = np.column_stack([width, kernels.sizes_of(shapes.core, complexes.quiet)])
    return np.asarray(np.log(np.maximum(values, 1e-4)))


def _st_t(shapes: Shapes, templates: Float, group: NDArray[np.intp], windows: Windows) -> Values:
    """t_unlike and discordant (n, 2), over 184 to 440 ms after R, to 80 ms before the next beat."""
    after = np.where(np.isnan(windows.rr_after), 920.0, 1000 * windows.rr_after - 80)
    start, stop = ST_T.start, ST_T.stop
    # The points at start, start + 1, ... lie STEP_MS apart from LEFT_MS before R.
    shown = np.ceil((after - (start * STEP_MS - LEFT_MS)) / STEP_MS)
    shown = np.minimum(np.maximum(shown, 0), stop - start).astype(np.int64)
    core = CORE.start, CORE.stop
    apart = kernels.st_t_apart(
        shapes.whole, shapes.level, templates, group, shown, (start, stop), core
    )
    return np.column_stack([np.log1p(apart[:, 0]), np.arcsinh(apart[:, 1])])


def _p(shapes: Shapes, groups: Groups, complexes: Complexes) -> Values:
    """p_unlike and p_distance (n, 2), up to 12 ms before the usual QRS onset."""
    onset = float((groups.weights[0] * complexes.onset).sum()) - BEFORE
    stop = max(8, int((LEFT_MS + 4 * onset - 12) // STEP_MS))
    _, _, power = kernels.cores_of(groups.templates[:1], CORE.start, CORE.stop)
    apart = kernels.p_apart(shapes.whole, groups.weights, stop, float(power.sum()))
    apart[:, 1] = np.log1p(apart[:, 1])
    return np.asarray(apart)
