"""One episode: the state that four actions change, and what each of them returns.

No gymnasium here: an `Episode` is a cursor, a ledger and counters over a shared recording. It
is copied in microseconds, pickled as a few numbers, and is the same after the same actions.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ecgscroll.causal.stream import Stream
from ecgscroll.environment.actions import Action, Finish, Measure, Skim, Write, parse_action, shown
from ecgscroll.environment.observation import LedgerText, result_text
from ecgscroll.errors import BadCallError
from ecgscroll.scoring.ledger import Ledger
from ecgscroll.signals.cues import CUE_DETAIL, history_start, profile
from ecgscroll.tasks import Task
from ecgscroll.tools.events import event_strength, event_tool
from ecgscroll.tools.registry import Dx, run_tool, tool_names
from ecgscroll.tools.signal import NO_WAVEFORM

Rewind: TypeAlias = Literal["costed", "forbidden"]
Result: TypeAlias = dict[str, Any]

MIN_SKIM_S, MAX_SKIM_S = 5.0, 1800.0
ELEVATED_CUE = {
    "rr_irregularity": 0.20,
    "st_deviation": 0.10,
    "ectopy": 0.30,
    "wide_beats": 0.50,
    "longest_rr": 2.0,
}
# Times are shown to a millisecond: a bound that a reader copied back is no step into the future.
_SHOWN_S = 1e-3
_WIDTH_ROUNDING = 1e-6


@dataclass
class Counts:
    """What an episode has used.

    A measurement whose window begins before the last skim's window is a rewind; ``rewind_s`` adds
    up the seconds of its window that lie before that.
    """

    steps: int = 0
    skims: int = 0
    measures: int = 0
    writes: int = 0
    rewinds: int = 0
    rewind_s: float = 0.0
    errors: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the counts by name."""
        return dict(vars(self))


