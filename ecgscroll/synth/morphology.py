"""Beat shapes: each wave a Gaussian of the heart's dipole, seen by each lead.

P, Q, R, S and T are Gaussians in time (McSharry et al. 2003, ECGSYN) with dipole amplitudes along
x, y, z (Sameni et al. 2007); a T wave is two of them, so that it rises more slowly than it falls.
T follows the rate: QT = QTc (RR / 1 s)^(1/3) (Fridericia 1920), RR being a trailing mean, since
QT lags the rate (Franz et al. 1988). A ventricular beat has no P, a QRS of about 150 ms built of
broad Gaussians and an opposite T (Surawicz B et al., AHA/ACCF/HRS recommendations III, J Am Coll
Cardiol 2009).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecgscroll.synth.leads import lead_matrix
from ecgscroll.synth.rhythm import SINUS, VENTRICULAR

# A beat is drawn from 0.34 s before its R peak to 0.74 s after it.
BEFORE_S, AFTER_S = 0.34, 0.74
# QRS onset and J point against the R peak, s; T peaks this long before the end of QT.
QRS_ONSET_S, J_POINT_S = -0.042, 0.046
_T_PEAK_BEFORE_END_S = 0.085
_QT_MEMORY = 0.9
_BEAT_SD = 0.015
_RESPIRATION_QRS = 0.05

# Waves of a conducted beat: dipole (mV), centre (s), standard deviation (s).
_P, _T = slice(0, 2), slice(5, 7)
_NORMAL_DIPOLE = np.array(
    [
        [0.025, 0.055, 0.03],  # P, right atrium
        [0.045, 0.060, -0.03],  # P, left atrium
        [-0.09, -0.10, -0.12],  # Q
        [0.95, 0.95, 0.25],  # R
        [-0.22, -0.20, 0.35],  # S
        [0.10, 0.09, -0.09],  # T, rising limb
        [0.22, 0.19, -0.16],  # T, summit
    ]
)
_NORMAL_CENTRE = np.array([-0.165, -0.138, -0.026, 0.0, 0.027, -0.047, 0.0])
_NORMAL_WIDTH = np.array([0.015, 0.017, 0.0075, 0.0105, 0.0085, 0.036, 0.032])
# Ventricular foci: initial, main, terminal part of the QRS, then T in two Gaussians.
_FOCUS_DIPOLE = np.array(
    [
        [[0.1, 0.15, 0.0], [-1.25, 1.55, -0.2], [-0.15, -0.35, 0.1], [0.3, -0.4, 0.1]],
        [[-0.1, 0.15, 0.0], [1.0, -1.5, 0.4], [0.3, 0.3, 0.0], [-0.3, 0.45, -0.15]],
        [[0.2, 0.0, 0.1], [1.5, 1.2, 0.6], [-0.3, -0.4, 0.0], [-0.45, -0.35, -0.1]],
    ]
)
_FOCUS_CENTRE = np.array([-0.036, 0.0, 0.050, 0.225])
_FOCUS_WIDTH = np.array([0.013, 0.022, 0.018, 0.050])


@dataclass(frozen=True)
class Heart:
    """One patient's shapes.

    Parameters
    ----------
    normal
        Wave amplitudes of a conducted beat per lead, mV, shape (n_waves, n_leads).
    foci
        The same for ventricular foci, shape (n_foci, n_waves, n_leads).
    pr_shift_s
        Added to the P wave's usual distance from R, s.
    """

    normal: NDArray[np.float64]
    foci: NDArray[np.float64]
    pr_shift_s: float


def draw_heart(leads: tuple[str, ...], rng: np.random.Generator) -> Heart:
    """Draw a patient: every wave varies by 12 %, the whole by 15 %, PR by 12 ms."""
    vectors = lead_matrix(leads).T

    def vary(dipole: NDArray[np.float64]) -> NDArray[np.float64]:
        size = np.exp(0.12 * rng.standard_normal((*dipole.shape[:-1], 1)))
        return np.asarray((dipole * size) @ vectors)

    size = np.exp(0.15 * rng.standard_normal())
    normal, foci = vary(_NORMAL_DIPOLE), vary(_FOCUS_DIPOLE)
    return Heart(
        normal * size, foci * size, float(np.clip(0.012 * rng.standard_normal(), -0.03, 0.03))
    )


def qt_intervals(rr: NDArray[np.float64], qtc_ms: float) -> NDArray[np.float64]:
    """QT per beat, s, from the R-R interval before each beat, s."""
    from scipy.signal import lfilter

    if rr.size == 0:
        return rr
    mean, _ = lfilter([1 - _QT_MEMORY], [1, -_QT_MEMORY], rr, zi=[_QT_MEMORY * np.median(rr[:10])])
    return np.asarray(qtc_ms / 1000.0 * np.cbrt(mean))


@dataclass(frozen=True)
class BeatShapes:
    """Gaussian waves of every beat: the whole clean ECG but for ST and f waves.

    Parameters
    ----------
    amplitude
        mV, shape (n_beats, n_waves, n_leads).
    centre, width
        s from the R peak, shape (n_beats, n_waves).
    """

    amplitude: NDArray[np.float32]
    centre: NDArray[np.float32]
    width: NDArray[np.float32]

    def render(self, chosen: slice, offsets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Beats at ``offsets`` (s from R), mV, shape (n_chosen, n_leads, n_offsets)."""
        z = offsets - self.centre[chosen, :, None].astype(np.float64)
        z /= self.width[chosen, :, None]
        waves = np.exp(-0.5 * z * z)
        return np.asarray(np.einsum("bwo,bwl->blo", waves, self.amplitude[chosen]))


