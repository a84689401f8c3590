"""The network as torch trains it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from policies.expert.view import MEMORY
from policies.neural.checkpoint import NEWEST, Shape, load_arrays
from policies.neural.features import Features


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
        about = shape.state - (MEMORY - NEWEST) * shape.turn + hidden
        self.turns = nn.GRU(shape.turn, hidden, shape.layers, batch_first=True)
        self.state = nn.Sequential(nn.Linear(about, hidden), nn.GELU(), nn.Linear(hidden, hidden))
        self.candidate = nn.Linear(shape.candidate, hidden)
        self.score = nn.Sequential(
            nn.GELU(), nn.Linear(hidden, hidden), nn.GELU(), nn.Linear(hidden, 1)
        )

    @classmethod
    def load(cls, folder: Path) -> Network:
        """Read a checkpoint, on the CPU; raises `ConfigError` if it holds no sound one."""
        shape, arrays = load_arrays(folder)
        network = cls(shape)
        network.load_state_dict({name: torch.from_numpy(one) for name, one in arrays.items()})
        return network

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Return the weights by name."""
        return {name: one.detach().cpu().numpy() for name, one in self.state_dict().items()}

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
        view = self.state(torch.cat([about, turns[:, :NEWEST].flatten(1), last[-1]], dim=1))
        logits = self.score(self.candidate(found) + view[:, None]).squeeze(-1)
        masked: Tensor = logits.masked_fill(~mask, -torch.inf)
        return masked

    def scores(self, state: Features, found: Features) -> NDArray[np.float64]:
        """Return a score for each candidate of one view, (n,)."""
        with torch.inference_mode():
            mask = torch.ones((1, len(found)), dtype=torch.bool)
            logits = self(torch.from_numpy(state)[None], torch.from_numpy(found)[None], mask)
        return np.asarray(logits[0].double().numpy())
