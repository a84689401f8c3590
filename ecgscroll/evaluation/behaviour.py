"""What agents did and what it took: actions, endings, ECG read, tokens and cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ecgscroll.evaluation.outcome import Outcome

COUNTED = ("steps", "skims", "measures", "writes", "rewinds", "errors")
LIMITS = ("steps", "tokens", "cost", "time")
_USAGE = ("requests", "prompt_tokens", "completion_tokens", "cost")
CONSUMED = ("read_s", *_USAGE)


def behaviour(ran: Sequence[Outcome]) -> dict[str, float | None]:
    """Return the mean counts per episode, and the shares of what went nowhere.

    Parameters
    ----------
    ran
        Episodes without an error.

    Returns
    -------
    ``steps``, ``skims``, ``measures``, ``writes``, ``rewinds``, ``errors`` (bad calls) per
    episode; the share of ``empty_ledgers``, of episodes ended by the budget and by a limit.
    """
    if not ran:
        return {}
    per_episode = {
        name: round(math.fsum(one.row[name] for one in ran) / len(ran), 3) for name in COUNTED
    }
    shares = {
        "empty_ledgers": sum(not one.ledger for one in ran),
        "budget_ended": sum(one.row["ended"] == "budget" for one in ran),
        "limit_ended": sum(one.row["ended"] in LIMITS for one in ran),
    }
    return {**per_episode, **{name: round(n / len(ran), 4) for name, n in shares.items()}}


def consumption(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float | None]]:
    """Return what episodes took, ``per_episode`` and ``per_hour`` of recording passed.

    Returns
    -------
    Of each: ``read_s`` (seconds of ECG measured), ``requests``, ``prompt_tokens``,
    ``completion_tokens`` and ``cost``; None where no episode tells. An episode that does not tell
    is in neither the sum nor the denominators.
    """
    told = {name: _told(outcomes, name) for name in CONSUMED}
    return {
        "per_episode": {name: _ratio(pairs, None) for name, pairs in told.items()},
        "per_hour": {name: _ratio(pairs, 3600.0) for name, pairs in told.items()},
    }


def consumed(outcome: Outcome, name: str) -> float | None:
    """Return what one episode took of something, None if its row does not tell."""
    where: Any = (outcome.row.get("usage") or {}) if name in _USAGE else outcome.row
    value = where.get(name)
    return None if value is None else float(value)


def _told(outcomes: Sequence[Outcome], name: str) -> list[tuple[float, float]]:
    values = ((consumed(one, name), float(one.row["cursor_s"])) for one in outcomes)
    return [(value, seconds) for value, seconds in values if value is not None]


def _ratio(pairs: Sequence[tuple[float, float]], unit_s: float | None) -> float | None:
    total = math.fsum(value for value, _ in pairs)
    below = float(len(pairs)) if unit_s is None else math.fsum(s for _, s in pairs) / unit_s
    return round(total / below, 6) if below else None
