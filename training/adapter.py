"""The environment as TRL's trainers take it: prompts, environments with tools, reward functions.

adapter = Adapter(instances, data=folder, dx=["signal"], reward=RewardConfig(progress=0.2))
GRPOTrainer(..., train_dataset=adapter.train_dataset,
environment_factory=adapter.environment_factory,
reward_funcs=adapter.reward_funcs)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from datasets import Dataset

from ecgscroll.catalogue.instances import Instance
from ecgscroll.catalogue.splits import Side
from ecgscroll.errors import ConfigError
from ecgscroll.loaders import Prompts, to_hugging_face
from ecgscroll.loaders.opening import opened, tier_name
from ecgscroll.scoring.rewards import RewardConfig
from ecgscroll.tools.registry import Dx, check_dx
from ecgscroll.tools.schemas import Schema, tool_schemas
from policies.prompts import planning_prompt
from training.data import playable
from training.rewards import VerifierReward, Watch
from training.rollout import Desk, Rollout, rollout_class


def tier_of(name: str) -> Dx:
    """Return the tier of a name; raises `ConfigError` if there is none."""
    dx: Any = None if name == "none" else name
    check_dx(dx)
    tier: Dx = dx
    return tier


def planning_messages(instance: Instance, dx: Dx) -> list[dict[str, str]]:
    """Return what begins a conversation; the first observation follows at reset."""
    return [
        {"role": "system", "content": planning_prompt(instance.task, dx)},
        {"role": "user", "content": ""},
    ]


class Adapter:
    """What `GRPOTrainer` needs to train on instances.

    Parameters
    ----------
    instances
        What is trained on, ids or instances, in the order of the dataset.
    data
        Folder of the recordings.
    dx
        Tiers; each instance is a row for each of them that can see what its task asks for.
    reward
        Weights of the reward's terms; None for the defaults.
    seed
        What the rows' seeds follow from.
    side
        Which side of the splits every patient must be on.
    owns_reward
        Whether the environments carry the reward (``get_reward``) in place of ``reward_funcs``.
    watch
        Is shown every batch of rollouts.
    parameters
        Further ones of `Desk`.

    Attributes
    ----------
    environment_factory
        Maker of environments by the dataset's column ``environment``, which names the tier.
    reward_funcs
        The verifier's reward, or nothing if the environments own it.
    """

    def __init__(
        self,
        instances: Sequence[str | Instance],
        *,
        data: Path | None = None,
        dx: Sequence[Dx] = (None,),
        reward: RewardConfig | None = None,
        seed: int = 0,
        side: Side = "train",
        owns_reward: bool = False,
        watch: Watch | None = None,
        **parameters: Any,
    ) -> None:
        found = opened(instances, data)
        self._tiers = [one for one in dx if any(playable(each, one) for each in found)]
        if not self._tiers:
            raise ConfigError("No tier can see what these tasks ask for; name reference labels.")
        rows: list[dict[str, Any]] = []
        for one in self._tiers:
            kept = [each for each in found if playable(each, one)]
            prompts = Prompts(kept, planning_messages, dx=[one], seed=seed, side=side)
            rows += [prompts[index] for index in range(len(prompts))]
        place = {each.id: number for number, each in enumerate(found)}
        self._rows = sorted(rows, key=lambda row: place[row["instance"]])
        desk = Desk(data, RewardConfig() if reward is None else reward, **parameters)
        self.environment_factory: dict[str, Callable[[], Rollout]] = {
            tier_name(one): _maker(rollout_class(one, owns_reward=owns_reward), desk)
            for one in self._tiers
        }
        self.reward_funcs: list[Callable[..., list[float | None]]] = (
            [] if owns_reward else [VerifierReward(watch)]
        )

    @property
    def train_dataset(self) -> Dataset:
        """Rows of ``prompt``, ``instance``, ``environment`` (the tier) and ``seed``."""
        return to_hugging_face(self._rows).rename_column("dx", "environment")

    @property
    def schemas(self) -> dict[str, list[Schema]]:
        """Schemas of the tools by tier, as the Planning agent sends them."""
        return {tier_name(one): tool_schemas(one) for one in self._tiers}


def _maker(kind: type[Rollout], desk: Desk) -> Callable[[], Rollout]:
    return lambda: kind(desk)
