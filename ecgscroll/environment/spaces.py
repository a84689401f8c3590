"""Spaces of the environment: a tool call as an action, free text under a cap as an observation.

Gymnasium's own ``Text`` refuses blanks and punctuation outside a fixed alphabet, and has no space
for a call with named arguments. Both here derive from ``Space``, which vector environments carry
as objects (``AsyncVectorEnv(..., shared_memory=False)``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Space

ToolCall = dict[str, Any]
LONGEST_S = 1e9


class ToolCallSpace(Space[ToolCall]):
    """Calls of the four actions; `sample` draws well-formed ones, `contains` checks the envelope.

    Parameters
    ----------
    tools
        Names that ``measure`` accepts.
    seed
        Seed of `sample`.
    """

    def __init__(self, tools: tuple[str, ...], seed: int | None = None) -> None:
        self.tools = tools
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """A call is no array."""
        return False

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> ToolCall:
        """Draw a well-formed call: mostly skims and measures, as agents make."""
        name = str(self.np_random.choice(["skim", "measure", "write", "finish"], p=_WEIGHTS))
        if name == "finish":
            return {"name": name, "arguments": {}}
        if name == "skim":
            duration = round(float(self.np_random.uniform(5, 1800)), 1)
            return {"name": name, "arguments": {"duration": duration}}
        t0 = round(float(self.np_random.uniform(0, 1800)), 1)
        window: ToolCall = {"t0": t0, "t1": t0 + round(float(self.np_random.uniform(1, 30)), 1)}
        if name == "measure":
            window["tool"] = str(self.np_random.choice(self.tools))
        return {"name": name, "arguments": window}

    def contains(self, x: Any) -> bool:
        """Whether ``x`` names an action and its arguments; the parser judges the rest."""
        return (
            isinstance(x, dict)
            and isinstance(x.get("name"), str)
            and isinstance(x.get("arguments", {}), (dict, str))
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolCallSpace) and self.tools == other.tools

    def __hash__(self) -> int:
        return hash(self.tools)

    def __repr__(self) -> str:
        return f"ToolCallSpace({len(self.tools)} tools)"


_WEIGHTS = (0.45, 0.35, 0.18, 0.02)


class FreeText(Space[str]):
    """Any string of at most ``max_length`` characters."""

    def __init__(self, max_length: int, seed: int | None = None) -> None:
        self.max_length = max_length
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Text is no array."""
        return False

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        """Draw a short string of printable ASCII."""
        length = int(self.np_random.integers(0, min(self.max_length, 80) + 1))
        return "".join(chr(c) for c in self.np_random.integers(32, 127, length))

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is a string under the cap."""
        return isinstance(x, str) and len(x) <= self.max_length

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FreeText) and self.max_length == other.max_length

    def __hash__(self) -> int:
        return hash(self.max_length)

    def __repr__(self) -> str:
        return f"FreeText({self.max_length})"


def observation_space(max_chars: int) -> Dict:
    """Return the space of ``{"text", "cursor", "total"}``, times in seconds as 0-d float64 arrays.

    It is the same for every recording, so that a vector of environments may mix them.
    """
    seconds = Box(0.0, LONGEST_S, shape=(), dtype=np.float64)
    return Dict(text=FreeText(max_chars), cursor=seconds, total=seconds)
