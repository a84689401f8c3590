"""``ecgscroll leaderboard``: runs beside the published tables."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from ecgscroll.evaluation.layout import markdown, print_grids
from ecgscroll.evaluation.leaderboard import leaderboard as rank
from ecgscroll.evaluation.leaderboard_table import leaderboard_grids
from ecgscroll.evaluation.loading import load_runs

Runs = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")]
Format = Annotated[Literal["table", "markdown"], typer.Option("--format", help="How to print.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")]


def leaderboard(
    runs: Runs, seed: Seed = 0, form: Format = "table", as_json: AsJson = False
) -> None:
    """Set runs beside the published tables of the same tier.

    A cell compares if it covers the published subset with its truths, scored as published, with
    reference labels or none, and without errors; footnotes say why another does not.
    """
    rows = rank(load_runs(runs), seed)
    if as_json:
        sys.stdout.write(json.dumps(rows) + "\n")
        return
    grids, notes = leaderboard_grids(rows)
    if form == "table":
        print_grids(grids)
        sys.stdout.write("".join(f"{note}\n" for note in notes))
    else:
        sys.stdout.write(markdown(grids) + "".join(f"\n{note}\n" for note in notes))
