"""A worker's part of a run: play an episode, and leave its transcript in the run's folder."""

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
from ecgscroll.evaluation.accounts import Usage, counted
from ecgscroll.evaluation.config import RunConfig, Trial
from ecgscroll.evaluation.episode import ENVIRONMENT, Played, play
from ecgscroll.evaluation.folder import Row, RunFolder
from ecgscroll.files import write_atomic
from ecgscroll.policy import Policy, load_policy
from ecgscroll.scoring.verifiers import Score


class Note(NamedTuple):
    """What the parent hears of an episode: what it took, and the error if there was one."""

    seconds: float
    model_seconds: float | None
    steps: int
    error: str | None
    usage: Usage | None = None
    step_seconds: tuple[float, ...] = ()


@dataclass(frozen=True)
class MakePlayer:
    """Picklable maker of a worker's player.

    Parameters
    ----------
    config
        What is run.
    digest
        Digest of the configuration, as the run's folder records it.
    instances
        Instances by id.
    data
        Folder of the recordings.
    folder
        Folder of the run.
    """

    config: RunConfig
    digest: str
    instances: Mapping[str, Instance]
    data: Path
    folder: Path

    def __call__(self) -> Player:
        """Load the policy; raises `ConfigError` as `load_policy` does."""
        return Player(self, load_policy(self.config.policy, **self.config.options))


class Player:
    """Plays episodes with one policy and keeps their transcripts.

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

    def __call__(self, trial: Trial) -> Note:
        """Play an episode and write its transcript."""
        note, text = self.transcript(trial)
        write_transcript(self.order, trial, text)
        return note

    def transcript(self, trial: Trial) -> tuple[Note, str]:
        """Play an episode; return a note on it and its transcript."""
        began = time.perf_counter()
        played = self._play(trial)
        text = transcript(self.order, trial, played)
        usage = played.usage
        note = Note(
            seconds=time.perf_counter() - began,
            model_seconds=None if usage is None else usage.get("seconds"),
            steps=len(played.lines),
            error=played.error,
            usage=usage,
            step_seconds=tuple(round(seconds, 6) for seconds in played.step_seconds),
        )
        return note, text

    def _play(self, trial: Trial) -> Played:
        config = self.order.config
        try:
            with ENVIRONMENT:
                env = ecgscroll.make(
                    self.order.instances[trial.instance],
                    data=self.order.data,
                    dx=config.dx,
                    rewind=config.rewind,
                    scoring=config.scoring,
                    budget=config.budget,
                )
        except Exception as error:
            return Played(error=f"{type(error).__name__}: {error}")
        with closing(env):
            return play(env, self.policy, config.seed, config.seed_of(trial), config.limits)


def lost(order: MakePlayer, trial: Trial, code: int | None) -> tuple[Note, str]:
    """Return a note and a transcript for an episode whose worker died."""
    cause = "ended"
    if code is not None:
        cause = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    error = f"The worker that played this episode {cause}."
    text = transcript(order, trial, Played(error=error))
    return Note(seconds=0.0, model_seconds=None, steps=0, error=error), text


def write_transcript(order: MakePlayer, trial: Trial, text: str) -> None:
    """Keep a transcript in the run's folder."""
    write_atomic(RunFolder(order.folder).episode_path(*trial), text)


def transcript(order: MakePlayer, trial: Trial, played: Played) -> str:
    """Return a transcript: a line that says what is played, a line per step, and the end."""
    start = {"instance": trial.instance, "config": order.digest}
    end = _end(order.config, order.instances[trial.instance], trial, played)
    return "\n".join([json.dumps(start), *played.lines, json.dumps(end)]) + "\n"


def _end(config: RunConfig, instance: Instance, trial: Trial, played: Played) -> dict[str, Any]:
    """Last line: the results row, and with it all that a new scoring needs."""
    info = played.info
    score = info.get("score") if played.error is None else None
    truth = instance.truth
    return {
        "row": _row(config, instance, trial, played, score),
        "ledger": list(info.get("ledger", ())),
        "latency": None if score is None else score.latency.to_dict(per_event=True),
        "explanation": None if score is None else score.explanation,
        "metadata": None if score is None else score.metadata,
        "events": [] if truth is None else truth.events,
    }


def _row(
    config: RunConfig, instance: Instance, trial: Trial, played: Played, score: Score | None
) -> Row:
    return {
        "instance": instance.id,
        "rollout": trial.rollout,
        "task": instance.task,
        "database": instance.database,
        "patient": instance.patient,
        "duration_s": instance.duration,
        "policy": config.policy,
        "dx": config.dx,
        "beats": played.info.get("beats"),
        "scoring": config.scoring,
        "seed": config.seed,
        "sampling_seed": config.seed_of(trial),
        **scored(score),
        "truth": None if instance.truth is None else instance.truth.value,
        **(played.info.get("counts", Counts().to_dict())),
        "read_s": round(played.read_s, 3),
        "usage": counted(played.usage),
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
