"""``ecgscroll rescore``: the stored ledgers of a run under other parameters."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.evaluation.rescoring import rescore as score_anew
from ecgscroll.evaluation.table import print_summary

Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")]
Out = Annotated[
    Path | None,
    typer.Option(help="Folder for results.jsonl and summary.json.", show_default="RUN/rescored"),
]
Scoring = Annotated[
    Literal["committed", "published"] | None,
    typer.Option(help="What an empty ledger answers.", show_default="the run's own"),
]
Iou = Annotated[
    float | None,
    typer.Option(help="Least IoU of a match.", show_default="0.5; ischemia 0.75"),
]
V0 = Annotated[
    float | None, typer.Option("--v0", help="Floor in the burden score.", show_default="0.02")
]
Tolerance = Annotated[
    float | None,
    typer.Option(help="Seconds within which a time is a hit.", show_default="10; rare event 15"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]


def rescore(
    run: Run,
    out: Out = None,
    scoring: Scoring = None,
    iou: Iou = None,
    v0: V0 = None,
    tolerance_s: Tolerance = None,
    as_json: AsJson = False,
) -> None:
    """Score a run's stored ledgers again; neither the policy nor the recordings are needed."""
    target = out or run / "rescored"
    summary = score_anew(
        RunFolder(run), target, scoring=scoring, iou=iou, v0=v0, tolerance_s=tolerance_s
    )
    if as_json:
        sys.stdout.write(json.dumps(summary) + "\n")
    else:
        print_summary(summary)
        Console(stderr=True, soft_wrap=True).print(
            f"New results and summary: {target}", markup=False
        )
