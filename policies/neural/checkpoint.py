"""The folder that a network is kept in: safetensors and a configuration, no pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from ecgscroll.errors import ConfigError
from ecgscroll.files import write_atomic
from policies.expert.view import MEMORY
from policies.neural.features import CANDIDATE, STATE, TURN

WEIGHTS, CONFIGURATION = "neural.safetensors", "neural.json"
NEWEST = 3
"""Newest turns that are read as they are, beside the recurrence over all."""
_MOST_BYTES = 1 << 28

Arrays = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True)
class Shape:
    """Sizes of a network.

    Parameters
    ----------
    hidden
        Units of every layer.
    layers
        Layers of the recurrence over turns.
    state, turn, candidate
        Numbers of features that it was made for.

    Raises
    ------
    ConfigError
        If a size is out of its range, or the features are others than this version's.
    """

    hidden: int = 128
    layers: int = 1
    state: int = STATE
    turn: int = TURN
    candidate: int = CANDIDATE

    def __post_init__(self) -> None:
        if (self.state, self.turn, self.candidate) != (STATE, TURN, CANDIDATE):
            raise ConfigError(
                "The neural checkpoint was made for other features than this version has: train it "
                "again with python -m training.neural."
            )
        if not (1 <= self.hidden <= 4096 and 1 <= self.layers <= 16):
            raise ConfigError("A network has 1 to 4096 hidden units and 1 to 16 layers.")

    def arrays(self) -> dict[str, tuple[int, ...]]:
        """Return the names of the weights and their shapes."""
        h, found = self.hidden, dict[str, tuple[int, ...]]()
        for layer in range(self.layers):
            read = self.turn if layer == 0 else h
            found |= {
                f"turns.weight_ih_l{layer}": (3 * h, read),
                f"turns.weight_hh_l{layer}": (3 * h, h),
                f"turns.bias_ih_l{layer}": (3 * h,),
                f"turns.bias_hh_l{layer}": (3 * h,),
            }
        about = self.state - (MEMORY - NEWEST) * self.turn + h
        sizes = {"state.0": (h, about), "state.2": (h, h), "candidate": (h, self.candidate)}
        sizes |= {"score.1": (h, h), "score.3": (1, h)}
        for name, size in sizes.items():
            found |= {f"{name}.weight": size, f"{name}.bias": size[:1]}
        return found


def save_network(arrays: Arrays, shape: Shape, folder: Path, record: Mapping[str, Any]) -> None:
    """Write weights, sizes and a record of the training; each file appears whole.

    Parameters
    ----------
    arrays
        Weights by name, as `Shape.arrays` lists them.
    shape
        Sizes.
    folder
        Where; made if it is not there.
    record
        What is told beside the sizes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / WEIGHTS, save(dict(arrays)))
    about = {"shape": asdict(shape), **record}
    write_atomic(folder / CONFIGURATION, json.dumps(about, indent=1) + "\n")


def load_arrays(folder: Path) -> tuple[Shape, dict[str, NDArray[np.float32]]]:
    """Read sizes and weights.

    Raises
    ------
    ConfigError
        If the folder holds none, or they are damaged or of another version.
    """
    try:
        about = json.loads((folder / CONFIGURATION).read_text(encoding="utf-8"))
        shape = Shape(**{name: index(value) for name, value in about["shape"].items()})
        path = folder / WEIGHTS
        if path.stat().st_size > _MOST_BYTES:
            raise ConfigError(f"{path} is too large for a neural checkpoint.")
        arrays = load(path.read_bytes())
    except OSError:
        raise ConfigError(
            f"{folder} holds no neural checkpoint ({CONFIGURATION}, {WEIGHTS}); make one with "
            "python -m training.neural."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, SafetensorError) as e:
        reason = " ".join(str(e).split())[:200]
        raise ConfigError(f"The neural checkpoint {folder} is damaged: {reason}") from None
    fit = {name: one.shape for name, one in arrays.items()} == shape.arrays()
    if not fit or any(one.dtype != np.float32 for one in arrays.values()):
        raise ConfigError(
            f"The weights in {folder} do not fit their configuration: one of both is damaged."
        )
    if not all(np.isfinite(one).all() for one in arrays.values()):
        raise ConfigError(f"The weights in {folder} are not finite numbers.")
    return shape, arrays


def weights_digest(folder: Path) -> str:
    """SHA-256 of a checkpoint's weights, for a run's record."""
    load_arrays(folder)
    return hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
