"""The actions as OpenAI function-calling schemas: what a model is told of units and meaning."""

from __future__ import annotations

import copy
from typing import Any

from ecgscroll.tools.registry import Dx, tool_names

Schema = dict[str, Any]

TOOL_HELP = {
    "get_rate_rhythm": (
        "heart rate (hr_bpm) and the R-R intervals' mean, s.d., shortest and longest in ms; "
        "rr_irregularity is their coefficient of variation (steady rhythm under about 0.1, "
        "atrial fibrillation usually above 0.15), rr_entropy their sample entropy (under about 0.7 "
        "in a steady rhythm, 1.2 and more in atrial fibrillation; early beats that repeat a "
        "pattern hardly raise it); pauses are the bounds (s) of intervals of 2 s or more"
    ),
    "get_p_wave": (
        "share of beats with a P wave (p_present_frac), PR interval in ms, P amplitude in mV, and "
        "pp_regularity, the coefficient of variation of P-P"
    ),
    "get_qrs": (
        "mean QRS duration in ms, share of wide beats, QRS amplitude in mV, number and times (s) "
        "of ectopic beats"
    ),
    "get_st": (
        "ST level per lead in mV, 80 ms after the J point against the PR baseline, and its sign"
    ),
    "get_t_wave": "T amplitude per lead in mV, and its polarity",
    "get_qt": "QT interval in ms, and corrected for rate by Bazett's formula (qtc_ms)",
    "classify_rhythm": (
        "the window's dominant rhythm (AF where at least half of it is) and af_frac, the share of "
        "it in atrial fibrillation or flutter; where annotators noted rhythms, the share of each"
    ),
    "classify_beats": (
        "beats counted by type (L and R: bundle-branch block), the times (s) of premature "
        "ventricular beats, and the bounds (s) of pauses"
    ),
    "flag_ischemia": (
        "whether the window overlaps an ischemic ST episode: its lead, ST level in mV, sign, and "
        "the episodes' bounds (s)"
    ),
}

_T0 = {"type": "number", "description": "Start of the window, seconds from the recording's start."}
_T1 = {
    "type": "number",
    "description": "End of the window, seconds; what lies past the cursor is cut off.",
}


def tool_schemas(dx: Dx = None) -> list[Schema]:
    """Return the schemas of the four actions, `measure` with the tools of a tier.

    Parameters
    ----------
    dx
        ``"reference"`` or ``"signal"`` for the diagnostic tools too, None for the signal tools.

    Raises
    ------
    ConfigError
        If there is no such tier.

    Examples
    --------
    >>> [schema["function"]["name"] for schema in tool_schemas()]
    ['skim', 'measure', 'write', 'finish']
    """
    return [_skim(), _measure(tool_names(dx)), _write(), _finish()]


def _function(
    name: str, description: str, properties: Schema, required: tuple[str, ...] = ()
) -> Schema:
    parameters = {
        "type": "object",
        "properties": copy.deepcopy(properties),
        "required": list(required),
        "additionalProperties": False,
    }
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def _skim() -> Schema:
    duration = {
        "type": "number",
        "description": "Seconds to let pass; held to 5 to 1800 and to the recording's end.",
    }
    description = (
        "Let time pass and get a coarse profile of the new span: the task's cue in up to six equal "
        "bins, its mean, and its peak with the peak's bounds. Time never goes back."
    )
    return _function("skim", description, {"duration": duration}, ("duration",))


def _measure(tools: tuple[str, ...]) -> Schema:
    lines = "; ".join(f"{name}: {TOOL_HELP[name]}" for name in tools)
    properties = {
        "tool": {"type": "string", "enum": list(tools), "description": f"What to run. {lines}."},
        "t0": _T0,
        "t1": _T1,
        "per_beat": {
            "type": "boolean",
            "description": "Also list the values beat by beat (the first 60). Default false.",
        },
    }
    description = (
        "Run one tool on a window that has elapsed; no time passes. A value that cannot be "
        "measured is null with its reason. Windows before the last skim count as rewinding."
    )
    return _function("measure", description, properties, ("tool", "t0", "t1"))


def _write() -> Schema:
    properties = {
        "t0": _T0 | {"description": "Start of the finding, seconds from the recording's start."},
        "t1": _T1 | {"description": "End of the finding, seconds, not after the cursor."},
        "type": {"type": "string", "description": "Kind of finding; default: the task's event."},
        "lead": {"type": ["string", "null"], "description": "Lead it shows in; default null."},
        "value": {"type": ["number", "null"], "description": "Its size, such as ST in mV."},
        "confidence": {
            "type": ["number", "null"],
            "minimum": 0,
            "maximum": 1,
            "description": "How sure you are, 0 to 1.",
        },
    }
    description = (
        "Commit a finding to the ledger, stamped with the present time. It cannot be taken back. "
        "Only what is written is scored."
    )
    return _function("write", description, properties, ("t0", "t1"))


def _finish() -> Schema:
    return _function("finish", "End the episode; the ledger as it stands is the answer.", {})
