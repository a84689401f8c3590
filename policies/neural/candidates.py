"""Calls to choose among: windows between the places in time that the last turns name.

A place is a bound of the last skim, measurements or finding, the place where a single change of
rhythm would lie, the cursor, or a step of some width further on. A call on a window is a pair of
places, so a policy points at two of them; which places there are follows from the view alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from ecgscroll.tasks import get_task
from policies.expert import beats, ischemia
from policies.expert.view import Call, Turn, View, finish, measure, skim, write

SKIMS_S = (30.0, 60.0, 300.0, 1000.0, 1800.0)
WIDTHS_S = (2.0, 5.0, 10.0, 20.0, 60.0, 100.0, 1000.0)
STEP_BACK_S = 10.0
_LEAST_S = 0.05
TOOLS = (
    "get_rate_rhythm",
    "get_qrs",
    "get_st",
    "classify_rhythm",
    "classify_beats",
    "flag_ischemia",
)
"""Tools that a task's events show in; which of them are asked about depends on task and tier."""
_ASKED = {
    "episode_detection": ("get_rate_rhythm", "classify_rhythm"),
    "af_burden": ("get_rate_rhythm", "classify_rhythm"),
    "change_detection": ("get_rate_rhythm", "classify_rhythm"),
    "pvc_burden": ("get_qrs", "classify_beats"),
    "rare_event": ("get_qrs", "classify_beats"),
    "ischemia": ("get_st", "flag_ischemia"),
}
PLACES = (
    "skim.t0", "skim.t1", "last.t0", "last.t1", "last.early", "last.late", "before.t0",
    "before.t1", "before.early", "before.late", "written.t0", "written.t1", "cursor",
    "step back", "grid", "event", "episode", "raised", *(f"+{width:g} s" for width in WIDTHS_S),
)  # fmt: skip
_STARTS = (
    "skim.t0", "last.t0", "last.t1", "last.early", "last.late", "before.t0", "before.t1",
    "before.early", "before.late", "written.t1",
)  # fmt: skip
_STOPS = (
    "skim.t1", "last.t1", "last.early", "last.late", "before.t0", "before.t1", "before.early",
    "before.late", "cursor",
)  # fmt: skip
_STEPPED = ("last.t0", "last.t1", "before.t0", "before.t1", "written.t1", "last.early", "skim.t0")


class Candidate(NamedTuple):
    """A call, and the indices in `PLACES` of the bounds of its window; -1 where it has none."""

    call: Call
    start: int = -1
    stop: int = -1
    t0: float = 0.0
    t1: float = 0.0


class Span(NamedTuple):
    """A window between two places."""

    start: str
    stop: str
    t0: float
    t1: float


def candidates(view: View, dx: str | None) -> list[Candidate]:
    """Return every call to choose among, in an order that follows from the view.

    Parameters
    ----------
    view
        The last turns.
    dx
        Tier of diagnostic tools.
    """
    found = [Candidate(finish())]
    if not view.ended:
        found += [Candidate(skim(duration)) for duration in SKIMS_S]
    signal, label = _ASKED.get(view.task, _ASKED["episode_detection"])
    widest = get_task(view.task).max_write_s or math.inf
    tools = (signal,) if dx is None else (signal, label)
    for span in spans(view):
        bounds = (PLACES.index(span.start), PLACES.index(span.stop), span.t0, span.t1)
        if span.start not in ("event", "episode", "raised"):
            found += [Candidate(measure(tool, span.t0, span.t1), *bounds) for tool in tools]
        if span.t1 - span.t0 <= widest:
            found.append(Candidate(write(span.t0, span.t1), *bounds))
    return found


def spans(view: View) -> list[Span]:
    """Return the windows that have elapsed: what is listed, and each pair of places once."""
    paired: dict[tuple[float, float], Span] = {}
    for span in _paired(view):
        one = _elapsed(span, view.cursor)
        paired.setdefault((one.t0, one.t1), one)
    found = [*(_elapsed(span, view.cursor) for span in _listed(view)), *paired.values()]
    return [span for span in found if span.t1 - span.t0 >= _LEAST_S]


def _elapsed(span: Span, cursor: float) -> Span:
    return Span(span.start, span.stop, round(max(0.0, span.t0), 2), round(min(span.t1, cursor), 2))


def places(view: View) -> dict[str, float]:
    """Return the places that the view names, s."""
    found = {"cursor": view.cursor}
    for name, turn in (("skim", view.back("skim")), ("written", view.back("write"))):
        if turn is not None:
            found |= {f"{name}.t0": turn.t0, f"{name}.t1": turn.t1}
    asked = [turn for turn in view.turns if turn.name == "measure"][-2:]
    for name, turn in zip(("last", "before"), reversed(asked), strict=False):
        found |= {f"{name}.t0": turn.t0, f"{name}.t1": turn.t1, **_inner(name, turn)}
    return found


def _inner(name: str, turn: Turn) -> dict[str, float]:
    """Return where a single change would lie, if the event came first or last in the window."""
    share = turn.result.get("af_frac")
    if not share:
        return {}
    length = float(share) * turn.width
    inner = {"early": turn.t0 + length, "late": turn.t1 - length}
    low, high = turn.t0 + 0.1, turn.t1 - 0.1
    return {f"{name}.{key}": min(max(round(t, 1), low), high) for key, t in inner.items()}


def _paired(view: View) -> Iterator[Span]:
    at = places(view)
    for start in _STARTS:
        for stop in _STOPS:
            if start in at and stop in at:
                yield Span(start, stop, at[start], at[stop])
    for start in _STEPPED:
        if start in at:
            for width in WIDTHS_S:
                yield Span(start, f"+{width:g} s", at[start], at[start] + width)
            yield Span(start, "grid", at[start], at[start] + 10.0 - at[start] % 10.0)
    if "last.t0" in at:
        yield Span("step back", "last.t0", at["last.t0"] - STEP_BACK_S, at["last.t0"])


def _listed(view: View) -> Iterator[Span]:
    """Windows of the next event or episode that a result lists and that is not written yet."""
    asked, written, skimmed = view.back("measure"), view.back("write"), view.back("skim")
    last = view.last
    if asked is not None and last is not None:
        half = beats.RARE_HALF_S if view.task == "rare_event" else beats.half_width(asked)
        done = last.t1 - half + 0.05 if last.name == "write" else -1.0
        times = asked.result.get("pvc_times") or asked.result.get("ectopic_times") or []
        left = [float(t) for t in times if t > done]
        if left:
            end = beats.run_end(left, beats.RUN * 2 * half)
            yield Span("event", "event", left[0] - half, end + half)
        done = last.t1 if last.name == "write" else asked.t0 - 1.0
        ahead = [one for one in asked.result.get("episodes") or [] if one[1] > done + 0.05]
        if ahead:
            yield Span("episode", "episode", *map(float, ahead[0]))
    if skimmed is not None and view.task == "ischemia":
        done = written.t1 if written is not None else -1.0
        for t0, t1 in ischemia.raised(skimmed.result.get("bins") or [], done):
            if t0 >= done - 0.05:
                yield Span("raised", "raised", t0, t1)
                return
