"""What a policy says of its model: checked numbers, and a trace that any transcript can carry."""

from __future__ import annotations

import hashlib
import json
import math
import numbers
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from ecgscroll.errors import ConfigError
from ecgscroll.policy import Policy

LONGEST_TEXT = 20_000  # characters of one text in a trace
_MOST_ITEMS = 10_000  # of one list or mapping in a trace
_DEEPEST = 20
_COUNTED = ("requests", "prompt_tokens", "completion_tokens", "cost")
_NOT_REPEATABLE = ("seconds", "retries")  # they differ between runs that are otherwise the same

Usage = dict[str, float | None]


class Accounts:
    """Reads `ecgscroll.policy.Traced` off a policy during one episode.

    Parameters
    ----------
    policy
        Any policy; one without a model has neither method.
    """

    def __init__(self, policy: Policy) -> None:
        self._usage = getattr(policy, "usage", None)
        self._trace = getattr(policy, "trace", None)
        self._told: dict[bytes, int] = {}

    def all_used(self) -> Usage | None:
        """Return every number of the policy's ``usage()``; None for a policy that has none.

        Raises
        ------
        ConfigError
            If it is no mapping of finite numbers that are 0 or more, and None.
        """
        if not callable(self._usage):
            return None
        said = self._usage()
        if not isinstance(said, Mapping):
            raise ConfigError(f"usage() of a policy returns a dict, not {type(said).__name__}.")
        return {str(name): _amount(name, value) for name, value in said.items()}

    def used(self) -> Usage | None:
        """Return what the episode took, of what is the same in every run; errors as `all_used`."""
        return counted(self.all_used())

    def model(self) -> dict[str, Any] | None:
        """Return the last step's trace as a transcript keeps it; None if no model was asked.

        ``messages`` holds those not told before in this episode, ``kept`` counts the others.
        ``context`` is what was sent, in order: pairs (first, last) of the messages' numbers, which
        count from 0 as the episode's transcript first tells them.
        """
        said = self._trace() if callable(self._trace) else None
        if said is None:
            return None
        kept = plain(said)
        if not isinstance(kept, dict):
            return {"trace": kept}
        if isinstance(kept.get("usage"), dict):
            kept["usage"] = {k: v for k, v in kept["usage"].items() if k not in _NOT_REPEATABLE}
        if isinstance(kept.get("messages"), list):
            kept |= self._news(kept["messages"])
        return kept

    def _news(self, messages: list[Any]) -> dict[str, Any]:
        sent, new = [], []
        for message in messages:
            key = hashlib.sha256(json.dumps(message, sort_keys=True).encode()).digest()
            if key not in self._told:
                self._told[key] = len(self._told)
                new.append(message)
            sent.append(self._told[key])
        return {"messages": new, "kept": len(sent) - len(new), "context": _runs(sent)}


def messages_sent(models: Iterable[Mapping[str, Any]]) -> Iterator[list[Any]]:
    """Yield all messages of each request of an episode, from the ``model`` of its steps in order.

    The inverse of `Accounts.model`, but for what was cut.
    """
    told: list[Any] = []
    for model in models:
        told += model["messages"]
        yield [told[n] for first, last in model["context"] for n in range(first, last + 1)]


def counted(usage: Usage | None) -> Usage | None:
    """Return the amounts that a results row keeps."""
    return None if usage is None else {name: usage.get(name) for name in _COUNTED}


def tokens(usage: Usage | None) -> float:
    """Return the tokens of prompts and completions together."""
    usage = usage or {}
    return (usage.get("prompt_tokens") or 0) + (usage.get("completion_tokens") or 0)


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON can carry it, whatever it is.

    Texts are cut at `LONGEST_TEXT` characters and say so; a number that is not finite becomes its
    name, bytes their length, anything unknown the name of its type.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return shortened(value)
    if isinstance(value, numbers.Integral):
        return int(value) if abs(int(value)) < 1 << 64 else "(an integer of more than 64 bits)"
    if isinstance(value, numbers.Real):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, bytes | bytearray | memoryview):
        return f"({len(value)} bytes)"
    if depth >= _DEEPEST:
        return "(nested too deeply)"
    if isinstance(value, Mapping):
        few = islice(value.items(), _MOST_ITEMS)
        return {_key(key): plain(one, depth + 1) for key, one in few}
    if isinstance(value, list | tuple):
        return [plain(one, depth + 1) for one in value[:_MOST_ITEMS]]
    return f"({type(value).__name__})"


def shortened(text: str) -> str:
    """Return a text, or its beginning and how long it was."""
    if len(text) <= LONGEST_TEXT:
        return str(text)
    return f"{text[:LONGEST_TEXT]}... (cut: {len(text)} characters)"


def _runs(numbers_sent: list[int]) -> list[list[int]]:
    """Return consecutive numbers as pairs of the first and the last."""
    runs: list[list[int]] = []
    for number in numbers_sent:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return runs


def _key(key: Any) -> str:
    return shortened(key) if isinstance(key, str) else str(plain(key, _DEEPEST))


def _amount(name: Any, value: Any) -> float | None:
    if value is None:
        return None
    number = not isinstance(value, bool) and isinstance(value, numbers.Real)
    if not number or not math.isfinite(value) or value < 0:
        raise ConfigError(f"usage() of the policy says {name} = {plain(value)!r}, no amount.")
    return int(value) if isinstance(value, numbers.Integral) else float(value)
