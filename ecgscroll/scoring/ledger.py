"""The ledger: what an agent has committed, each finding stamped with the cursor at which it was."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ecgscroll.errors import DataError

Entry = dict[str, Any]

FIELDS = ("type", "lead", "t0", "t1", "value", "confidence", "cursor")
_REQUIRED = ("type", "t0", "t1")


class Ledger:
    """Append-only list of findings; every entry is a plain dict with the seven ``FIELDS``.

    ``t0``, ``t1`` and ``cursor`` are seconds from the start of the recording; ``lead`` is a lead's
    name, ``value`` a number with the finding's own unit (ST in mV), ``confidence`` a number whose
    order matters alone; each of these three may be None. What is handed out is a copy: no reader
    can rewrite history.

    Parameters
    ----------
    entries
        Findings to start from, as mappings; a field that is absent becomes None.

    Examples
    --------
    >>> ledger = Ledger()
    >>> ledger.append(type="pvc", t0=29.7, t1=31.7, cursor=60.0)["t0"]
    29.7
    >>> Ledger.from_jsonl(ledger.to_jsonl()) == ledger
    True
    """

    __slots__ = ("_entries",)

    def __init__(self, entries: Iterable[Mapping[str, Any]] = ()) -> None:
        self._entries = [{field: entry.get(field) for field in FIELDS} for entry in entries]

    def append(
        self,
        *,
        type: str,  # noqa: A002 - the field's public name
        t0: float,
        t1: float,
        cursor: float | None = None,
        lead: str | None = None,
        value: float | None = None,
        confidence: float | None = None,
    ) -> Entry:
        """Commit one finding and return a copy of its entry."""
        values = (type, lead, t0, t1, value, confidence, cursor)
        entry = dict(zip(FIELDS, values, strict=True))
        self._entries.append(entry)
        return dict(entry)

    def entries(self, last: int | None = None) -> list[Entry]:
        """Return copies of all entries in the order of writing, or of the ``last`` few."""
        start = 0 if last is None else max(0, len(self._entries) - last)
        return [dict(entry) for entry in self._entries[start:]]

    def copy(self) -> Ledger:
        """Return a ledger with the same entries, at the price of one list of references."""
        twin = Ledger()
        twin._entries = list(self._entries)
        return twin

    __copy__ = copy

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return (dict(entry) for entry in self._entries)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and self._entries == other._entries

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __repr__(self) -> str:
        return f"Ledger({self._entries!r})"

    def to_jsonl(self) -> str:
        """Return one JSON object a line, ASCII, ending with a newline unless empty.

        Raises
        ------
        DataError
            If an entry holds what JSON cannot carry, such as NaN.
        """
        lines = []
        for number, entry in enumerate(self._entries, start=1):
            try:
                lines.append(json.dumps(entry, allow_nan=False) + "\n")
            except (TypeError, ValueError, RecursionError):
                raise DataError(
                    f"Ledger entry {number} holds a value that JSON cannot carry; "
                    "use finite numbers, strings or None."
                ) from None
        return "".join(lines)

    @classmethod
    def from_jsonl(cls, text: str | bytes) -> Ledger:
        """Read what ``to_jsonl`` wrote, or anyone's findings in the same form.

        Raises
        ------
        DataError
            With the line's number, if a line is no such finding.
        """
        if isinstance(text, bytes):
            try:
                text = text.decode("utf-8")
            except UnicodeDecodeError:
                raise DataError(
                    "The ledger is not UTF-8 text; write JSON Lines as UTF-8."
                ) from None
        lines = enumerate(text.split("\n"), start=1)
        return cls([_parse_line(line, number) for number, line in lines if line.strip()])


def _parse_line(line: str, number: int) -> Entry:
    try:
        entry = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise DataError(
            f"Line {number} of the ledger is not JSON; each line is one object with {_fields()}."
        ) from None
    problem = _problem(entry)
    if problem:
        raise DataError(f"Line {number} of the ledger {problem}.")
    return {field: entry.get(field) for field in FIELDS}


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def _problem(entry: Any) -> str | None:
    """Say what keeps a decoded line from being a finding, or None."""
    if not isinstance(entry, dict):
        return f"is not an object; write one with {_fields()}"
    if unknown := sorted(set(entry) - set(FIELDS)):
        return f"has the unknown field {unknown[0][:40]!r}; the fields are {_fields()}"
    if missing := [field for field in _REQUIRED if entry.get(field) is None]:
        return f"has no {missing[0]!r}; every finding needs {', '.join(_REQUIRED)}"
    for field in FIELDS:
        wanted, fits = _KINDS[field]
        if entry.get(field) is not None and not fits(entry[field]):
            return f"has a {field!r} that is not {wanted}; mend it or leave it out"
    return None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    try:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and math.isfinite(value)
    except OverflowError:
        return False


_KINDS = dict.fromkeys(FIELDS, ("a finite number", _is_number)) | dict.fromkeys(
    ("type", "lead"), ("text", _is_text)
)


def _fields() -> str:
    return ", ".join(FIELDS)
