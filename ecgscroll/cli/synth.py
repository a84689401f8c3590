"""``ecgscroll synth``: write synthetic recordings with exact annotations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from ecgscroll.errors import ConfigError

_PRESETS = "sinus, paf, ectopy, rare, ischemia, holter"


def synth(
    out: Annotated[
        Path, typer.Argument(help="Database folder to write, or the data directory with --default.")
    ],
    preset: Annotated[str, typer.Option(help=f"Kind of recording: {_PRESETS}.")] = "holter",
    records: Annotated[int, typer.Option(help="How many recordings.")] = 1,
    hours: Annotated[float, typer.Option(help="Length of each, hours.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Seed of the first; the others follow.")] = 0,
    fs: Annotated[int, typer.Option(help="Sampling frequency, Hz.")] = 250,
    default: Annotated[
        bool,
        typer.Option("--default", help="Write the small default data, with all tasks, instead."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what was written as JSON.")
    ] = False,
) -> None:
    """Write synthetic WFDB recordings with exact annotations; the same seed, the same bytes.

    A folder that holds anything else is refused. Stopped and started again, it goes on with the
    recordings that are missing.
    """
    from ecgscroll.synth import database
    from ecgscroll.synth import preset as configure

    if records < 1 or records > 10_000:
        raise ConfigError(f"--records must be a number from 1 to 10000, not {records}.")
    if default:
        plans = database.default_records()
        folder = out / database.DEFAULT_DATABASE
    else:
        plans = [
            database.RecordPlan(
                f"{preset}{number + 1:02d}", configure(preset, seed + number, hours * 3600, fs),
                seed + number,
            )
            for number in range(records)
        ]  # fmt: skip
        folder = out
    console = Console(stderr=True)
    with Progress(console=console, disable=as_json or not console.is_terminal) as progress:
        bars = {plan.name: progress.add_task(plan.name, total=1.0) for plan in plans}
        written = database.write_database(
            folder, plans, lambda name, done: progress.update(bars[name], completed=done)
        )
    _report(folder, [plan.name for plan in plans], written, as_json)


def _report(folder: Path, names: list[str], written: list[str], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"folder": str(folder), "records": names, "written": written}))
        return
    kept = len(names) - len(written)
    typer.echo(f"{folder}: recordings written: {len(written)}, already there: {kept}.")
