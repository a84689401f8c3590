"""The tasks and what each asks for; constants here are defaults, never rules.

Six are the benchmark's core. The others are supplementary: the same answers and verifiers over
other events that reference annotations hold. A rhythm that annotators note takes one entry here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ecgscroll.errors import ConfigError

if TYPE_CHECKING:
    from ecgscroll.records.databases import Kind

AnswerKind = Literal["intervals", "burden", "onset", "point"]
Cue = Literal["rr_irregularity", "st_deviation", "ectopy", "wide_beats", "longest_rr"]


@dataclass(frozen=True)
class Task:
    """What a task asks of an agent.

    Parameters
    ----------
    name
        Public name, the first part of an instance id.
    event
        Ledger type that answers it, such as ``af``, ``pvc`` or ``ischemia``.
    answer
        Shape of the answer: intervals in seconds, a fraction of the recording, the onset of the
        earliest interval (s), or the midpoint of the most confident one (s).
    cue
        Signal cue that a skim profiles.
    kind
        Kind of annotation that its truth is made of.
    max_write_s
        Widest write in seconds that is a valid call; ``None`` is no limit.
    labels
        Of a supplementary task: the rhythm notes or the beat symbols that are its event.
    supplementary
        Whether it lies outside the core: it is then listed where its event occurs.
    """

    name: str
    event: str
    answer: AnswerKind
    cue: Cue
    kind: Kind
    max_write_s: float | None = None
    labels: tuple[str, ...] = ()
    supplementary: bool = False


def _rhythm(name: str, event: str, cue: Cue, *labels: str) -> Task:
    """Return the supplementary task of finding the stretches of some rhythm notes."""
    return Task(name, event, "intervals", cue, "rhythm", labels=labels, supplementary=True)


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task("episode_detection", "af", "intervals", "rr_irregularity", "rhythm"),
        Task("af_burden", "af", "burden", "rr_irregularity", "rhythm"),
        Task("change_detection", "af", "onset", "rr_irregularity", "rhythm"),
        Task("ischemia", "ischemia", "intervals", "st_deviation", "st"),
        Task("pvc_burden", "pvc", "burden", "ectopy", "beat_labels", max_write_s=30.0),
        Task("rare_event", "pvc", "point", "ectopy", "beat_labels", max_write_s=30.0),
        _rhythm("flutter_detection", "flutter", "rr_irregularity", "AFL"),
        _rhythm("av_block", "av_block", "longest_rr", "BII"),
        _rhythm("vt_detection", "vt", "ectopy", "VT"),
        _rhythm("bigeminy", "bigeminy", "ectopy", "B"),
        Task(
            "bbb_burden",
            "bundle_branch",
            "burden",
            "wide_beats",
            "beat_labels",
            labels=("L", "R", "B"),
            supplementary=True,
        ),
        Task(
            "pause_detection",
            "pause",
            "intervals",
            "longest_rr",
            "beat_labels",
            supplementary=True,
        ),
    )
}

CORE_TASKS = tuple(name for name, task in TASKS.items() if not task.supplementary)
"""Names of the benchmark's six."""


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
