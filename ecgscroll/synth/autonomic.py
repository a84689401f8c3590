"""Sinus rhythm: the R-R interval as a function of time, and the respiration that it shares.

The beat-to-beat spectrum has a low-frequency band at 0.1 Hz (baroreflex) and a high-frequency
band at the respiratory rate (respiratory sinus arrhythmia), each a Gaussian in frequency with
random phases: McSharry PE, Clifford GD, Tarassenko L, Smith LA, "A dynamical model for generating
synthetic electrocardiogram signals", IEEE Trans Biomed Eng 2003;50(3):289-294. Below 0.04 Hz the
power of long recordings falls as 1/f (Task Force of the ESC and NASPE, "Heart rate variability:
standards of measurement", Circulation 1996;93:1043-1065); the daily swing is a cosine with its
peak in the afternoon. Beats fall where the integral of the instantaneous rate passes a whole
number (integral pulse frequency modulation).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecgscroll.synth.config import Sinus

GRID_HZ = 4.0
_LF_HZ, _BAND_SD_HZ, _VLF_TOP_HZ = 0.1, 0.012, 0.04
_RR_LIMITS_S = (0.33, 2.2)
# Spectra are drawn over at least this many grid points: 2048 s resolve bands 0.012 Hz wide.
_LEAST_POINTS = 8192


@dataclass(frozen=True)
class Autonomic:
    """Autonomic tone on a 4 Hz grid.

    Parameters
    ----------
    time
        Grid, s, shape (n,).
    rr
        Sinus R-R interval at each grid point, s.
    respiration
        Respiration, unit variance.
    phase
        Sinus cycles completed since the start.
    """

    time: NDArray[np.float64]
    rr: NDArray[np.float64]
    respiration: NDArray[np.float64]
    phase: NDArray[np.float64]

    def beats(self, first: float, stop: float) -> NDArray[np.float64]:
        """Sinus beat times in [first, stop), s, the first of them at ``first``."""
        phase = np.interp([first, stop], self.time, self.phase)
        cycles = phase[0] + np.arange(int(np.ceil(phase[1] - phase[0] - 1e-9)))
        return np.asarray(np.interp(cycles, self.phase, self.time), dtype=np.float64)

    def rr_at(self, time: float) -> float:
        """Sinus R-R interval at one time, s."""
        return float(np.interp(time, self.time, self.rr))


def draw_autonomic(sinus: Sinus, duration_s: float, rng: np.random.Generator) -> Autonomic:
    """Draw the tone of one recording, from 0 to a few seconds past its end."""
    n = int(np.ceil((duration_s + 10.0) * GRID_HZ)) + 1
    time = np.arange(n) / GRID_HZ
    respiration = _band(n, sinus.respiration_hz, rng)
    deviation_ms = (
        sinus.vlf_ms * _pink(n, rng) + sinus.lf_ms * _band(n, _LF_HZ, rng)
    ) + sinus.hf_ms * respiration
    hour = sinus.start_hour + time / 3600.0
    rate = sinus.hr_bpm + sinus.circadian_bpm * np.cos(2 * np.pi * (hour - 15.0) / 24.0)
    base = 60.0 / np.maximum(rate, 30.0)
    # Variability shrinks as the heart speeds up, so its size is relative to the mean interval.
    relative = deviation_ms / 1000.0 / (60.0 / sinus.hr_bpm)
    # The node's response saturates, in proportion to the patient's variability.
    spread_ms = math.hypot(sinus.vlf_ms, sinus.lf_ms, sinus.hf_ms)
    most = max(2.5 * spread_ms / 1000.0 * sinus.hr_bpm / 60.0, 1e-6)
    rr = np.clip(base * (1.0 + most * np.tanh(relative / most)), *_RR_LIMITS_S)
    phase = np.concatenate([[0.0], np.cumsum(0.5 / GRID_HZ * (1 / rr[1:] + 1 / rr[:-1]))])
    return Autonomic(time, rr, respiration, phase)


def _band(n: int, centre_hz: float, rng: np.random.Generator) -> NDArray[np.float64]:
    frequency = _frequencies(n)
    return _series(np.exp(-((frequency - centre_hz) ** 2) / (4 * _BAND_SD_HZ**2)), n, rng)


def _pink(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    frequency = _frequencies(n)
    amplitude = np.zeros_like(frequency)
    inside = (frequency > 1 / 3000.0) & (frequency < _VLF_TOP_HZ)
    amplitude[inside] = frequency[inside] ** -0.5
    return _series(amplitude, n, rng)


def _points(n: int) -> int:
    return max(_LEAST_POINTS, 1 << (n - 1).bit_length())


def _frequencies(n: int) -> NDArray[np.float64]:
    bins = np.arange(_points(n) // 2 + 1, dtype=np.float64)
    return np.asarray(bins * (GRID_HZ / _points(n)), dtype=np.float64)


def _series(
    amplitude: NDArray[np.float64], n: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Unit-variance series of ``n`` points with this amplitude spectrum and random phases."""
    phases = rng.uniform(0.0, 2 * np.pi, amplitude.size)
    spectrum = amplitude * np.exp(1j * phases)
    series = np.fft.irfft(spectrum, _points(n))
    return np.asarray(series[:n] / series.std(), dtype=np.float64)
