"""What the diagnostic tools say of the event of a supplementary task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ecgscroll.tasks import Task
from ecgscroll.tools.reference import RHYTHM_NAMES


def event_tool(task: Task) -> str:
    """Return the diagnostic tool that names the task's event."""
    return "classify_rhythm" if task.kind == "rhythm" else "classify_beats"


def event_strength(task: Task, result: Mapping[str, Any]) -> float | None:
    """Return how much of its tool's window is the event; None where the tool does not say.

    For a rhythm the share of the window, for conducted beats the share of its beats, for pauses
    their number. The ``signal`` classifiers know no rhythm but AF and no bundle-branch block.
    """
    if task.kind == "rhythm":
        rhythms: Mapping[str, float] | None = result.get("rhythms")
        names = {RHYTHM_NAMES.get(label, label) for label in task.labels}
        return None if rhythms is None else sum(rhythms.get(name, 0.0) for name in names)
    if task.event == "pause":
        count: int | None = result["pauses_count"]
        return count
    types: Mapping[str, int] = result["types"] or {}
    total = sum(types.values())
    return sum(types.get(symbol, 0) for symbol in task.labels) / total if total else None
