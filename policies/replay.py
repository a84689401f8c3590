"""Agents without a mind of their own: a recorded run played again, and a written list of calls."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import yaml

from ecgscroll.environment.commands import call_from
from ecgscroll.errors import BadCallError, ConfigError, DataError
from ecgscroll.evaluation.config import Trial
from ecgscroll.evaluation.folder import RunFolder

Call = dict[str, Any]

_FINISH: Call = {"name": "finish", "arguments": {}}


class Replay:
    """Play the calls of a recorded run again, episode by episode; then finish.

    Under the run's own options every episode ends with the same ledger and the same score.

    Parameters
    ----------
    run
        Folder of the run.

    Raises
    ------
    DataError
        If it holds no run; at `reset`, if it holds no transcript of the instance.
    """

    name = "replay"

    def __init__(self, run: str) -> None:
        self._folder = RunFolder(Path(str(run)))
        self._config = self._folder.config()

    @classmethod
    def fingerprint(cls, run: str) -> dict[str, Any]:
        """Return the hash of the run's configuration and that of its results."""
        folder = RunFolder(Path(str(run)))
        results = folder.results.read_bytes() if folder.results.exists() else b""
        return {
            "configuration": folder.stored()["digest"],
            "results": hashlib.sha256(results).hexdigest(),
        }

    def reset(self, info: Mapping[str, Any]) -> None:
        """Open the transcript of ``info["instance"]``: the rollout of this seed, else the first."""
        path = self._folder.episode_path(info["instance"], self._rollout(info))
        self._calls = chain(recorded_calls(path), repeat(_FINISH))

    def _rollout(self, info: Mapping[str, Any]) -> int:
        turns = range(self._config.rollouts)
        seeds = {self._config.seed_of(Trial(info["instance"], turn)): turn for turn in turns}
        return seeds.get(info.get("sampling_seed", -1), 0)

    def act(self, obs: Mapping[str, Any], info: Mapping[str, Any]) -> Call:
        """Return the next recorded call."""
        return next(self._calls)


class Script:
    """Make the calls of a list, in every episode the same; then finish.

    Parameters
    ----------
    calls
        The list, or a YAML or JSON file of it. A call is a line as `ecgscroll play` takes it
        (``skim 600``), ``{"name": ..., "arguments": ...}``, or ``{skim: 600}``.

    Raises
    ------
    ConfigError
        If the file cannot be read, or a call is none.
    """

    name = "script"

    def __init__(self, calls: str | Sequence[Any]) -> None:
        self._calls = _listed(calls)

    @classmethod
    def fingerprint(cls, calls: str | Sequence[Any]) -> dict[str, Any]:
        """Return the hash of the calls."""
        text = json.dumps(_listed(calls), default=str)
        return {"calls": hashlib.sha256(text.encode()).hexdigest()}

    def reset(self, info: Mapping[str, Any]) -> None:
        """Begin the list."""
        self._left = chain(self._calls, repeat(_FINISH))

    def act(self, obs: Mapping[str, Any], info: Mapping[str, Any]) -> Call:
        """Return the next call."""
        return next(self._left)


def recorded_calls(transcript: Path) -> Iterator[Any]:
    """Yield the calls of a transcript, in order.

    Raises
    ------
    DataError
        If the file cannot be read or is no transcript.
    """
    try:
        lines = transcript.read_text(encoding="utf-8").splitlines()
        steps = [json.loads(line) for line in lines[1:-1]]
        calls = [step["action"] for step in steps]
    except FileNotFoundError:
        raise DataError(f"The run has no transcript {transcript.name}: not played there.") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f"The transcript {transcript} cannot be read: {error}.") from None
    return iter(calls)


def _listed(calls: str | Sequence[Any]) -> list[Call]:
    if isinstance(calls, str):
        try:
            calls = yaml.safe_load(Path(calls).read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError) as error:
            raise ConfigError(f"The list of calls cannot be read: {error}.") from None
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        raise ConfigError("calls is a list, or a file with one, such as: [skim 600, finish]")
    try:
        return [call_from(call) for call in calls]
    except BadCallError as error:
        raise ConfigError(f"The list of calls holds what is none: {error}") from None
