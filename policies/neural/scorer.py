"""A trained network's scores by numpy alone, so that playing needs no torch."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, expit

from ecgscroll.signals.threads import one_thread
from policies.expert.view import MEMORY
from policies.neural.checkpoint import NEWEST, Arrays, Shape, load_arrays
from policies.neural.features import Features


class Scorer:
    """Scores candidate calls; the arithmetic of `policies.neural.network.Network`.

    Parameters
    ----------
    shape
        Sizes.
    arrays
        Weights by name.
    """

    def __init__(self, shape: Shape, arrays: Arrays) -> None:
        self._shape, self._arrays = shape, arrays

    @classmethod
    def load(cls, folder: Path) -> Scorer:
        """Read a checkpoint; raises `ConfigError` if it holds no sound one."""
        return cls(*load_arrays(folder))

    @one_thread
    def scores(self, state: Features, found: Features) -> NDArray[np.float64]:
        """Return a score for each candidate, (n,).

        Parameters
        ----------
        state
            (state,) features of a view.
        found
            (n, candidate) features of its candidates.
        """
        size = MEMORY * self._shape.turn
        about, turns = state[:-size], state[-size:].reshape(MEMORY, self._shape.turn)
        newest = turns[:NEWEST].ravel()
        read = np.concatenate([about, newest, self._recurrence(turns[::-1])])
        view = self._linear("state.2", _gelu(self._linear("state.0", read)))
        mixed = _gelu(self._linear("candidate", found) + view)
        scored = self._linear("score.3", _gelu(self._linear("score.1", mixed)))
        return np.asarray(scored[:, 0], dtype=np.float64)

    def _linear(self, name: str, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(x @ self._arrays[f"{name}.weight"].T + self._arrays[f"{name}.bias"])

    def _recurrence(self, turns: NDArray[Any]) -> NDArray[Any]:
        """Return the last state of the gated recurrent units of the last layer."""
        states = turns
        for layer in range(self._shape.layers):
            inward = self._gates(states, "ih", layer)
            kept, state = [], np.zeros(self._shape.hidden, np.float32)
            for gates in inward:
                reset, update, new = np.split(gates, 3)
                reset_h, update_h, new_h = np.split(self._gates(state, "hh", layer), 3)
                update = expit(update + update_h)
                fresh = np.tanh(new + expit(reset + reset_h) * new_h)
                state = (1 - update) * fresh + update * state
                kept.append(state)
            states = np.stack(kept)
        return np.asarray(states[-1])

    def _gates(self, x: NDArray[Any], kind: str, layer: int) -> NDArray[Any]:
        weight = self._arrays[f"turns.weight_{kind}_l{layer}"]
        return np.asarray(x @ weight.T + self._arrays[f"turns.bias_{kind}_l{layer}"])


def _gelu(x: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(x * 0.5 * (1 + erf(x / math.sqrt(2))))
