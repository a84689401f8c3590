"""What the neural policy is shown: views, candidates, and the one that the expert would take."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from rich.progress import track
from torch import Tensor
from torch.utils.data import Dataset

from ecgscroll.catalogue.instances import Instance
from ecgscroll.environment.env import ECGScrollEnv, make
from ecgscroll.loaders.opening import tier_name
from ecgscroll.tools.registry import Dx
from policies.expert import Expert, plan_for
from policies.expert.view import MEMORY, Call, Turn, View
from policies.neural import Choice, Neural, chosen_by
from policies.neural.candidates import candidates
from policies.neural.features import candidate_features, state_features
from policies.neural.network import Network
from training.adapter import tier_of
from training.config import NeuralRun
from training.data import playable

Half = NDArray[np.float16]

LEAST_COVERED = 0.99
"""Share of the expert's calls that are to be candidates."""


class Sample(NamedTuple):
    """One view: features of it and its candidates, and the index of the expert's call."""

    state: NDArray[np.float32]
    found: Half
    taken: int


class Batch(NamedTuple):
    """Samples padded to the most candidates: (b, state), (b, n, candidate), (b, n), (b,)."""

    state: Tensor
    found: Tensor
    mask: Tensor
    taken: Tensor


class Coverage:
    """Counts how often what the expert does is a candidate, by tier and task.

    What is none cannot be learnt: where that is often, the candidates lack a place or a width.
    """

    def __init__(self) -> None:
        self._views, self._covered = Counter[str](), Counter[str]()

    def count(self, view: View, dx: Dx, covered: bool) -> None:
        """Count a view."""
        name = f"{tier_name(dx)}/{view.task}"
        self._views[name] += 1
        self._covered[name] += covered

    def shares(self) -> dict[str, float]:
        """Return the share of views whose answer is a candidate, by ``tier/task``."""
        return {name: self._covered[name] / views for name, views in sorted(self._views.items())}

    def warning(self) -> str | None:
        """Return a sentence on those that are covered too seldom; None where there are none."""
        low = {name: share for name, share in self.shares().items() if share < LEAST_COVERED}
        if not low:
            return None
        listed = ", ".join(f"{name} {share:.1%}" for name, share in low.items())
        return f"Of what the expert does these shares can be learnt, the rest is dropped: {listed}."


class Labelled(Dataset[Sample]):
    """Samples to clone."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._samples = samples

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, index: int) -> Sample:
        return self._samples[index]


def padded(samples: Sequence[Sample | Choice]) -> Batch:
    """Join samples into a batch."""
    most = max(len(one.found) for one in samples)
    size = samples[0].found.shape[1]
    found = np.zeros((len(samples), most, size), np.float32)
    mask = np.zeros((len(samples), most), bool)
    for row, one in enumerate(samples):
        found[row, : len(one.found)] = one.found
        mask[row, : len(one.found)] = True
    return Batch(
        torch.from_numpy(np.stack([one.state for one in samples])),
        torch.from_numpy(found),
        torch.from_numpy(mask),
        torch.tensor([one.taken for one in samples]),
    )


def demonstrated(
    run: NeuralRun,
    instances: Sequence[Instance],
    folder: Path,
    player: Network | None,
    number: int = 0,
    coverage: Coverage | None = None,
) -> list[Sample]:
    """Return what the expert does, or would do where a network gets to, at most so many an episode.

    Parameters
    ----------
    run
        Says which tiers, and how many.
    instances
        What is played.
    folder
        Of the recordings.
    player
        Plays; None lets the expert.
    number
        Of the round: another draw.
    coverage
        Is told of every view that is kept.
    """
    tiers = [tier_of(name) for name in run.data.dx]
    episodes = [(one, dx) for dx in tiers for one in instances if playable(one, dx)]
    samples: list[Sample] = []
    for index, (instance, dx) in enumerate(track(episodes, "playing", transient=True)):
        env = make(instance, data=folder, dx=dx)
        most = run.cloning.most_steps
        found = list(_played(env, player, most, run.seed + number))
        keep = run.cloning.samples
        if len(found) > keep:
            rng = np.random.default_rng([run.seed, number, index])
            found = [found[one] for one in sorted(rng.choice(len(found), keep, replace=False))]
        for view, call in found:
            sample = _sample(view, dx, call)
            if coverage is not None:
                coverage.count(view, dx, sample is not None)
            if sample is not None:
                samples.append(sample)
    return samples


def _played(
    env: ECGScrollEnv, player: Network | None, most: int, seed: int
) -> Iterator[tuple[View, Call]]:
    """Play an episode; yield each view, and what the expert does there."""
    policy: Any = Expert() if player is None else Neural(player, temperature=0.5, seed=seed)
    obs, info = env.reset(seed=seed)
    policy.reset(info)
    plan, turns = plan_for(str(info["task"]), info["dx"]), deque[Turn](maxlen=MEMORY)
    for _ in range(most):
        view = View(str(info["task"]), float(obs["cursor"]), float(obs["total"]), tuple(turns))
        yield view, plan(view)
        call = policy.act(obs, info)
        obs, _, terminated, truncated, info = env.step(call)
        if terminated or truncated:
            return
        if "error" not in info["result"]:
            turns.append(Turn(call["name"], info["result"]))


def _sample(view: View, dx: str | None, call: Call) -> Sample | None:
    """Return the features of a view; None where the expert's call is no candidate."""
    found = candidates(view, dx)
    taken = chosen_by(call, found)
    if taken is None:
        return None
    features = candidate_features(view, found).astype(np.float16)
    return Sample(state_features(view, dx), features, taken)
