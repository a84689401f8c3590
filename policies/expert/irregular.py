"""Fibrillation without labels: a number that rises with it, looked at ever closer.

A skim's window is asked about as a whole; where it is neither quiet nor fibrillation throughout,
its pieces are, and hysteresis decides. The first onset is then sought in steps of 10 s.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from policies.expert.rhythm import inside
from policies.expert.view import Call, Turn, View, finish, measure, onward, same, skim, write

ONSET_STEP_S, MOST_BACK = 10.0, 4


class Scale(NamedTuple):
    """A number that rises with fibrillation, and what is done at which value.

    Windows as long as a skim are none below ``quiet`` and all fibrillation from ``whole`` on;
    between, pieces are looked at. A finding begins at ``begins`` and goes on at ``stays``; where a
    finding is under way, ``whole_on`` is enough for a whole window. A first onset is sought in
    steps that are fibrillation from ``onset`` on.
    """

    tool: str
    field: str
    skim_s: float
    piece_s: float
    quiet: float
    whole: float
    whole_on: float
    begins: float
    stays: float
    onset: float


ENTROPY = Scale("get_rate_rhythm", "rr_entropy", 300, 60, 0.3, 1.3, 1.0, 1.2, 0.7, 0.9)
JUDGED = Scale("classify_rhythm", "af_frac", 300, 60, 0.02, 0.9, 0.5, 0.7, 0.3, 0.5)


def measured(view: View) -> Call:
    """Return the next call without labels: intervals that are irregular and repeat no pattern."""
    return _scaled(view, ENTROPY)


def judged(view: View) -> Call:
    """Return the next call where the label is a judgement from the signal."""
    return _scaled(view, JUDGED)


def _scaled(view: View, at: Scale) -> Call:
    if view.task == "change_detection":
        at = at._replace(skim_s=60, piece_s=20, quiet=at.quiet + 0.1, whole=math.inf)
        at = at._replace(whole_on=math.inf)
    last = view.last
    if last is None:
        return skim(at.skim_s)
    if last.name == "skim":
        return measure(at.tool, last.t0, last.t1)
    if last.name == "measure":
        return _onset(view, at) or _weighed(view, last, at)
    return finish() if view.task == "change_detection" else _next_piece(view, last.t1, at)


def _weighed(view: View, asked: Turn, at: Scale) -> Call:
    """What follows from a reading: a finding, a closer look, or the next window."""
    found, on = _reading(asked, at), inside(view, asked.t0)
    if asked.width > at.piece_s + 1e-6:
        if found >= (at.whole_on if on else at.whole):
            return write(asked.t0, asked.t1)
        return _next_piece(view, asked.t1 if found < at.quiet else asked.t0, at)
    if found < (at.stays if on else at.begins):
        return _next_piece(view, asked.t1, at)
    if view.task != "change_detection":
        return write(asked.t0, asked.t1)
    if asked.t0 < ONSET_STEP_S:
        return write(asked.t0, asked.t0 + ONSET_STEP_S)
    return measure(at.tool, asked.t0 - ONSET_STEP_S, asked.t0)


def _onset(view: View, at: Scale) -> Call | None:
    """Seek the onset in steps: back from the piece that is irregular, else within it."""
    steps = _steps(view)
    if not steps:
        return None
    last, on = steps[-1], _reading(steps[-1], at) >= at.onset
    if len(steps) > 1 and same(steps[-2].t1, last.t0):  # forward, into the piece
        onset = last.t0 if on else last.t1
    elif on and len(steps) < MOST_BACK and last.t0 >= ONSET_STEP_S:
        return measure(at.tool, last.t0 - ONSET_STEP_S, last.t0)
    elif on:
        onset = last.t0
    elif len(steps) == 1:
        return measure(at.tool, last.t1, last.t1 + ONSET_STEP_S)
    else:
        onset = last.t1
    return write(onset, onset + ONSET_STEP_S)


def _steps(view: View) -> list[Turn]:
    """The measurements since the last one of another width that sought an onset, oldest first."""
    steps: list[Turn] = []
    for turn in reversed(view.turns):
        if turn.name != "measure" or not same(turn.width, ONSET_STEP_S):
            break
        steps.insert(0, turn)
    return steps if view.task == "change_detection" else []


def _next_piece(view: View, t: float, at: Scale) -> Call:
    """Look at the next piece that has elapsed, or skim on."""
    call = onward(view, t, at.skim_s)
    return call or measure(at.tool, t, min(view.cursor, t + at.piece_s))


def _reading(turn: Turn, at: Scale) -> float:
    return float(turn.result.get(at.field) or 0.0)
