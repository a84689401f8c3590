"""Atrial fibrillation: when it happens, how the ventricles answer, and the f waves.

Episodes follow a two-state process with lognormal durations whose median, 16 s, is what long-term
recordings of paroxysmal AF show (median of the Long-Term AF Database's annotated episodes). Over
recordings the burden is U-shaped: most patients have little or nearly only AF.

The ventricular response is the AV node model of Corino VDA, Sandberg F, Mainardi LT, Sornmo L,
"An atrioventricular node model for analysis of the ventricular response during atrial
fibrillation", IEEE Trans Biomed Eng 2011;58(12):3386-3395: atrial impulses arrive as a Poisson
process; each of two pathways blocks them during its refractory period, then lets them pass with a
probability that rises linearly to 1. The time to the first conducted impulse has a closed form,
used here.

The f waves are the sawtooth of Stridh M, Sornmo L, "Spatiotemporal QRST cancellation techniques
for analysis of atrial fibrillation", IEEE Trans Biomed Eng 2001;48(1):105-111: a fundamental of 4
to 9 Hz with harmonics, slowly modulated in frequency and amplitude.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecgscroll.synth.config import Fibrillation

_LEAST_EPISODE_S = 5.0
_LEAST_SINUS_S = 6.0
_U_SHAPE = 0.35
_FREQUENCY_HZ = (6.2, 0.8)
_FREQUENCY_LIMITS_HZ = (4.2, 8.8)
_FREQUENCY_SWING_HZ, _FREQUENCY_SWING_RATE_HZ = 0.25, 0.13
_AMPLITUDE_SWING, _AMPLITUDE_SWING_RATE_HZ = 0.35, 0.21
_HARMONICS = 4
_FADE_S = 0.25


def draw_episodes(
    config: Fibrillation, duration_s: float, rng: np.random.Generator
) -> list[tuple[float, float]]:
    """Intervals [start, stop) in AF, s, before they are moved to beats."""
    burden = rng.beta(_U_SHAPE, _U_SHAPE) if config.burden is None else config.burden
    if burden < 0.003:
        return []
    if burden > 0.997:
        return [(0.0, duration_s)]
    mean_s = config.episode_median_s * np.exp(config.episode_log_sd**2 / 2)
    sinus_mean_s = mean_s * (1 - burden) / burden
    time = 0.0 if rng.uniform() < burden else _sinus_stretch(sinus_mean_s, rng)
    episodes = []
    while time < duration_s - _LEAST_EPISODE_S:
        log = np.log(config.episode_median_s) + config.episode_log_sd * rng.standard_normal()
        stop = time + max(_LEAST_EPISODE_S, float(np.exp(log)))
        stop = duration_s if stop > duration_s - _LEAST_SINUS_S else stop
        episodes.append((time, stop))
        time = stop + _sinus_stretch(sinus_mean_s, rng)
    return episodes


def _sinus_stretch(mean_s: float, rng: np.random.Generator) -> float:
    return _LEAST_SINUS_S + float(rng.exponential(max(mean_s - _LEAST_SINUS_S, 1.0)))


def draw_intervals(
    config: Fibrillation, count: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """R-R intervals in AF, s, shape (count,).

    With hazard rate ``a`` once recovered, recovery time ``p`` and refractory period ``r``, the
    cumulative hazard is ``a x^2 / 2p`` up to ``x = p`` after ``r`` and ``a (x - p/2)`` beyond;
    an exponential variate is put through its inverse.
    """
    slow = rng.uniform(size=count) < config.slow_share
    refractory = np.where(slow, config.slow_refractory_s, config.refractory_s)
    rate, recovery = config.impulse_hz, config.recovery_s
    hazard = rng.exponential(size=count)
    early = np.sqrt(2 * recovery * hazard / rate)
    return refractory + np.where(early < recovery, early, recovery / 2 + hazard / rate)


class FibrillatoryWaves:
    """f waves of all episodes of a recording, a function of time alone.

    Parameters
    ----------
    episodes
        Intervals [start, stop) in which the atria fibrillate, s.
    amplitude_mv
        Amplitude in lead II, mV.
    rng
        Draws each episode's frequency, phase and size.
    """

    def __init__(
        self,
        episodes: list[tuple[float, float]],
        amplitude_mv: float,
        rng: np.random.Generator,
    ) -> None:
        n = len(episodes)
        self._span = np.array(episodes, dtype=np.float64).reshape(-1, 2)
        frequency = _FREQUENCY_HZ[0] + _FREQUENCY_HZ[1] * rng.standard_normal(n)
        self._frequency = np.clip(frequency, *_FREQUENCY_LIMITS_HZ)
        self._phase = rng.uniform(0.0, 2 * np.pi, (n, 3))
        self._amplitude = amplitude_mv * np.exp(0.25 * rng.standard_normal(n))

    def render(self, time: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate the f waves in lead II at sorted times, mV, the same shape as ``time``."""
        wave = np.zeros_like(time)
        first = int(np.searchsorted(self._span[:, 1], time[0] - _FADE_S))
        last = int(np.searchsorted(self._span[:, 0], time[-1] + _FADE_S))
        for episode in range(first, last):
            start, stop = np.searchsorted(time, self._span[episode] + np.array([-_FADE_S, _FADE_S]))
            wave[start:stop] += self._episode(episode, time[start:stop])
        return wave

    def _episode(self, episode: int, time: NDArray[np.float64]) -> NDArray[np.float64]:
        first, second, third = self._phase[episode]
        swing = _FREQUENCY_SWING_HZ / _FREQUENCY_SWING_RATE_HZ
        angle = 2 * np.pi * self._frequency[episode] * time + first
        angle += swing * np.sin(2 * np.pi * _FREQUENCY_SWING_RATE_HZ * time + second)
        angle += 0.6 * swing * np.sin(2 * np.pi * 2.7 * _FREQUENCY_SWING_RATE_HZ * time + third)
        saw = sum(np.sin(k * angle) / k for k in range(1, _HARMONICS + 1))
        size = 1 + _AMPLITUDE_SWING * np.sin(2 * np.pi * _AMPLITUDE_SWING_RATE_HZ * time + third)
        edges = np.minimum(time - self._span[episode, 0], self._span[episode, 1] - time)
        fade = np.clip(edges / _FADE_S, -1.0, 1.0) / 2 + 0.5
        return np.asarray(self._amplitude[episode] * size * fade * saw * 2 / np.pi)
