"""Summaries over instances: means with intervals by resampling patients, hit rates by Wilson.

Recordings of one patient are not independent, so a bootstrap draws patients, each with all of
theirs. Errors are kept apart from zeros: a mean is given over what ran, and over everything with an
error counted as 0.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecgscroll.errors import ConfigError
from ecgscroll.scoring.latency import Quartiles

RESAMPLES = 2000


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval; ``low`` and ``high`` are None where nothing can be resampled.

    Parameters
    ----------
    mean
        Mean over ``n`` values, or None for n = 0.
    low, high
        Ends of the interval.
    n
        Number of values.
    method
        ``bootstrap`` (percentiles, patients resampled) or ``wilson``.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int
    method: str

    def __str__(self) -> str:
        """Write the mean and, where there is one, its interval: ``0.168 (0.066 to 0.280)``."""
        if self.mean is None:
            return "-"
        if self.low is None or self.high is None:
            return f"{self.mean:.3f}"
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields by name."""
        return dict(vars(self))


def bootstrap_mean(
    values: Sequence[float],
    patients: Sequence[Hashable],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> Estimate:
    """Return the mean of values with a percentile interval from resampled patients.

    Parameters
    ----------
    values
        One finite value per instance.
    patients
        Whose recording each is; same length.
    seed
        Of a generator made here, so that the same values give the same interval.
    resamples
        Number of bootstrap samples.
    confidence
        Coverage, in (0, 1).
    """
    _check(values, patients, confidence)
    if not values:
        return Estimate(None, None, None, 0, "bootstrap")
    mean = math.fsum(values) / len(values)
    sums, counts = _by_patient(values, patients)
    if len(sums) < 2:
        return Estimate(mean, None, None, len(values), "bootstrap")
    drawn = _draw(len(sums), resamples, np.random.default_rng(seed))
    means = (drawn @ sums) / (drawn @ counts)
    tail = (1 - confidence) / 2
    low, high = (float(q) for q in np.quantile(means, (tail, 1 - tail)))
    return Estimate(mean, low, high, len(values), "bootstrap")


def _check(values: Sequence[float], patients: Sequence[Hashable], confidence: float) -> None:
    if len(values) != len(patients):
        raise ConfigError("Values and patients differ in number; give each value its patient.")
    if not all(math.isfinite(value) for value in values):
        raise ConfigError("A value is not finite; keep errors apart from scores.")
    if not 0 < confidence < 1:
        raise ConfigError(f"A confidence lies between 0 and 1; {confidence!r} does not.")


def _by_patient(
    values: Sequence[float], patients: Sequence[Hashable]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sum and the number of each patient's values, patients in order of appearance."""
    index = {patient: i for i, patient in enumerate(dict.fromkeys(patients))}
    where = [index[patient] for patient in patients]
    sums = np.bincount(where, weights=np.asarray(values, np.float64), minlength=len(index))
    return sums.astype(np.float64), np.bincount(where, minlength=len(index)).astype(np.float64)


def _draw(patients: int, resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return how often each patient is drawn in each resample, shape (resamples, patients)."""
    odds = np.full(patients, 1 / patients)
    return rng.multinomial(patients, odds, size=resamples).astype(np.float64)


def wilson(hits: int, n: int, z: float = 1.959963984540054) -> Estimate:
    """Return a hit rate with its Wilson score interval (Wilson, JASA 1927).

    Parameters
    ----------
    hits, n
        Hits out of n.
    z
        Normal quantile of the coverage, by default of 95 %.
    """
    if not 0 <= hits <= n:
        raise ConfigError(f"{hits} hits out of {n} is no hit rate.")
    if n == 0:
        return Estimate(None, None, None, 0, "wilson")
    rate, spread = hits / n, z * z / n
    centre = (rate + spread / 2) / (1 + spread)
    half = z * math.sqrt(rate * (1 - rate) / n + spread / (4 * n)) / (1 + spread)
    return Estimate(rate, max(0.0, centre - half), min(1.0, centre + half), n, "wilson")


@dataclass(frozen=True)
class Summary:
    """Scores of one task over its instances.

    Parameters
    ----------
    score
        Over the instances that ran.
    with_errors
        Over all instances, an error counting as 0.
    errors
        Number of instances that failed.
    """

    score: Estimate
    with_errors: Estimate
    errors: int

    def to_dict(self) -> dict[str, Any]:
        """Return all fields by name, nested."""
        return {
            "score": self.score.to_dict(),
            "with_errors": self.with_errors.to_dict(),
            "errors": self.errors,
        }


def summarise(
    scores: Sequence[float | None],
    patients: Sequence[Hashable],
    *,
    hits: bool = False,
    seed: int = 0,
) -> Summary:
    """Summarise one task's scores; None marks an instance that failed.

    Parameters
    ----------
    scores
        One per instance, None for an error.
    patients
        Whose recording each is.
    hits
        Whether scores are 0 or 1 (change, rare event): Wilson instead of the bootstrap.
    seed
        Of the bootstrap.
    """
    if len(scores) != len(patients):
        raise ConfigError("Scores and patients differ in number; give each score its patient.")
    ran = [(s, p) for s, p in zip(scores, patients, strict=True) if s is not None]
    values, whose = [s for s, _ in ran], [p for _, p in ran]
    filled = [0.0 if score is None else score for score in scores]
    if hits:
        found = round(math.fsum(values))
        estimates = wilson(found, len(values)), wilson(found, len(filled))
    else:
        estimates = (
            bootstrap_mean(values, whose, seed=seed),
            bootstrap_mean(filled, patients, seed=seed),
        )
    return Summary(*estimates, errors=len(filled) - len(values))


def delay_summary(delays: Iterable[float | None]) -> dict[str, Any]:
    """Summarise detection delays over instances: quartiles of the detected, misses beside.

    Parameters
    ----------
    delays
        Seconds per event, None for a miss.

    Returns
    -------
    ``events``, ``missed_share`` (None without events), ``q1``, ``median``, ``q3`` (s, or None).
    """
    listed = list(delays)
    found = [delay for delay in listed if delay is not None]
    quartiles = Quartiles.of(found)
    share = 1 - len(found) / len(listed) if listed else None
    middle = dict(vars(quartiles)) if quartiles else dict.fromkeys(("q1", "median", "q3"))
    return {"events": len(listed), "missed_share": share} | middle
