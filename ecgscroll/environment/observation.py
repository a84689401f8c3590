"""What a model reads after each action: one compact text that never passes its cap."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from ecgscroll.scoring.ledger import Entry

SHOWN_ENTRIES = 20
MIN_CHARS = 400
_CUT = "...(cut)"
_HEAD_CHARS = 40  # of the ledger's first line, beside its digest
_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


class LedgerText:
    """The ledger as text, formatted once at the time of writing; cheap to copy.

    Attributes
    ----------
    lines
        One line per entry, in order.
    seconds
        Sum of the entries' lengths.
    span
        Earliest start and latest stop, seconds.
    digest
        What is told of all entries, shown or not; empty without any.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.seconds = 0.0
        self.span = (math.inf, -math.inf)
        self.digest = ""
        self._newest = ""

    def append(self, entry: Entry) -> None:
        """Format one entry and add it to the digest."""
        t0, t1 = entry["t0"], entry["t1"]
        first, last = self.span = min(self.span[0], t0), max(self.span[1], t1)
        self.seconds += t1 - t0
        extras = "".join(
            f" {name}={entry[name]}"
            for name in ("lead", "value", "confidence")
            if entry[name] is not None
        )
        number = len(self.lines) + 1
        line = f"#{number} {entry['type']} {t0:.2f}-{t1:.2f}{extras} at {entry['cursor']:.2f}"
        self.lines.append(line)
        self.digest = f"{number} entries, {self.seconds:.1f} s in all, {first:.2f}-{last:.2f}"
        self._newest = "\n".join(self.lines[-SHOWN_ENTRIES:])

    def copy(self) -> LedgerText:
        """Return an independent copy."""
        twin = copy.copy(self)
        twin.lines = list(self.lines)
        return twin

    def shown(self, room: int) -> str:
        """Return the newest lines that fit in ``room`` characters, and a digest of the rest."""
        if not self.lines:
            return ""
        kept, hidden = self._newest, max(0, len(self.lines) - SHOWN_ENTRIES)
        if len(self.digest) + _HEAD_CHARS + len(kept) + 1 > room:
            fitting = self._fitting(room - len(self.digest) - _HEAD_CHARS)
            kept, hidden = "\n".join(fitting), len(self.lines) - len(fitting)
        return self._head(hidden) + (f"\n{kept}" if kept else "")

    def least(self) -> int:
        """Return how many characters `shown` takes when no line fits."""
        return len(self._head(len(self.lines))) if self.lines else 0

    def _head(self, hidden: int) -> str:
        return f"Ledger: {self.digest}" + (f"; {hidden} older not shown" if hidden else "")

    def _fitting(self, room: int) -> list[str]:
        """Return the newest lines that fit in ``room`` characters, each with its line's end."""
        kept = []
        for line in reversed(self.lines[-SHOWN_ENTRIES:]):
            room -= len(line) + 1
            if room < 0:
                break
            kept.append(line)
        return kept[::-1]


def result_json(result: Mapping[str, Any]) -> str:
    """Return a result as compact JSON."""
    return _ENCODER.encode(result)


def result_text(result: Mapping[str, Any]) -> str:
    """Return a result as it is read: as JSON, with nothing said twice.

    Whole numbers carry no point; of a profile's bins, which touch, only starts and values are told;
    a reason that all missing values share is told once, and what is missing without one is not.

    Examples
    --------
    >>> bins = [[0.0, 10.0, 0.02], [10.0, 20.0, None]]
    >>> result_text({"t0": 0.0, "t1": 20.0, "mean": 0.02, "bins": bins})
    '{"t0":0,"t1":20,"mean":0.02,"bins":[[0,0.02],[10,null]]}'
    """
    told = dict(result)
    if "bins" in told:
        told["bins"] = [[t0, value] for t0, _, value in told["bins"]]
    reasons = told.get("reasons")
    if reasons is None:
        told = {name: value for name, value in told.items() if value is not None}
    elif len(set(reasons.values())) == 1:
        told["reasons"] = next(iter(reasons.values()))
    return result_json(_short(told))


def plain_number(value: float, digits: int = 3) -> str:
    """Return a number rounded to some digits, without zeros at its end.

    Examples
    --------
    >>> plain_number(60.0), plain_number(16.6667)
    ('60', '16.667')
    """
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")


def _short(value: Any) -> Any:
    """Return a value with whole numbers as integers, throughout."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _short(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_short(one) for one in value]
    return value


def clip(text: str, room: int) -> str:
    """Shorten a text to ``room`` characters and say so."""
    return text if len(text) <= room else text[: max(0, room - len(_CUT))] + _CUT


def compose(head: str, ledger: LedgerText, result: str, notes: Sequence[str], cap: int) -> str:
    """Join the parts under ``cap`` characters: head, notes and the ledger's digest whole, then the
    result, then the ledger's entries.

    Parameters
    ----------
    head
        First line: cursor, T, entries written.
    ledger
        What has been written.
    result
        What the last action returned, as JSON; empty before the first.
    notes
        Reminders; the last lines.
    cap
        Most characters.
    """
    tail = "".join(f"\n{note}" for note in notes)
    room = cap - len(head) - len(tail)
    digest = ledger.least() + 1 if ledger.lines else 0
    shown = clip(f"\nResult: {result}", room - digest) if result else ""
    written = ledger.shown(room - len(shown) - 1)
    parts = [head, f"\n{written}" if written else "", shown, tail]
    return clip("".join(parts), cap)
