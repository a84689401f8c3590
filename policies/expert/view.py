"""What the expert sees: the cursor, and the last few calls with what they returned.

Nothing else is remembered. Whatever the expert does follows from text that a language model with a
window of `MEMORY` turns has before it, so it can be imitated turn by turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Call = dict[str, Any]

MEMORY = 8
"""Most turns that a decision may look back on."""
CLOSE_S = 0.06
"""Times are shown to a tenth or a thousandth of a second: nearer ones are one."""


class Turn(NamedTuple):
    """A call's name and what it returned."""

    name: str
    result: Mapping[str, Any]

    @property
    def t0(self) -> float:
        """Start of the window that was skimmed, measured or written, s."""
        return float(self.result["t0"])

    @property
    def t1(self) -> float:
        """End of that window, s."""
        return float(self.result["t1"])

    @property
    def width(self) -> float:
        """Length of that window, s."""
        return self.t1 - self.t0


@dataclass(frozen=True, slots=True)
class View:
    """The state of an episode as far as the expert looks.

    Parameters
    ----------
    task
        Name of the task.
    cursor, total
        Seconds elapsed, and the recording's length.
    turns
        The last turns, oldest first, without those that failed.
    """

    task: str
    cursor: float
    total: float
    turns: Sequence[Turn]

    @property
    def last(self) -> Turn | None:
        """The last turn; None at the start."""
        return self.turns[-1] if self.turns else None

    @property
    def ended(self) -> bool:
        """Whether the recording is over."""
        return self.cursor >= self.total - 1e-6

    def back(self, name: str) -> Turn | None:
        """The newest turn of a name."""
        return next((turn for turn in reversed(self.turns) if turn.name == name), None)


def skim(duration: float) -> Call:
    """Let seconds pass."""
    return _call("skim", duration=number(duration))


def measure(tool: str, t0: float, t1: float, **more: Any) -> Call:
    """Run a tool on a window."""
    return _call("measure", tool=tool, t0=number(t0), t1=number(t1), **more)


def write(t0: float, t1: float, confidence: float | None = None) -> Call:
    """Commit a finding."""
    sure = {} if confidence is None else {"confidence": confidence}
    return _call("write", t0=number(t0), t1=number(t1), **sure)


def finish() -> Call:
    """End the episode."""
    return _call("finish")


def onward(view: View, t: float, length: float) -> Call | None:
    """Skim on, or finish, if everything up to the cursor is done at ``t``; else None."""
    if t < view.cursor - CLOSE_S:
        return None
    return finish() if view.ended else skim(length)


def number(value: float) -> float | int:
    """Return a time as it is written: whole seconds without a point, others to a hundredth."""
    rounded = round(float(value), 2)
    return int(rounded) if rounded == int(rounded) else rounded


def same(a: float, b: float) -> bool:
    """Whether two times are one, as far as results show them."""
    return abs(a - b) <= CLOSE_S


def _call(name: str, **arguments: Any) -> Call:
    return {"name": name, "arguments": arguments}
