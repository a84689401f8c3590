"""Statistics over several rollouts of an instance.

Rollouts of one instance are not independent of each other, and recordings of one patient are not
either. So a score is first averaged over an instance's rollouts, then patients are resampled.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from ecgscroll.errors import ConfigError
from ecgscroll.scoring.statistics import Estimate, Summary, bootstrap_mean, summarise

Rollouts = Sequence[float | None]  # scores of one instance; None marks a rollout that failed
SUCCESS = 0.5  # least score of a success where scores are not hits


def summarise_rollouts(
    scores: Sequence[Rollouts],
    patients: Sequence[Hashable],
    *,
    hits: bool = False,
    seed: int = 0,
) -> Summary:
    """Summarise one task's scores over instances that were each played once or more.

    With one rollout an instance this is `summarise`. With more, an instance counts with its mean:
    over the rollouts that ran in ``score``, over all of them, an error as 0, in ``with_errors``;
    both intervals come from resampled patients, for a mean of hits is no hit.

    Parameters
    ----------
    scores
        One or more per instance, None for an error.
    patients
        Whose recording each instance is.
    hits
        Whether scores are 0 or 1.
    seed
        Of the bootstrap.
    """
    if len(scores) != len(patients):
        raise ConfigError("Scores and patients differ in number; give each instance its patient.")
    if all(len(one) == 1 for one in scores):
        return summarise([one[0] for one in scores], patients, hits=hits, seed=seed)
    kept = [(ran_mean(one), whose) for one, whose in zip(scores, patients, strict=True)]
    ran = [(mean, whose) for mean, whose in kept if mean is not None]
    return Summary(
        bootstrap_mean([mean for mean, _ in ran], [whose for _, whose in ran], seed=seed),
        bootstrap_mean([filled_mean(one) for one in scores], patients, seed=seed),
        errors=sum(score is None for one in scores for score in one),
    )


def ran_mean(scores: Rollouts) -> float | None:
    """Return the mean over the rollouts that ran, or None if none did."""
    ran = [score for score in scores if score is not None]
    return math.fsum(ran) / len(ran) if ran else None


def filled_mean(scores: Rollouts) -> float:
    """Return the mean over all rollouts, a failed one counting as 0."""
    return math.fsum(score or 0.0 for score in scores) / len(scores)


def pass_power(successes: int, rollouts: int, k: int) -> float:
    """Return the unbiased estimate of pass^k: the chance that k rollouts all succeed.

    It is C(c, k) / C(n, k) for c successes in n rollouts (Yao et al., tau-bench,
    arXiv:2406.12045).

    Parameters
    ----------
    successes, rollouts
        c successes out of n.
    k
        From 1 to n.

    Raises
    ------
    ConfigError
        If k or c is out of its range.
    """
    if not 1 <= k <= rollouts or not 0 <= successes <= rollouts:
        raise ConfigError(f"pass^{k} cannot be had from {successes} of {rollouts} rollouts.")
    return math.comb(successes, k) / math.comb(rollouts, k)


def pass_powers(
    scores: Sequence[Rollouts],
    patients: Sequence[Hashable],
    *,
    threshold: float = SUCCESS,
    seed: int = 0,
) -> list[dict[str, Estimate]]:
    """Return pass^k for k = 1 to the largest number of rollouts, with both denominators.

    Parameters
    ----------
    scores
        One or more per instance, None for an error.
    patients
        Whose recording each instance is.
    threshold
        Least score of a success; 1 for hits.
    seed
        Of the bootstrap.

    Returns
    -------
    Per k, ``score`` over the rollouts that ran (instances with fewer than k are left out, ``n``
    says how many are in) and ``with_errors`` over all, an error being a failure.
    """
    most = max((len(one) for one in scores), default=0)
    return [
        {
            "score": _pass_mean([_ran(one) for one in scores], patients, k, threshold, seed),
            "with_errors": _pass_mean(
                [_filled(one) for one in scores], patients, k, threshold, seed
            ),
        }
        for k in range(1, most + 1)
    ]


def _ran(scores: Rollouts) -> list[float]:
    return [score for score in scores if score is not None]


def _filled(scores: Rollouts) -> list[float]:
    return [-math.inf if score is None else score for score in scores]


def _pass_mean(
    scores: Sequence[Sequence[float]],
    patients: Sequence[Hashable],
    k: int,
    threshold: float,
    seed: int,
) -> Estimate:
    enough = [(one, whose) for one, whose in zip(scores, patients, strict=True) if len(one) >= k]
    values = [
        pass_power(sum(score >= threshold for score in one), len(one), k) for one, _ in enough
    ]
    return bootstrap_mean(values, [whose for _, whose in enough], seed=seed)
