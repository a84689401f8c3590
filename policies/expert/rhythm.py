"""Fibrillation with a label to ask: skim, ask, bound what is mixed, write.

Windows lie on a grid of 1000, 100, 10 and 2 s, so where to look next follows from where one is. The
label says which share of a window is fibrillation. If a mixed window holds one boundary, the share
tells where it lies; the part before it is asked once more, and if it is pure the boundary stands.
If not, the window is walked in steps of the next grid. Each pure stretch is written as it is found;
touching findings are one interval in the answer.
"""

from __future__ import annotations

from policies.expert.view import Call, Turn, View, finish, measure, onward, same, skim, write

TOOL = "classify_rhythm"
SKIM_S = 1000.0
GRID = (1000.0, 100.0, 10.0, 2.0)
NONE_S = 0.4
"""Seconds of a rhythm that count as none of it in a window."""
CHECKED, CHECKED_S = 0.03, 2.0
"""Share and seconds of the other rhythm that a checked stretch may hold."""


def plan(view: View) -> Call:
    """Return the next call."""
    last = view.last
    if last is None:
        return skim(SKIM_S)
    if last.name == "skim":
        return measure(TOOL, last.t0, last.t1)
    if last.name == "write":
        if view.task == "change_detection":
            return finish()
        return _go_on(view, _done_at(view))
    return _judged(view, last)


def _judged(view: View, asked: Turn) -> Call:
    """What follows from a label: a finding, a question, or the next window."""
    share = _share(asked)
    parent = _checked_of(view)
    if parent is not None:
        on = inside(view, parent.t0)
        other = 1 - share if on else share
        pure = other <= CHECKED and other * asked.width <= CHECKED_S
        if on and pure:
            return write(parent.t0, asked.t1)
        if pure:
            return write(asked.t1, parent.t1)
        return measure(TOOL, parent.t0, parent.t0 + _finer(parent.width))
    if share * asked.width <= NONE_S:
        return _go_on(view, asked.t1)
    if (1 - share) * asked.width <= NONE_S:
        return write(asked.t0, asked.t1)
    boundary = _boundary(view, asked)
    if asked.width <= GRID[-1] + 1e-6:
        return write(asked.t0, boundary) if inside(view, asked.t0) else write(boundary, asked.t1)
    return measure(TOOL, asked.t0, boundary)


def _share(turn: Turn) -> float:
    return float(turn.result.get("af_frac") or 0.0)


def _mixed(turn: Turn) -> bool:
    share = _share(turn)
    return min(share, 1 - share) * turn.width > NONE_S


def _boundary(view: View, asked: Turn) -> float:
    """Where a single change of rhythm lies: fibrillation ends there if it was on, else begins."""
    length = _share(asked) * asked.width
    place = asked.t0 + length if inside(view, asked.t0) else asked.t1 - length
    return min(max(round(place, 1), asked.t0 + 0.1), asked.t1 - 0.1)


def inside(view: View, t: float) -> bool:
    """Whether fibrillation runs up to ``t``: the newest finding ends there."""
    written = view.back("write")
    return written is not None and same(written.t1, t)


def _checked_of(view: View) -> Turn | None:
    """The mixed window whose supposed boundary the last question checked, if it did."""
    if len(view.turns) < 2:
        return None
    parent, asked = view.turns[-2], view.turns[-1]
    if parent.name != "measure" or asked.name != "measure" or not _mixed(parent):
        return None
    ends = same(parent.t0, asked.t0) and same(asked.t1, _boundary(view, parent))
    return parent if ends else None


def _done_at(view: View) -> float:
    """How far the recording is known after a finding: the end of the window that it settled."""
    settled = View(view.task, view.cursor, view.total, view.turns[:-1])
    last = settled.last
    if last is None or last.name != "measure":
        return view.turns[-1].t1
    parent = _checked_of(settled)
    return last.t1 if parent is None else parent.t1


def _go_on(view: View, t: float) -> Call:
    """Ask about the widest window of the grid that begins at ``t`` and has elapsed, or skim on."""
    call = onward(view, t, SKIM_S)
    if call is not None:
        return call
    for width in GRID:
        if same(t / width, round(t / width)) and t + width <= view.cursor + 1e-6:
            return measure(TOOL, t, t + width)
    return measure(TOOL, t, min(view.cursor, t + _to_grid(t)))


def _to_grid(t: float) -> float:
    """Seconds to the next multiple of 10 s."""
    return GRID[-2] - t % GRID[-2]


def _finer(width: float) -> float:
    """The next grid below a window."""
    return next((step for step in GRID[1:] if step < width - 1e-6), GRID[-1])
