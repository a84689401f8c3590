"""Lightning modules of the neural policy: cloning, and the gradient of the reward."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import lightning
import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, Dataset, Sampler

from ecgscroll.environment.observation import result_json
from policies.neural import Choice, Neural
from policies.neural.network import Network
from training import config
from training.neural_data import Batch, Labelled, padded
from training.rewards import Outcome, Watch
from training.rollout import Desk

PATIENCE = 5
SHOWN_CALLS = 60
"""Calls of an episode that a sample shows."""


class Order(Sampler[int]):
    """A random order of so many items, another in each epoch, the same after a stop."""

    def __init__(self, count: int, seed: int, epoch: Callable[[], int]) -> None:
        self._count, self._seed, self._epoch = count, seed, epoch

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        rng = np.random.default_rng([self._seed, self._epoch()])
        return iter(rng.permutation(self._count).tolist())


class Draws(Dataset[tuple[int, int]]):
    """Games to play and seeds, drawn for each epoch."""

    def __init__(self, count: int, games: int, seed: int, epoch: Callable[[], int]) -> None:
        self._count, self._games, self._seed, self._epoch = count, games, seed, epoch

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> tuple[int, int]:
        rng = np.random.default_rng([self._seed, self._epoch(), index])
        return int(rng.integers(self._games)), int(rng.integers(1 << 31))


class Cloning(lightning.LightningModule):
    """Learns which candidate the expert takes.

    Parameters
    ----------
    network
        What learns.
    shown, held_out
        Samples to learn from and to validate on.
    about
        Learning rate, batch.
    seed
        Shuffles.
    """

    def __init__(
        self,
        network: Network,
        shown: Labelled,
        held_out: Labelled,
        about: config.Cloning,
        seed: int,
    ) -> None:
        super().__init__()
        self.network = network
        self._shown, self._held_out, self._about, self._seed = shown, held_out, about, seed

    def training_step(self, batch: Batch, _number: int) -> Tensor:
        """Return the cross-entropy of the expert's calls."""
        logits = self.network(batch.state, batch.found, batch.mask)
        loss = cross_entropy(logits, batch.taken)
        self.log("loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch: Batch, _number: int) -> None:
        """Log loss and accuracy on held-out patients."""
        logits = self.network(batch.state, batch.found, batch.mask)
        right = (logits.argmax(dim=1) == batch.taken).float().mean()
        size = len(batch.taken)
        self.log("val_loss", cross_entropy(logits, batch.taken), batch_size=size, sync_dist=True)
        self.log("val_right", right, batch_size=size, prog_bar=True, sync_dist=True)

    def configure_optimizers(self) -> Any:
        """Adam, its rate falling along a cosine."""
        optimizer = torch.optim.AdamW(self.network.parameters(), lr=self._about.learning_rate)
        steps = int(self.trainer.estimated_stepping_batches)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(1, steps))
        return [optimizer], [{"scheduler": schedule, "interval": "step"}]

    def train_dataloader(self) -> DataLoader[Any]:
        """Return batches in an order of each epoch's own."""
        order = Order(len(self._shown), self._seed, lambda: self.trainer.current_epoch)
        size = self._about.batch_size
        return DataLoader(self._shown, size, sampler=order, collate_fn=padded)

    def val_dataloader(self) -> Any:
        """Return what is validated on, or nothing."""
        if not len(self._held_out):
            return []
        return DataLoader(self._held_out, 4 * self._about.batch_size, collate_fn=padded)


