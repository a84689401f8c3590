"""The verifier as a reward in TRL's signature, its terms by name, and what trivial play earns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ecgscroll.environment.env import ECGScrollEnv
from ecgscroll.scoring.rewards import TERMS
from ecgscroll.scoring.verifiers import verify


@dataclass(frozen=True)
class Outcome:
    """What a rollout has come to, wherever it stopped.

    Parameters
    ----------
    instance
        Its id.
    score
        The verifier's, of the ledger as it stands; NaN without a truth.
    terms
        Weighted terms of the reward, summed over the steps; a rollout that did not end is paid its
        score all the same.
    counts
        Steps, skims, measures, writes, rewinds, errors.
    ended
        Whether the episode was over: by ``finish`` or a budget, not by the trainer's limits.
    """

    instance: str
    score: float
    terms: Mapping[str, float]
    counts: Mapping[str, Any]
    ended: bool

    @classmethod
    def of(cls, env: ECGScrollEnv, info: Mapping[str, Any], terms: Mapping[str, float]) -> Outcome:
        """Take stock of an environment: its last ``info`` and the terms paid so far."""
        paid = dict.fromkeys(TERMS, 0.0) | dict(terms)
        score = info.get("score")
        if score is None and env.instance.truth is not None:
            score = verify(env.instance, info["ledger"], scoring=env.scoring)
            paid["score"] = env.reward_config.score * score.value
        value = math.nan if score is None else score.value
        return cls(env.instance.id, value, paid, info["counts"], env.ended)

    @property
    def reward(self) -> float | None:
        """Sum of the terms; None where nothing can be scored, which TRL leaves out."""
        return None if math.isnan(self.score) else math.fsum(self.terms.values())


# Is shown a batch: completions, their outcomes, and the step.
Watch = Callable[[Sequence[Any], Sequence[Outcome], int], None]


class VerifierReward:
    """The sum of the terms as TRL's reward function; every term is logged by its name.

    Parameters
    ----------
    watch
        Is shown every batch of rollouts.
    """

    __name__ = "verifier"

    def __init__(self, watch: Watch | None = None) -> None:
        self._watch = watch

    def __call__(
        self,
        *,
        environments: Sequence[Any],
        completions: Sequence[Any] = (),
        trainer_state: Any = None,
        log_metric: Callable[[str, float], None] | None = None,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        **_given: Any,
    ) -> list[float | None]:
        """Return a reward per completion.

        Parameters
        ----------
        environments
            The rollouts' environments, in the order of the completions.
        completions, trainer_state
            What `watch` is shown: the messages of each rollout, and the trainer's state.
        log_metric, log_extra
            TRL's: a scalar by name, and a column of the logged completions.
        """
        outcomes: list[Outcome] = [environment.outcome for environment in environments]
        if log_metric is not None:
            for name, value in batch_metrics(outcomes).items():
                log_metric(name, value)
        if log_extra is not None:
            log_extra("instance", [one.instance for one in outcomes])
            log_extra("score", [one.score for one in outcomes])
            log_extra("writes", [one.counts["writes"] for one in outcomes])
        if self._watch is not None and completions:
            self._watch(completions, outcomes, int(getattr(trainer_state, "global_step", 0)))
        return [one.reward for one in outcomes]


def batch_metrics(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return the means of a batch: each term, the score, steps, errors, and the share that ended.

    An episode without a truth counts in what does not need one.
    """
    scored = [one for one in outcomes if one.reward is not None]
    means = {f"terms/{name}": _mean([one.terms[name] for one in outcomes]) for name in TERMS}
    means["episodes/score"] = _mean([one.score for one in scored])
    for name in ("steps", "writes", "errors", "rewinds"):
        means[f"episodes/{name}"] = _mean([one.counts[name] for one in outcomes])
    means["episodes/ended"] = _mean([one.ended for one in outcomes])
    return {name: value for name, value in means.items() if not math.isnan(value)}


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
