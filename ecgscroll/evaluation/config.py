"""What a run is: everything that its results depend on."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any, Literal, NamedTuple

from numpy.random import SeedSequence

from ecgscroll.environment.episode import Rewind
from ecgscroll.environment.parameters import Budget
from ecgscroll.errors import ConfigError

_LONGEST_SHOWN = 200  # characters of both values of a difference

Source = Literal["reference", "signal"]
Scoring = Literal["committed", "published"]


class Trial(NamedTuple):
    """One episode of a run: an instance, and which of its rollouts."""

    instance: str
    rollout: int = 0


@dataclass(frozen=True)
class Limits:
    """What one episode may take; None for no limit. At a limit the runner itself finishes it.

    Parameters
    ----------
    steps
        Calls of the policy.
    tokens
        Tokens of prompts and completions.
    seconds
        Wall time; looked at between steps, so a call under way is waited for.
    cost
        In the unit of the back end's prices.
    """

    steps: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        """Refuse what is no limit, and JSON could not carry; raises `ConfigError`."""
        for name, value in asdict(self).items():
            if value is not None and not 0 <= value < math.inf:
                raise ConfigError(f"A limit of {name} is a finite number, not {value!r}; leave it.")


@dataclass(frozen=True)
class RunConfig:
    """Everything that a run's results depend on; two equal ones give equal results.

    Parameters
    ----------
    policy, options
        As `ecgscroll.policy.load_policy` takes them.
    dx, scoring, rewind, budget
        As `ecgscroll.make` takes them.
    seed
        Seed of every environment.
    sampling_seed
        What the policies' own seeds follow from, see `seed_of`.
    bootstrap_seed
        Seed of the intervals.
    rollouts
        Episodes per instance.
    limits
        Of each episode.
    instances
        Instance ids in the order of the results.
    data
        SHA-256 over the truths of the instances.
    recordings
        SHA-256 over the headers and file sizes of their recordings.
    fingerprint
        What the policy says determines its behaviour beyond its options (thresholds, prompts).
    version
        Version of this package.
    """

    policy: str
    instances: tuple[str, ...]
    data: str
    recordings: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    dx: Source | None = None
    scoring: Scoring = "committed"
    rewind: Rewind = "costed"
    budget: Budget = "open"
    seed: int = 0
    sampling_seed: int = 0
    bootstrap_seed: int = 0
    rollouts: int = 1
    limits: Limits = field(default_factory=Limits)
    fingerprint: Mapping[str, Any] = field(default_factory=dict)
    version: str = field(default_factory=lambda: version("ecgscroll"))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as JSON would give them back."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    def digest(self) -> str:
        """SHA-256 of the canonical JSON."""
        return digest_of(self.to_dict())

    def trials(self) -> list[Trial]:
        """Return every episode in the order of the results."""
        return [Trial(name, turn) for name in self.instances for turn in range(self.rollouts)]

    def seed_of(self, trial: Trial) -> int:
        """Return the sampling seed of an episode: another for each instance and rollout."""
        named = int(_sha256(trial.instance)[:16], 16)
        return int(SeedSequence([self.sampling_seed, named, trial.rollout]).generate_state(1)[0])

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunConfig:
        """Rebuild what `to_dict` gave."""
        limits = Limits(**values.get("limits", {}))
        return cls(**{**values, "instances": tuple(values["instances"]), "limits": limits})


def digest_of(plain: Mapping[str, Any]) -> str:
    """SHA-256 of a configuration's plain values, whichever version wrote them."""
    return _sha256(json.dumps(plain, sort_keys=True))


def data_digest(truths: Mapping[str, str]) -> str:
    """SHA-256 over instance ids and the digests of their truths, whatever their order."""
    return _sha256("\n".join(f"{name} {digest}" for name, digest in sorted(truths.items())))


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Name what differs between two configurations, one phrase per field.

    Examples
    --------
    >>> differences({"fingerprint": {"prompt": "a"}}, {"fingerprint": {"prompt": "b"}})
    ['fingerprint.prompt was "a", now "b"']
    """
    before, after = dict(leaves(old)), dict(leaves(new))
    return [
        _difference(name, before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


def leaves(values: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of nested mappings, each under its path such as ``limits.tokens``."""
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, f"{path}{name}.")
        elif value != {}:
            yield f"{path}{name}", value


def _difference(name: str, old: Any, new: Any) -> str:
    if name != "instances":
        was, now = json.dumps(old), json.dumps(new)
        short = len(was) + len(now) <= _LONGEST_SHOWN
        return f"{name} was {was}, now {now}" if short else f"{name} is another one now"
    changed = sorted(set(old) ^ set(new), key=str)
    example = f", such as {changed[0]}" if changed else " in another order"
    return f"instances were {len(old)}, now {len(new)}{example}"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
