"""What a model is told: ``prompts.yaml``, filled in for a task and a tier of tools."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ecgscroll.tasks import get_task
from ecgscroll.tools.registry import Dx, tool_names

_FILE = Path(__file__).with_name("prompts.yaml")


def planning_prompt(task: str, dx: Dx) -> str:
    """Return the system prompt of an agent that plans: task, calls, how to work, cue."""
    parts = _parts(task)
    confirm = parts["labelled"] if dx else parts["measured"]
    text: str = _prompts()["planning"]
    return text.format(
        goal=parts["goal"],
        write=parts["write"],
        cue=parts["cue"],
        confirm=confirm,
        tools=", ".join(tool_names(dx)),
    ).strip()


def judge_prompt(task: str, dx: Dx, chunk_s: float) -> str:
    """Return the system prompt of an agent that flags chunks of ``chunk_s`` seconds."""
    parts = _parts(task)
    text: str = _prompts()["judge"]
    return text.format(
        goal=parts["goal"],
        confirm=parts["labelled"] if dx else parts["measured"],
        shown="labelled" if dx else "measured",
        chunk_s=chunk_s,
    ).strip()


def phrase(name: str, **values: Any) -> str:
    """Return one of the short messages: ``one_call``, ``left_out``, ``answer_again``."""
    text: str = _prompts()[name]
    return text.format(**values)


def prompts_digest() -> str:
    """SHA-256 of the prompts, for a run's record."""
    return hashlib.sha256(_FILE.read_bytes()).hexdigest()


def _parts(task: str) -> dict[str, str]:
    """Return the lines on a task; those of ``default`` name its event and cue."""
    known = _prompts()["tasks"]
    if task in known:
        parts: dict[str, str] = known[task]
        return parts
    about = get_task(task)
    filled = {"event": about.event, "cue_name": about.cue}
    return {name: line.format(**filled) for name, line in known["default"].items()}


def tasks_with_prompts() -> Sequence[str]:
    """Return the tasks that have lines of their own."""
    return [name for name in _prompts()["tasks"] if name != "default"]


@cache
def _prompts() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return loaded
