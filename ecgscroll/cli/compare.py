"""``ecgscroll compare``: runs against a first one, instance by instance."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.comparison import compare as compare_runs
from ecgscroll.evaluation.comparison_table import comparison_grids, left_out_sentence
from ecgscroll.evaluation.layout import comma_separated, markdown, print_grids
from ecgscroll.evaluation.loading import load_runs

Runs = Annotated[list[Path], typer.Argument(metavar="RUN RUN...", help="Folders of runs.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")]
Format = Annotated[
    Literal["table", "markdown", "csv"], typer.Option("--format", help="How to print.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the comparisons as JSON.")]


def compare(runs: Runs, seed: Seed = 0, form: Format = "table", as_json: AsJson = False) -> None:
    """Compare runs with the first one on the instances that both hold.

    Differences are paired, with intervals from resampled patients; errors are kept apart from
    zeros, and what differs between the runs besides the agent is said.
    """
    if len(runs) < 2:
        raise ConfigError("A comparison takes two runs or more; give another folder.")
    first, *others = load_runs(runs)
    found = [compare_runs(first, other, seed) for other in others]
    say = Console(stderr=True, soft_wrap=True)
    for one in found:
        for sentence in (*one["warnings"], left_out_sentence(one)):
            if sentence:
                say.print(sentence, style="yellow", markup=False)
    if as_json:
        sys.stdout.write(json.dumps(found) + "\n")
        return
    for one in found:
        _print(one, form)


def _print(found: dict[str, Any], form: str) -> None:
    grids = comparison_grids(found)
    if form == "table":
        print_grids(grids)
    else:
        sys.stdout.write(markdown(grids) if form == "markdown" else comma_separated(grids))
