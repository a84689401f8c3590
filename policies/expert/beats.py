"""Ectopic beats: skim, list them, write each as long as a beat lasts here; a run is one finding.

A list longer than a look back holds is asked for again in shorter windows. A beat is written as
wide as the mean R-R interval of the window that listed it, so that the findings' share of the
recording is the beats' share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policies.expert.view import MEMORY, Call, Turn, View, finish, measure, onward, same, write
from policies.expert.view import skim as pass_time

SKIM_S = 60.0
GRID = (60.0, 10.0, 5.0)
MOST_LISTED = MEMORY - 2
"""Beats that are written from one list."""
RARE_HALF_S = 0.5
RUN = 1.3
"""Ectopic beats nearer than this many R-R intervals follow one another."""
USUAL_HALF_S = 0.4

# Tool, and the field that lists the ectopic beats' times, with labels and without.
LABELLED = ("classify_beats", "pvc_times")
MEASURED = ("get_qrs", "ectopic_times")


def labelled(view: View) -> Call:
    """Return the next call where beats are labelled."""
    return _plan(view, *LABELLED)


def measured(view: View) -> Call:
    """Return the next call where beats are only measured; quiet spans are not looked at."""
    last = view.last
    if last is not None and last.name == "skim" and not last.result.get("peak"):
        return _go_on(view, MEASURED[0], last.t1)
    return _plan(view, *MEASURED)


def _plan(view: View, tool: str, field: str) -> Call:
    last = view.last
    if last is None:
        return pass_time(SKIM_S)
    if last.name == "skim":
        return measure(tool, last.t0, last.t1)
    listed = view.back("measure")
    if listed is None:
        return _go_on(view, tool, last.t1)
    if last.name == "write" and view.task == "rare_event":
        return finish()
    times = list(listed.result.get(field) or [])
    if len(times) > MOST_LISTED and listed.width > GRID[-1] + 1e-6:
        return measure(tool, listed.t0, listed.t0 + _finer(listed.width))
    half = RARE_HALF_S if view.task == "rare_event" else half_width(listed)
    done = last.t1 - half + 0.05 if last.name == "write" else -1.0
    left = [t for t in times if t > done]
    if not left:
        return _go_on(view, tool, listed.t1)
    last_beat = run_end(left, RUN * 2 * half)
    return write(max(0.0, left[0] - half), min(view.cursor, last_beat + half))


def run_end(times: Sequence[float], most: float) -> float:
    """Time of the last of the beats that follow the first one without a gap over ``most``."""
    end = times[0]
    for t in times[1:]:
        if t - end > most:
            break
        end = t
    return end


def half_width(listed: Turn) -> float:
    """Half the mean R-R interval of the window that listed beats, s."""
    beats = _count(listed.result)
    return round(listed.width / beats / 2, 2) if beats else USUAL_HALF_S


def _count(result: Mapping[str, Any]) -> int:
    types = result.get("types")
    return sum(types.values()) if types else int(result.get("n_beats") or 0)


def _go_on(view: View, tool: str, t: float) -> Call:
    call = onward(view, t, SKIM_S)
    if call is not None:
        return call
    for width in GRID:
        if same(t / width, round(t / width)) and t + width <= view.cursor + 1e-6:
            return measure(tool, t, t + width)
    return measure(tool, t, min(view.cursor, t + GRID[1] - t % GRID[1]))


def _finer(width: float) -> float:
    return next((step for step in GRID[1:] if step < width - 1e-6), GRID[-1])
