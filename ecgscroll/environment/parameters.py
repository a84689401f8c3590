"""What `ecgscroll.make` accepts: choices, counts, budgets, and what a task needs."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from ecgscroll.causal.sources import Source
from ecgscroll.errors import ConfigError
from ecgscroll.tasks import Task
from ecgscroll.tools.registry import Dx

Budget: TypeAlias = Literal["open", "released"] | int


MIN_FS = 60.0
"""Least sampling rate (Hz) of a waveform: the QRS filter's pass band ends at 22 Hz."""


def step_budget(budget: Budget, total: float) -> int:
    """Return how many steps an episode may take.

    Parameters
    ----------
    budget
        ``open``: 100 + 20 ceil(T/30); ``released``: max(60, 1.5 T/300) + 5, rounded down; or a
        number of steps.
    total
        T, the recording's length in seconds.

    Raises
    ------
    ConfigError
        If it is none of these.
    """
    if budget == "open":
        return 100 + 20 * math.ceil(total / 30)
    if budget == "released":
        return int(max(60.0, 1.5 * total / 300)) + 5
    if isinstance(budget, int) and not isinstance(budget, bool) and budget > 0:
        return budget
    raise ConfigError(
        f"There is no budget {budget!r}; choose 'open', 'released' or a number of steps above 0."
    )


def check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Refuse a value that is none of the choices."""
    if value not in choices:
        raise ConfigError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}.")


def check_count(name: str, value: object, least: int) -> None:
    """Refuse what is no whole number, or too small a one."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigError(f"{name} must be a whole number of at least {least}, not {value!r}.")


def check_labels(labels: object) -> tuple[str, ...]:
    """Return rhythm labels as a tuple; a bare string is refused, not taken letter by letter."""
    if isinstance(labels, (list, tuple)) and all(isinstance(label, str) for label in labels):
        return tuple(labels)
    raise ConfigError(f"af_labels is a tuple of rhythm labels, such as ('AFIB',), not {labels!r}.")


def check_readable(source: Source, task: Task, dx: Dx) -> None:
    """Refuse a recording that lacks what the task or the tier needs."""
    name, labels = f"{source.recording.database}/{source.recording.name}", source.labels
    if not source.recording.has_signal:
        if source.reference is None:
            raise ConfigError(f"{name} has neither signal files nor annotations here; fetch them.")
        if task.cue in ("ectopy", "wide_beats") and dx != "reference":
            raise ConfigError(f"{name} has no waveform here: {task.name} needs dx='reference'.")
    elif not source.recording.ecg:
        raise ConfigError(f"{name} has no ECG channel; choose a recording that has one.")
    elif source.recording.fs < MIN_FS:
        raise ConfigError(
            f"{name} has {source.recording.fs:g} samples a second, too few to find beats; "
            f"choose a recording of {MIN_FS:g} Hz or more."
        )
    if dx == "reference" and not labels.may_have(task.kind):
        raise ConfigError(
            f"{name} has no reference annotations of {task.event}: use dx='signal' or None."
        )
