"""The neural policy: a small network that chooses among calls on the places of its last turns."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ecgscroll.errors import ConfigError
from policies.expert.view import MEMORY, Call, Turn, View
from policies.neural.candidates import Candidate, candidates
from policies.neural.checkpoint import weights_digest
from policies.neural.features import Features, candidate_features, state_features
from policies.neural.scorer import Scorer

SHIPPED = Path(__file__).with_name("shipped")
"""The checkpoint that comes with the package; its card says how it was trained."""


class Choice(NamedTuple):
    """What was chosen among: features of the view and of the candidates, and which was taken."""

    state: Features
    found: Features
    taken: int


class Scoring(Protocol):
    """What scores candidates: a `Scorer`, or the network that is being trained."""

    def scores(self, state: Features, found: Features) -> NDArray[np.float64]:
        """Return a score for each candidate, (n,)."""


class Neural:
    """Let a trained network decide every step.

    Parameters
    ----------
    checkpoint
        Folder that ``python -m training.neural`` has written, or a network; by default the one
        that comes with the package.
    temperature
        Of the choice; 0 takes the best.
    seed
        Of the choice, where it is drawn.

    Raises
    ------
    ConfigError
        If the folder holds no sound checkpoint.
    """

    name = "neural"

    def __init__(
        self, checkpoint: str | Path | Scoring = SHIPPED, temperature: float = 0.0, seed: int = 0
    ) -> None:
        if not 0.0 <= temperature < math.inf:
            raise ConfigError(f"temperature must be 0 or more, not {temperature!r}.")
        self._network: Scoring = (
            Scorer.load(Path(checkpoint)) if isinstance(checkpoint, str | Path) else checkpoint
        )
        self._temperature, self._seed = temperature, seed
        self.choices: list[Choice] = []
        self.keeps = False

    @classmethod
    def fingerprint(
        cls, checkpoint: str | Path = SHIPPED, temperature: float = 0.0, seed: int = 0
    ) -> dict[str, Any]:
        """Return the hash of the weights."""
        return {"weights": weights_digest(Path(checkpoint))}

    def reset(self, info: Mapping[str, Any]) -> None:
        """Begin an episode."""
        self._task, self._dx = str(info["task"]), info["dx"]
        self._turns: deque[Turn] = deque(maxlen=MEMORY)
        self._called = ""
        self._rng = np.random.default_rng([self._seed, int(info.get("seed") or 0)])
        self.choices = []

    def act(self, obs: Mapping[str, Any], info: Mapping[str, Any]) -> Call:
        """Return the next call."""
        if self._called and "error" not in info["result"]:
            self._turns.append(Turn(self._called, info["result"]))
        view = View(self._task, float(obs["cursor"]), float(obs["total"]), tuple(self._turns))
        found = candidates(view, self._dx)
        state, features = state_features(view, self._dx), candidate_features(view, found)
        index = self._chosen(state, features)
        if self.keeps:
            self.choices.append(Choice(state, features, index))
        call = found[index].call
        self._called = call["name"]
        return call

    def _chosen(self, state: Features, features: Features) -> int:
        scores = self._network.scores(state, features)
        if self._temperature == 0:
            return int(scores.argmax())
        noise = self._rng.gumbel(size=len(scores))
        return int((scores / self._temperature + noise).argmax())


def chosen_by(call: Call, found: Sequence[Candidate]) -> int | None:
    """Return the index of the candidate that is a call; None if none is.

    Parameters
    ----------
    call
        Of another policy.
    found
        Candidates of the same view.
    """
    wanted = call["arguments"]
    for index, one in enumerate(found):
        offered = one.call["arguments"]
        if one.call["name"] == call["name"] and all(
            name in offered and _alike(value, offered[name]) for name, value in wanted.items()
        ):
            return index
    return None


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return bool(one == other)
    return bool(abs(one - other) <= 0.06)
