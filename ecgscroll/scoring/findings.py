"""What a verifier's parameters are, and which ledger entries count as findings under them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple

from ecgscroll.errors import ConfigError
from ecgscroll.tasks import AnswerKind, Task

Scoring = Literal["committed", "published"]
Ignored = Literal["not_an_object", "type", "bounds", "reversed", "stamp", "future", "past", "wide"]

# IoU for a match, and seconds within which an onset or a point is a hit.
DEFAULT_IOU = {"episode_detection": 0.5, "ischemia": 0.75}
DEFAULT_TOLERANCE_S: dict[AnswerKind, float] = {"onset": 10.0, "point": 15.0}


@dataclass(frozen=True)
class Parameters:
    """Every constant of a verifier, as recorded with its score.

    Parameters
    ----------
    scoring
        What an empty ledger answers where a time is asked for: nothing, which scores 0
        (``committed``), or 0 s (``published``).
    iou
        Least intersection over union of a match, in (0, 1]; asked of interval answers alone.
    v0
        Floor under the denominator of the burden score, a fraction of the recording.
    tolerance_s
        Greatest distance of a hit in seconds, the end included.
    max_write_s
        Entries wider than this are ignored (seconds; infinite for no limit).
    slack_s
        Rounding forgiven in ``max_write_s``, in seconds.
    join_s
        Entries closer than this touch, in seconds.
    """

    scoring: Scoring = "committed"
    iou: float = 0.5
    v0: float = 0.02
    tolerance_s: float = 0.0
    max_write_s: float = math.inf
    slack_s: float = 1e-3
    join_s: float = 1e-6

    def __post_init__(self) -> None:
        if self.scoring not in ("committed", "published"):
            raise ConfigError(
                f"There is no scoring {self.scoring!r}; choose 'committed' or 'published'."
            )
        if not 0 < self.iou <= 1:
            raise ConfigError(f"An IoU threshold lies in (0, 1]; {self.iou!r} does not.")
        if not 0 < self.v0 < math.inf:
            raise ConfigError(f"v0 is a positive fraction; {self.v0!r} is not.")
        limits = (self.tolerance_s, self.max_write_s, self.slack_s, self.join_s)
        if not all(limit >= 0 for limit in limits) or math.isinf(self.tolerance_s):
            raise ConfigError("tolerance_s, max_write_s, slack_s and join_s are 0 or more seconds.")

    @classmethod
    def of_task(cls, task: Task, **given: Any) -> Parameters:
        """Return the task's defaults with what is given (and not None) in their place."""
        defaults = {
            "iou": DEFAULT_IOU.get(task.name, cls.iou),
            "tolerance_s": DEFAULT_TOLERANCE_S.get(task.answer, cls.tolerance_s),
            "max_write_s": math.inf if task.max_write_s is None else task.max_write_s,
        }
        return cls(**(defaults | {key: value for key, value in given.items() if value is not None}))

    def to_dict(self) -> dict[str, Any]:
        """Return the constants for JSON, None for no limit."""
        limit = None if math.isinf(self.max_write_s) else self.max_write_s
        return vars(self) | {"max_write_s": limit}


class Finding(NamedTuple):
    """A usable entry: bounds clipped to what had elapsed, all in seconds."""

    t0: float
    t1: float
    stamp: float
    confidence: float
    lead: str | None
    value: float | None


def read_entry(entry: Any, event: str, total: float, parameters: Parameters) -> Finding | Ignored:
    """Return the finding of one entry, or the reason for which it never counts.

    Parameters
    ----------
    entry
        A ledger entry; anything at all is allowed.
    event
        Ledger type that the task asks for.
    total
        Length of the recording in seconds; the stamp of an entry that carries none.
    parameters
        The verifier's constants.
    """
    if not isinstance(entry, dict | Mapping):  # dict first: it is the usual one, and quick
        return "not_an_object"
    if not isinstance(entry.get("type"), str) or entry["type"] != event:
        return "type"
    t0, t1 = _number(entry.get("t0")), _number(entry.get("t1"))
    stamp = total if entry.get("cursor") is None else _number(entry["cursor"])
    if t0 is None or t1 is None:
        return "bounds"
    if stamp is None or stamp < 0:
        return "stamp"
    return _clip(t0, t1, min(stamp, total), entry, parameters)


def _clip(
    t0: float, t1: float, stamp: float, entry: Mapping[str, Any], parameters: Parameters
) -> Finding | Ignored:
    if t1 <= t0:
        return "reversed"
    if t0 >= stamp:
        return "future"
    if t1 <= 0:
        return "past"
    if t1 - t0 > parameters.max_write_s + parameters.slack_s:
        return "wide"
    lead = entry.get("lead")
    return Finding(
        max(t0, 0.0),
        min(t1, stamp),
        stamp,
        _number(entry.get("confidence")) or 0.0,
        lead if isinstance(lead, str) else None,
        _number(entry.get("value")),
    )


def _number(value: Any) -> float | None:
    """Return a finite real number as a float; None for anything else, booleans included."""
    if type(value) is not float and (isinstance(value, bool) or not isinstance(value, Real)):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return number if math.isfinite(number) else None
