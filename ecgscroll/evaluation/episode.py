"""Play one episode, and keep every step of it as JSON lines."""

from __future__ import annotations

import json
import reprlib
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np

from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.accounts import Accounts, Usage, tokens
from ecgscroll.evaluation.config import Limits
from ecgscroll.policy import Policy


def _plain(value: Any) -> Any:
    """Return NumPy's numbers as Python's: a policy may compute its calls' arguments."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    raise TypeError


# One encoder for every step: json.dumps with options builds a new one at each call.
_STRICT = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_plain)
_LONGEST_MESSAGE = 2000  # characters; a client's may hold a whole page
_FINISH = {"name": "finish", "arguments": {}}

# Episodes of one process share recordings and caches: one at a time is in its environment, while
# the others wait for their models.
ENVIRONMENT = threading.RLock()

Info = Mapping[str, Any]


@dataclass
class Played:
    """What came of an episode.

    Parameters
    ----------
    lines
        A JSON line per step: ``n``, ``action``, ``result``, ``cursor`` (s), ``reward`` (the terms
        that are not zero), ``model`` where one was asked, ``limit`` where the runner finished.
    info
        The environment's last ``info``; empty if not even ``reset`` came back.
    cursor
        Where the recording had come to, in seconds.
    read_s
        Seconds of ECG measured, repeated reads counted again.
    usage
        All that the policy says its model took; None without one.
    step_seconds
        Wall time of every step.
    ended
        ``finish``, ``budget``, ``error``, or the limit: ``steps``, ``tokens``, ``cost``, ``time``.
    error
        A sentence, if something raised.
    """

    lines: list[str] = field(default_factory=list)
    info: Info = field(default_factory=dict)
    cursor: float = 0.0
    read_s: float = 0.0
    usage: Usage | None = None
    step_seconds: list[float] = field(default_factory=list)
    ended: str = "error"
    error: str | None = None


def play(
    env: gymnasium.Env[Any, Any],
    policy: Policy,
    seed: int,
    sampling_seed: int = 0,
    limits: Limits | None = None,
) -> Played:
    """Let a policy play one episode to its end.

    Whatever the policy or the environment raises, Ctrl-C aside, ends the episode with an
    ``error``; what was played until then is kept. At a limit the runner calls ``finish`` itself.
    """
    played, accounts = Played(), None
    try:
        accounts = Accounts(policy)
        _play(_Game(env, policy, accounts, limits or Limits()), seed, sampling_seed, played)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # sys.exit, or the cancelling of an asynchronous client
        played.ended = "error"
        played.error = f"{type(error).__name__} at step {len(played.lines) + 1}: {_said(error)}"
        with suppress(Exception):
            played.usage = accounts.all_used() if accounts else None
    return played


@dataclass(frozen=True)
class _Game:
    env: gymnasium.Env[Any, Any]
    policy: Policy
    accounts: Accounts
    limits: Limits


def _said(error: BaseException) -> str:
    """Return an error's message, however large it is, and if it has one."""
    try:
        text = str(error)
    except Exception:
        return "(its message cannot be read)"
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}..."


def _play(game: _Game, seed: int, sampling_seed: int, played: Played) -> None:
    began = time.perf_counter()
    with ENVIRONMENT:
        obs, info = game.env.reset(seed=seed)
    played.info = info
    game.policy.reset({**info, "sampling_seed": sampling_seed})
    terminated = truncated = False
    limit: str | None = None
    while not (terminated or truncated):
        start = time.perf_counter()
        limit = reached(game.limits, len(played.lines), start - began, played.usage)
        action = game.policy.act(obs, info) if limit is None else _FINISH
        more = {"limit": limit} if limit else _asked(game.accounts, played)
        with ENVIRONMENT:
            obs, _, terminated, truncated, info = game.env.step(action)
        played.info = info
        played.cursor = float(obs["cursor"])
        played.read_s += _read(info["result"])
        played.lines.append(_line(len(played.lines) + 1, action, played.cursor, info, more))
        played.step_seconds.append(time.perf_counter() - start)
    played.ended = limit or ("finish" if terminated else "budget")


def reached(limits: Limits, steps: int, seconds: float, usage: Usage | None) -> str | None:
    """Name the limit that an episode has come to, if it has.

    Raises
    ------
    ConfigError
        If cost is limited, and the model was asked at a price that is not known.
    """
    if limits.steps is not None and steps >= limits.steps:
        return "steps"
    if limits.tokens is not None and tokens(usage) >= limits.tokens:
        return "tokens"
    if limits.cost is not None and known_cost(usage) >= limits.cost:
        return "cost"
    return "time" if limits.seconds is not None and seconds >= limits.seconds else None


def known_cost(usage: Usage | None) -> float:
    """Return what requests have cost.

    Raises
    ------
    ConfigError
        If there were requests, and nobody knows their price.
    """
    if usage is None or not usage.get("requests"):
        return 0.0
    cost = usage.get("cost")
    if cost is None:
        raise ConfigError(
            "No price is known, so no limit on cost can hold: tell the back end its prices."
        )
    return cost


def _asked(accounts: Accounts, played: Played) -> dict[str, Any]:
    """Take down what the policy's model was asked at this step and has taken so far."""
    played.usage = accounts.all_used()
    model = accounts.model()
    return {} if model is None else {"model": model}


def _read(result: Mapping[str, Any]) -> float:
    """Seconds of ECG that a measurement has read."""
    return float(result["t1"] - result["t0"]) if "tool" in result else 0.0


def _line(number: int, action: Any, cursor: float, info: Info, more: Mapping[str, Any]) -> str:
    step = {
        "n": number,
        "action": action,
        "result": info["result"],
        "cursor": cursor,
        "reward": {name: term for name, term in info["reward_terms"].items() if term},
        **more,
    }
    try:
        return _STRICT.encode(step)
    except (TypeError, ValueError, RecursionError):  # a policy may act with anything at all
        return _STRICT.encode({**step, "action": reprlib.repr(action)})
