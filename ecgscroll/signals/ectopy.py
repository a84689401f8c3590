"""Is a beat ventricular ectopic? Small trees over its timing, width and shape.

The features are those of :mod:`ecgscroll.signals.ectopy_features`. The model is a sum of oblivious
trees (each asks the same four questions of every beat), boosted on the log odds as in Friedman (Ann
Stat 29:1189, 2001) and Prokhorenkova et al. (CatBoost, 2018). Trees and bias are fitted by
``benchmarks/fit_ectopy.py`` on training patients alone: mitdb DS1 less 201, and the training side
of qtdb, ltafdb_1h, cpsc2021 and icentia11k. The bias is where sensitivity and +P balance best on
mitdb DS1, each patient judged by trees that never saw the patient.

Known failures: aberrant beats and intermittent bundle-branch block beside few normal beats; motion
in both leads at once; ventricular runs longer than the segment (a minute) look normal; beats from
near the septum, as narrow as normal ones, are missed; paced beats beside fused or conducted ones
are called ventricular (mitdb 104: 539, of which 2 are).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals import ectopy_trees
from ecgscroll.signals.ectopy_features import FEATURES, ectopy_features
from ecgscroll.signals.ectopy_kernels import trees_say

__all__ = ["FEATURES", "ectopy_features", "is_ectopic", "log_odds"]

DEPTH = 4


def _numbers(text: str, scale: float) -> NDArray[np.float64]:
    return np.array(text.split(), dtype=np.float64) * scale


_ASKED = np.array([FEATURES.index(name) for name in ectopy_trees.ASKED.split()])
_THRESHOLDS = _numbers(ectopy_trees.THRESHOLDS, 0.001)
_LEAVES = _numbers(ectopy_trees.LEAVES, 0.01)


def is_ectopic(features: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Decide on (n, F) features."""
    return np.asarray(log_odds(features) > 0)


def log_odds(features: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) log odds that a beat of the (n, F) features is ventricular."""
    sums = trees_say(features, _ASKED, _THRESHOLDS, _LEAVES, DEPTH)
    return np.asarray(sums + ectopy_trees.BIAS)
