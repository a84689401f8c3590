"""Diagnostic tools that read the waveform: this project's own classifiers, on any recording.

Each takes a function that gives the beats of a window as far as they have elapsed, and [t0, t1) in
seconds. History is bounded, so the cost does not grow with the recording; what lies up to 30 s
after ``t1`` is used where it has elapsed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ecgscroll.signals import ischemia, rhythm, rr
from ecgscroll.signals.beats import Beats
from ecgscroll.tools.rounding import capped, millivolts, ratio, seconds
from ecgscroll.tools.signal import NO_WAVEFORM

Result = dict[str, Any]
BeatsOf = Callable[[float, float], Beats]

AF_FRAC = 0.5
BEFORE_S, AFTER_S = 150.0, 30.0
MIN_JUDGED = 0.5
"""Least share of a window that its R-R intervals must cover for a rhythm to be named."""


def classify_rhythm(beats: BeatsOf, t0: float, t1: float) -> Result:
    """Name the rhythm: AF where half the window or more is (:mod:`ecgscroll.signals.rhythm`).

    Otherwise ``sinus rhythm``, unless most beats that can be judged have no P wave: ``other``.
    """
    judged = rhythm.judge(beats(max(0.0, t0 - BEFORE_S), t1 + AFTER_S))
    if judged is None:
        return _null(("dominant_rhythm", "af_frac"), "too few R-R intervals to judge the rhythm")
    af, known = judged.seconds(t0, t1)
    if known <= 0 or known < MIN_JUDGED * (t1 - t0):
        reason = "trustworthy R-R intervals cover less than half of the window"
        return _null(("dominant_rhythm", "af_frac"), reason)
    af_frac = af / known
    name = "AF" if af_frac >= AF_FRAC else _other_rhythm(beats(t0, t1))
    return {"dominant_rhythm": name, "af_frac": ratio(af_frac), "source": "signal"}


def _other_rhythm(beats: Beats) -> str:
    present = beats.p_present[np.isfinite(beats.p_present)]
    return "other" if len(present) and present.mean() < 0.5 else "sinus rhythm"


def classify_beats(beats: BeatsOf, t0: float, t1: float) -> Result:
    """Count normal (N) and ventricular ectopic (V) beats; list the latter's times and pauses (s).

    N is every beat that is not V, by :mod:`ecgscroll.signals.ectopy`: bundle-branch block is no
    class here. A pause (:func:`ecgscroll.signals.rr.pauses`) is listed whole where the beat that
    ends it lies in the window.
    """
    past = beats(max(0.0, t0 - rr.MAX_PAUSE_S), t1)
    if not past.has_waveform:
        fields = ("types", "pvc_times", "pvc_times_count", "pauses", "pauses_count")
        return _null(fields, NO_WAVEFORM)
    found = past.between(t0, t1)
    pauses = [span for span in rr.pauses(past.time, past.after_gap) if span[1] >= t0]
    ectopic = int(np.count_nonzero(found.ectopic))
    counts = {"N": len(found) - ectopic, "V": ectopic}
    return {
        "types": {name: count for name, count in counts.items() if count},
        **capped("pvc_times", map(seconds, found.time[found.ectopic].tolist())),
        **capped("pauses", [list(map(seconds, span)) for span in pauses]),
        "source": "signal",
    }


def flag_ischemia(beats: BeatsOf, t0: float, t1: float) -> Result:
    """Say whether the window overlaps an ST episode; lead, sign and peak deviation of the largest.

    ``st_mv`` is against the recording's own reference (:mod:`ecgscroll.signals.ischemia`).
    """
    fields = ("ischemic", "lead", "st_mv", "sign", "episodes", "episodes_count")
    past = beats(max(0.0, t0 - ischemia.PAST_S), t1 + AFTER_S)
    if not past.has_waveform:
        return _null(fields, NO_WAVEFORM)
    later = t0 - ischemia.PAST_S > ischemia.START_S
    start = beats(0.0, ischemia.START_S) if later else None
    found = [e for e in ischemia.episodes(past, start) if e.stop > t0 and e.start < t1]
    if not found and not np.isfinite(past.between(t0, t1).st_mv).any():
        return _null(fields, "no ST level could be measured")
    return _ischemia(found, t0, t1)


def _ischemia(found: list[ischemia.Episode], t0: float, t1: float) -> Result:
    clipped = {(seconds(max(e.start, t0)), seconds(min(e.stop, t1))) for e in found}
    main = max(found, key=lambda e: abs(e.peak_mv)) if found else None
    result: Result = {
        "ischemic": bool(found),
        "lead": main.lead if main else None,
        "st_mv": millivolts(main.peak_mv) if main else None,
        "sign": ("elevation" if main.peak_mv > 0 else "depression") if main else None,
        **capped("episodes", [list(span) for span in sorted(clipped)]),
        "source": "signal",
    }
    if main is None:
        reason = "no ST episode in the window"
        result["reasons"] = dict.fromkeys(("lead", "st_mv", "sign"), reason)
    return result


def _null(fields: tuple[str, ...], reason: str) -> Result:
    """Nulls with the reason beside each."""
    return {**dict.fromkeys(fields), "source": "signal", "reasons": dict.fromkeys(fields, reason)}
