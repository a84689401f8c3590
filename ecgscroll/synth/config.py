"""What a synthetic recording is made of: one frozen, validated configuration with units."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, ClassVar

import numpy as np

from ecgscroll.errors import ConfigError
from ecgscroll.synth.leads import LEAD_VECTORS

Range = tuple[float, float]
_NON_NEGATIVE: Range = (0.0, np.inf)


class _Part:
    """Checks every number of a configuration part against its limits when it is made.

    Limits that are whole numbers ask for a whole number.
    """

    limits: ClassVar[dict[str, Range]] = {}

    def __post_init__(self) -> None:
        for item in fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            if value is not None and not is_dataclass(value) and item.name != "leads":
                self._check(item.name, value)

    def _check(self, name: str, value: Any) -> None:
        low, high = self.limits.get(name, _NON_NEGATIVE)
        numbers = value if isinstance(value, tuple) else (value,)
        for number in numbers:
            if isinstance(number, bool) or not isinstance(number, int | float | np.number):
                raise ConfigError(f"{type(self).__name__}.{name} must be a number, not {number!r}.")
            if isinstance(low, int) and not isinstance(number, int):
                raise ConfigError(f"{type(self).__name__}.{name} must be whole, not {number!r}.")
            if not (np.isfinite(number) and low <= number <= high):
                raise ConfigError(
                    f"{type(self).__name__}.{name} must lie in [{low:g}, {high:g}], not {number!r}."
                )


@dataclass(frozen=True)
class Sinus(_Part):
    """Sinus rhythm and its variability (see :mod:`ecgscroll.synth.autonomic`).

    Parameters
    ----------
    hr_bpm
        Mean heart rate over the day, beats per minute.
    circadian_bpm
        Amplitude of the daily swing, beats per minute; highest at 15 h.
    start_hour
        Hour of the day at the first sample, h.
    vlf_ms, lf_ms, hf_ms
        Standard deviation of the R-R interval in the very low, low and high (respiratory)
        frequency bands, ms.
    respiration_hz
        Centre of the respiratory band, Hz.
    """

    hr_bpm: float = 70.0
    circadian_bpm: float = 8.0
    start_hour: float = 9.0
    vlf_ms: float = 32.0
    lf_ms: float = 34.0
    hf_ms: float = 30.0
    respiration_hz: float = 0.25
    limits: ClassVar[dict[str, Range]] = {
        "hr_bpm": (35.0, 150.0),
        "circadian_bpm": (0.0, 25.0),
        "start_hour": (0.0, 24.0),
        "vlf_ms": (0.0, 150.0),
        "lf_ms": (0.0, 150.0),
        "hf_ms": (0.0, 150.0),
        "respiration_hz": (0.12, 0.45),
    }


@dataclass(frozen=True)
class Fibrillation(_Part):
    """Atrial fibrillation (see :mod:`ecgscroll.synth.fibrillation`).

    Parameters
    ----------
    burden
        Expected fraction of the recording in AF; 0 is none, 1 is persistent; ``None`` draws it
        from a U-shaped Beta distribution.
    episode_median_s, episode_log_sd
        Median (s) and standard deviation of the logarithm of an episode's duration.
    impulse_hz
        Mean rate of atrial impulses that reach the AV node, 1/s.
    refractory_s, slow_refractory_s
        Refractory period of the fast and of the slow AV nodal pathway, s.
    slow_share
        Fraction of beats conducted over the slow pathway.
    recovery_s
        Longest prolongation of a refractory period, s.
    wave_mv
        Amplitude of the f waves in lead II, mV.
    """

    burden: float | None = 0.0
    episode_median_s: float = 16.0
    episode_log_sd: float = 1.9
    impulse_hz: float = 6.0
    refractory_s: float = 0.42
    slow_refractory_s: float = 0.33
    slow_share: float = 0.35
    recovery_s: float = 0.25
    wave_mv: float = 0.06
    limits: ClassVar[dict[str, Range]] = {
        "burden": (0.0, 1.0),
        "episode_median_s": (5.0, 86400.0),
        "episode_log_sd": (0.0, 3.0),
        "impulse_hz": (2.0, 12.0),
        "refractory_s": (0.25, 0.9),
        "slow_refractory_s": (0.25, 0.9),
        "slow_share": (0.0, 1.0),
        "recovery_s": (0.01, 1.0),
        "wave_mv": (0.0, 0.5),
    }


@dataclass(frozen=True)
class Ectopy(_Part):
    """Ventricular ectopy and pauses (see :mod:`ecgscroll.synth.ectopy`).

    Parameters
    ----------
    singles_per_h, couplets_per_h, runs_per_h, bigeminy_per_h
        Expected events per hour; a run has 3 to 8 beats, a bigeminy 4 to 15 pairs.
    count
        When given, exactly this many isolated beats (fewer where they do not fit) and none of
        the other events.
    coupling
        Coupling interval as a fraction of the basic interval.
    foci
        How many shapes the ectopic beats have, 1 to 3.
    pauses_per_h
        Expected sinus exit-block pauses of 2 s or more per hour.
    """

    singles_per_h: float = 0.0
    couplets_per_h: float = 0.0
    runs_per_h: float = 0.0
    bigeminy_per_h: float = 0.0
    count: int | None = None
    coupling: float = 0.62
    foci: int = 1
    pauses_per_h: float = 0.0
    limits: ClassVar[dict[str, Range]] = {
        "singles_per_h": (0.0, 2000.0),
        "couplets_per_h": (0.0, 500.0),
        "runs_per_h": (0.0, 200.0),
        "bigeminy_per_h": (0.0, 100.0),
        "count": (0, 100_000),
        "coupling": (0.5, 0.8),
        "foci": (1, 3),
        "pauses_per_h": (0.0, 100.0),
    }


@dataclass(frozen=True)
class Ischemia(_Part):
    """Transient ST episodes (see :mod:`ecgscroll.synth.ischemia`).

    Parameters
    ----------
    episodes_per_h
        Expected episodes per hour; when above 0 a recording has at least one that fits.
    duration_median_s, duration_log_sd
        Median (s) and standard deviation of the logarithm of an episode's length, ramps included.
    peak_mv
        Least and greatest deviation at the peak in the lead that shows it most, mV.
    elevation_share
        Fraction of episodes that are elevations; the others are depressions.
    shifts_per_h
        Expected changes of body position per hour: a step in QRS and T amplitudes and a small one
        in ST, never annotated as ischemia.
    """

    episodes_per_h: float = 0.0
    duration_median_s: float = 200.0
    duration_log_sd: float = 0.5
    peak_mv: tuple[float, float] = (0.18, 0.40)
    elevation_share: float = 0.4
    shifts_per_h: float = 0.0
    limits: ClassVar[dict[str, Range]] = {
        "episodes_per_h": (0.0, 30.0),
        "duration_median_s": (60.0, 7200.0),
        "duration_log_sd": (0.0, 1.5),
        "peak_mv": (0.12, 2.0),
        "elevation_share": (0.0, 1.0),
        "shifts_per_h": (0.0, 60.0),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.peak_mv) != 2 or self.peak_mv[0] > self.peak_mv[1]:
            raise ConfigError(
                f"Ischemia.peak_mv must be (least, greatest) in mV, not {self.peak_mv}."
            )


@dataclass(frozen=True)
class Noise(_Part):
    """What the electrodes add (see :mod:`ecgscroll.synth.noise`).

    Parameters
    ----------
    wander_mv, muscle_mv, mains_mv
        Root mean square of baseline wander, of muscle noise at rest and of mains hum, mV.
    mains_hz
        Mains frequency, Hz.
    bursts_per_h
        Expected stretches of movement per hour: 2 to 20 s of muscle noise 3 to 10 times stronger,
        with an electrode-motion artefact every second or so.
    motion_per_h, motion_mv
        Expected electrode-motion artefacts per hour, and their typical size, mV.
    lead_off_per_h, lead_off_s
        Expected lead-off stretches per hour, and their mean length, s.
    """

    wander_mv: float = 0.06
    muscle_mv: float = 0.015
    mains_mv: float = 0.003
    mains_hz: float = 50.0
    bursts_per_h: float = 18.0
    motion_per_h: float = 15.0
    motion_mv: float = 0.7
    lead_off_per_h: float = 0.0
    lead_off_s: float = 15.0
    limits: ClassVar[dict[str, Range]] = {
        "wander_mv": (0.0, 2.0),
        "muscle_mv": (0.0, 1.0),
        "mains_mv": (0.0, 1.0),
        "mains_hz": (45.0, 65.0),
        "bursts_per_h": (0.0, 500.0),
        "motion_per_h": (0.0, 500.0),
        "motion_mv": (0.0, 5.0),
        "lead_off_per_h": (0.0, 100.0),
        "lead_off_s": (1.0, 600.0),
    }


@dataclass(frozen=True)
class SynthConfig(_Part):
    """One synthetic recording.

    Parameters
    ----------
    duration_s
        Length, s.
    fs
        Sampling frequency, Hz.
    leads
        Distinct lead names out of :data:`ecgscroll.synth.leads.LEAD_VECTORS`.
    qtc_ms
        QT interval at a heart rate of 60 bpm, ms.
    sinus, fibrillation, ectopy, ischemia, noise
        Its parts.

    Raises
    ------
    ConfigError
        If a value is not a number, out of its limits, or a lead is unknown or repeated.
    """

    duration_s: float = 600.0
    fs: int = 250
    leads: tuple[str, ...] = ("MLII", "V5")
    qtc_ms: float = 410.0
    sinus: Sinus = field(default_factory=Sinus)
    fibrillation: Fibrillation = field(default_factory=Fibrillation)
    ectopy: Ectopy = field(default_factory=Ectopy)
    ischemia: Ischemia = field(default_factory=Ischemia)
    noise: Noise = field(default_factory=Noise)
    limits: ClassVar[dict[str, Range]] = {
        "duration_s": (10.0, 14 * 86400.0),
        "fs": (100, 2000),
        "qtc_ms": (330.0, 550.0),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.leads, tuple):
            raise ConfigError(f"SynthConfig.leads must be a tuple of names, not {self.leads!r}.")
        unknown = [lead for lead in self.leads if lead not in LEAD_VECTORS]
        if unknown or not self.leads or len(set(self.leads)) < len(self.leads):
            raise ConfigError(
                f"SynthConfig.leads must be distinct names out of {', '.join(LEAD_VECTORS)}, "
                f"not {self.leads}."
            )

    @property
    def n_samples(self) -> int:
        """Samples per lead."""
        return round(self.duration_s * self.fs)
