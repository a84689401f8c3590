"""Episodes of a policy, played while they are asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium
from torch.utils.data import IterableDataset

from ecgscroll.catalogue.instances import Instance
from ecgscroll.catalogue.splits import Side
from ecgscroll.environment.env import make
from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.config import Limits, Trial
from ecgscroll.evaluation.episode import Played, play
from ecgscroll.evaluation.player import scored
from ecgscroll.loaders.instances import check_side
from ecgscroll.loaders.opening import opened, tier_name
from ecgscroll.loaders.seeds import checked_rank, current_rank, seed_of, share_of
from ecgscroll.policy import Policy, load_policy, policy_class
from ecgscroll.tools.registry import Dx


class Rollouts(IterableDataset[dict[str, Any]]):
    """Episodes of one policy: of every instance so many, each played by one worker of one rank.

    An item is a dict: ``instance``, ``rollout``, ``dx`` (the tier's name), ``seed`` (that the
    policy was given), ``score`` (None without a truth), ``reward`` (the sum over steps),
    ``reward_terms`` (sums by name), ``ledger`` (entries), ``ended`` (``finish``, ``budget``,
    ``error`` or the limit), ``error`` (a sentence or None), ``final`` (the last observation's
    text) and ``steps``: dicts of ``text`` (what was observed before), ``action``, ``result``,
    ``cursor`` (s, after the action) and ``reward``. Use ``batch_size=None``, or a collator.

    Parameters
    ----------
    policy
        A registered name or ``module:Class``, as ``ecgscroll run --policy`` takes it; each worker
        makes one.
    instances
        Ids or instances.
    data
        Data directory, for ids; ``ECGSCROLL_DATA`` if it is not given.
    dx
        Diagnostic tools: ``reference``, ``signal`` or None.
    rollouts
        Episodes of each instance; each has a seed of its own.
    seed
        What the policies' seeds follow from, with instance, rollout and epoch.
    options
        Options of the policy.
    limits
        What one episode may take.
    rank, world_size
        Which process of how many this is. By default torch.distributed says so, once it is
        initialised; ask it before the workers start.
    side
        Which side of the splits every patient must be on.
    parameters
        Further ones of `ecgscroll.make`: reward, scoring, rewind, budget, ...

    Raises
    ------
    ConfigError
        If there is no such policy, a patient is on another side, or a value is out of its range.
    DataError
        If a recording is absent or damaged.

    Notes
    -----
    Ranks may differ by an episode. The episodes are the same whatever the workers and ranks; in
    which order they come is not.
    """

    def __init__(
        self,
        policy: str,
        instances: Iterable[str | Instance],
        *,
        data: str | Path | None = None,
        dx: Dx = None,
        rollouts: int = 1,
        seed: int = 0,
        options: Mapping[str, Any] | None = None,
        limits: Limits | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        side: Side = "train",
        **parameters: Any,
    ) -> None:
        policy_class(policy)
        if rollouts < 1:
            raise ConfigError(f"rollouts is a number of episodes above 0, not {rollouts}.")
        found = opened(instances, data)
        check_side(found, side)
        self._instances = {one.id: one for one in found}
        self._trials = [Trial(one.id, turn) for one in found for turn in range(rollouts)]
        self._policy, self._options = policy, dict(options or {})
        self._tier, self._dx, self._parameters = tier_name(dx), dx, parameters
        self._seed, self._limits, self._epoch = seed, limits or Limits(), 0
        self._rank = checked_rank(rank, world_size)
        make(found[0], dx=dx, **parameters).close()  # what is wrong is said here, not by a worker

    def __len__(self) -> int:
        """Episodes of an epoch on this rank, over all its workers."""
        rank = self._rank or current_rank()
        return len(self._trials[rank.rank :: rank.world_size])

    def __getstate__(self) -> dict[str, Any]:
        # A spawned worker has no torch.distributed to ask: it gets told with the rest.
        return {**self.__dict__, "_rank": self._rank or current_rank()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        policy = load_policy(self._policy, **self._options)
        for trial in share_of(self._trials, self._rank or current_rank()):
            yield self._episode(policy, trial)

    def set_epoch(self, epoch: int) -> None:
        """Give the policy other seeds; before the iteration begins, as samplers want it."""
        self._epoch = epoch

    def _episode(self, policy: Policy, trial: Trial) -> dict[str, Any]:
        seed = seed_of(self._seed, trial.instance, trial.rollout, self._epoch)
        with closing(make(self._instances[trial.instance], dx=self._dx, **self._parameters)) as env:
            watched = _Watched(env)
            played = play(watched, policy, 0, seed, self._limits)
        asked = {"instance": trial.instance, "rollout": trial.rollout, "dx": self._tier}
        return {**asked, "seed": seed, **_told(played, watched.seen)}


@dataclass
class _Seen:
    """Observations and rewards of an episode; the first observation has no reward."""

    texts: list[str] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    terms: dict[str, float] = field(default_factory=dict)


class _Watched(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Keeps what the environment says to the policy."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.seen = _Seen()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        obs, info = self.env.reset(seed=seed, options=options)
        self.seen = _Seen([obs["text"]])
        return obs, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.seen.texts.append(obs["text"])
        self.seen.rewards.append(float(reward))
        for name, term in info["reward_terms"].items():
            self.seen.terms[name] = self.seen.terms.get(name, 0.0) + float(term)
        return obs, reward, terminated, truncated, info


def _told(played: Played, seen: _Seen) -> dict[str, Any]:
    lines = (json.loads(line) for line in played.lines)
    steps = [
        {
            "text": text,
            "action": line["action"],
            "result": line["result"],
            "cursor": line["cursor"],
            "reward": reward,
        }
        for text, line, reward in zip(seen.texts, lines, seen.rewards, strict=False)
    ]
    score = played.info.get("score") if played.error is None else None
    return {
        "score": scored(score)["score"],
        "reward": sum(seen.rewards),
        "reward_terms": dict(seen.terms),
        "ledger": list(played.info.get("ledger", ())),
        "ended": played.ended,
        "error": played.error,
        "final": seen.texts[-1] if seen.texts else "",
        "steps": steps,
    }
