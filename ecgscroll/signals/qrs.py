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

from ecgscroll.signals import qrs_kernels as kernels
from ecgscroll.signals.windows import BEFORE, RATE, Windows, trust

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
    onset, end, quiet, known, baseline = kernels.bounds_of(windows.x, trust(windows.noise))
    return Complexes(onset, end, baseline, quiet, known)


def baseline_drift(windows: Windows, baseline: Float) -> Float:
    """(n, L) slope of the line through a beat's PR baseline and the next one's, mV per second.

    Zero where the next beat is unknown or over 2 s away: then the baseline is held level.
    """
    return np.asarray(kernels.drift_of(baseline, windows.rr_after, 2.0))


def st_level(
    windows: Windows, complexes: Complexes, drift: Float, normal: NDArray[np.bool_]
) -> Float:
    """ST level, (n, L) millivolts: mean of 20 ms around J+80 ms against the PR baseline.

    A normal beat takes the J point from the median of the segment's normal beats, which noise moves
    less than its own; an ectopic beat takes its own. The baseline is the line between successive PR
    segments. Known failure: at rates above 120 per minute J+80 ms may lie on the T wave.
    """
    usual = normal & complexes.known
    common = kernels.usual_point(complexes.end, usual)
    end = np.where(usual, common, complexes.end)
    c, rr_after = complexes, windows.rr_after
    level = kernels.levels_after(
        windows.x, end, c.onset, c.baseline, drift, rr_after, ST_DELAY, RATE
    )
    level[~complexes.known] = np.nan
    return np.asarray(level)


def amplitude(windows: Windows, complexes: Complexes, normal: NDArray[np.bool_]) -> Float:
    """Peak-to-peak QRS amplitude, (n, L) millivolts.

    Of a normal beat with what smoothing takes from a narrow complex (a seventh on mitdb), as the
    segment's median beat shows it; where noise hides that, the amplitude is so much too low.
    """
    size = kernels.heights_within(windows.x, complexes.onset, complexes.end)
    size[~complexes.known] = np.nan
    return np.asarray(np.where(normal[:, None], size * windows.lost_height, size))
