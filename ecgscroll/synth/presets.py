"""Ready-made configurations, one per kind of recording; each seed is another patient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ecgscroll.errors import ConfigError
from ecgscroll.synth.config import (
    Ectopy,
    Fibrillation,
    Ischemia,
    Noise,
    Sinus,
    SynthConfig,
)
from ecgscroll.synth.streams import generator


def _sinus(config: SynthConfig, rng: np.random.Generator) -> SynthConfig:
    return config


def _paf(config: SynthConfig, rng: np.random.Generator) -> SynthConfig:
    return replace(config, fibrillation=Fibrillation(burden=None))


def _ectopy(config: SynthConfig, rng: np.random.Generator) -> SynthConfig:
    ectopy = Ectopy(
        singles_per_h=150, couplets_per_h=12, runs_per_h=4, bigeminy_per_h=5, foci=2, pauses_per_h=1
    )
    return replace(config, ectopy=ectopy)


def _rare(config: SynthConfig, rng: np.random.Generator) -> SynthConfig:
    return replace(config, ectopy=Ectopy(count=int(rng.integers(1, 8))))


def _ischemia(config: SynthConfig, rng: np.random.Generator) -> SynthConfig:
    return replace(config, ischemia=Ischemia(episodes_per_h=3, shifts_per_h=2))


def _holter(config: SynthConfig, rng: np.random.Generator) -> SynthConfig:
    return replace(
        config,
        fibrillation=Fibrillation(burden=0.12),
        ectopy=Ectopy(
            singles_per_h=25, couplets_per_h=2, runs_per_h=0.4, bigeminy_per_h=0.5, foci=2,
            pauses_per_h=0.5,
        ),
        ischemia=Ischemia(episodes_per_h=1, shifts_per_h=3),
        noise=Noise(lead_off_per_h=0.5),
    )  # fmt: skip


# Shorter recordings start at any hour of the day; longer ones in the morning.
_LONG_S = 43200.0

PRESETS: dict[str, Callable[[SynthConfig, np.random.Generator], SynthConfig]] = {
    "sinus": _sinus,
    "paf": _paf,
    "ectopy": _ectopy,
    "rare": _rare,
    "ischemia": _ischemia,
    "holter": _holter,
}


def preset(name: str, seed: int, duration_s: float = 1800.0, fs: int = 250) -> SynthConfig:
    """Return the configuration of one patient of a preset.

    Parameters
    ----------
    name
        One of :data:`PRESETS`: ``sinus``; ``paf`` (paroxysmal AF, burden U-shaped over seeds);
        ``ectopy`` (frequent PVCs, alone and in groups); ``rare`` (1 to 7 isolated PVCs);
        ``ischemia`` (ST episodes, position changes as decoys); ``holter`` (all of it, and
        lead-off).
    seed
        Draws the patient: heart rate, variability, AV conduction, restlessness.
    duration_s, fs
        Length (s) and sampling frequency (Hz).

    Raises
    ------
    ConfigError
        If there is no such preset, or a value is out of its limits.
    """
    if name not in PRESETS:
        raise ConfigError(f"There is no preset {name!r}; choose one of {', '.join(PRESETS)}.")
    config = PRESETS[name](SynthConfig(duration_s=duration_s, fs=fs), generator(seed, "preset"))
    return _patient(config, generator(seed, "patient"))


def _patient(config: SynthConfig, rng: np.random.Generator) -> SynthConfig:
    """Draw what differs from patient to patient around the preset's values."""
    vary = np.exp(0.18 * rng.standard_normal(3))
    restless = np.exp(0.6 * rng.standard_normal(3))
    base, noise, atria = config.sinus, config.noise, config.fibrillation
    sinus = Sinus(
        hr_bpm=float(np.clip(72 + 9 * rng.standard_normal(), 50, 100)),
        start_hour=float(rng.uniform(8, 20)) if config.duration_s < _LONG_S else base.start_hour,
        vlf_ms=base.vlf_ms * float(vary[0]),
        lf_ms=base.lf_ms * float(vary[1]),
        hf_ms=base.hf_ms * float(vary[2]),
        respiration_hz=float(rng.uniform(0.2, 0.32)),
    )
    noise = replace(
        noise,
        muscle_mv=noise.muscle_mv * float(restless[0]),
        bursts_per_h=min(noise.bursts_per_h * float(restless[1]), 120.0),
        motion_per_h=min(noise.motion_per_h * float(restless[2]), 120.0),
    )
    slow = float(np.clip(np.exp(0.12 * rng.standard_normal()), 0.8, 1.35))
    atria = replace(
        atria,
        refractory_s=atria.refractory_s * slow,
        slow_refractory_s=atria.slow_refractory_s * slow,
    )
    return replace(config, sinus=sinus, noise=noise, fibrillation=atria)
