"""A worker's part of a run: play an instance, and leave its transcript in the run's folder."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import ecgscroll
from ecgscroll.catalogue.instances import Instance
from ecgscroll.environment.episode import Counts
from ecgscroll.evaluation.config import RunConfig
from ecgscroll.evaluation.episode import Played, play
from ecgscroll.evaluation.folder import Row, RunFolder
from ecgscroll.files import write_atomic
from ecgscroll.policy import Policy, load_policy
from ecgscroll.scoring.verifiers import Score


class Note(NamedTuple):
    """What the parent hears of an episode."""

    seconds: float
    steps: int
    error: str | None


@dataclass(frozen=True)
class MakePlayer:
    """Picklable maker of a worker's player.

    Parameters
    ----------
    config
        What is run.
    instances
        Instances by id.
    data
        Folder of the recordings.
    folder
        Folder of the run.
    """

    config: RunConfig
    instances: Mapping[str, Instance]
    data: Path
    folder: Path

    def __call__(self) -> Player:
        """Load the policy; raises `ConfigError` as `load_policy` does."""
        return Player(self, load_policy(self.config.policy, **self.config.options))


class Player:
    """Plays instances with one policy and keeps their transcripts.

    Parameters
    ----------
    order
        What is run, and where.
    policy
        Who plays.
    """

    def __init__(self, order: MakePlayer, policy: Policy) -> None:
        self.order = order
        self.policy = policy

    def __call__(self, name: str) -> Note:
        """Play the instance called ``name`` and write its transcript."""
        began = time.perf_counter()
        instance = self.order.instances[name]
        played = self._play(instance)
        write_episode(self.order, instance, played)
        return Note(time.perf_counter() - began, len(played.lines), played.error)

    def _play(self, instance: Instance) -> Played:
        config = self.order.config
        try:
            env = ecgscroll.make(
                instance,
                data=self.order.data,
                dx=config.dx,
                rewind=config.rewind,
                scoring=config.scoring,
                budget=config.budget,
            )
        except Exception as error:
            return Played(error=f"{type(error).__name__}: {error}")
        with closing(env):
            return play(env, self.policy, config.seed)


def write_lost(order: MakePlayer, name: str, code: int | None) -> None:
    """Leave a transcript for an episode whose worker died."""
    cause = f"was ended by signal {-code}" if code and code < 0 else f"ended with exit code {code}"
    played = Played(error=f"The worker that played this episode {cause}.")
    write_episode(order, order.instances[name], played)


def write_episode(order: MakePlayer, instance: Instance, played: Played) -> None:
    """Write a transcript: a line that says what is played, a line per step, and the end."""
    start = {"instance": instance.id, "config": order.config.digest()}
    lines = [json.dumps(start), *played.lines, json.dumps(_end(order.config, instance, played))]
    target = RunFolder(order.folder).episode_path(instance.id)
    write_atomic(target, "\n".join(lines) + "\n")


def _end(config: RunConfig, instance: Instance, played: Played) -> dict[str, Any]:
    """Last line: the results row, and with it all that a new scoring needs."""
    info = played.info
    score = info.get("score") if played.error is None else None
    truth = instance.truth
    return {
        "row": _row(config, instance, played, score),
        "ledger": list(info.get("ledger", ())),
        "latency": None if score is None else score.latency.to_dict(per_event=True),
        "explanation": None if score is None else score.explanation,
        "metadata": None if score is None else score.metadata,
        "events": [] if truth is None else truth.events,
    }


def _row(config: RunConfig, instance: Instance, played: Played, score: Score | None) -> Row:
    return {
        "instance": instance.id,
        "task": instance.task,
        "database": instance.database,
        "patient": instance.patient,
        "duration_s": instance.duration,
        "policy": config.policy,
        "dx": config.dx,
        "beats": played.info.get("beats"),
        "scoring": config.scoring,
        "seed": config.seed,
        **scored(score),
        "truth": None if instance.truth is None else instance.truth.value,
        **(played.info.get("counts", Counts().to_dict())),
        "cursor_s": played.cursor,
        "ended": played.ended,
        "error": played.error,
    }


def scored(score: Score | None) -> Row:
    """Fields of a results row that a scoring decides."""
    if score is None:
        return {"score": None, "answer": None, "latency": None}
    plain = score.to_dict()
    value = None if math.isnan(score.value) else score.value  # no annotations, no score
    return {"score": value, "answer": plain["answer"], "latency": plain["latency"]}
