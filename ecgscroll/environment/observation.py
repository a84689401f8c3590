"""What a model reads after each action: one compact text that never passes its cap."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ecgscroll.scoring.ledger import Entry

SHOWN_ENTRIES = 20
MIN_CHARS = 400
_CUT = "...(cut)"
_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


@dataclass
class LedgerText:
    """The ledger as lines, formatted once at the time of writing; cheap to copy.

    Attributes
    ----------
    lines
        One line per entry, in order.
    seconds
        Sum of the entries' lengths.
    span
        Earliest start and latest stop, seconds.
    """

    lines: list[str] = field(default_factory=list)
    seconds: float = 0.0
    span: tuple[float, float] = (0.0, 0.0)

    def append(self, entry: Entry) -> None:
        """Format one entry and add it to the digest."""
        t0, t1 = entry["t0"], entry["t1"]
        earliest, latest = self.span if self.lines else (t0, t1)
        self.span = (min(earliest, t0), max(latest, t1))
        self.seconds += t1 - t0
        extras = "".join(
            f" {name}={entry[name]}"
            for name in ("lead", "value", "confidence")
            if entry[name] is not None
        )
        number = len(self.lines) + 1
        line = f"#{number} {entry['type']} {t0:.2f}-{t1:.2f}{extras} at {entry['cursor']:.2f}"
        self.lines.append(line)

    def copy(self) -> LedgerText:
        """Return an independent copy."""
        return LedgerText(list(self.lines), self.seconds, self.span)

    def shown(self, room: int) -> str:
        """Return the newest lines that fit in ``room`` characters, and a digest of the rest."""
        if not self.lines:
            return ""
        first, last = self.span
        digest = f"{len(self.lines)} entries, {self.seconds:.1f} s in all, {first:.2f}-{last:.2f}"
        used, kept = len(digest) + 40, []
        for line in reversed(self.lines[-SHOWN_ENTRIES:]):
            used += len(line) + 1
            if used > room:
                break
            kept.append(line)
        hidden = len(self.lines) - len(kept)
        head = f"Ledger: {digest}" + (f"; {hidden} older not shown" if hidden else "")
        return "\n".join([head, *reversed(kept)])


def result_json(result: Mapping[str, Any]) -> str:
    """Return a result as compact JSON."""
    return _ENCODER.encode(result)


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
    digest = len(ledger.shown(0)) + 1 if ledger.lines else 0
    shown = clip(f"\nResult: {result}", room - digest) if result else ""
    written = ledger.shown(room - len(shown) - 1)
    parts = [head, f"\n{written}" if written else "", shown, tail]
    return clip("".join(parts), cap)
