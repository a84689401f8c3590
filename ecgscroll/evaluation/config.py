"""What a run is: everything that its results depend on, and where it came from."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from ecgscroll.environment.episode import Rewind
from ecgscroll.environment.parameters import Budget

_LONGEST_SHOWN = 200  # characters of both values of a difference

Source = Literal["reference", "signal"]
Scoring = Literal["committed", "published"]


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
        Seed of every environment and of the bootstrap.
    instances
        Instance ids in the order of the results.
    data
        SHA-256 over the truths of the instances.
    fingerprint
        What the policy says determines its behaviour beyond its options (thresholds, prompts).
    version
        Version of this package.
    """

    policy: str
    instances: tuple[str, ...]
    data: str
    options: Mapping[str, Any] = field(default_factory=dict)
    dx: Source | None = None
    scoring: Scoring = "committed"
    rewind: Rewind = "costed"
    budget: Budget = "open"
    seed: int = 0
    fingerprint: Mapping[str, Any] = field(default_factory=dict)
    version: str = field(default_factory=lambda: version("ecgscroll"))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as JSON would give them back."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    def digest(self) -> str:
        """SHA-256 of the canonical JSON."""
        return digest_of(self.to_dict())

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunConfig:
        """Rebuild what `to_dict` gave."""
        return cls(**{**values, "instances": tuple(values["instances"])})


def digest_of(plain: Mapping[str, Any]) -> str:
    """SHA-256 of a configuration's plain values, whichever version wrote them."""
    return _sha256(json.dumps(plain, sort_keys=True))


def data_digest(truths: Mapping[str, str]) -> str:
    """SHA-256 over instance ids and the digests of their truths, whatever their order."""
    return _sha256("\n".join(f"{name} {digest}" for name, digest in sorted(truths.items())))


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Name what differs between two configurations, one phrase per field."""
    return [
        _difference(name, old.get(name), new.get(name))
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]


def provenance(data: Path | None) -> dict[str, Any]:
    """Where a run came from; recorded beside the configuration, never compared."""
    return {
        "data": None if data is None else str(data),
        "commit": _commit(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in ("gymnasium", "numpy", "scipy", "wfdb")},
    }


def _difference(name: str, old: Any, new: Any) -> str:
    if name != "instances":
        was, now = json.dumps(old), json.dumps(new)
        short = len(was) + len(now) <= _LONGEST_SHOWN
        return f"{name} was {was}, now {now}" if short else f"{name} is another one now"
    changed = sorted(set(old) ^ set(new))
    example = f", such as {changed[0]}" if changed else " in another order"
    return f"instances were {len(old)}, now {len(new)}{example}"


def _commit() -> str | None:
    """Commit of the repository this package runs from, ``+`` when changed; None outside one."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return None
    try:
        head = _git(root, "rev-parse", "HEAD")
        return head + ("+" if _git(root, "status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