class Episode:
    """A cursor on a recording, a ledger, and the effects of the four actions.

    Parameters
    ----------
    stream
        The recording up to the cursor.
    task
        What is asked for.
    dx
        Tier of diagnostic tools.
    rewind
        ``costed``: a measure before the last skim window is counted; ``forbidden``: refused.

    Attributes
    ----------
    ledger
        What has been committed.
    counts
        What has been used.
    errors_in_a_row
        Bad calls since the last good one.
    finished
        Whether `finish` was called.
    result_text
        What the last action returned, as compact JSON; empty before the first.
    unwritten
        Window (s) of an event that was confirmed and not written since, or None.
    """

    def __init__(self, stream: Stream, task: Task, dx: Dx, rewind: Rewind) -> None:
        self.stream, self.task, self.dx, self.rewind = stream, task, dx, rewind
        self.tools = tool_names(dx)
        self.ledger, self.ledger_text = Ledger(), LedgerText()
        self.counts = Counts()
        self.errors_in_a_row = 0
        self.finished = False
        self.result_text = ""
        self.unwritten: tuple[float, float] | None = None
        self._last_skim_t0 = 0.0

    def copy(self) -> Episode:
        """Return an independent episode at the same point; the recording is shared."""
        twin = copy.copy(self)
        twin.stream, twin.counts = copy.copy(self.stream), copy.copy(self.counts)
        twin.ledger, twin.ledger_text = self.ledger.copy(), self.ledger_text.copy()
        return twin

    def act(self, action: object) -> Result:
        """Carry out one tool call; a bad one changes nothing but counters and says why."""
        self.counts.steps += 1
        try:
            result = self._carry_out(parse_action(action, self.tools))
            self.errors_in_a_row = 0
        except BadCallError as error:
            self.counts.errors += 1
            self.errors_in_a_row += 1
            result = {"error": str(error)}
        self.result_text = result_text(result)
        return result

    def _carry_out(self, action: Action) -> Result:
        match action:
            case Skim():
                return self._skim(action)
            case Measure():
                return self._measure(action)
            case Write():
                return self._write(action)
            case Finish():
                self.finished = True
                return {"finished": True, "entries": len(self.ledger)}

    def _skim(self, action: Skim) -> Result:
        if self.stream.ended:
            raise BadCallError("The recording has ended, no time is left to skim: write or finish.")
        taken = min(max(action.duration, MIN_SKIM_S), MAX_SKIM_S)
        t0, t1 = self.stream.advance(taken)
        self._last_skim_t0 = t0
        self.counts.skims += 1
        cue = self.task.cue
        past = history_start(cue, t0, t1)
        seen = profile(cue, self.stream.beats(past, t1, CUE_DETAIL[cue]), t0, t1)
        self._remind_of(self._elevated(seen))
        result = {**_span(t0, t1), "cue": cue, **seen, "beats": self.stream.beats_source}
        if abs(t1 - t0 - action.duration) > _SHOWN_S:
            result["clamped"] = True
        if seen["peak"] is None:
            nulls = [name for name, value in seen.items() if value is None]
            result["reasons"] = dict.fromkeys(nulls, self._why_no_cue())
        return result

    def _why_no_cue(self) -> str:
        annotated_only = self.stream.beats_source == "reference"
        if annotated_only and self.task.cue in ("st_deviation", "wide_beats"):
            return NO_WAVEFORM
        return "too few beats in this span to measure the cue"

    def _measure(self, action: Measure) -> Result:
        self._check_tool(action.tool)
        t0, t1, clamped = self._elapsed_window(action.t0, action.t1)
        back = min(self._last_skim_t0, t1) - t0
        if back > _SHOWN_S and self.rewind == "forbidden":
            raise BadCallError(
                f"Rewinding is forbidden here: t0 must be at or after {self._last_skim_t0:.3f} s, "
                "where the last skim began."
            )
        result = run_tool(action.tool, self.dx, self.stream, t0, t1, action.per_beat)
        self.counts.measures += 1
        if back > _SHOWN_S:
            self.counts.rewinds += 1
            self.counts.rewind_s += back
        if self._confirmed(action.tool, result):
            self._remind_of((t0, t1))
        head: Result = {"tool": action.tool, **_span(t0, t1)}
        if clamped:
            head["clamped"] = True
        return head | result | head

    def _check_tool(self, tool: str) -> None:
        if tool not in self.tools:
            raise BadCallError(
                f"There is no tool {shown(tool)} in this tier; choose one of "
                f"{', '.join(self.tools)}."
            )

    def _write(self, action: Write) -> Result:
        widest = self.task.max_write_s
        if widest is not None and action.t1 - action.t0 > widest + _WIDTH_ROUNDING:
            raise BadCallError(
                f"A write of {action.t1 - action.t0:g} s is too wide: in {self.task.name} each "
                f"finding is one beat, at most {widest:g} s."
            )
        if action.lead is not None and action.lead not in self.stream.leads:
            known = ", ".join(self.stream.leads[:12])
            raise BadCallError(f"There is no lead {shown(action.lead)}; choose of {known} or null.")
        t0, t1, clamped = self._elapsed_window(action.t0, action.t1)
        entry = self.ledger.append(
            type=action.type or self.task.event,
            lead=action.lead,
            t0=t0,
            t1=t1,
            value=action.value,
            confidence=action.confidence,
            cursor=self.stream.cursor,
        )
        self.ledger_text.append(entry)
        self.counts.writes += 1
        if self.unwritten and t0 < self.unwritten[1] and self.unwritten[0] < t1:
            self.unwritten = None
        return {"written": len(self.ledger), **entry, **({"clamped": True} if clamped else {})}

    def _elapsed_window(self, t0: float, t1: float) -> tuple[float, float, bool]:
        """Clamp a window to [0, cursor]; refuse one that has no part in it."""
        cursor = self.stream.cursor
        if cursor <= 0:
            raise BadCallError("Nothing has elapsed yet: skim first.")
        if t0 >= cursor:
            raise BadCallError(
                f"The window starts at {t0:g} s, which has not elapsed; the cursor is at "
                f"{cursor:.3f} s: skim first, or choose an earlier window."
            )
        if t1 <= 0:
            raise BadCallError("The window ends before the recording starts; times begin at 0 s.")
        clamped = t1 > cursor + _SHOWN_S or t0 < 0
        return max(t0, 0.0), min(t1, cursor), clamped

    def _elevated(self, seen: Mapping[str, Any]) -> tuple[float, float] | None:
        """Return the window of a skim's peak where nothing but the cue can confirm an event."""
        peak = seen["peak"]
        if self.dx is not None or peak is None or peak < ELEVATED_CUE[self.task.cue]:
            return None
        return seen["peak_t0"], seen["peak_t1"]

    def _confirmed(self, tool: str, result: Mapping[str, Any]) -> bool:
        """Whether a diagnostic tool named the task's event."""
        match self.task.event, tool:
            case "af", "classify_rhythm":
                return bool(result["dominant_rhythm"] == "AF")
            case "pvc", "classify_beats":
                return bool(result["pvc_times"])
            case "ischemia", "flag_ischemia":
                return bool(result["ischemic"])
        named = self.task.supplementary and tool == event_tool(self.task)
        return named and bool(event_strength(self.task, result))

    def _remind_of(self, window: tuple[float, float] | None) -> None:
        """Keep a confirmed window in mind unless an entry overlaps it already."""
        self.unwritten = window
        if window is None:
            return
        for entry in self.ledger.entries(last=_REMEMBERED):
            overlaps = entry["t0"] < window[1] and window[0] < entry["t1"]
            if overlaps and entry["type"] == self.task.event:
                self.unwritten = None


_REMEMBERED = 50


def _span(t0: float, t1: float) -> dict[str, float]:
    return {"t0": round(t0, 3), "t1": round(t1, 3)}
