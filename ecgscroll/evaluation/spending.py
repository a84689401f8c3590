"""What a run may take as a whole; at a limit no new episode begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ecgscroll.evaluation.accounts import tokens
from ecgscroll.evaluation.config import Limits
from ecgscroll.evaluation.episode import known_cost


@dataclass(frozen=True)
class RunLimits:
    """Limits of all episodes together, those of earlier sessions included; None for none.

    Parameters
    ----------
    tokens
        Tokens of prompts and completions.
    cost
        In the unit of the back end's prices.
    """

    tokens: int | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        """Refuse what is no limit; raises `ConfigError`."""
        Limits(tokens=self.tokens, cost=self.cost)


class Spending:
    """Adds up what episodes took, failed and repeated ones too.

    Parameters
    ----------
    limits
        Where it stops.
    """

    def __init__(self, limits: RunLimits) -> None:
        self._limits = limits
        self._tokens = 0.0
        self._cost = 0.0

    def add(self, note: Mapping[str, Any]) -> None:
        """Count an episode, as a line of ``timing.jsonl`` tells of it.

        Raises
        ------
        ConfigError
            If cost is limited, and a price is not known.
        """
        usage = note.get("usage")
        self._tokens += tokens(usage)
        if self._limits.cost is not None:
            self._cost += known_cost(usage)

    def go_on(self) -> bool:
        """Whether another episode may begin."""
        most_tokens, most_cost = self._limits.tokens, self._limits.cost
        within = most_tokens is None or self._tokens < most_tokens
        return within and (most_cost is None or self._cost < most_cost)
