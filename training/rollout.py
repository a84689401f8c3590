"""Environments as TRL's trainers want them: a class per tier, whose public methods are the tools.

TRL makes a tool of every public method of an environment's class, so the classes are made here from
`ecgscroll.tool_schemas`: what the tools are called and take is said in one place. What a model is
answered is the observation without the ledger's lines, as the Planning agent shows earlier turns.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ecgscroll.environment.env import ECGScrollEnv, make
from ecgscroll.environment.observation import result_json
from ecgscroll.environment.parameters import Budget
from ecgscroll.errors import ConfigError
from ecgscroll.loaders.opening import tier_name
from ecgscroll.scoring.rewards import RewardConfig
from ecgscroll.tools.registry import Dx
from ecgscroll.tools.schemas import Schema, tool_schemas
from policies.text import without_ledger
from training.rewards import Outcome

OVER = result_json({"error": "The episode is over; nothing is left to do: answer without a call."})

_TYPES: dict[str, type] = {"number": float, "string": str, "boolean": bool}


class Desk:
    """Opens environments, each instance once; what its rollouts get are clones.

    Parameters
    ----------
    data
        Folder of the recordings.
    reward
        Weights of the reward's terms.
    budget, rewind, scoring
        As `ecgscroll.make` takes them.
    kept
        Most environments kept open; recordings that were read longest ago are closed first.
    """

    def __init__(
        self,
        data: Path | None,
        reward: RewardConfig,
        budget: Budget = "open",
        kept: int = 64,
        **parameters: Any,
    ) -> None:
        self._opened = lru_cache(maxsize=kept)(self._open)
        self._parameters = {"data": data, "reward": reward, "budget": budget, **parameters}

    def environment(self, instance: str, dx: Dx) -> ECGScrollEnv:
        """Return a fresh environment, to be reset by whoever takes it."""
        return self._opened(instance, dx).clone()

    def _open(self, instance: str, dx: Dx) -> ECGScrollEnv:
        return make(instance, dx=dx, **self._parameters)


class Rollout:
    """One rollout at a time on a pooled object; subclasses add a method per tool.

    What a tool is called with comes from a model: the environment checks it, and answers what is
    wrong.
    """

    _dx: Dx = None

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._env: ECGScrollEnv | None = None
        self._info: dict[str, Any] = {}
        self._terms: dict[str, float] = {}

    def reset(self, *, instance: str, seed: int = 0, **_columns: Any) -> str:
        """Begin a rollout and return the first observation.

        Parameters
        ----------
        instance, seed
            Columns of the dataset, the same for all rollouts of a group.
        """
        self._env = self._desk.environment(instance, self._dx)
        obs, self._info = self._env.reset(seed=seed)
        self._terms = {}
        return without_ledger(obs["text"])

    @property
    def outcome(self) -> Outcome:
        """What the rollout has come to, wherever it stopped.

        Raises
        ------
        ConfigError
            Before `reset`.
        """
        if self._env is None:
            raise ConfigError("The rollout has not begun: call reset first.")
        return Outcome.of(self._env, self._info, self._terms)

    def _call(self, name: str, arguments: Mapping[str, Any]) -> str:
        if self._env is None or self._env.ended:
            return OVER
        call = {"name": name, "arguments": dict(arguments)}
        obs, _, _, _, self._info = self._env.step(call)
        for term, value in self._info["reward_terms"].items():
            self._terms[term] = self._terms.get(term, 0.0) + value
        return without_ledger(obs["text"])


def rollout_class(dx: Dx, *, owns_reward: bool = False) -> type[Rollout]:
    """Return the class of a tier: its public methods are the tools, `reset`, nothing else.

    Parameters
    ----------
    dx
        Tier of diagnostic tools.
    owns_reward
        Whether it has ``get_reward`` as well, which TRL then adds to ``reward_funcs``.
    """
    members: dict[str, Any] = {"_dx": dx, "__doc__": Rollout.__doc__}
    for schema in tool_schemas(dx):
        method = tool_method(schema)
        members[method.__name__] = method
    if owns_reward:
        members["get_reward"] = lambda self: self.outcome.reward
    name = f"Rollout{tier_name(dx).capitalize()}"
    return type(name, (Rollout,), members)


def tool_method(schema: Schema) -> Callable[..., str]:
    """Return a method that TRL describes by a schema, and that passes on whatever it is given."""
    function = schema["function"]
    name, properties = function["name"], function["parameters"]["properties"]
    required = function["parameters"]["required"]

    def method(self: Rollout, /, **arguments: Any) -> str:
        return self._call(name, arguments)

    hints = {key: _hint(about) for key, about in properties.items()}
    parameters = [
        inspect.Parameter(
            key,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if key in required else None,
            annotation=hint,
        )
        for key, hint in hints.items()
    ]
    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    method.__name__ = method.__qualname__ = name
    method.__signature__ = inspect.Signature([first, *parameters])  # type: ignore[attr-defined]
    method.__annotations__ = {**hints, "return": str}
    method.__doc__ = _google_style(function["description"], properties)
    return method


def _hint(about: Mapping[str, Any]) -> Any:
    """Return the type hint of a parameter."""
    kind = about["type"]
    if isinstance(kind, list):
        return _TYPES[kind[0]] | None
    return _TYPES[kind]


def _google_style(description: str, properties: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the docstring that transformers reads a schema from."""
    lines = [description, "", "Args:"] if properties else [description]
    for key, about in properties.items():
        choices = f" (choices: {json.dumps(about['enum'])})" if "enum" in about else ""
        lines.append(f"    {key}: {about['description']}{choices}")
    return "\n".join(lines)
