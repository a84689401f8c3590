"""QRS onset and end, the PR baseline, ST level and amplitude, from beats cut on the 4 ms grid.

The complex is bounded on the spatial velocity (root sum over leads of the squared slope), as de
Chazal et al. (IEEE Trans Biomed Eng 51:1196, 2004) do in kind: from the outermost points above 25 %
of its maximum outward, until it stays under a low threshold for 12 ms. The onset is the mean of
that point and of the one where the length of the curve, summed from 160 ms before R, lies furthest
under its chord (the curve length is that of Zong et al., Comput Cardiol 30:737, 2003); it reads
8 ms later than the eye does, which is taken off. Thresholds and that offset were chosen on the
training records of qtdb.

A noisy lead weighs less than a cleaner one beside it.

Known failures: a pre-excited upstroke slower than the threshold is cut off; a steep ST segment
after a wide complex is joined to it; muscle noise widens every complex.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d

from ecgscroll.signals.windows import BEFORE, RATE, Windows, trust

ONSET_THRESHOLD, END_THRESHOLD = 0.06, 0.10
"""Of the top velocity."""
ONSET_QUIET, END_QUIET = 3.0, 2.0
"""The least threshold, in multiples of the slope that the stillest fifth stays under."""
CORE = 0.25
QUIET_POINTS = 3
EYE_POINTS = 2.0
"""Points by which the onset of the velocity lies after the one that the eye sees."""
MS = 1000.0 / RATE
ST_DELAY = round(80 / MS)
"""Grid points from the J point to the ST level (80 ms)."""

Index = NDArray[np.int64]
Float = NDArray[np.float32]


@dataclass(frozen=True)
class Complexes:
    """QRS bounds on the grid: (n,) index of onset and of end (J point), and (n, L) PR baseline.

    ``quiet`` (n,) is the slope that the stillest fifth of the window stays under, mV per point;
    ``known`` is False for a beat without enough signal around it; its indices mean nothing.
    """

    onset: Index
    end: Index
    baseline: Float
    quiet: Float
    known: NDArray[np.bool_]

    @property
    def on_ms(self) -> NDArray[np.float64]:
        """(n,) onset against R, milliseconds."""
        return np.where(self.known, (self.onset - BEFORE) * MS, np.nan)

    @property
    def off_ms(self) -> NDArray[np.float64]:
        """(n,) end against R, milliseconds."""
        return np.where(self.known, (self.end - BEFORE) * MS, np.nan)

    @property
    def width_ms(self) -> Float:
        """(n,) duration, milliseconds."""
        width = ((self.end - self.onset) * MS).astype(np.float32)
        return np.where(self.known, width, np.float32(np.nan))


def bound(windows: Windows) -> Complexes:
    """Find onset, end and PR baseline of every beat."""
    speed = velocity(windows.x, trust(windows.noise))
    top = speed[:, BEFORE - _points(100) : BEFORE + _points(120)].max(axis=1)
    quiet = np.percentile(speed[:, ::4], 20, axis=1).astype(np.float32)
    most = 0.25 * top
    before = np.maximum(ONSET_THRESHOLD * top, np.minimum(ONSET_QUIET * quiet, most))
    after = np.maximum(END_THRESHOLD * top, np.minimum(END_QUIET * quiet, most))
    start = (_leave(speed, before, top, forward=False) + _bend(speed)) / 2 - EYE_POINTS
    onset = np.maximum(np.rint(start).astype(np.int64), BEFORE - _points(150))
    end = _leave(speed, after, top, forward=True)
    near = windows.x[:, :, BEFORE - _points(160) : BEFORE + _points(160)]
    whole = np.isfinite(near).all(axis=2)
    known = np.asarray(whole.max(axis=1) & (top > 0))
    return Complexes(onset, end, _pr_baseline(windows.x, onset), quiet, known)


def _bend(speed: Float) -> Index:
    """Where the summed velocity of the 160 ms before R lies furthest under its chord."""
    length = np.cumsum(speed[:, BEFORE - _points(160) : BEFORE], axis=1)
    share = np.linspace(0.0, 1.0, length.shape[1], dtype=np.float32)
    chord = length[:, :1] + (length[:, -1:] - length[:, :1]) * share
    return np.asarray(BEFORE - _points(160) + np.argmax(chord - length, axis=1))


def velocity(x: Float, weight: Float) -> Float:
    """(n, W) root of the squared slope, weighted and summed over leads; invalid ones are still."""
    slope = np.zeros_like(x)
    slope[:, :, 1:-1] = x[:, :, 2:] - x[:, :, :-2]
    slope = np.nan_to_num(slope) * weight[:, None]
    return np.asarray(np.sqrt(np.einsum("nlw,nlw->nw", slope, slope)))


def _leave(speed: Float, threshold: Float, top: Float, *, forward: bool) -> Index:
    """First point outside the complex where the velocity stays quiet, going out from its core."""
    n = speed.shape[1]
    lo, hi = BEFORE - _points(100), BEFORE + _points(120)
    steep = speed[:, lo:hi] > CORE * top[:, None]
    if not forward:
        core = lo + np.argmax(steep, axis=1)
        mirrored = _leave_forward(speed[:, ::-1], threshold, n - 1 - core)
        return np.asarray(np.maximum(n - 1 - mirrored, BEFORE - _points(150)))
    core = hi - 1 - np.argmax(steep[:, ::-1], axis=1)
    return np.asarray(np.minimum(_leave_forward(speed, threshold, core), BEFORE + _points(220)))


def _leave_forward(speed: Float, threshold: Float, core: Index) -> Index:
    # origin shifts the running maximum so that it looks only ahead.
    ahead = maximum_filter1d(speed, QUIET_POINTS, axis=1, origin=-(QUIET_POINTS // 2))
    quiet = ahead < threshold[:, None]
    quiet &= np.arange(speed.shape[1]) > core[:, None]
    found = np.argmax(quiet, axis=1)
    found[~quiet.any(axis=1)] = speed.shape[1] - 1
    return np.asarray(found)


def mean_around(x: Float, centre: Index, reach: int) -> Float:
    """(n, L) mean of ``x`` over the points within ``reach`` of ``centre``; NaN outside the grid."""
    index = centre[:, None] + np.arange(-reach, reach + 1)
    inside = (index >= 0) & (index < x.shape[2])
    index = np.clip(index, 0, x.shape[2] - 1)
    values = np.take_along_axis(x, index[:, None, :], axis=2)
    mean: Float = values.mean(axis=2)
    mean[~inside.all(axis=1)] = np.nan
    return mean


def _pr_baseline(x: Float, onset: Index) -> Float:
    """Isoelectric level: mean of 8 to 24 ms before the onset."""
    return mean_around(x, onset - 4, 2)


def baseline_drift(windows: Windows, baseline: Float) -> Float:
    """(n, L) slope of the line through a beat's PR baseline and the next one's, mV per second.

    Zero where the next beat is unknown or over 2 s away: then the baseline is held level.
    """
    rise = np.diff(baseline, axis=0, append=np.nan)
    gap = windows.rr_after[:, None]
    with np.errstate(invalid="ignore"):
        slope = np.where(gap < 2.0, rise / gap, 0.0)
    return np.nan_to_num(slope).astype(np.float32)


def st_level(
    windows: Windows, complexes: Complexes, drift: Float, normal: NDArray[np.bool_]
) -> Float:
    """ST level, (n, L) millivolts: mean of 20 ms around J+80 ms against the PR baseline.

    A normal beat takes the J point from the median of the segment's normal beats, which noise moves
    less than its own; an ectopic beat takes its own. The baseline is the line between successive PR
    segments. Known failure: at rates above 120 per minute J+80 ms may lie on the T wave.
    """
    end = complexes.end.copy()
    usual = normal & complexes.known
    if usual.any():
        end[usual] = round(float(np.median(end[usual])))
    point = end + ST_DELAY
    level = mean_around(windows.x, point, 2) - complexes.baseline
    level -= drift * ((point - complexes.onset) / RATE)[:, None].astype(np.float32)
    hidden = (point - BEFORE) / RATE > windows.rr_after - 0.1
    level[hidden | ~complexes.known] = np.nan
    return level


def amplitude(windows: Windows, complexes: Complexes) -> Float:
    """Peak-to-peak QRS amplitude, (n, L) millivolts."""
    grid = np.arange(windows.x.shape[2])
    inside = (grid >= complexes.onset[:, None]) & (grid <= complexes.end[:, None])
    inside = inside[:, None, :]
    high = np.where(inside, windows.x, -np.inf).max(axis=2)
    low = np.where(inside, windows.x, np.inf).min(axis=2)
    size = np.asarray(high - low, dtype=np.float32)
    size[~complexes.known | ~np.isfinite(size).all(axis=1)] = np.nan
    return size


def _points(ms: float) -> int:
    return round(ms / MS)
