"""Rewards: terms by name, a weight beside each, and their sum; the verifier is the reward.

    rewards = Rewards(config, instance)         # at reset
    terms = rewards.on_step(StepEvent(...))     # after every step, a failed one included
    reward = sum(terms.values())

Every term of every step is in the result, zero or not, so that a log adds up. The sums are right
wherever an episode is cut: ``progress`` telescopes to the gain in score since the start, prices are
paid as they fall due, and ``score`` is paid once, at the step that ends the episode, whether it
terminated or was truncated.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from ecgscroll.errors import ConfigError
from ecgscroll.scoring.verifiers import Replay, Scorable

TERMS = ("score", "progress", "latency", "rewind", "invalid", "step")


@dataclass(frozen=True)
class RewardConfig:
    """Weight of each term, 0 or more; a weight of 0 turns its term off.

    Parameters
    ----------
    score
        Times the verifier's score, once, at the end.
    progress
        Times the change in the score of the answer so far, at each write. With no discount it is a
        potential-based shaping (Ng, Harada and Russell, 1999): it sums to the final less the
        initial score, so no detour earns anything.
    latency
        Times the share of reference events that a write is the first to detect, each worth
        exp(-delay / ``latency_scale_s``), delay from the earliest possible moment. A bonus rather
        than a price, so that missing an event never pays.
    rewind
        Price of one second measured before the last skim window.
    invalid
        Price of one bad call.
    step
        Price of one step.
    latency_scale_s
        Delay in seconds at which the latency bonus has fallen to 1/e.
    """

    score: float = 1.0
    progress: float = 0.0
    latency: float = 0.0
    rewind: float = 1e-4
    invalid: float = 0.01
    step: float = 0.0
    latency_scale_s: float = 300.0

    def __post_init__(self) -> None:
        for name, weight in vars(self).items():
            if isinstance(weight, bool) or not isinstance(weight, int | float):
                raise ConfigError(f"The reward weight {name!r} is a number, not {weight!r}.")
            if not 0 <= weight < math.inf:
                raise ConfigError(f"The reward weight {name!r} is 0 or more, not {weight!r}.")
        if self.latency_scale_s == 0:
            raise ConfigError("latency_scale_s is more than 0 seconds.")

    @classmethod
    def from_dict(cls, weights: Mapping[str, Any]) -> RewardConfig:
        """Return a configuration from a mapping, as a YAML file gives it.

        Raises
        ------
        ConfigError
            If a name is none of the fields, or a weight is no weight.
        """
        known = [field.name for field in fields(cls)]
        if unknown := sorted(set(weights) - set(known), key=str):
            raise ConfigError(
                f"There is no reward weight {unknown[0]!r}; choose among {', '.join(known)}."
            )
        return cls(**weights)

    def to_dict(self) -> dict[str, float]:
        """Return all weights by name."""
        return dict(vars(self))


class StepEvent(NamedTuple):
    """What one step did, as far as a reward asks.

    Parameters
    ----------
    entry
        The ledger entry that the step appended, if it wrote.
    invalid
        Whether the call was bad.
    rewind_s
        Seconds that it measured before the last skim window.
    ended
        Whether the episode ends with it, terminated or truncated.
    """

    entry: Mapping[str, Any] | None = None
    invalid: bool = False
    rewind_s: float = 0.0
    ended: bool = False


class Rewards:
    """Turns the steps of one episode into reward terms; make one at each reset.

    Only what a write changes is scored again, and a copy shares what is fixed.

    Parameters
    ----------
    config
        Weights; None for the defaults.
    instance
        Carries task, length and truth. Without a truth (a recording nobody annotated) the terms
        that need one are 0 and the prices stand.
    parameters
        As for ``ecgscroll.verify``; the same as the episode's final score uses.
    """

    def __init__(self, config: RewardConfig | None, instance: Scorable, **parameters: Any) -> None:
        self.config = RewardConfig() if config is None else config
        self._replay = None if instance.truth is None else Replay(instance, **parameters)
        self._score = 0.0 if self._replay is None else self._replay.value()
        self._ended = False

    def on_step(self, event: StepEvent) -> dict[str, float]:
        """Return the weighted terms of one step; their sum is its reward.

        Entries must come in the order of their stamps, as an episode writes them.
        """
        config, terms = self.config, dict.fromkeys(TERMS, 0.0)
        if event.entry is not None and self._replay is not None:
            terms |= self._on_write(self._replay, event.entry)
        terms["rewind"] = -config.rewind * event.rewind_s
        terms["invalid"] = -config.invalid * event.invalid
        terms["step"] = -config.step
        if event.ended and not self._ended:
            self._ended = True
            terms["score"] = config.score * self._score
        return {name: value + 0.0 for name, value in terms.items()}  # no negative zeros in a log

    def copy(self) -> Rewards:
        """Return rewards at the same point that go on alone, as a cloned environment needs."""
        twin = copy.copy(self)
        twin._replay = None if self._replay is None else self._replay.copy()
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Rewards:
        return self.copy()

    def _on_write(self, replay: Replay, entry: Mapping[str, Any]) -> dict[str, float]:
        detected, before = replay.add(entry), self._score
        self._score = replay.value()
        return {
            "progress": self.config.progress * (self._score - before),
            "latency": self.config.latency * self._promptness(replay, detected),
        }

    def _promptness(self, replay: Replay, detected: list[int]) -> float:
        """Return the sum over newly detected events of exp(-delay / scale), by their number."""
        clock = replay.assembly.clock
        scale, count = self.config.latency_scale_s, len(clock.spans)
        delays = (max(0.0, clock.delay(event)) for event in detected)
        return sum(math.exp(-delay / scale) for delay in delays) / count if count else 0.0
