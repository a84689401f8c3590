"""ST episodes: skim, ask whether one shows, write the part of it that has elapsed.

With a label each stretch is written as far as it is bounded in the window; touching findings are
one interval in the answer. Without one the skim's own bins decide: those that stand out from the
lead's usual level for long enough.
"""

from __future__ import annotations

from policies.expert.view import Call, View, measure, onward, same, skim, write

TOOL = "flag_ischemia"
SKIM_S = 60.0
HIGH_MV, STAY_MV = 0.10, 0.07
"""Deviation that begins a finding, and above which it goes on."""
LEAST_S = 30.0


def labelled(view: View) -> Call:
    """Return the next call where ST episodes are labelled."""
    last = view.last
    if last is None:
        return skim(SKIM_S)
    if last.name == "skim":
        return measure(TOOL, last.t0, last.t1)
    asked = view.back("measure")
    if asked is None:
        return onward(view, view.cursor, SKIM_S) or skim(SKIM_S)
    done = last.t1 if last.name == "write" else asked.t0 - 1.0
    for t0, t1 in asked.result.get("episodes") or []:
        if t1 > done + 0.05:
            return write(t0, t1)
    return onward(view, view.cursor, SKIM_S) or skim(SKIM_S)


def measured(view: View) -> Call:
    """Return the next call where ST levels are only measured."""
    last, profile = view.last, view.back("skim")
    if last is None or profile is None:
        return skim(SKIM_S)
    written = view.back("write")
    done = written.t1 if written is not None else -1.0
    for t0, t1 in raised(profile.result.get("bins") or [], done):
        if t0 >= done - 0.05:
            return write(t0, t1)
    return onward(view, view.cursor, SKIM_S) or skim(SKIM_S)


def raised(bins: list[list[float | None]], running_to: float) -> list[tuple[float, float]]:
    """Stretches of bins that stand out: half a minute of them, or touching a finding before."""
    out: list[tuple[float, float]] = []
    run: list[tuple[float, float]] = []
    for t0, t1, value in [*bins, [0.0, 0.0, None]]:
        on = bool(run) or (t0 is not None and same(t0, running_to))
        if value is not None and value >= (STAY_MV if on else HIGH_MV):
            run.append((float(t0 or 0.0), float(t1 or 0.0)))
            continue
        if run and (run[-1][1] - run[0][0] >= LEAST_S or same(run[0][0], running_to)):
            out.append((run[0][0], run[-1][1]))
        run = []
    return out
