"""Torch datasets over the causal environment, and the instances to train on.

Loaded at first use: ``training_instances`` needs no torch, the datasets do (``ecgscroll[torch]``),
the data module needs Lightning and the conversion the library ``datasets`` (``ecgscroll[train]``).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ecgscroll.errors import ConfigError

if TYPE_CHECKING:
    from ecgscroll.loaders.chunks import LabelledChunks
    from ecgscroll.loaders.conversations import write_trajectories
    from ecgscroll.loaders.hf import to_hugging_face
    from ecgscroll.loaders.instances import (
        Stage,
        check_side,
        curriculum,
        synthetic_instances,
        training_instances,
    )
    from ecgscroll.loaders.module import EpisodeData
    from ecgscroll.loaders.prompts import Prompts
    from ecgscroll.loaders.rollouts import Rollouts
    from ecgscroll.loaders.trajectories import PadTokens, Trajectories

_HOMES = {
    "EpisodeData": "module",
    "LabelledChunks": "chunks",
    "PadTokens": "trajectories",
    "Prompts": "prompts",
    "Rollouts": "rollouts",
    "Stage": "instances",
    "Trajectories": "trajectories",
    "check_side": "instances",
    "curriculum": "instances",
    "synthetic_instances": "instances",
    "to_hugging_face": "hf",
    "training_instances": "instances",
    "write_trajectories": "conversations",
}
_EXTRAS = {"torch": "torch", "lightning": "train", "datasets": "train"}

__all__ = [
    "EpisodeData",
    "LabelledChunks",
    "PadTokens",
    "Prompts",
    "Rollouts",
    "Stage",
    "Trajectories",
    "check_side",
    "curriculum",
    "synthetic_instances",
    "to_hugging_face",
    "training_instances",
    "write_trajectories",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its module at first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        home = import_module(f"{__name__}.{_HOMES[name]}")
    except ModuleNotFoundError as error:
        if error.name not in _EXTRAS:
            raise
        extra = _EXTRAS[error.name]
        raise ConfigError(f"{name} needs {error.name}; install ecgscroll[{extra}].") from None
    found = globals()[name] = getattr(home, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
