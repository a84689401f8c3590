"""Play one episode, and keep every step of it as JSON lines."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np

from ecgscroll.policy import Policy


def _plain(value: Any) -> Any:
    """Return NumPy's numbers as Python's: a policy may compute its calls' arguments."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    raise TypeError


# One encoder for every step: json.dumps with options builds a new one at each call.
_STRICT = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_plain)
_LONGEST_MESSAGE = 2000  # characters; a client's may hold a whole page

Info = Mapping[str, Any]


@dataclass
class Played:
    """What came of an episode.

    Parameters
    ----------
    lines
        A JSON line per step: ``n``, ``action``, ``result``, ``cursor`` (s), ``reward`` (the terms
        that are not zero).
    info
        The environment's last ``info``; empty if not even ``reset`` came back.
    cursor
        Where the recording had come to, in seconds.
    ended
        ``finish``, ``budget``, or ``error``.
    error
        A sentence, if something raised.
    """

    lines: list[str] = field(default_factory=list)
    info: Info = field(default_factory=dict)
    cursor: float = 0.0
    ended: str = "error"
    error: str | None = None


def play(env: gymnasium.Env[Any, Any], policy: Policy, seed: int) -> Played:
    """Let a policy play one episode to its end.

    Whatever the policy or the environment raises, Ctrl-C aside, ends the episode with an
    ``error``; what was played until then is kept.
    """
    played = Played()
    try:
        _play(env, policy, seed, played)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # sys.exit, or the cancelling of an asynchronous client
        played.ended = "error"
        played.error = f"{type(error).__name__} at step {len(played.lines) + 1}: {_said(error)}"
    return played


def _said(error: BaseException) -> str:
    """Return an error's message, however large it is, and if it has one."""
    try:
        text = str(error)
    except Exception:
        return "(its message cannot be read)"
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}..."


def _play(env: gymnasium.Env[Any, Any], policy: Policy, seed: int, played: Played) -> None:
    obs, info = env.reset(seed=seed)
    played.info = info
    policy.reset(info)
    terminated = truncated = False
    while not (terminated or truncated):
        action = policy.act(obs, info)
        obs, _, terminated, truncated, info = env.step(action)
        played.info = info
        played.cursor = float(obs["cursor"])
        played.lines.append(_line(len(played.lines) + 1, action, played.cursor, info))
    played.ended = "finish" if terminated else "budget"


def _line(number: int, action: Any, cursor: float, info: Info) -> str:
    step = {
        "n": number,
        "action": action,
        "result": info["result"],
        "cursor": cursor,
        "reward": {name: term for name, term in info["reward_terms"].items() if term},
    }
    try:
        return _STRICT.encode(step)
    except (TypeError, ValueError, RecursionError):  # a policy may act with anything at all
        return _STRICT.encode({**step, "action": reprlib.repr(action)})
