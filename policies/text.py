"""What a model reads: observations and measurements as short text under a cap of tokens.

The environment composes an observation (`ecgscroll.environment.observation`): the cursor, the
ledger (whole while it is short, then the newest entries and a digest), the last result as JSON,
reminders. Here it is taken apart where a context policy wants less, and shortened where a model's
context is small; the Judge's lines are made here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ecgscroll.environment.observation import clip

Count = Callable[[str], int]

_LEDGER, _ENTRY = "Ledger:", "#"
_CHARS_PER_TOKEN = 8  # more than any tokenizer packs into a token of such text

# What a chunk's line shows of each tool's result; of another result, all.
SHOWN: dict[str, tuple[str, ...]] = {
    "get_rate_rhythm": ("hr_bpm", "rr_sd_ms", "rr_max_ms", "rr_irregularity"),
    "get_st": ("st_mv",),
    "get_qrs": ("mean_qrs_ms", "wide_beat_frac", "ectopic_count"),
    "classify_rhythm": ("dominant_rhythm", "af_frac"),
    "classify_beats": ("pvc_times_count",),
    "flag_ischemia": ("ischemic", "lead", "st_mv"),
}


def without_ledger(text: str) -> str:
    """Return an observation without the ledger's lines."""
    return "\n".join(line for line in text.split("\n") if not line.startswith((_LEDGER, _ENTRY)))


def fit(text: str, cap: int, count: Count) -> str:
    """Shorten an observation to ``cap`` tokens: the ledger's lines go first, then the result's end.

    Parameters
    ----------
    text
        An observation, or any text.
    cap
        Most tokens.
    count
        Counts the tokens of a text.
    """
    if count(text) <= cap:
        return text
    lines = text.split("\n")
    entries = [n for n, line in enumerate(lines) if line.startswith(_ENTRY)]
    for kept in (len(entries) // 2, len(entries) // 4, 0):
        hidden = set(entries[: len(entries) - kept])
        shorter = "\n".join(line for n, line in enumerate(lines) if n not in hidden)
        if count(shorter) <= cap:
            return shorter
    return _clip_to(without_ledger(text), cap, count)


def _clip_to(text: str, cap: int, count: Count) -> str:
    """Cut a text where ``cap`` tokens end, by halving; empty if not even the cut's mark fits."""
    low, high = 0, min(len(text), max(0, cap) * _CHARS_PER_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        if count(clip(text, middle)) <= cap:
            low = middle
        else:
            high = middle - 1
    shortened = clip(text, low)
    return shortened if count(shortened) <= cap else ""


def chunk_line(number: int, t0: float, t1: float, results: Iterable[Mapping[str, Any]]) -> str:
    """Return one line on a chunk: its number, bounds in seconds, and what was measured there.

    Examples
    --------
    >>> found = {"tool": "classify_rhythm", "dominant_rhythm": "AF", "af_frac": 1.0}
    >>> chunk_line(12, 360.0, 390.0, [found])
    '12: 360-390 s dominant_rhythm=AF af_frac=1.0'
    """
    shown = " ".join(_measured(result) for result in results)
    return f"{number}: {t0:.10g}-{t1:.10g} s {shown}"


def _measured(result: Mapping[str, Any]) -> str:
    if "error" in result:
        return "not measured"
    fields = SHOWN.get(result["tool"], [name for name in result if name != "tool"])
    return " ".join(f"{name}={_value(result.get(name))}" for name in fields)


def _value(value: Any) -> str:
    """Return a number, a word, or a value per lead (``MLII:-0.1,V5:0.02``)."""
    if isinstance(value, Mapping):
        return ",".join(f"{lead}:{_value(level)}" for lead, level in value.items())
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "null"}[value]
    return str(value).replace(" ", "_")
