"""The Rule agent: fixed chunks, one measurement each, written when a cue or a label flags it.

Per chunk it skims, measures the tool of its task over the chunk, and writes the chunk if it is
flagged; at the recording's end it finishes. Without diagnostic tools a chunk is flagged when the
cue reaches a threshold of ``rule.yaml``; with them, when the label says so:

- `classify_rhythm`: the dominant rhythm is AF, that is AF fills half of the chunk or more;
- `flag_ischemia`: any part of the chunk is ischemic;
- `classify_beats`: it holds a ventricular ectopic beat.

In the supplementary tasks a chunk is flagged when the event fills half of it, by time for a rhythm
and by beats for bundle-branch block, or when it holds a pause. Where the tool bounds the events
themselves (pauses), those are written instead of the chunk.

The confidence of a write is the strength of its cue, ``x / (x + threshold)``: one half at the
threshold, towards one above it. For a label ``x`` is the AF fraction, 1 for an ischemic chunk, or
the number of ectopic beats, so that of several chunks the one with most beats is the surest.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ecgscroll.errors import ConfigError
from ecgscroll.tasks import Task, get_task
from ecgscroll.tools.events import event_strength, event_tool

Call = dict[str, Any]
Span = tuple[float, float]

# Diagnostic tool of each core event, and the value at which its label begins.
LABELS: dict[str, tuple[str, float]] = {
    "af": ("classify_rhythm", 0.5),
    "ischemia": ("flag_ischemia", 1.0),
    "pvc": ("classify_beats", 1.0),
}
HALF, ONE = 0.5, 1.0  # where the label of a supplementary event begins: a share, or a count


class Rule:
    """Walk the recording in fixed chunks and write those that are flagged.

    Parameters
    ----------
    profile
        Set of thresholds in ``rule.yaml``: ``default`` (chosen on training patients) or
        ``released`` (those of the published agent).

    Raises
    ------
    ConfigError
        If there is no such profile.
    """

    name = "rule"

    def __init__(self, profile: str = "default") -> None:
        settings = self.fingerprint(profile)
        self._cues: dict[str, dict[str, Any]] = settings["cues"]
        self._chunk_s = float(settings["chunk_s"])
        self._last = ""
        self._start = 0.0
        self._spans: list[Span] = []
        self._confidence: float | None = None

    @classmethod
    def fingerprint(cls, profile: str = "default") -> dict[str, Any]:
        """Return the chunk's length (s) and the cue of each task, for a run's record."""
        config = _config()
        profiles = config["profiles"]
        if profile not in profiles:
            raise ConfigError(
                f"The Rule agent has no profile {profile!r}; choose one of {', '.join(profiles)}."
            )
        cues = profiles[profile] | config["supplementary"]
        return {"chunk_s": config["chunk_s"], "cues": cues}

    def reset(self, info: Mapping[str, Any]) -> None:
        """Begin an episode of ``info["task"]`` with the diagnostic source ``info["dx"]``."""
        self._cue = self._cues[info["task"]]
        self._task = get_task(info["task"])
        self._labelled = info["dx"] is not None
        self._last, self._start, self._spans = "", 0.0, []

    def act(self, obs: Mapping[str, Any], info: Mapping[str, Any]) -> Call:
        """Return the next call of the walk: skim, measure, perhaps write; then finish."""
        call = self._next(float(obs["cursor"]), float(obs["total"]), info["result"])
        self._last = call["name"]
        return call

    def _next(self, cursor: float, total: float, result: Mapping[str, Any]) -> Call:
        if self._last == "skim":
            return _call("measure", tool=self._tool(), t0=self._start, t1=cursor)
        if self._last == "measure":
            self._spans = self._flagged(result, (self._start, cursor))
            self._confidence = self._strength(result)
        if self._spans:
            t0, t1 = self._spans.pop(0)
            return _call("write", t0=t0, t1=t1, confidence=self._confidence)
        if cursor >= total:
            return _call("finish")
        self._start = cursor
        return _call("skim", duration=float(self._cue.get("chunk_s", self._chunk_s)))

    def _tool(self) -> str:
        tool: str = label_of(self._task)[0] if self._labelled else self._cue["tool"]
        return tool

    def _flagged(self, result: Mapping[str, Any], chunk: Span) -> list[Span]:
        """What to write of a measured chunk: nothing, the chunk, or what the tool bounds in it."""
        if self._strength(result) is None:
            return []
        listed: list[Span] | None = result.get(self._cue.get("spans", ""))
        return [chunk] if listed is None else [(t0, t1) for t0, t1 in listed]

    def _strength(self, result: Mapping[str, Any]) -> float | None:
        """Strength of a flagged chunk in [0.5, 1), or None for one that is not flagged."""
        if "error" in result:
            return None
        if self._labelled:
            value, threshold = label_value(self._task, result), label_of(self._task)[1]
        else:
            value = cue_value(result[self._cue["field"]])
            threshold = float(self._cue["threshold"])
        return strength(value, threshold)


def strength(value: float | None, threshold: float) -> float | None:
    """Return how strong a cue is, in [0.5, 1); None for one below the threshold (above 0)."""
    if value is None or value < threshold:
        return None
    return round(value / (value + threshold), 4)


def label_of(task: Task) -> tuple[str, float]:
    """Return the diagnostic tool of a task, and the value at which its label begins."""
    if task.supplementary:
        return event_tool(task), ONE if task.event == "pause" else HALF
    return LABELS[task.event]


def label_value(task: Task, result: Mapping[str, Any]) -> float | None:
    """Return how strong a diagnostic tool's label is; None where it names nothing of the event."""
    if task.supplementary:
        return event_strength(task, result)
    if task.event == "af":
        return float(result["af_frac"]) if result["dominant_rhythm"] == "AF" else None
    if task.event == "ischemia":
        return 1.0 if result["ischemic"] else None
    count: int | None = result["pvc_times_count"]
    return count


def cue_value(measured: float | Mapping[str, float | None] | None) -> float | None:
    """Return one number from a tool's field: itself, or the largest magnitude over the leads."""
    if not isinstance(measured, Mapping):
        return measured
    sizes = [abs(value) for value in measured.values() if value is not None]
    return max(sizes, default=None)


@cache
def _config() -> dict[str, Any]:
    text = Path(__file__).with_name("rule.yaml").read_text(encoding="utf-8")
    config: dict[str, Any] = yaml.safe_load(text)
    return config


def _call(name: str, **arguments: Any) -> Call:
    return {"name": name, "arguments": arguments}
