"""What came of a run's episodes, with everything made sure of that is taken from them later.

Transcripts may have been edited, or written by a stranger: what cannot be read is damaged, which to
a run that goes on is the same as not played.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ecgscroll.catalogue.truths import Truth
from ecgscroll.errors import ConfigError, DataError
from ecgscroll.evaluation.behaviour import CONSUMED, COUNTED, consumed
from ecgscroll.evaluation.config import Trial
from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.evaluation.outcome import Outcome, StoredInstance, read_outcome
from ecgscroll.evaluation.rollouts import failed
from ecgscroll.tasks import get_task

_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, OverflowError, ConfigError)
_LONGEST_S = 366 * 86400.0  # a year: what is longer, trivial strategies would tile for ever


def read_outcomes(folder: RunFolder) -> list[Outcome]:
    """Return what came of every episode of a run that has ended, in the order of its trials.

    Raises
    ------
    DataError
        If one cannot be read, or the folder holds no run.
    """
    try:
        found = [_outcome(folder, trial) for trial in folder.config().trials()]
    except _UNREADABLE as error:
        raise DataError(
            f"{folder.path} has an episode that cannot be read ({error}); run it again to mend it."
        ) from None
    return [outcome for outcome in found if outcome is not None]


def whole_outcome(folder: RunFolder, trial: Trial) -> Outcome | None:
    """Return what came of an episode; None if it has not ended, or cannot be read."""
    try:
        return _outcome(folder, trial)
    except _UNREADABLE:
        return None


def truth_digest(instance: StoredInstance) -> str | None:
    """Return the digest of a stored truth, as `Truth.digest` gives it; None without annotations."""
    if instance.truth is None:
        return None
    return Truth(instance.truth.value, instance.truth.events).digest()


def _outcome(folder: RunFolder, trial: Trial) -> Outcome | None:
    end = folder.last_line(*trial)
    if end is None:
        return None
    outcome = read_outcome(end)
    _check(outcome)
    return outcome


def _check(outcome: Outcome) -> None:
    """Make sure of everything that statistics take from an outcome."""
    row = outcome.row
    get_task(row["task"])
    if row["error"] is not None and not isinstance(row["error"], str):
        raise ValueError("its error is no sentence")
    if not failed(outcome):
        _check_score(row["score"], outcome.instance)
    for value in (row["cursor_s"], row["duration_s"], *(row[name] for name in COUNTED)):
        _finite(value)
    for value in (consumed(outcome, name) for name in CONSUMED):
        if value is not None:
            _finite(value)
    if not 0 < row["duration_s"] <= _LONGEST_S:
        raise ValueError(f"its duration is {row['duration_s']!r} s")
    if not isinstance(row["patient"], str) or not isinstance(row["ended"], str):
        raise ValueError("its patient or its end is no text")
    if not all(isinstance(entry, dict) for entry in outcome.ledger):
        raise ValueError("its ledger holds what is no entry")
    if outcome.instance.truth is not None:
        _check_truth(outcome.instance.truth.value, get_task(row["task"]).answer == "intervals")
    if outcome.latency is not None:
        _check_delays(outcome.latency, outcome.instance)
    truth_digest(outcome.instance)


def _check_truth(value: Any, intervals: bool) -> None:
    if isinstance(value, tuple) != intervals:
        raise ValueError("its truth is another task's")
    for time in (time for one in value for time in one) if intervals else (value,):
        _finite(time)


def _check_delays(latency: Mapping[str, Any], instance: StoredInstance) -> None:
    events = () if instance.truth is None else instance.truth.events
    for delays in (latency["onset_s"], latency["earliest_s"]):
        if len(delays) != len(events):
            raise ValueError("its delays are not those of its events")
        for delay in delays:
            if delay is not None:
                _finite(delay)


def _check_score(score: Any, instance: StoredInstance) -> None:
    if score is None and instance.truth is not None:
        raise ValueError("it has neither score nor error")
    if score is not None and not 0 <= _finite(score) <= 1:
        raise ValueError(f"its score is {score!r}")


def _finite(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r:.40} stands where a number belongs")
    return float(value)
