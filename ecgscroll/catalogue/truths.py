"""The truth of a task, built from reference annotations by the rules of the benchmark."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ecgscroll.errors import DataError
from ecgscroll.records.databases import Kind
from ecgscroll.records.reference import AF_LABELS, Reference, Span, StEpisode
from ecgscroll.tasks import Task, get_task

Intervals = tuple[tuple[float, float], ...]
MAX_RARE_EVENTS = 30
# The first rhythm note comes with the first beats (0.7 s at most in afdb): a recording whose first
# one is AF starts in AF, unless it comes so late that what went before is unknown.
FIRST_RHYTHM_S = 2.0


@dataclass(frozen=True)
class Truth:
    """What the reference says of one task.

    Attributes
    ----------
    value
        Answer that scores 1: intervals in seconds, a fraction of the recording, or a time in s.
    events
        (onset, offset) in seconds of each event that can be detected; equal for a point event.
    details
        For ischemia, the episodes of each lead with their extrema.
    """

    value: float | Intervals
    events: Intervals
    details: tuple[StEpisode, ...] = ()

    def digest(self) -> str:
        """Return the SHA-256 of value and events.

        Times count to 10 ms, the precision at which the European ST-T episodes were published,
        and fractions to six decimals.
        """
        value: object = self.value
        if isinstance(value, tuple):
            value = _rounded(value)
        elif isinstance(value, float):
            value = round(value, 6)
        content = json.dumps([value, _rounded(self.events)], separators=(",", ":"))
        return hashlib.sha256(content.encode()).hexdigest()


def label_of(task: str) -> Kind:
    """Return the kind of annotation that a task's truth is made of."""
    return get_task(task).kind


def _rounded(intervals: Intervals) -> list[list[float]]:
    return [[round(start, 2), round(stop, 2)] for start, stop in intervals]


def build_truth(
    task: str,
    reference: Reference,
    duration: float,
    *,
    excerpt: bool = True,
    af_labels: Iterable[str] = AF_LABELS,
) -> Truth:
    """Build the truth of a task.

    Parameters
    ----------
    task
        Name of the task.
    reference
        Reference labels of the recording.
    duration
        Its length in seconds.
    excerpt
        Whether an ST episode that lacks its opening or closing counts.
    af_labels
        Rhythms that count as AF; a recording starts in AF if its first rhythm is one of them.

    Raises
    ------
    DataError
        If the recording's annotations cannot answer the task.
    """
    kind = label_of(task)
    if not getattr(reference, f"has_{kind}"):
        raise DataError(f"The annotations carry no {kind.replace('_', ' ')}, which {task} needs.")
    if get_task(task).supplementary:
        return _supplementary(get_task(task), reference)
    if task == "ischemia":
        return _ischemia(reference, excerpt)
    if task == "pvc_burden":
        return _pvc_burden(reference)
    if task == "rare_event":
        return _rare_event(reference)
    if task == "change_detection":
        return _change(reference, frozenset(af_labels))
    intervals = tuple((span.start, span.stop) for span in reference.af)
    if task == "episode_detection":
        return Truth(intervals, intervals)
    return Truth(sum(stop - start for start, stop in intervals) / duration, intervals)


def _ischemia(reference: Reference, excerpt: bool) -> Truth:
    episodes = tuple(episode for episode in reference.st if episode.matched or excerpt)
    union = _union(episodes)
    return Truth(union, union, episodes)


def _union(spans: Iterable[Span]) -> Intervals:
    out: list[tuple[float, float]] = []
    for start, stop in sorted((span.start, span.stop) for span in spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], stop))
        else:
            out.append((start, stop))
    return tuple(out)


def _pvc_burden(reference: Reference) -> Truth:
    times = reference.pvc_times().tolist()
    burden = len(times) / max(1, len(reference.beat_times))
    return Truth(burden, tuple((time, time) for time in times))


def _rare_event(reference: Reference) -> Truth:
    times = reference.pvc_times().tolist()
    if not 1 <= len(times) <= MAX_RARE_EVENTS:
        raise DataError(f"{len(times)} ventricular ectopic beats are no rare event (1 to 30 are).")
    return Truth(times[0], ((times[0], times[0]),))


def _change(reference: Reference, af_labels: frozenset[str]) -> Truth:
    if not reference.af:
        raise DataError("The recording has no AF episode, so there is no change to find.")
    first = reference.rhythm[0]
    starts_in_af = first.label in af_labels and first.start <= FIRST_RHYTHM_S
    onset = 0.0 if starts_in_af else reference.af[0].start
    return Truth(onset, ((onset, onset),))


def _supplementary(task: Task, reference: Reference) -> Truth:
    """Intervals of the task's rhythm notes or of pauses, or the share of its beats among all."""
    if task.answer == "burden":
        return _beat_share(reference, task.labels)
    noted = (span for span in reference.rhythm if span.label in task.labels)
    spans = _union(noted if task.kind == "rhythm" else reference.pauses)
    return Truth(spans, spans)


def _beat_share(reference: Reference, symbols: tuple[str, ...]) -> Truth:
    """Share of beats of some symbols; an event is a run of them, first beat to last."""
    times, held = reference.beat_times, reference.beat_symbols
    of_kind = np.zeros(len(times), dtype=bool) if held is None else np.isin(held, symbols)
    step = np.diff(of_kind.astype(np.int8), prepend=0, append=0)
    first, after = np.flatnonzero(step == 1), np.flatnonzero(step == -1)
    runs = tuple(zip(times[first].tolist(), times[after - 1].tolist(), strict=True))
    return Truth(int(of_kind.sum()) / max(1, len(times)), runs)
