"""Annotations of a stretch of a recording, as a file that is cut there would hold them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecgscroll.records.annotations import Annotations
from ecgscroll.records.st_episodes import is_rhythm_note, open_at

_RHYTHM = "+"


def excerpt(notes: Annotations, start: float, stop: float) -> Annotations:
    """Return the annotations of [start, stop) s, counted from ``start``.

    What holds at the start is noted there: the rhythm in force, and every ST episode under way.
    Notes of the recording before its first sample are left out.
    """
    order = np.argsort(notes.sample, kind="stable")
    sample = notes.sample[order]
    first, last = round(start * notes.fs), round(stop * notes.fs)
    zero, begin, end = np.searchsorted(sample, (0, first, last)).tolist()
    before, inside = order[zero:begin], order[begin:end]
    held = _in_force(notes, before)
    under_way = open_at(
        [(float(notes.sample[i]), str(notes.aux[i])) for i in before[notes.aux[before] != ""]]
    )
    added = len(held) + len(under_way)
    return replace(
        notes,
        sample=np.concatenate([np.zeros(added, np.int64), notes.sample[inside] - first]),
        symbol=_joined([_RHYTHM] * added, notes.symbol[inside]),
        aux=_joined([*held, *under_way], notes.aux[inside]),
        chan=_joined([0] * added, notes.chan[inside]),
        num=_joined([0] * added, notes.num[inside]),
    )


def _in_force(notes: Annotations, before: NDArray[np.intp]) -> list[str]:
    """Return the note of the rhythm in force after some annotations, if there is one."""
    changes = (str(notes.aux[i]) for i in before[notes.symbol[before] == _RHYTHM][::-1])
    return next(([aux] for aux in changes if is_rhythm_note(aux)), [])


def _joined(added: list[Any], held: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([np.array(added, dtype=held.dtype), held])
