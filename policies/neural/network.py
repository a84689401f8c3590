"""The network, and the folder that it is kept in: safetensors and a configuration, no pickle."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from ecgscroll.errors import ConfigError
from ecgscroll.files import write_atomic
from policies.expert.view import MEMORY
from policies.neural.features import CANDIDATE, STATE, TURN

WEIGHTS, CONFIGURATION = "neural.safetensors", "neural.json"
_MOST_BYTES = 1 << 28


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
    """

    hidden: int = 128
    layers: int = 1
    state: int = STATE
    turn: int = TURN
    candidate: int = CANDIDATE

    def __post_init__(self) -> None:
        made = (self.state, self.turn, self.candidate)
        if made != (STATE, TURN, CANDIDATE):
            raise ConfigError(
                "The neural checkpoint was made for other features than this version has: train it "
                "again with python -m training.neural."
            )
        if not (1 <= self.hidden <= 4096 and 1 <= self.layers <= 16):
            raise ConfigError("A network has 1 to 4096 hidden units and 1 to 16 layers.")


class Network(nn.Module):
    """Scores candidate calls: a recurrence reads the turns, a layer each candidate beside it.

    Parameters
    ----------
    shape
        Its sizes.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        hidden = shape.hidden
        self.turns = nn.GRU(shape.turn, hidden, shape.layers, batch_first=True)
        self.state = nn.Sequential(
            nn.Linear(shape.state - MEMORY * shape.turn + 3 * shape.turn + hidden, hidden),
            nn.GELU(),
            nn.Linear(hidden, hidden),
        )
        self.candidate = nn.Linear(shape.candidate, hidden)
        self.score = nn.Sequential(
            nn.GELU(), nn.Linear(hidden, hidden), nn.GELU(), nn.Linear(hidden, 1)
        )

    def forward(self, state: Tensor, found: Tensor, mask: Tensor) -> Tensor:
        """Score candidates.

        Parameters
        ----------
        state
            (batch, state) features of views.
        found
            (batch, n, candidate) features of candidates.
        mask
            (batch, n) which of them there are.

        Returns
        -------
        Tensor
            Logits (batch, n), -inf where there is none.
        """
        size = MEMORY * self.shape.turn
        about, turns = state[:, :-size], state[:, -size:].reshape(-1, MEMORY, self.shape.turn)
        _, last = self.turns(turns.flip(1))  # oldest first
        newest = turns[:, :3].flatten(1)
        view = self.state(torch.cat([about, newest, last[-1]], dim=1))
        logits = self.score(self.candidate(found) + view[:, None]).squeeze(-1)
        masked: Tensor = logits.masked_fill(~mask, -torch.inf)
        return masked


def save_network(network: Network, folder: Path, record: dict[str, Any]) -> None:
    """Write weights, sizes and a record of the training; each file appears whole.

    Parameters
    ----------
    network
        What is kept.
    folder
        Where; made if it is not there.
    record
        What is told beside the sizes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: one.detach().cpu().contiguous() for name, one in network.state_dict().items()}
    write_atomic(folder / WEIGHTS, save(tensors))
    about = {"shape": asdict(network.shape), **record}
    write_atomic(folder / CONFIGURATION, json.dumps(about, indent=1) + "\n")


def load_network(folder: Path) -> Network:
    """Read a network, on the CPU, ready to score.

    Raises
    ------
    ConfigError
        If the folder holds none, or one that is damaged or of another version.
    """
    try:
        about = json.loads((folder / CONFIGURATION).read_text(encoding="utf-8"))
        shape = Shape(**{name: int(value) for name, value in about["shape"].items()})
        path = folder / WEIGHTS
        if path.stat().st_size > _MOST_BYTES:
            raise ConfigError(f"{path} is too large for a neural checkpoint.")
        tensors = load(path.read_bytes())
    except OSError:
        raise ConfigError(
            f"{folder} holds no neural checkpoint ({CONFIGURATION}, {WEIGHTS}); make one with "
            "python -m training.neural."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ConfigError(f"The neural checkpoint {folder} is damaged: {reason}") from None
    network = Network(shape)
    try:
        network.load_state_dict(tensors)
    except RuntimeError:
        raise ConfigError(
            f"The weights in {folder} do not fit their configuration: one of both is damaged."
        ) from None
    if not all(bool(torch.isfinite(one).all()) for one in network.state_dict().values()):
        raise ConfigError(f"The weights in {folder} are not finite numbers.")
    return network.eval()


def weights_digest(folder: Path) -> str:
    """SHA-256 of a checkpoint's weights and sizes, for a run's record."""
    load_network(folder)
    parts = [(folder / name).read_bytes() for name in (WEIGHTS, CONFIGURATION)]
    return hashlib.sha256(b"".join(parts)).hexdigest()
