"""Diagnostic tools that read the reference annotations, as far as they have elapsed.

This is the published "+dx" tier. A label that the database does not annotate is ``null`` with its
reason; one that lies after the cursor does not exist yet.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import Any

from ecgscroll.causal.stream import Stream, VisibleSt
from ecgscroll.tools.rounding import capped, millivolts, ratio, seconds

Result = dict[str, Any]

AF_FRAC = 0.5
PVC_SYMBOLS = ("V", "E")
RHYTHM_NAMES = {
    "AB": "atrial bigeminy",
    "AFIB": "atrial fibrillation",
    "AFL": "atrial flutter",
    "B": "ventricular bigeminy",
    "BII": "second-degree AV block",
    "IVR": "idioventricular rhythm",
    "J": "junctional rhythm",
    "N": "sinus rhythm",
    "NOD": "junctional rhythm",
    "P": "paced rhythm",
    "PREX": "pre-excitation",
    "SAB": "sinoatrial block",
    "SBR": "sinus bradycardia",
    "SVTA": "supraventricular tachyarrhythmia",
    "T": "ventricular trigeminy",
    "VF": "ventricular fibrillation",
    "VFL": "ventricular flutter",
    "VT": "ventricular tachycardia",
}


def classify_rhythm(stream: Stream, t0: float, t1: float) -> Result:
    """Name the dominant rhythm of [t0, t1) s: AF where half of it is AF, else the longest other.

    ``rhythms`` gives the share of the window that each annotated rhythm takes.
    """
    rhythms = stream.rhythms(t0, t1)
    af = sum(stop - start for start, stop in stream.af(t0, t1))
    if not rhythms and not af:
        reason = "no rhythm annotation covers the window"
        return _null(("dominant_rhythm", "af_frac", "rhythms"), reason)
    af_frac = af / (t1 - t0)
    name = "AF" if af_frac >= AF_FRAC else _longest_other(stream, rhythms)
    found: Result = {
        "dominant_rhythm": name,
        "af_frac": ratio(af_frac),
        "rhythms": {n: ratio(taken / (t1 - t0)) for n, taken in _taken(rhythms).items()},
        "source": "reference",
    }
    if name is None:
        found["reasons"] = {"dominant_rhythm": "no rhythm is annotated outside AF in the window"}
    return found


def _longest_other(stream: Stream, rhythms: list[tuple[str, float, float]]) -> str | None:
    """Return the name of the rhythm other than AF that takes most of the window."""
    taken = _taken([one for one in rhythms if one[0] not in stream.source.af_labels])
    return max(taken, key=lambda name: taken[name]) if taken else None


def _taken(rhythms: list[tuple[str, float, float]]) -> dict[str, float]:
    """Return the seconds that each rhythm takes, by name."""
    taken: defaultdict[str, float] = defaultdict(float)
    for label, start, stop in rhythms:
        taken[RHYTHM_NAMES.get(label, label)] += stop - start
    return taken


def classify_beats(stream: Stream, t0: float, t1: float) -> Result:
    """Count the beats of [t0, t1) s by symbol; list the ectopic ones' times and the pauses (s).

    A pause is listed whole where the beat that ends it lies in the window.
    """
    if not stream.annotates("beat_labels"):
        fields = ("types", "pvc_times", "pvc_times_count", "pauses", "pauses_count")
        return _null(fields, "beats are not labelled here")
    times, symbols = stream.beat_labels(t0, t1)
    counts = Counter(symbols.tolist())
    pvc = [_published_tenths(t) for t, s in zip(times, symbols, strict=True) if s in PVC_SYMBOLS]
    return {
        "types": dict(sorted(counts.items())),
        **capped("pvc_times", pvc),
        **capped("pauses", [list(map(seconds, span)) for span in stream.pauses(t0, t1)]),
        "source": "reference",
    }


def _published_tenths(time: float) -> float:
    """Round to hundredths of a second, then half up to tenths, as the published beat times are."""
    return math.floor(math.floor(time * 100 + 0.5) / 10 + 0.5) / 10


def flag_ischemia(stream: Stream, t0: float, t1: float) -> Result:
    """Say whether [t0, t1) s overlaps an ST episode; lead, sign and peak (mV) of the largest."""
    if not stream.annotates("st"):
        return _null(
            ("ischemic", "lead", "st_mv", "sign", "episodes", "episodes_count"),
            "ST is not annotated here",
        )
    found = stream.st(t0, t1)
    if not found:
        reasons = dict.fromkeys(("lead", "st_mv", "sign"), "no ST episode in the window")
        return _ischemia(None, []) | {"reasons": reasons}
    main = max(found, key=lambda episode: (abs(episode.peak_mv or 0.0), episode.stop))
    result = _ischemia(main, found)
    if main.peak_mv is None:
        reason = "no extremum of the episode has been reached"
        result["reasons"] = dict.fromkeys(("st_mv", "sign"), reason)
    return result


def _ischemia(main: VisibleSt | None, found: list[VisibleSt]) -> Result:
    peak = main.peak_mv if main else None
    clipped = sorted({(seconds(e.start), seconds(e.stop)) for e in found})
    return {
        "ischemic": bool(found),
        "lead": main.lead if main else None,
        "st_mv": None if peak is None else millivolts(peak),
        "sign": None if peak is None else "depression" if peak < 0 else "elevation",
        **capped("episodes", [list(span) for span in clipped]),
        "source": "reference",
    }


def _null(fields: tuple[str, ...], reason: str) -> Result:
    """Return nulls with the reason beside each."""
    return {
        **dict.fromkeys(fields),
        "source": "reference",
        "reasons": dict.fromkeys(fields, reason),
    }
