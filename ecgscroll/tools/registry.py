"""Tools: six that measure the signal, three that name a diagnosis, and which of them a tier has."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeAlias

from ecgscroll.causal.stream import Stream
from ecgscroll.errors import ConfigError
from ecgscroll.signals.segment import Detail
from ecgscroll.tools import classifiers, reference, signal

Dx: TypeAlias = Literal["reference", "signal"] | None
Tool: TypeAlias = Callable[[Stream, float, float, bool], dict[str, Any]]

SIGNAL_TOOLS = ("get_rate_rhythm", "get_p_wave", "get_qrs", "get_st", "get_t_wave", "get_qt")
DIAGNOSTIC_TOOLS = ("classify_rhythm", "classify_beats", "flag_ischemia")

DETAIL: dict[str, Detail] = {
    "get_rate_rhythm": "times",
    "get_qrs": "complexes",
    "get_st": "complexes",
    "classify_beats": "complexes",
    "flag_ischemia": "complexes",
}
"""What the tools read of beats that read less than all."""


def check_dx(dx: object) -> None:
    """Refuse a tier that does not exist.

    Raises
    ------
    ConfigError
        If ``dx`` is none of "reference", "signal" and None.
    """
    if dx not in ("reference", "signal", None):
        raise ConfigError(f"There is no dx tier {dx!r}; choose 'reference', 'signal' or None.")


def tool_names(dx: Dx) -> tuple[str, ...]:
    """Return the names that `measure` accepts in a tier."""
    check_dx(dx)
    return SIGNAL_TOOLS if dx is None else SIGNAL_TOOLS + DIAGNOSTIC_TOOLS


def run_tool(
    name: str, dx: Dx, stream: Stream, t0: float, t1: float, per_beat: bool
) -> dict[str, Any]:
    """Run one tool of a tier on an elapsed window [t0, t1) s and return its fields."""
    beats = partial(stream.beats, detail=DETAIL.get(name, "waves"))
    if name in SIGNAL_TOOLS:
        measure = getattr(signal, name)
        return dict(measure(beats(t0, t1), t0, t1, per_beat))
    if dx == "reference":
        return dict(getattr(reference, name)(stream, t0, t1))
    found = dict(getattr(classifiers, name)(beats, t0, t1))
    return found | {"beats": stream.beats_source}
