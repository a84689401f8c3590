"""What skin, muscles, electrodes and mains add to an ambulatory ECG.

The kinds are those by which detectors are tried: Friesen GM et al., "A comparison of the noise
sensitivity of nine QRS detection algorithms", IEEE Trans Biomed Eng 1990;37(1):85-98, and Moody
GB, Muldrow WE, Mark RG, "A noise stress test for arrhythmia detectors", Computers in Cardiology
1984. Baseline wander follows respiration and slow drift below 0.7 Hz; muscle noise is broadband
from 15 Hz up, stronger in bursts of movement; electrode motion is a step that decays with a
wobble of 1 to 10 Hz; mains is a hum whose size drifts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import firwin, oaconvolve

from ecgscroll.synth.autonomic import Autonomic
from ecgscroll.synth.config import Noise, SynthConfig
from ecgscroll.synth.streams import generator, poisson_times

_WANDER_TONES = 12
_WANDER_HZ = (0.01, 0.7)
_WANDER_GRID_S = 0.05
_MUSCLE_LOW_HZ = 15.0
_BURST_S, _BURST_GAIN = (2.0, 20.0), (3.0, 10.0)
# Electrode-motion artefacts per second of a burst.
_BURST_MOTION = 1.0
_MOTION_REACH_S = 6.0


@dataclass(frozen=True)
class _Motion:
    """Electrode-motion artefacts as columns, one row each; sizes in mV per lead."""

    time: NDArray[np.float64]
    size: NDArray[np.float64]
    decay: NDArray[np.float64]
    frequency: NDArray[np.float64]


@dataclass(frozen=True)
class LeadOff:
    """A stretch without contact.

    Parameters
    ----------
    start, stop
        Samples [start, stop).
    leads
        Indices of the leads that are off.
    flat
        Whether the recorder writes a constant; else the samples are marked invalid.
    """

    start: int
    stop: int
    leads: tuple[int, ...]
    flat: bool


def draw_lead_off(config: SynthConfig, rng: np.random.Generator) -> tuple[LeadOff, ...]:
    """Stretches that do not overlap; one lead in most of them, all in the others."""
    fs, n_leads = config.fs, len(config.leads)
    stretches: list[LeadOff] = []
    for time in poisson_times(rng, config.noise.lead_off_per_h, config.duration_s):
        start = round(time * fs)
        length = max(1.0, rng.exponential(config.noise.lead_off_s))
        stop = min(start + round(length * fs), config.n_samples)
        one = (int(rng.integers(n_leads)),)
        leads = one if rng.uniform() < 0.6 else tuple(range(n_leads))
        flat = bool(rng.uniform() < 0.5)
        if start < stop and (not stretches or start > stretches[-1].stop):
            stretches.append(LeadOff(start, stop, leads, flat))
    return tuple(stretches)


class NoiseSource:
    """Noise of one recording, rendered block by block on its fixed grid.

    Parameters
    ----------
    config
        The recording.
    seed
        Its seed.
    tone
        Its autonomic tone, for the respiration in the wander.
    """

    def __init__(self, config: SynthConfig, seed: int, tone: Autonomic) -> None:
        rng = generator(seed, "noise")
        self._noise: Noise = config.noise
        self._fs, self._seed, self._tone = config.fs, seed, tone
        self._n_leads = n_leads = len(config.leads)
        self._frequency = _WANDER_HZ[0] * np.exp(
            rng.uniform(0.0, np.log(_WANDER_HZ[1] / _WANDER_HZ[0]), _WANDER_TONES)
        )
        self._phase = rng.uniform(0.0, 2 * np.pi, (n_leads, _WANDER_TONES))
        self._breath = rng.uniform(-0.6, 0.6, n_leads)
        self._hum_phase = rng.uniform(0.0, 2 * np.pi, (n_leads, 2))
        self._bursts = poisson_times(rng, self._noise.bursts_per_h, config.duration_s)
        self._burst_s = rng.uniform(*_BURST_S, self._bursts.size)
        self._burst_gain = rng.uniform(*_BURST_GAIN, self._bursts.size)
        self._motion = self._draw_motion(config.duration_s, rng)
        high = min(0.45 * self._fs, 120.0)
        taps = firwin(
            2 * (self._fs // 20) + 1, [_MUSCLE_LOW_HZ, high], pass_zero=False, fs=self._fs
        )
        self._taps = taps / np.sqrt(np.sum(taps**2))

    def _draw_motion(self, duration_s: float, rng: np.random.Generator) -> _Motion:
        """Artefacts at any time, and many more while the patient moves."""
        alone = poisson_times(rng, self._noise.motion_per_h, duration_s)
        crowd = np.repeat(np.arange(self._bursts.size), rng.poisson(_BURST_MOTION * self._burst_s))
        moving = self._bursts[crowd] + self._burst_s[crowd] * rng.uniform(size=crowd.size)
        time = np.sort(np.concatenate([alone, moving]))
        size = self._noise.motion_mv * rng.standard_normal((time.size, self._n_leads, 2))
        return _Motion(
            time, size, rng.uniform(0.08, 0.9, time.size), rng.uniform(1.0, 10.0, time.size)
        )

    def render(self, block: int, start: int, stop: int, block_size: int) -> NDArray[np.float64]:
        """Noise of samples [start, stop), which are block number ``block``, mV, (n_leads, n)."""
        time = np.arange(start, stop) / self._fs
        signal = self._wander(time) + self._muscle(block, time, block_size)
        signal += self._hum(time)
        self._add_motion(signal, time)
        return signal

    def _wander(self, time: NDArray[np.float64]) -> NDArray[np.float64]:
        """Slow tones, evaluated on a coarse grid and joined by straight lines."""
        first, last = int(time[0] / _WANDER_GRID_S), int(time[-1] / _WANDER_GRID_S) + 2
        grid = np.arange(first, last + 1) * _WANDER_GRID_S
        angle = 2 * np.pi * self._frequency[:, None] * grid
        drift = np.sin(angle + self._phase[:, :, None]).sum(axis=1) * np.sqrt(2 / _WANDER_TONES)
        breath = np.interp(grid, self._tone.time, self._tone.respiration)
        coarse = self._noise.wander_mv * (0.8 * drift + self._breath[:, None] * breath)
        return np.stack([np.interp(time, grid, lead) for lead in coarse])

    def _muscle(
        self, block: int, time: NDArray[np.float64], block_size: int
    ) -> NDArray[np.float64]:
        """Filtered white noise; the filter's memory is the end of the block before."""
        reach = self._taps.size - 1
        white = np.concatenate(
            [self._white(block - 1, block_size)[:, -reach:], self._white(block, block_size)], axis=1
        )
        noise = oaconvolve(white, self._taps[None], mode="valid", axes=1)[:, : time.size]
        return np.asarray(noise * self._noise.muscle_mv * self._activity(time))

    def _white(self, block: int, size: int) -> NDArray[np.float64]:
        return generator(self._seed, "muscle", block + 1).standard_normal((self._n_leads, size))

    def _activity(self, time: NDArray[np.float64]) -> NDArray[np.float64]:
        gain = np.ones_like(time)
        first = np.searchsorted(self._bursts, time[0] - _BURST_S[1])
        for burst in range(int(first), int(np.searchsorted(self._bursts, time[-1]))):
            into = (time - self._bursts[burst]) / self._burst_s[burst]
            gain += (self._burst_gain[burst] - 1) * np.clip(4 * np.minimum(into, 1 - into), 0, 1)
        return gain

    def _hum(self, time: NDArray[np.float64]) -> NDArray[np.float64]:
        carrier, swell = self._hum_phase[:, :1], self._hum_phase[:, 1:]
        size = self._noise.mains_mv * np.sqrt(2) * (1 + 0.4 * np.sin(0.05 * time + swell))
        return np.asarray(size * np.sin(2 * np.pi * self._noise.mains_hz * time + carrier))

    def _add_motion(self, signal: NDArray[np.float64], time: NDArray[np.float64]) -> None:
        motion = self._motion
        first = np.searchsorted(motion.time, time[0] - _MOTION_REACH_S)
        for event in range(int(first), int(np.searchsorted(motion.time, time[-1]))):
            reach = motion.time[event] + np.array([0.0, _MOTION_REACH_S])
            a, b = np.searchsorted(time, reach)
            into = time[a:b] - motion.time[event]
            fade = np.exp(-into / motion.decay[event]) * np.minimum(into / 0.02, 1.0)
            wobble = np.sin(2 * np.pi * motion.frequency[event] * into)
            step, swing = motion.size[event, :, :1], motion.size[event, :, 1:]
            signal[:, a:b] += (0.7 * step + 0.5 * swing * wobble) * fade
