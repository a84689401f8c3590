"""A leaderboard as a table with footnotes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ecgscroll.evaluation.layout import Grid
from ecgscroll.evaluation.table import number
from ecgscroll.tasks import CORE_TASKS

_TIER = {None: "-dx", "reference": "+dx", "signal": "dx signal"}


def leaderboard_grids(rows: Sequence[Mapping[str, Any]]) -> tuple[list[Grid], list[str]]:
    """Return one table per dx tier, and the footnotes that its cells refer to."""
    notes: dict[str, int] = {}
    tiers = dict.fromkeys(row["dx"] for row in rows if row["kind"] != "published")
    grids = [_grid(tier, [row for row in rows if row["dx"] == tier], notes) for tier in tiers]
    return grids, [f"[{index}] {reason}" for reason, index in notes.items()]


def _grid(tier: str | None, rows: Sequence[Mapping[str, Any]], notes: dict[str, int]) -> Grid:
    lines = [
        [row["agent"], *(_cell(row["cells"].get(task), notes) for task in CORE_TASKS)]
        for row in rows
    ]
    title = f"{_TIER[tier]}: score (95 %), E errors as 0; [n] does not compare, see the note"
    return Grid(title, ("agent", *(task.replace("_", "\n") for task in CORE_TASKS)), lines)


def _cell(cell: Mapping[str, Any] | None, notes: dict[str, int]) -> str:
    """Write a cell on one line, its interval on a second one."""
    if cell is None:
        return "-"
    text = number(cell["score"], ".3f" if "n" in cell else ".2f")  # published with two decimals
    if cell["errors"]:
        text += f" E {number(cell['with_errors'])}"
    found = sorted(notes.setdefault(reason, len(notes) + 1) for reason in cell["reasons"])
    marks = list(map(str, found))
    text += f" [{','.join(marks)}]" if marks else ""
    if cell["low"] is None:
        return text
    return f"{text}\n({cell['low']:.2f} to {cell['high']:.2f})"
