"""The Gymnasium environment: an episode on one instance, with budgets, reward, text and score."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any, Literal, TypeAlias

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from ecgscroll.catalogue.instances import Instance, get_instance
from ecgscroll.causal.sources import AF_LABELS, Source, open_source
from ecgscroll.causal.stream import Stream
from ecgscroll.environment.episode import Episode, Result, Rewind
from ecgscroll.environment.observation import MIN_CHARS, compose, plain_number
from ecgscroll.environment.parameters import (
    Budget,
    check_choice,
    check_count,
    check_labels,
    check_readable,
    step_budget,
)
from ecgscroll.environment.spaces import ToolCall, ToolCallSpace, observation_space
from ecgscroll.errors import ConfigError, EcgScrollError
from ecgscroll.records.databases import locate
from ecgscroll.scoring.latency import Latency
from ecgscroll.scoring.rewards import RewardConfig, Rewards, StepEvent
from ecgscroll.scoring.verifiers import Score, assemble, verify
from ecgscroll.tasks import get_task
from ecgscroll.tools.registry import Dx, check_dx, tool_names

Observation: TypeAlias = dict[str, Any]
Info: TypeAlias = dict[str, Any]

MAX_ERRORS_IN_A_ROW = 10
MAX_CHARS = 4000


class EpisodeOverError(EcgScrollError, ResetNeeded):
    """`step` was called before `reset`, or after the episode had ended."""


class ECGScrollEnv(gymnasium.Env[Observation, ToolCall]):
    """A recording streamed to an agent that skims, measures, writes findings and finishes.

    Parameters
    ----------
    instance
        Id ``task/database/record`` (of a span, ``record@t0-t1`` in whole seconds), or an
        `Instance`; one without its truth gets it here.
    data
        Folder of databases; by default the environment variable ``ECGSCROLL_DATA``.
    dx
        Diagnostic tools: ``"reference"`` labels, ``"signal"`` classifiers, or None for none.
    rewind
        ``"costed"``: measuring before the last skim window is counted; ``"forbidden"``: refused.
    scoring
        ``"committed"`` or ``"published"``; see `ecgscroll.verify`.
    budget
        ``"open"``, ``"released"`` or a number of steps; see `step_budget`.
    reward
        Weights of the reward's terms; by default the score at the end, and small prices for bad
        calls and rewound seconds.
    max_errors
        Bad calls in a row that end the episode as truncated.
    max_chars
        Cap of the observation's text.
    af_labels
        Rhythm notes that count as atrial fibrillation.
    render_mode
        ``"ansi"``: `render` returns the observation's text.

    Raises
    ------
    DataError
        If the recording is absent or damaged.
    ConfigError
        If a parameter is wrong, or the recording lacks what the task or tier needs.

    Notes
    -----
    Whether the annotations can answer the task depends on the whole file, so a recording whose
    cannot (no AF for a change, no rare event) is streamed like one without any, and not scored.

    ``info["ledger"]`` and ``info["result"]`` are copies: changing them changes nothing here.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        instance: str | Instance,
        *,
        data: str | Path | None = None,
        dx: Dx = None,
        rewind: Rewind = "costed",
        scoring: Literal["committed", "published"] = "committed",
        budget: Budget = "open",
        reward: RewardConfig | None = None,
        max_errors: int = MAX_ERRORS_IN_A_ROW,
        max_chars: int = MAX_CHARS,
        af_labels: tuple[str, ...] = AF_LABELS,
        render_mode: str | None = None,
    ) -> None:
        check_dx(dx)
        check_choice("rewind", rewind, ("costed", "forbidden"))
        check_choice("scoring", scoring, ("committed", "published"))
        check_choice("render_mode", render_mode, (None, "ansi"))
        check_count("max_errors", max_errors, 1)
        check_count("max_chars", max_chars, MIN_CHARS)
        if not isinstance(reward, RewardConfig | None):
            raise ConfigError(f"reward is a RewardConfig, not {reward!r}; use its from_dict.")
        labels = check_labels(af_labels)
        if not isinstance(instance, Instance):
            instance = get_instance(instance, data, labels, scorable=False)
        elif instance.truth is None or data is not None:
            folder = instance.data if data is None else data
            instance = get_instance(instance.id, folder, labels, scorable=False)
        self.instance, self.task = instance, get_task(instance.task)
        self._source = _open(instance, labels)
        self._total = self._source.recording.duration
        check_readable(self._source, self.task, dx)
        self.max_steps = step_budget(budget, self._source.recording.duration)
        self.dx, self.rewind, self.scoring = dx, rewind, scoring
        self.max_errors, self.max_chars, self.render_mode = max_errors, max_chars, render_mode
        self.action_space = ToolCallSpace(tool_names(dx))
        self.observation_space = observation_space(max_chars)
        self.reward_config = RewardConfig() if reward is None else reward
        self._episode: Episode | None = None
        self._rewards = self._new_rewards()
        self._seed: int | None = None
        self._score: Score | None = None

    @property
    def total(self) -> float:
        """Length of the recording in seconds."""
        return self._total

    @property
    def ended(self) -> bool:
        """Whether the episode is over."""
        return self._score is not None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Begin an episode at 0 s; nothing in it is random, the seed is kept for the agent's use.

        Raises
        ------
        ConfigError
            If there are options: the environment knows none.
        """
        super().reset(seed=seed)
        if options:
            raise ConfigError(f"reset takes no options, not {', '.join(map(str, options))}.")
        self._seed = seed if seed is not None else self._seed
        self._episode = Episode(Stream(self._source), self.task, self.dx, self.rewind)
        self._rewards, self._score = self._new_rewards(), None
        return self._observation(self._episode), self._info(self._episode, {}, {})

    def step(self, action: ToolCall) -> tuple[Observation, float, bool, bool, Info]:
        """Carry out one tool call; a bad one is answered with ``{"error": ...}`` and goes on.

        Raises
        ------
        EpisodeOverError
            Before `reset`, and after the episode has ended.
        DataError
            If the recording turns out to be damaged where the call looks: no call is to blame.
        """
        episode = self._episode
        if episode is None or self.ended:
            raise EpisodeOverError("The episode is over or has not begun: call reset first.")
        rewound = episode.counts.rewind_s
        result = episode.act(action)
        terminated = episode.finished
        truncated = not terminated and (
            episode.counts.steps >= self.max_steps or episode.errors_in_a_row >= self.max_errors
        )
        if terminated or truncated:
            self._score = self._verify(episode)
        event = StepEvent(
            entry=result if "written" in result else None,
            invalid="error" in result,
            rewind_s=episode.counts.rewind_s - rewound,
            ended=self.ended,
        )
        terms = self._rewards.on_step(event)
        info = self._info(episode, result, terms)
        return self._observation(episode), sum(terms.values()), terminated, truncated, info

    def clone(self) -> ECGScrollEnv:
        """Return an independent environment at the same point; only the recording is shared."""
        twin = copy.copy(self)
        twin._episode = self._episode.copy() if self._episode else None
        twin._rewards = copy.deepcopy(self._rewards)
        twin._np_random = copy.deepcopy(self._np_random)
        twin.action_space = ToolCallSpace(tool_names(self.dx))
        twin.observation_space = observation_space(self.max_chars)
        return twin

    def render(self) -> str | None:
        """Return the observation's text in the ``ansi`` mode, else None."""
        if self.render_mode is None or self._episode is None:
            return None
        return self._text(self._episode)

    def _new_rewards(self) -> Rewards:
        return Rewards(self.reward_config, self.instance, scoring=self.scoring)

    def _verify(self, episode: Episode) -> Score:
        """Score the ledger; without a truth the value is NaN and says why."""
        if self.instance.truth is not None:
            return verify(self.instance, episode.ledger, scoring=self.scoring)
        answer = assemble(self.task.name, episode.ledger, self.total, self.scoring)
        why = "No reference annotations answer this task here, so its answer cannot be scored."
        return Score(math.nan, answer, why, Latency((), (), (), 0.0))

    def _observation(self, episode: Episode) -> Observation:
        return {
            "text": self._text(episode),
            "cursor": np.array(episode.stream.cursor),
            "total": np.array(self.total),
        }

    def _text(self, episode: Episode) -> str:
        cursor, total = episode.stream.cursor, self.total
        written = len(episode.ledger)
        elapsed = f"cursor {plain_number(cursor)} s of {plain_number(total)} s"
        head = f"{self.task.name}: {elapsed}, entries written: {written}"
        notes = []
        if episode.unwritten and not self.ended:
            t0, t1 = (plain_number(t, 2) for t in episode.unwritten)
            notes.append(
                f"Reminder: {self.task.event} shows in {t0}-{t1} s and is not written; "
                "what is not written scores zero."
            )
        if episode.stream.ended and not self.ended:
            notes.append("The recording has ended: write what is missing, then finish.")
        return compose(head, episode.ledger_text, episode.result_text, notes, self.max_chars)

    def _info(self, episode: Episode, result: Result, terms: dict[str, float]) -> Info:
        info = {
            "instance": self.instance.id,
            "task": self.task.name,
            "dx": self.dx,
            "beats": episode.stream.beats_source,
            "seed": self._seed,
            "tools": list(episode.tools),
            "leads": list(episode.stream.leads),
            "result": result,
            "ledger": episode.ledger.entries(),
            "reward_terms": terms,
            "counts": episode.counts.to_dict(),
        }
        return info if self._score is None else info | {"score": self._score}


def _open(instance: Instance, af_labels: tuple[str, ...]) -> Source:
    if instance.data is None:
        raise ConfigError(f"{instance.id} needs a data folder: give data=, or set ECGSCROLL_DATA.")
    folder, name = locate(Path(instance.data), instance.database, instance.record)
    return open_source(folder, name, instance.database, af_labels, instance.span)


def make(instance: str | Instance, **parameters: Any) -> ECGScrollEnv:
    """Make the environment of one instance; the parameters are those of `ECGScrollEnv`."""
    return ECGScrollEnv(instance, **parameters)
