"""Real recordings made worse on purpose: noise of a known level, and leads that fail in turn.

Levels are those of the MIT noise stress test (Moody, Muldrow & Mark, Computers in Cardiology
11:381, 1984): the signal's power is an eighth of the squared peak-to-peak QRS amplitude, the noise
is one kind of :mod:`ecgscroll.synth.noise`, each lead's its own. Every lead is as noisy for its
size as the next.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ecgscroll.synth.autonomic import draw_autonomic
from ecgscroll.synth.config import Noise, SynthConfig
from ecgscroll.synth.noise import NoiseSource
from ecgscroll.synth.recording import BLOCK_S
from ecgscroll.synth.streams import generator

NoiseKind = Literal["muscle", "baseline", "motion"]
Failure = Literal["flat", "noise", "saturated", "nan"]
FAILURES: tuple[Failure, ...] = ("flat", "noise", "saturated", "nan")
FAILED_DB = -6.0
"""Level of the noise on a lead that fails by noise."""

_SILENT = {
    "wander_mv": 0.0,
    "muscle_mv": 0.0,
    "mains_mv": 0.0,
    "motion_mv": 0.0,
    "bursts_per_h": 0.0,
    "motion_per_h": 0.0,
}
_PARTS: dict[NoiseKind, dict[str, float]] = {
    "muscle": {"muscle_mv": 1.0},
    "baseline": {"wander_mv": 1.0},
    "motion": {"motion_mv": 1.0, "motion_per_h": 500.0},
}
_LEADS = ("MLII", "V5", "V1", "V2", "V4", "I", "II")

Signal = NDArray[np.float32]


def qrs_size(signal: Signal, fs: float, beats: NDArray[np.float64]) -> NDArray[np.float64]:
    """(L,) median peak-to-peak amplitude within 50 ms of the ``beats`` (s), mV."""
    at = np.rint(beats * fs).astype(np.int64)
    reach = round(0.05 * fs)
    at = at[(at >= reach) & (at < signal.shape[1] - reach)]
    near = signal[:, at[:, None] + np.arange(-reach, reach + 1)]
    return np.asarray(np.nanmedian(np.ptp(near, axis=2), axis=1), dtype=np.float64)


def with_noise(
    signal: Signal,
    fs: float,
    kind: NoiseKind,
    level_db: float,
    size: NDArray[np.float64],
    seed: int,
) -> Signal:
    """Return the (L, n) ``signal`` with noise of one kind added.

    Parameters
    ----------
    size
        (L,) QRS amplitude of each lead, mV, which the level refers to.
    level_db
        Power of the QRS complexes over that of the noise.
    """
    noise = _unit_noise(kind, len(signal), signal.shape[1], round(fs), seed)
    level = size / np.sqrt(8) * 10 ** (-level_db / 20)
    return np.asarray(signal + level[:, None] * noise, dtype=np.float32)


def _unit_noise(kind: NoiseKind, leads: int, n: int, fs: int, seed: int) -> NDArray[np.float64]:
    """(L, n) noise of unit root mean square."""
    duration = max(10.0, n / fs + 1)
    config = SynthConfig(
        duration_s=duration,
        fs=fs,
        leads=_LEADS[:leads],
        noise=Noise(**{**_SILENT, **_PARTS[kind]}),
    )
    tone = draw_autonomic(config.sinus, duration, generator(seed, "autonomic"))
    source, block = NoiseSource(config, seed, tone), BLOCK_S * fs
    parts = [
        source.render(i, i * block, min((i + 1) * block, n), block) for i in range(-(-n // block))
    ]
    noise = np.concatenate(parts, axis=1)
    return np.asarray(noise / np.sqrt(np.mean(noise**2, axis=1, keepdims=True)))


def failure_spans(
    n: int, fs: float, leads: int, seed: int, *, good_s: float = 40.0, bad_s: float = 50.0
) -> list[tuple[int, int, int]]:
    """Stretches (start, stop, lead) in samples in which one lead fails, the next one each time.

    Their mean lengths are ``good_s`` between and ``bad_s``, exponential but for a least of 5 s.
    """
    rng = generator(seed, "failing")
    spans: list[tuple[int, int, int]] = []
    stop = 0.0
    while True:
        start = stop + max(5.0, rng.exponential(good_s))
        stop = start + max(5.0, rng.exponential(bad_s))
        if start * fs >= n:
            return spans
        spans.append((round(start * fs), min(n, round(stop * fs)), len(spans) % leads))


def failing(
    signal: Signal, fs: float, how: Failure, size: NDArray[np.float64], seed: int
) -> Signal:
    """Return (L, n) ``signal`` in which one lead at a time fails, in the `failure_spans`.

    Parameters
    ----------
    how
        ``flat``: 0 mV; ``noise``: at -6 dB, muscle and motion in turn; ``saturated``: the largest
        value of a converter, 5 mV, with a bit that flickers once a second; ``nan``.
    size
        (L,) QRS amplitude of each lead, mV.
    """
    rng = generator(seed, "failed")
    kinds: tuple[NoiseKind, ...] = ("muscle", "motion") if how == "noise" else ()
    noisy = [with_noise(signal, fs, kind, FAILED_DB, size, seed) for kind in kinds]
    out = signal.copy()
    for i, (start, stop, lead) in enumerate(failure_spans(signal.shape[1], fs, len(signal), seed)):
        if noisy:
            out[lead, start:stop] = noisy[i // len(signal) % 2][lead, start:stop]
        else:
            out[lead, start:stop] = _failed(stop - start, how, fs, rng)
    return out


def _failed(n: int, how: Failure, fs: float, rng: np.random.Generator) -> Signal:
    out = np.full(n, np.nan if how == "nan" else 0.0, dtype=np.float32)
    if how == "saturated":
        out[:] = 5.0
        out[rng.random(n) < 1.0 / fs] -= np.float32(0.005)
    return out
