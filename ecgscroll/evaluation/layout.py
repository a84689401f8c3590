"""Plain tables (a title, column names, rows of text) as Rich, Markdown or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ecgscroll.legible import legible

Format = Literal["table", "markdown", "csv"]
_PLAIN_WIDTH = 300  # of a pipe or a file: nothing is cut there


@dataclass(frozen=True)
class Grid:
    """A table of text.

    Parameters
    ----------
    title
        What it shows, with units.
    columns
        Names; the first column is aligned left.
    rows
        One text per column.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def print_grids(grids: Sequence[Grid]) -> None:
    """Print tables to the terminal."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=_PLAIN_WIDTH)
    for grid in grids:
        table = Table(
            title=_shown(grid.title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
        )
        for index, name in enumerate(grid.columns):
            table.add_column(_shown(name), justify="right" if index else "left")
        for row in grid.rows:
            table.add_row(*map(_shown, row))
        console.print(table)


def _shown(text: str) -> str:
    """Return a text as the terminal shows it: no markup, and nothing that steers the terminal."""
    return escape(legible(text))


def markdown(grids: Sequence[Grid]) -> str:
    """Return tables as Markdown, each under its title."""
    return "\n".join(f"**{_cell(grid.title)}**\n\n{_pipes(grid)}" for grid in grids)


def comma_separated(grids: Sequence[Grid]) -> str:
    """Return tables as one CSV, each row led by its table's title."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for grid in grids:
        writer.writerow(["table", *grid.columns])
        writer.writerows([grid.title, *row] for row in grid.rows)
    return out.getvalue()


def _pipes(grid: Grid) -> str:
    rule = ["---", *("---:" for _ in grid.columns[1:])]
    lines = [grid.columns, rule, *grid.rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
