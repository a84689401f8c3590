"""``ecgscroll report``: a run as one HTML page."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.evaluation.selection import find_data
from ecgscroll.files import write_atomic
from ecgscroll.report.page import DEFAULT_MAX_MB, build_page
from ecgscroll.report.recordings import Progress as Told

Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run, finished or not.")]
Out = Annotated[Path | None, typer.Option(help="Page to write.", show_default="RUN/report.html")]
Data = Annotated[
    Path | None,
    typer.Option(
        help="Folder of the databases; what is not there is shown without its ECG.",
        show_default="ECGSCROLL_DATA, ./data, ../shared/data, or synthetic recordings",
    ),
]
MaxMb = Annotated[
    float,
    typer.Option(
        help="Greatest size of the page, MB; more of it is ECG in full, what is wrong first."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")]


def report(
    run: Run,
    out: Out = None,
    data: Data = None,
    max_mb: MaxMb = DEFAULT_MAX_MB,
    as_json: AsJson = False,
) -> None:
    """Write a run as one HTML page to look through: scores, episodes, transcripts, and the ECG.

    The page needs no network and no server. It shows full samples near events, writes and
    mistakes, and an envelope of the rest.
    """
    folder = RunFolder(run)
    folder.stored()  # before anything that takes time: is this a run?
    target = out or run / "report.html"
    with _progress() as told:
        page = build_page(folder, find_data(data)[0], max_mb, told)
    write_atomic(target, page)
    if as_json:
        sys.stdout.write(json.dumps({"page": str(target), "bytes": len(page.encode())}) + "\n")
    else:
        typer.echo(f"Page: {target} ({len(page.encode()) / 1e6:.1f} MB)")


@contextmanager
def _progress() -> Iterator[Told]:
    console = Console(stderr=True, soft_wrap=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        line = bar.add_task("recordings", total=None)

        def told(name: str, done: int, total: int) -> None:
            bar.update(line, completed=done, total=total, description=name)

        yield told
