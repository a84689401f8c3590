"""The six core tasks, and what each asks for; constants here are defaults, never rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ecgscroll.errors import ConfigError

AnswerKind = Literal["intervals", "burden", "onset", "point"]
Cue = Literal["rr_irregularity", "st_deviation", "ectopy"]


@dataclass(frozen=True)
class Task:
    """What a task asks of an agent.

    Parameters
    ----------
    name
        Public name, the first part of an instance id.
    event
        Ledger type that answers it: ``af``, ``pvc`` or ``ischemia``.
    answer
        Shape of the answer: intervals in seconds, a fraction of the recording, the onset of the
        earliest interval (s), or the midpoint of the most confident one (s).
    cue
        Signal cue that a skim profiles.
    max_write_s
        Widest write in seconds that is a valid call; ``None`` is no limit.
    """

    name: str
    event: str
    answer: AnswerKind
    cue: Cue
    max_write_s: float | None = None


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task("episode_detection", "af", "intervals", "rr_irregularity"),
        Task("af_burden", "af", "burden", "rr_irregularity"),
        Task("change_detection", "af", "onset", "rr_irregularity"),
        Task("ischemia", "ischemia", "intervals", "st_deviation"),
        Task("pvc_burden", "pvc", "burden", "ectopy", max_write_s=30.0),
        Task("rare_event", "pvc", "point", "ectopy", max_write_s=30.0),
    )
}


def get_task(name: str) -> Task:
    """Return the task called ``name``.

    Raises
    ------
    ConfigError
        If there is no such task.
    """
    try:
        return TASKS[name]
    except KeyError:
        raise ConfigError(f"There is no task {name!r}; choose one of {', '.join(TASKS)}.") from None
