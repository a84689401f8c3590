"""Finished runs, read to be set side by side; what their folders hold is checked first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ecgscroll.errors import ConfigError, DataError
from ecgscroll.evaluation.config import RunConfig
from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.evaluation.outcome import Outcome
from ecgscroll.evaluation.reading import read_outcomes
from ecgscroll.evaluation.rollouts import by_instance


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


def _load(path: Path, name: str) -> LoadedRun:
    folder = RunFolder(path)
    config = folder.config()
    outcomes = tuple(read_outcomes(folder))
    if not outcomes:
        raise DataError(f"No episode of {path} has ended; run it first.")
    return LoadedRun(name, config, outcomes)


def _names(paths: Sequence[Path]) -> list[str]:
    longest = max((len(path.parts) for path in paths), default=1)
    for parts in range(1, longest + 1):
        names = ["/".join(path.parts[-parts:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [str(path) for path in paths]
