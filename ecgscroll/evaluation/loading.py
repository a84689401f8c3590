"""Finished runs, read to be set side by side; what their folders hold is checked first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ecgscroll.catalogue.truths import Truth
from ecgscroll.errors import ConfigError, DataError
from ecgscroll.evaluation.behaviour import CONSUMED, COUNTED, consumed
from ecgscroll.evaluation.config import RunConfig
from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.evaluation.outcome import Outcome, StoredInstance, read_outcomes
from ecgscroll.evaluation.rollouts import by_instance, failed
from ecgscroll.tasks import get_task

_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, OverflowError, ConfigError)


@dataclass(frozen=True)
class LoadedRun:
    """A run with everything that has ended in it.

    Parameters
    ----------
    name
        Name for tables; unique among the runs that were loaded together.
    config
        What was run.
    outcomes
        Episodes that ended, in the order of the configuration.
    """

    name: str
    config: RunConfig
    outcomes: tuple[Outcome, ...]

    @cached_property
    def instances(self) -> dict[str, list[Outcome]]:
        """Rollouts by instance id."""
        return by_instance(self.outcomes)

    @property
    def unfinished(self) -> int:
        """How many instances of the configuration have no episode that ended."""
        return len(set(self.config.instances) - self.instances.keys())


def load_runs(paths: Sequence[Path]) -> list[LoadedRun]:
    """Load runs, each named after its folder, with as much of the path as tells them apart.

    Raises
    ------
    ConfigError
        If a folder is given twice.
    DataError
        If a folder holds no run, no episode of it has ended, or a row of it is damaged.
    """
    resolved = [path.resolve() for path in paths]
    twice = [path for path, full in zip(paths, resolved, strict=True) if resolved.count(full) > 1]
    if twice:
        raise ConfigError(f"{twice[0]} is given twice; a run is set against another one.")
    return [_load(path, name) for path, name in zip(paths, _names(resolved), strict=True)]


def truth_digest(instance: StoredInstance) -> str | None:
    """Return the digest of a stored truth, as `Truth.digest` gives it; None without annotations."""
    if instance.truth is None:
        return None
    return Truth(instance.truth.value, instance.truth.events).digest()


def _load(path: Path, name: str) -> LoadedRun:
    folder = RunFolder(path)
    config = folder.config()
    try:
        outcomes = tuple(read_outcomes(folder))
        for outcome in outcomes:
            _check(outcome)
    except _UNREADABLE as error:
        raise DataError(
            f"{path} has an episode that cannot be read ({error}); run it again to mend it."
        ) from None
    if not outcomes:
        raise DataError(f"No episode of {path} has ended; run it first.")
    return LoadedRun(name, config, outcomes)


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
    if not isinstance(row["patient"], str):
        raise ValueError("its patient is no text")
    if outcome.latency is not None:
        _check_delays(outcome.latency, outcome.instance)
    truth_digest(outcome.instance)


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


def _names(paths: Sequence[Path]) -> list[str]:
    longest = max((len(path.parts) for path in paths), default=1)
    for parts in range(1, longest + 1):
        names = ["/".join(path.parts[-parts:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [str(path) for path in paths]
