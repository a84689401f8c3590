"""Which moments of a recording a reader will look at, those that went wrong first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

from ecgscroll.evaluation.shapes import is_finite
from ecgscroll.report.story import Story

Window = tuple[float, float]


def moments(stories: Sequence[Story], limit: int = 2000) -> list[float]:
    """Return times (s) on one recording, the most telling first.

    In turn: onsets of missed events, writes that no event overlaps, onsets of detected ones, bad
    calls, bounds of writes, ends of events; of each kind spread over the recording.
    """
    kinds: list[list[float]] = [[] for _ in range(6)]
    for story in stories:
        for index, (onset, offset) in enumerate(story.events):
            missed = index >= len(story.delays) or story.delays[index] is None
            kinds[0 if missed else 2].append(onset)
            kinds[5].append(offset)
        for t0, t1 in _written(story):
            if not any(t0 <= stop and start <= t1 for start, stop in story.events):
                kinds[1].append((t0 + t1) / 2)
            kinds[4] += [t0, t1]
        kinds[3] += [time for step in story.steps if (time := _failed_at(step)) is not None]
    turns = zip_longest(*(spread(sorted(set(kind))) for kind in kinds))
    ordered = dict.fromkeys(time for turn in turns for time in turn if time is not None)
    return list(ordered)[:limit] or [0.0]


def spread(times: Sequence[float]) -> list[float]:
    """Order times so that any first few of them cover the whole: halves, then quarters, then on."""
    if not times:
        return []
    bits = max(1, (len(times) - 1).bit_length())
    order = (int(f"{index:0{bits}b}"[::-1], 2) for index in range(1 << bits))
    return [times[index] for index in order if index < len(times)]


def windows(times: Iterable[float], half_s: float, total: float) -> list[Window]:
    """Return windows around times, clipped, sorted and joined where they touch."""
    joined: list[Window] = []
    for time in sorted(times):
        start, stop = max(0.0, time - half_s), min(total, time + half_s)
        if stop <= start:
            continue
        if joined and start <= joined[-1][1] + 1.0:
            joined[-1] = (joined[-1][0], max(joined[-1][1], stop))
        else:
            joined.append((start, stop))
    return joined


def _written(story: Story) -> list[Window]:
    bounds = ((entry.get("t0"), entry.get("t1")) for entry in story.ledger)
    return [(t0, t1) for t0, t1 in bounds if is_finite(t0) and is_finite(t1)]


def _failed_at(step: dict[str, Any]) -> float | None:
    result, cursor = step.get("result"), step.get("cursor")
    failed = isinstance(result, dict) and "error" in result
    return float(cursor) if failed and is_finite(cursor) else None