def shape_beats(
    heart: Heart,
    kind: NDArray[np.int8],
    focus: NDArray[np.int8],
    qt: NDArray[np.float64],
    gains: NDArray[np.float64],
    respiration: NDArray[np.float64],
    rng: np.random.Generator,
) -> BeatShapes:
    """Give every beat its waves.

    Parameters
    ----------
    kind, focus, qt
        Per beat; QT in s.
    gains
        Gain of QRS and T per beat and lead, shape (n_beats, n_leads).
    respiration
        Respiration at each beat, unit variance; it modulates the QRS by 5 %.
    """
    n, n_waves = kind.size, _NORMAL_CENTRE.size
    amplitude = np.repeat(heart.normal[None], n, axis=0)
    amplitude[kind != SINUS, _P] = 0.0
    centre = np.repeat(_NORMAL_CENTRE[None], n, axis=0)
    centre[:, _P] -= heart.pr_shift_s
    centre[:, _T] += _t_peak(qt)[:, None]
    width = np.repeat(_NORMAL_WIDTH[None], n, axis=0)
    width[:, _T] *= np.clip(qt / 0.4, 0.6, 1.3)[:, None]

    early = kind == VENTRICULAR
    parts = _FOCUS_CENTRE.size
    amplitude[early] = 0.0
    amplitude[early, :parts] = heart.foci[focus[early]]
    centre[early, :parts] = _FOCUS_CENTRE
    width[early, :parts] = _FOCUS_WIDTH

    jitter = 1 + _BEAT_SD * rng.standard_normal((n, n_waves, 1))
    breath = 1 + _RESPIRATION_QRS * np.clip(respiration, -2.5, 2.5)
    amplitude *= jitter * gains[:, None, :]
    amplitude[:, 2:5] *= breath[:, None, None]
    return BeatShapes(
        amplitude.astype(np.float32), centre.astype(np.float32), width.astype(np.float32)
    )


def st_course(offsets: NDArray[np.float64], qt: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shape of an ST deviation of 1 at ``offsets`` (s from R), shape (n_beats, n_offsets).

    Zero until the QRS has all but ended, 1 from the J point on through the ST segment, back to zero
    under the T wave.
    """
    rise = np.clip((offsets - 0.03) / (J_POINT_S + 0.01 - 0.03), 0.0, 1.0)
    start = np.maximum(_t_peak(qt) - 0.06, 0.14)[:, None]
    fall = np.clip((offsets - start) / 0.16, 0.0, 1.0)
    return np.asarray((_smooth(rise) - _smooth(fall)).clip(0.0, 1.0))


def _t_peak(qt: NDArray[np.float64]) -> NDArray[np.float64]:
    """Summit of T against the R peak, s."""
    return qt + QRS_ONSET_S - _T_PEAK_BEFORE_END_S


def _smooth(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return x * x * (3 - 2 * x)
