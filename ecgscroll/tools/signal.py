"""The six signal tools: numbers from the beats of a window, in a clinician's reading order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecgscroll.signals import rr
from ecgscroll.signals.beats import Beats
from ecgscroll.tools.rounding import capped, milliseconds, ratio

Result = dict[str, Any]

_FEW = "fewer than two R-R intervals in the window"


def get_rate_rhythm(beats: Beats, t0: float, t1: float, per_beat: bool = False) -> Result:
    """Heart rate and R-R statistics of a window."""
    beats = beats.between(t0, t1)
    found = rr.intervals(beats.time, beats.after_gap)
    ms = found.ms
    known = len(ms) > 0
    mean = float(ms.mean()) if known else float("nan")
    fields = {
        "hr_bpm": round(60000.0 / mean, 1) if known else None,
        "rr_mean_ms": milliseconds(mean),
        "rr_sd_ms": milliseconds(float(ms.std()) if len(ms) > 1 else float("nan")),
        "rr_irregularity": ratio(rr.variation(ms)),
        "rr_min_ms": milliseconds(float(ms.min()) if known else float("nan")),
        "rr_max_ms": milliseconds(float(ms.max()) if known else float("nan")),
        "rr_excluded": found.excluded,
    }
    if per_beat:
        fields |= capped("rr_intervals_ms", (milliseconds(v) for v in ms))
    reasons = {name: _FEW for name, value in fields.items() if value is None}
    head = {"tool": "get_rate_rhythm", "t0": t0, "t1": t1, "beats": beats.source}
    result = head | {"n_beats": len(beats)} | fields
    return result | ({"reasons": reasons} if reasons else {})
