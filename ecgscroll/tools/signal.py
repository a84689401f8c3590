"""The six signal tools: numbers from the beats of a window, in a clinician's reading order.

Each takes the beats of at least [t0, t1) and returns a flat dict: ``tool``, ``t0``, ``t1``,
``beats`` (``detected`` or ``reference``), ``n_beats``, the tool's fields, and ``reasons`` for every
field that is ``None``. How each number is measured is told where it is computed, in
:mod:`ecgscroll.signals`. Levels and durations are medians over the window's beats, so that one
artefact does not move them, but for means named as such.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals import irregularity, rr
from ecgscroll.signals.beats import WIDE_QRS_MS, Beats, lead_medians
from ecgscroll.tools.rounding import capped, milliseconds, millivolts, ratio, seconds

Result = dict[str, Any]
PerLead = dict[str, dict[str, Any]]

ST_SIGN_MV = 0.05
"""A level nearer to the baseline than this has no sign."""
T_SIGN_MV = 0.05

NO_BEATS = "no beat in the window"
NO_WAVEFORM = "needs a waveform; this recording has annotations only"
NO_RR = "no trustworthy R-R interval in the window"
FEW_RR = "fewer than two trustworthy R-R intervals in the window"
NO_P = "no P wave found in the window"
FEW_P = "fewer than three consecutive P waves in the window"
UNJUDGED_P = (
    "P waves cannot be judged: too few normal beats, too fast a rate, too low complexes or noise"
)
NOT_MEASURED = "no beat of the window could be measured"
NO_LEVEL = f"{NOT_MEASURED}, or its levels are more than a heart gives (a wrong gain in the header)"


def get_rate_rhythm(beats: Beats, t0: float, t1: float, per_beat: bool = False) -> Result:
    """Heart rate and R-R statistics; intervals that artefacts made are left out and counted.

    ``rr_irregularity`` is the coefficient of variation, ``rr_entropy`` the sample entropy
    (:func:`ecgscroll.signals.irregularity.entropy`), ``rr_excluded`` the number left out;
    ``pauses`` are the bounds (s) of intervals of 2 s or more (:func:`ecgscroll.signals.rr.pauses`).
    """
    beats = beats.between(t0, t1)
    found = rr.intervals(beats.time, beats.after_gap)
    ms = found.ms if len(found.ms) else np.array([np.nan])
    mean = milliseconds(ms.mean())
    fields = {
        "hr_bpm": round(60000 / mean, 1) if mean else None,
        "rr_mean_ms": mean,
        "rr_sd_ms": milliseconds(ms.std() if len(ms) > 1 else np.nan),
        "rr_irregularity": ratio(rr.variation(ms)),
        "rr_entropy": ratio(irregularity.entropy(found.ms)),
        "rr_min_ms": milliseconds(ms.min()),
        "rr_max_ms": milliseconds(ms.max()),
        "rr_excluded": found.excluded,
    }
    few = NO_RR if mean is None else FEW_RR
    lists: dict[str, Iterable[Any]] = {"pauses": _spans(rr.pauses(beats.time, beats.after_gap))}
    if per_beat:
        lists["rr_intervals_ms"] = map(milliseconds, found.ms)
    return _result("get_rate_rhythm", beats, t0, t1, fields, lists, dict.fromkeys(fields, few))


def get_p_wave(beats: Beats, t0: float, t1: float, per_beat: bool = False) -> Result:
    """P waves: share of beats that have one, mean PR interval, amplitude, regularity of P-P.

    ``p_amp`` (mV, signed) is in the lead where the P wave is clearest; ``pp_regularity`` is the
    coefficient of variation of the intervals between P waves of consecutive beats.
    """
    beats = beats.between(t0, t1)
    shown = beats.p_present == 1
    fields = {
        "p_present_frac": ratio(_mean(beats.p_present)),
        "pr_mean_ms": milliseconds(_mean(beats.pr_ms)),
        "p_amp": millivolts(_median(beats.p_amp)),
        "pp_regularity": ratio(_pp_variation(beats, shown)),
    }
    none = UNJUDGED_P if fields["p_present_frac"] is None else NO_P
    why = {"p_present_frac": UNJUDGED_P, "pp_regularity": FEW_P if shown.any() else none}
    why["pr_mean_ms"], why["p_amp"] = (NOT_MEASURED, NO_LEVEL) if shown.any() else (none, none)
    lists = {"pr_intervals_ms": map(milliseconds, _known(beats.pr_ms))} if per_beat else {}
    return _waveform_result("get_p_wave", beats, t0, t1, fields, lists, why)


def get_qrs(beats: Beats, t0: float, t1: float, per_beat: bool = False) -> Result:
    """QRS duration, share of wide beats (120 ms or more), amplitude, ectopic beats.

    ``qrs_amp`` is peak to peak, mV, in the first lead that can be measured; per beat, every lead's
    is listed (``qrs_amps_mv``).
    """
    beats = beats.between(t0, t1)
    width = _known(beats.qrs_ms)
    wide = int(np.count_nonzero(width >= WIDE_QRS_MS))
    amplitude = next((x for x in lead_medians(beats.qrs_amp) if math.isfinite(x)), math.nan)
    fields: Result = {
        "mean_qrs_ms": milliseconds(_mean(width)),
        "wide_beat_frac": ratio(wide / len(width) if len(width) else math.nan),
        "qrs_amp": millivolts(amplitude),
        "ectopic_count": int(np.count_nonzero(beats.ectopic)) if len(beats) else None,
    }
    lists: dict[str, Iterable[Any]] = {}
    if len(beats):
        lists["ectopic_times"] = map(seconds, beats.time[beats.ectopic].tolist())
    else:
        fields["ectopic_times"] = None
    if per_beat:
        lists["qrs_widths_ms"] = map(milliseconds, width)
    why = dict.fromkeys(fields, NOT_MEASURED) | {"qrs_amp": NO_LEVEL}
    result = _waveform_result("get_qrs", beats, t0, t1, fields, lists, why)
    return result | (_per_lead("qrs_amps_mv", beats, beats.qrs_amp) if per_beat else {})


def get_st(beats: Beats, t0: float, t1: float, per_beat: bool = False) -> Result:
    """ST level per lead (normal beats' median, J+80 ms against the PR baseline) and its sign."""
    beats = beats.between(t0, t1)
    normal = beats.take(~beats.ectopic)
    level = dict(zip(beats.leads, map(millivolts, lead_medians(normal.st_mv)), strict=True))
    fields: PerLead = {"st_mv": level, "sign": {lead: _st_sign(v) for lead, v in level.items()}}
    result = _lead_result("get_st", beats, t0, t1, fields)
    return result | (_per_lead("st_samples_mv", normal, normal.st_mv) if per_beat else {})


def get_t_wave(beats: Beats, t0: float, t1: float, per_beat: bool = False) -> Result:
    """T wave amplitude per lead (normal beats' median, against the PR baseline) and polarity."""
    beats = beats.between(t0, t1)
    normal = beats.take(~beats.ectopic)
    level = dict(zip(beats.leads, map(millivolts, lead_medians(normal.t_amp)), strict=True))
    fields: PerLead = {
        "t_amp": level,
        "polarity": {lead: _polarity(v) for lead, v in level.items()},
    }
    result = _lead_result("get_t_wave", beats, t0, t1, fields)
    return result | (_per_lead("t_amplitudes_mv", normal, normal.t_amp) if per_beat else {})


def get_qt(beats: Beats, t0: float, t1: float, per_beat: bool = False) -> Result:
    """Mean QT interval of the normal beats, and corrected for rate (Bazett, Heart 7:353, 1920).

    Bazett's QTc = QT / sqrt(RR / 1 s) takes the mean R-R interval of the window; it corrects too
    much at fast rates and too little at slow ones.
    """
    beats = beats.between(t0, t1)
    qt = _known(beats.qt_ms[~beats.ectopic])
    intervals = rr.intervals(beats.time, beats.after_gap).ms
    mean = _mean(qt)
    rr_s = _mean(intervals) / 1000
    fields = {"qt_mean_ms": milliseconds(mean), "qtc_ms": milliseconds(mean / np.sqrt(rr_s))}
    why = {"qt_mean_ms": NOT_MEASURED, "qtc_ms": NO_RR if np.isfinite(mean) else NOT_MEASURED}
    lists = {"qt_intervals_ms": map(milliseconds, qt)} if per_beat else {}
    return _waveform_result("get_qt", beats, t0, t1, fields, lists, why)


SIGNAL_TOOLS = {
    tool.__name__: tool
    for tool in (get_rate_rhythm, get_p_wave, get_qrs, get_st, get_t_wave, get_qt)
}
"""The six tools by name, in reading order."""


def _spans(spans: Iterable[tuple[float, float]]) -> list[list[float]]:
    return [[seconds(start), seconds(stop)] for start, stop in spans]


def _result(
    name: str,
    beats: Beats,
    t0: float,
    t1: float,
    fields: Result,
    lists: Mapping[str, Iterable[Any]],
    why: dict[str, str],
) -> Result:
    result: Result = {"tool": name, "t0": t0, "t1": t1}
    result |= {"beats": beats.source, "n_beats": len(beats)} | fields
    for key, values in lists.items():
        result |= capped(key, values)
    nulls = [key for key, value in fields.items() if value is None]
    if nulls:
        empty = len(beats) == 0
        result["reasons"] = {key: NO_BEATS if empty else why[key] for key in nulls}
    return result


def _waveform_result(
    name: str,
    beats: Beats,
    t0: float,
    t1: float,
    fields: Result,
    lists: Mapping[str, Iterable[Any]],
    why: dict[str, str],
) -> Result:
    """As :func:`_result`; without a waveform only the ectopic beats, by prematurity, remain."""
    if not beats.has_waveform and len(beats):
        why = dict.fromkeys(why, NO_WAVEFORM)
    return _result(name, beats, t0, t1, fields, lists, why)


def _lead_result(name: str, beats: Beats, t0: float, t1: float, fields: PerLead) -> Result:
    """A result whose fields are per lead; a field without any value is ``None`` as a whole."""
    shown = {k: v if any(x is not None for x in v.values()) else None for k, v in fields.items()}
    result = _waveform_result(name, beats, t0, t1, shown, {}, dict.fromkeys(fields, NO_LEVEL))
    missing = {
        f"{field}.{lead}": NO_LEVEL
        for field, per_lead in shown.items()
        if per_lead is not None
        for lead, value in per_lead.items()
        if value is None
    }
    return result | ({"reasons": missing} if missing else {})


def _per_lead(name: str, beats: Beats, values: NDArray[np.float32]) -> Result:
    """``{name: {lead: up to 60 values}, name_count: values of the lead with most}``."""
    listed = {
        lead: [millivolts(v) for v in _known(values[:, i])] for i, lead in enumerate(beats.leads)
    }
    count = max((len(v) for v in listed.values()), default=0)
    return {name: {k: capped(name, v)[name] for k, v in listed.items()}, f"{name}_count": count}


def _pp_variation(beats: Beats, shown: NDArray[np.bool_]) -> float:
    at = np.where(shown, beats.time + beats.p_ms / 1000.0, np.nan)
    pp = np.diff(at) * 1000.0
    pp = pp[np.isfinite(pp) & ~beats.after_gap[1:] & (pp >= rr.MIN_RR_MS) & (pp <= rr.MAX_RR_MS)]
    return rr.variation(pp)


def _st_sign(level: float | None) -> str | None:
    if level is None:
        return None
    if abs(level) < ST_SIGN_MV:
        return "none"
    return "elevation" if level > 0 else "depression"


def _polarity(level: float | None) -> str | None:
    if level is None:
        return None
    if abs(level) < T_SIGN_MV:
        return "flat"
    return "positive" if level > 0 else "negative"


def _known(values: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(values[np.isfinite(values)])


def _mean(values: NDArray[Any]) -> float:
    known = _known(values)
    # What ``mean`` does, without its third of the cost of a step.
    return float(np.add.reduce(known, dtype=np.float64)) / len(known) if len(known) else math.nan


def _median(values: NDArray[Any]) -> float:
    known = _known(values)
    return float(np.median(known)) if len(known) else float("nan")
