"""What GRPO asks a model: one row per instance and tier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from torch.utils.data import Dataset

from ecgscroll.catalogue.instances import Instance
from ecgscroll.catalogue.splits import Side
from ecgscroll.errors import ConfigError
from ecgscroll.loaders.instances import check_side
from ecgscroll.loaders.opening import opened, tier_name
from ecgscroll.loaders.seeds import seed_of
from ecgscroll.tools.registry import Dx

Message: TypeAlias = dict[str, Any]
Messages: TypeAlias = Callable[[Instance, Dx], list[Message]]


class Prompts(Dataset[dict[str, Any]]):
    """Rows of ``prompt`` (messages), ``instance`` (id), ``dx`` (the tier's name) and ``seed``.

    Parameters
    ----------
    instances
        Ids or instances.
    messages
        Makes the prompt of an instance and a tier: a list of messages with ``role`` and
        ``content``. It must be picklable where workers are spawned.
    data
        Data directory, for ids; ``ECGSCROLL_DATA`` if it is not given.
    dx
        Tiers; each instance is a row for each of them.
    seed
        What each row's seed follows from, with its instance and tier.
    side
        Which side of the splits every patient must be on.

    Raises
    ------
    ConfigError
        If a patient is on another side, there is no such tier, or nothing to ask about.
    DataError
        If a recording is absent or damaged.
    """

    def __init__(
        self,
        instances: Iterable[str | Instance],
        messages: Messages,
        *,
        data: str | Path | None = None,
        dx: Sequence[Dx] = (None,),
        seed: int = 0,
        side: Side = "train",
    ) -> None:
        self.instances = opened(instances, data)
        check_side(self.instances, side)
        if not dx:
            raise ConfigError("Name a tier at least: None, 'signal' or 'reference'.")
        self._rows = [(one, tier) for one in self.instances for tier in dx]
        self._names = [tier_name(tier) for tier in dx] * len(self.instances)
        self._messages, self._seed = messages, seed

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        one, dx = self._rows[index]
        name = self._names[index]
        return {
            "prompt": self._messages(one, dx),
            "instance": one.id,
            "dx": name,
            "seed": seed_of(self._seed, one.id, name),
        }
