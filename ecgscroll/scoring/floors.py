"""Trivial strategies: what an agent earns that looks at nothing, as ledgers for any instance.

Each is stamped as a causal agent that walks the recording could have stamped it: a chunk at its
end, the whole recording at the end. In tasks whose writes may not be wide (PVC, rare event) wide
intervals are laid in tiles. A score that does not clear these floors shows no skill.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from ecgscroll.scoring.intervals import Interval
from ecgscroll.scoring.ledger import Ledger
from ecgscroll.scoring.verifiers import Scorable
from ecgscroll.tasks import Task, get_task

CHUNK_S = 30.0
TINY_S = 1.0  # one write that covers next to nothing
BEAT_S = 0.1  # one write a beat, about a QRS complex wide
FIRST_SKIM_S = 5.0  # no stamp can be earlier: the shortest skim

Strategy = Callable[[float], Iterable[Interval]]


def _whole(total: float) -> Iterable[Interval]:
    return [(0.0, total)]


def _first_half(total: float) -> Iterable[Interval]:
    return [(0.0, total / 2)]


def _every_chunk(total: float) -> Iterable[Interval]:
    starts = (k * CHUNK_S for k in range(math.ceil(total / CHUNK_S)))
    return [(start, min(start + CHUNK_S, total)) for start in starts]


def _alternate_chunks(total: float) -> Iterable[Interval]:
    return list(_every_chunk(total))[::2]


def _tiny_at_start(total: float) -> Iterable[Interval]:
    return [(0.0, min(TINY_S, total))]


def _tiny_at_middle(total: float) -> Iterable[Interval]:
    half = min(TINY_S, total) / 2
    return [(total / 2 - half, total / 2 + half)]


STRATEGIES: dict[str, Strategy] = {
    "empty": lambda _total: (),
    "whole": _whole,
    "first_half": _first_half,
    "every_chunk": _every_chunk,
    "alternate_chunks": _alternate_chunks,
    "tiny_at_start": _tiny_at_start,
    "tiny_at_middle": _tiny_at_middle,
}
EVERY_BEAT = "every_beat"


def floor_ledgers(instance: Scorable, beats: Sequence[float] | None = None) -> dict[str, Ledger]:
    """Return the ledger of every trivial strategy on one instance, by name.

    Parameters
    ----------
    instance
        Carries the task and the length in seconds; the truth is not looked at.
    beats
        Times in seconds of all beats, whatever their type; with them, PVC tasks get
        ``every_beat`` as well.
    """
    task, total = get_task(instance.task), instance.duration
    ledgers = {name: _ledger(task, make(total), total) for name, make in STRATEGIES.items()}
    if beats is not None and task.event == "pvc":
        inside = [float(beat) for beat in beats if BEAT_S / 2 <= beat <= total - BEAT_S / 2]
        spans = ((beat - BEAT_S / 2, beat + BEAT_S / 2) for beat in inside)
        ledgers[EVERY_BEAT] = _ledger(task, spans, total)
    return ledgers


def oracle_ledger(instance: Scorable, stamp: float | None = None) -> Ledger:
    """Return the truth as a ledger: what an agent that knew everything would have committed.

    Events are written when they end; an instant as a second around it. Of use as a ceiling, and
    as what an exploit would dearly like to sell.

    Parameters
    ----------
    instance
        Carries task, length and truth.
    stamp
        Cursor of every entry; by default the earliest at which the entry has wholly elapsed.
    """
    task, total, truth = get_task(instance.task), instance.duration, instance.truth
    events = () if truth is None else truth.events
    half = TINY_S / 2
    spans = (
        (max(0.0, onset - half), min(total, offset + half)) if onset == offset else (onset, offset)
        for onset, offset in events
    )
    return _ledger(task, spans, total, stamp)


def _ledger(
    task: Task, spans: Iterable[Interval], total: float, stamp: float | None = None
) -> Ledger:
    """Write spans in tiles that the task allows, each stamped when it has elapsed."""
    ledger = Ledger()
    for t0, t1 in (tile for span in spans for tile in _tiles(span, task.max_write_s)):
        at = min(total, max(t1, FIRST_SKIM_S)) if stamp is None else stamp
        ledger.append(type=task.event, t0=t0, t1=t1, cursor=at, confidence=0.5)
    return ledger


def _tiles(span: Interval, width: float | None) -> Iterable[Interval]:
    t0, t1 = span
    if width is None or t1 - t0 <= width:
        return [span]
    count = math.ceil((t1 - t0) / width)
    return [(t0 + k * width, min(t0 + (k + 1) * width, t1)) for k in range(count)]
