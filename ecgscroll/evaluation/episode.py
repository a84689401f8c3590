"""Play one episode, and keep every step of it as JSON lines."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium

from ecgscroll.policy import Policy

# One encoder for every step: json.dumps with options builds a new one at each call.
_STRICT = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_COUNTED = {"skim": "skims", "measure": "measures", "write": "writes"}

Info = Mapping[str, Any]


@dataclass
class Played:
    """What came of an episode.

    Parameters
    ----------
    lines
        A JSON line per step: ``n``, ``action``, ``result``, ``cursor`` (s), ``reward`` (the terms
        that are not zero).
    counts
        ``steps``, ``skims``, ``measures``, ``writes``, ``rewinds``, ``bad_calls``.
    info
        The environment's last ``info``; None if not even ``reset`` came back.
    ended
        ``finish``, ``budget``, or ``error``.
    error
        A sentence, if something raised.
    """

    lines: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(
            ("steps", "skims", "measures", "writes", "rewinds", "bad_calls"), 0
        )
    )
    info: Info | None = None
    ended: str = "error"
    error: str | None = None


def play(env: gymnasium.Env[Any, Any], policy: Policy, seed: int) -> Played:
    """Let a policy play one episode to its end.

    Whatever the policy or the environment raises ends the episode with an ``error``; what was
    played until then is kept.
    """
    played = Played()
    try:
        _play(env, policy, seed, played)
    except (Exception, SystemExit) as error:
        played.ended = "error"
        where = f"at step {played.counts['steps'] + 1}"
        played.error = f"{type(error).__name__} {where}: {error}"
    return played


def _play(env: gymnasium.Env[Any, Any], policy: Policy, seed: int, played: Played) -> None:
    obs, info = env.reset(seed=seed)
    played.info = info
    policy.reset(info)
    terminated = truncated = False
    while not (terminated or truncated):
        action = policy.act(obs, info)
        obs, _, terminated, truncated, info = env.step(action)
        played.info = info
        _count(played.counts, action, info)
        played.lines.append(_line(played.counts["steps"], action, info))
    played.ended = "finish" if terminated else "budget"


def _count(counts: dict[str, int], action: Any, info: Info) -> None:
    counts["steps"] += 1
    result = info["result"]
    if "error" in result:
        counts["bad_calls"] += 1
        return
    name = _COUNTED.get(action["name"])
    if name:
        counts[name] += 1
    counts["rewinds"] = info["rewinds"]


def _line(number: int, action: Any, info: Info) -> str:
    step = {
        "n": number,
        "action": action,
        "result": info["result"],
        "cursor": info["cursor"],
        "reward": {name: term for name, term in info["reward_terms"].items() if term},
    }
    try:
        return _STRICT.encode(step)
    except (TypeError, ValueError, RecursionError):  # a policy may act with anything at all
        return _STRICT.encode({**step, "action": reprlib.repr(action)})
