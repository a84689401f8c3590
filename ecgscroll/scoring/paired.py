"""Paired comparisons: the same instances under two agents."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from scipy.stats import binomtest

from ecgscroll.errors import ConfigError
from ecgscroll.scoring.statistics import Estimate, bootstrap_mean

_TIE = 1e-9  # means of equal scores over other numbers of rollouts differ in the last digit


@dataclass(frozen=True)
class Paired:
    """Two agents on the same instances.

    Parameters
    ----------
    n
        Number of instances.
    first, second
        Mean of each agent, None for n = 0.
    difference
        Second minus first, with an interval from resampled patients.
    """

    n: int
    first: float | None
    second: float | None
    difference: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Return all fields by name, nested."""
        return {**vars(self), "difference": self.difference.to_dict()}


def paired(
    first: Sequence[float],
    second: Sequence[float],
    patients: Sequence[Hashable],
    *,
    seed: int = 0,
) -> Paired:
    """Compare two agents' values on the same instances.

    Parameters
    ----------
    first, second
        One finite value per instance, in the same order.
    patients
        Whose recording each is; a resample draws patients, each with all pairs of theirs.
    seed
        Of the bootstrap.

    Raises
    ------
    ConfigError
        If the lengths differ or a value is not finite.
    """
    if len(first) != len(second):
        raise ConfigError("The two agents have values on different numbers of instances.")
    gains = [b - a for a, b in zip(first, second, strict=True)]
    difference = bootstrap_mean(gains, patients, seed=seed)
    return Paired(len(first), _mean(first), _mean(second), difference)


def exact_sign_test(first: Sequence[float], second: Sequence[float]) -> dict[str, Any]:
    """Test whether either agent is better on more instances; for hits this is McNemar's exact test.

    Parameters
    ----------
    first, second
        One value per instance, in the same order.

    Returns
    -------
    ``first_better`` and ``second_better`` count instances, ties apart; ``p`` is the two-sided
    binomial probability (McNemar, Psychometrika 1947), None where all are tied. It takes instances
    as independent, which two of one patient are not: the interval is the measure to go by.
    """
    pairs = list(zip(first, second, strict=True))
    won, lost = (sum(sign * (b - a) > _TIE for a, b in pairs) for sign in (1, -1))
    p = float(binomtest(won, won + lost).pvalue) if won + lost else None
    return {"first_better": lost, "second_better": won, "p": p}


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