class PolicyGradient(lightning.LightningModule):
    """REINFORCE, each episode against the others of its group, and a bonus for entropy.

    Parameters
    ----------
    network
        What learns.
    games
        Instance ids and tiers; a step plays a group of episodes of each in its batch.
    desk
        Opens environments.
    about
        Steps, group, rates.
    seed
        Of the order and of what is drawn.
    say
        Is told where nothing can be learnt.
    watch
        Is shown the first episode of each step.
    """

    def __init__(
        self,
        network: Network,
        games: Sequence[tuple[str, Any]],
        desk: Desk,
        about: config.Gradient,
        seed: int,
        say: Callable[[str], Any] | None = None,
        watch: Watch | None = None,
    ) -> None:
        super().__init__()
        self.network = network
        self._games, self._desk, self._about, self._seed = list(games), desk, about, seed
        self._say = say or Console(stderr=True, soft_wrap=True).print
        self._watch = watch
        self._equal = 0
        whole = range(min(about.steps, about.save_steps), 0, -1)
        self.per_epoch = next(count for count in whole if about.steps % count == 0)
        self.epochs = about.steps // self.per_epoch

    def train_dataloader(self) -> DataLoader[Any]:
        """Return the games of an epoch, drawn anew in each."""
        count = self.per_epoch * self._about.games * max(1, self.trainer.world_size)
        draws = Draws(count, len(self._games), self._seed, lambda: self.trainer.current_epoch)
        return DataLoader(draws, self._about.games, collate_fn=list)

    def training_step(self, batch: Sequence[tuple[int, int]], number: int) -> Tensor:
        """Play, and return the loss whose gradient is the policy's."""
        choices: list[Choice] = []
        worth: list[float] = []
        outcomes: list[Outcome] = []
        equal = 0
        shown: list[dict[str, Any]] = []
        for game, seed in batch:
            played = [
                self._played(game, seed + one, None if outcomes or one else shown)
                for one in range(self._about.group)
            ]
            rewards = np.array([outcome.reward or 0.0 for outcome, _ in played])
            equal += float(rewards.std()) < 1e-9
            outcomes += [outcome for outcome, _ in played]
            for one, (value, (_, made)) in enumerate(zip(advantages(rewards), played, strict=True)):
                kept = _drawn(made, self._about.most_choices, seed + one)
                choices += kept
                worth += [float(value)] * len(kept)
        self._tell(outcomes, equal / len(batch))
        if self._watch is not None:
            self._watch([shown], outcomes, self.global_step)
        return self._loss(padded(choices), torch.tensor(worth, device=self.device))

    def configure_optimizers(self) -> Any:
        """Adam at a constant rate."""
        return torch.optim.AdamW(self.network.parameters(), lr=self._about.learning_rate)

    def _loss(self, batch: Batch, worth: Tensor) -> Tensor:
        batch = Batch(*(one.to(self.device) for one in batch))
        logits = self.network(batch.state, batch.found, batch.mask)
        chances = torch.log_softmax(logits / self._about.temperature, dim=1)  # as it was played
        taken = chances.gather(1, batch.taken[:, None])[:, 0]
        entropy = -(chances.exp() * chances.masked_fill(~batch.mask, 0.0)).sum(dim=1)
        return (-(worth * taken) - self._about.entropy * entropy).mean()

    def _played(
        self, game: int, seed: int, shown: list[dict[str, Any]] | None
    ) -> tuple[Outcome, list[Choice]]:
        name, dx = self._games[game]
        env = self._desk.environment(name, dx)
        policy = Neural(self.network, temperature=self._about.temperature, seed=seed)
        policy.keeps = True
        obs, info = env.reset(seed=seed)
        policy.reset(info)
        terms: dict[str, float] = {}
        for _ in range(self._about.most_steps):
            call = policy.act(obs, info)
            obs, _, terminated, truncated, info = env.step(call)
            if shown is not None and len(shown) < 2 * SHOWN_CALLS:
                shown += _messages(call, info["result"])
            for term, value in info["reward_terms"].items():
                terms[term] = terms.get(term, 0.0) + value
            if terminated or truncated:
                break
        return Outcome.of(env, info, terms), policy.choices

    def _tell(self, outcomes: Sequence[Outcome], equal: float) -> None:
        """Log means, and warn early where nothing can be learnt."""
        values = [one.reward or 0.0 for one in outcomes]
        self.log("reward", float(np.mean(values)), prog_bar=True, batch_size=1)
        self.log("score", float(np.mean([one.score for one in outcomes])), batch_size=1)
        self.log("frac_reward_zero_std", equal, batch_size=1)
        self._tell_equal(equal)

    def _tell_equal(self, equal: float) -> None:
        self._equal = self._equal + 1 if equal >= 1 else 0
        if self._equal == PATIENCE:
            self._say(
                f"In the last {PATIENCE} steps all rewards of each group were equal, so nothing is "
                "learnt: raise gradient.temperature or group, or choose other instances."
            )


def advantages(rewards: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much better each episode was than the mean of the others of its group.

    They are not divided by the group's spread: where all scores are equal it is the price of a few
    steps, which would weigh as much as a score, and a policy would learn to finish at once.

    Parameters
    ----------
    rewards
        Of a group's episodes, (n,), n at least 2.

    Examples
    --------
    >>> advantages(np.array([1.0, 0.0, 0.5])).tolist()
    [0.75, -0.75, 0.0]
    """
    count = len(rewards)
    return np.asarray((rewards - rewards.mean()) * count / (count - 1))


def _messages(call: Mapping[str, Any], result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a call and its result as messages, as language models' rollouts are kept."""
    function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
    return [
        {"role": "assistant", "tool_calls": [{"function": function}]},
        {"role": "tool", "content": result_json(result)},
    ]


def _drawn(made: list[Choice], most: int, seed: int) -> list[Choice]:
    """Return at most so many of an episode's choices: a day's would outweigh a minute's."""
    if len(made) <= most:
        return made
    drawn = np.random.default_rng(seed).choice(len(made), most, replace=False)
    return [made[index] for index in sorted(drawn)]
