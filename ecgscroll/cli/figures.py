"""``ecgscroll figures``: the benchmark on disk, and how agents behaved, as pictures."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ecgscroll.catalogue.instances import list_instances
from ecgscroll.evaluation.figures import draw_behaviour, draw_coverage, draw_fibrillation
from ecgscroll.evaluation.loading import load_runs
from ecgscroll.evaluation.selection import find_data
from ecgscroll.files import write_atomic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Runs = Annotated[
    list[Path] | None, typer.Argument(metavar="[RUN...]", help="Runs to draw the behaviour of.")
]
Out = Annotated[Path, typer.Option(help="Folder for the pictures.")]
Data = Annotated[
    Path | None, typer.Option(help="Folder of the databases.", show_default="as `ecgscroll run`")
]
ChosenSet = Annotated[
    Literal["core", "published", "supplementary", "all"],
    typer.Option("--set", help="Set of instances to draw."),
]


def figures(
    runs: Runs = None,
    out: Out = Path("figures"),
    data: Data = None,
    chosen_set: ChosenSet = "core",
) -> None:
    """Draw the AF recordings, the coverage of tasks, and, of given runs, what agents did.

    OUT/fibrillation.png, OUT/coverage.png, OUT/behaviour.png (figures 2, 4 and 3 of the first
    paper); from the annotations that are there.
    """
    played = load_runs(runs or [])
    found = list_instances(find_data(data)[0], chosen_set, truth=True)
    drawn = {"fibrillation": draw_fibrillation(found), "coverage": draw_coverage(found)}
    if played:
        drawn["behaviour"] = draw_behaviour(played)
    for name, figure in drawn.items():
        _save(figure, out / f"{name}.png")
    absent = sum(one.truth is None for one in found)
    if absent:
        sys.stderr.write(f"Not drawn: {absent} of {len(found)} instances without annotations.\n")


def _save(figure: Figure, target: Path) -> None:
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    write_atomic(target, picture.getvalue())
    sys.stdout.write(f"{target}\n")
