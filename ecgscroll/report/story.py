"""An episode as its transcript tells it, whole or damaged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ecgscroll.evaluation.folder import Row, RunFolder
from ecgscroll.evaluation.shapes import is_finite
from ecgscroll.report.pack import shortened

State = Literal["played", "failed", "damaged", "missing"]
Step = dict[str, Any]

LATE_S = 60.0
"""An event is called late so many seconds after any causal agent could have answered it."""
_BRIEF_TEXT = 300
_BRIEF_RESULT = (
    "t0",
    "t1",
    "cue",
    "peak",
    "peak_t0",
    "peak_t1",
    "bins",
    "tool",
    "error",
    "type",
    "confidence",
)


@dataclass(frozen=True)
class Story:
    """What is known of an episode.

    Parameters
    ----------
    instance
        Its id.
    state
        ``played``; ``failed`` (it ended in an error); ``damaged`` (a transcript is there and
        cannot be read); ``missing`` (not played yet).
    rollout
        Which of the instance's rollouts, from 0.
    row, ledger, events
        As the transcript's last line gives them; times in seconds.
    delays, earliest
        Seconds from each event's onset, and from the earliest possible moment, to its stamp; None
        for a miss.
    steps
        Lines of the transcript.
    unread
        How many lines could not be read.
    seconds, model_seconds
        Wall time it took, and of it the model; None where nobody noted it.
    step_seconds
        Wall time of every step; empty where it was not noted of these very steps.
    """

    instance: str
    state: State
    rollout: int = 0
    row: Row = field(default_factory=dict)
    ledger: tuple[dict[str, Any], ...] = ()
    events: tuple[tuple[float, float], ...] = ()
    delays: tuple[float | None, ...] = ()
    earliest: tuple[float | None, ...] = ()
    steps: tuple[Step, ...] = ()
    unread: int = 0
    seconds: float | None = None
    model_seconds: float | None = None
    step_seconds: tuple[float, ...] = ()

    @property
    def task(self) -> str:
        """First part of the id."""
        return self.instance.split("/")[0]

    @property
    def database(self) -> str:
        """Second part of the id."""
        return self.instance.split("/", 2)[1]

    @property
    def record(self) -> str:
        """The rest of the id."""
        return self.instance.split("/", 2)[2]

    @property
    def score(self) -> float | None:
        """Its score, if it has one."""
        return self.row.get("score")

    @property
    def interest(self) -> float:
        """How much a reader wants to look at it, from 1 to 4: what went wrong, most."""
        if self.state != "played":
            return 4.0
        return 4.0 - 3.0 * (self.score if self.score is not None else 0.5)

    def brief(self) -> list[Step]:
        """Steps without what only a reader of every detail misses: for a page that is too large."""
        return [_brief(step) for step in self.steps]


def read_stories(folder: RunFolder) -> list[Story]:
    """Read every episode of a run, in the order of its trials; none raises, however damaged."""
    notes = {(note.get("instance"), note.get("rollout")): note for note in _hashable(folder)}
    trials = folder.config().trials()
    return [_with_times(read_story(folder, *trial), notes.get(trial, {})) for trial in trials]


def _hashable(folder: RunFolder) -> list[dict[str, Any]]:
    """Return the notes on time that name an episode; of several on one, the last counts."""
    return [
        note
        for note in folder.timing()
        if isinstance(note.get("instance"), str) and isinstance(note.get("rollout"), int)
    ]


def _with_times(story: Story, note: Mapping[str, Any]) -> Story:
    times: Any = note.get("step_seconds")
    timed = isinstance(times, list) and all(map(is_finite, times))
    whole = timed and len(times) == len(story.steps) and not story.unread
    return replace(
        story,
        seconds=_finite(note.get("seconds")),
        model_seconds=_finite(note.get("model_seconds")),
        step_seconds=tuple(times) if whole else (),
    )


def _finite(value: Any) -> float | None:
    return value if is_finite(value) else None


def read_story(folder: RunFolder, instance: str, rollout: int = 0) -> Story:
    """Read one episode of a run, without its times; nothing in a transcript raises."""
    try:
        lines = folder.episode_path(instance, rollout).read_bytes().splitlines()
    except FileNotFoundError:
        return Story(instance, "missing", rollout)
    except OSError:
        return Story(instance, "damaged", rollout)
    end = folder.last_line(instance, rollout)
    steps, unread = _steps(lines[1:] if end is None else lines[1:-1])
    if end is None:
        return Story(instance, "damaged", rollout, steps=steps, unread=unread)
    row, latency = end["row"], end["latency"] or {}
    return Story(
        instance,
        "played" if row["error"] is None else "failed",
        rollout,
        row=row,
        ledger=tuple(end["ledger"]),
        events=tuple((float(start), float(stop)) for start, stop in end["events"]),
        delays=tuple(latency.get("onset_s", ())),
        earliest=tuple(latency.get("earliest_s", ())),
        steps=steps,
        unread=unread,
    )


def _steps(lines: Iterable[bytes]) -> tuple[tuple[Step, ...], int]:
    steps: list[Step] = []
    unread = 0
    for line in lines:
        try:
            step = json.loads(line)
        except (ValueError, RecursionError):
            step = None
        if isinstance(step, dict) and "action" in step:
            steps.append(step)
        else:
            unread += 1
    return tuple(steps), unread


def _brief(step: Mapping[str, Any]) -> Step:
    kept = {name: step[name] for name in ("n", "action", "cursor") if name in step}
    result = step.get("result")
    if isinstance(result, dict):
        kept["result"] = {
            name: shortened(value, _BRIEF_TEXT) if isinstance(value, str) else value
            for name, value in result.items()
            if name in _BRIEF_RESULT
        }
    if isinstance(kept["action"], str):
        kept["action"] = shortened(kept["action"], _BRIEF_TEXT)
    model = step.get("model")
    if isinstance(model, dict):
        kept["model"] = {name: model[name] for name in ("stop", "usage") if name in model}
        reply = model.get("reply")
        text = reply.get("text") if isinstance(reply, dict) else None
        kept["model"]["reply"] = shortened(text, _BRIEF_TEXT) if isinstance(text, str) else None
    return kept


def summary_of(story: Story) -> dict[str, Any]:
    """Return an episode's line in the page's table."""
    row, latency = story.row, story.row.get("latency") or {}
    onset = latency.get("from_onset") or {}
    late = sum(delay is not None and delay > LATE_S for delay in story.earliest)
    told = ("steps", "skims", "measures", "writes", "rewinds", "errors", "ended", "cursor_s")
    return {
        "id": story.instance,
        "rollout": story.rollout,
        "task": story.task,
        "database": story.database,
        "record": story.record,
        "state": story.state,
        "patient": row.get("patient"),
        "duration": row.get("duration_s"),
        "score": story.score,
        "events": len(story.events),
        "missed": latency.get("missed"),
        "late": late,
        "delay": onset.get("median"),
        "empty": story.state == "played" and not story.ledger,
        "beats": row.get("beats"),
        "error": row.get("error"),
        "answer": row.get("answer") if not isinstance(row.get("answer"), list) else None,
        "truth": row.get("truth") if not isinstance(row.get("truth"), list) else None,
        "unread": story.unread,
        "usage": row.get("usage"),
        "read_s": row.get("read_s"),
        "seconds": story.seconds,
        "model_seconds": story.model_seconds,
        **{name: row.get(name) for name in told},
    }
