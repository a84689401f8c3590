"""``ecgscroll prepare``: fetch databases from PhysioNet or a mirror."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from ecgscroll.download.database import Plan, Report, prepare_database
from ecgscroll.download.disk import size_text
from ecgscroll.download.http import Server, Settings
from ecgscroll.download.listing import Selection, parse_patients, parse_records
from ecgscroll.download.upstream import (
    BASE_URL_VARIABLE,
    DEFAULT_BASE_URL,
    SIGNAL_SUFFIX,
    Upstream,
    find_upstream,
    require_consent,
    require_one,
)
from ecgscroll.errors import DownloadError
from ecgscroll.files import DATA_VARIABLE

_CORE = ("mitdb", "ltdb", "afdb", "ltafdb", "edb")
_MAX_SHOWN = 10  # failures printed; --json has all


def prepare(
    databases: Annotated[
        list[str], typer.Argument(help="Databases: mitdb afdb ltafdb edb ltdb icentia11k ...")
    ],
    data: Annotated[
        Path, typer.Option(envvar=DATA_VARIABLE, help="Folder of databases; made if absent.")
    ] = Path("data"),
    records: Annotated[
        str | None, typer.Option(help="Only these records of the one database, as 100,101.")
    ] = None,
    patients: Annotated[
        str | None, typer.Option(help="Only these patients by number, as 0-4,17 (icentia11k).")
    ] = None,
    annotations_only: Annotated[
        bool, typer.Option("--annotations-only", help="Headers and annotations, no signals.")
    ] = False,
    base_url: Annotated[
        str, typer.Option(envvar=BASE_URL_VARIABLE, help="Host and folder of a mirror.")
    ] = DEFAULT_BASE_URL,
    connections: Annotated[int, typer.Option(min=1, max=16, help="Files fetched at once.")] = 4,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds a connection may stay silent.")
    ] = 30.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be fetched, and how large it is.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Fetch even more than 50 GB without asking back.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary in JSON.")] = False,
) -> None:
    """Fetch databases from PhysioNet into DATA/<database>/, or the part of one that is named.

    Stopped at any point, the same command goes on where it was: files that are there and verified
    are not fetched again. Every file is checked against the database's SHA256SUMS.txt. A mirror
    has the layout <base-url>/mitdb/1.0.0/100.dat; one is https://physionet-open.s3.amazonaws.com.
    """
    upstreams = [find_upstream(name, base_url) for name in dict.fromkeys(databases)]
    selection = Selection(
        parse_records(records) if records is not None else (),
        parse_patients(patients) if patients is not None else (),
        annotations_only,
    )
    require_one(upstreams, selection)
    data = data.expanduser()
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    for upstream in upstreams:
        require_consent(upstream, selection, yes=yes or dry_run)
    with Server(Settings(connections, timeout)) as server:
        reports = [
            _prepare_one(server, upstream, data, selection, dry_run, console)
            for upstream in upstreams
        ]
    _show(reports, data, as_json)
    _raise_failures(reports)


def _prepare_one(
    server: Server,
    upstream: Upstream,
    data: Path,
    selection: Selection,
    dry_run: bool,
    console: Console,
) -> Report:
    console.print(f"{upstream.database}: asking {upstream.url} what it holds", markup=False)
    with _progress_bar(console) as bar:

        def on_plan(plan: Plan) -> Callable[[int], None]:
            console.print(_plan_line(plan, dry_run), markup=False)
            task = bar.add_task(upstream.database, total=plan.size.n_bytes)
            return lambda n_bytes: bar.update(task, advance=n_bytes)

        return prepare_database(server, upstream, data, selection, dry_run=dry_run, on_plan=on_plan)


def _progress_bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )


def _plan_line(plan: Plan, dry_run: bool) -> str:
    verb = "would fetch" if dry_run else "fetching"
    line = f"{plan.upstream.database} {plan.upstream.version}: {plan.records} records"
    if plan.present:
        line += f", {_files(len(plan.present))} already there"
    if plan.replaced:
        line += f", {_files(plan.replaced)} to replace, not matching the checksum"
    if not plan.missing:
        return f"{line}, nothing to fetch"
    return f"{line}; {verb} {_files(len(plan.missing))}, {plan.size}, from {plan.upstream.url}"


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _show(reports: list[Report], data: Path, as_json: bool) -> None:
    rows = [report.to_dict() for report in reports]
    command = _next_command(reports, data)
    if as_json:
        print(json.dumps({"data": str(data), "databases": rows, "next": command}, indent=2))
        return
    for row in rows:
        print(_row_line(row))
    print(f"Next: {command}")


def _row_line(row: dict[str, Any]) -> str:
    return (
        f"{row['folder']}{os.sep}: {row['records']} records, {_files(row['files'])}, "
        f"{size_text(row['bytes'])} verified ({row['fetched']['files']} fetched now)"
    )


def _next_command(reports: list[Report], data: Path) -> str:
    folder = shlex.quote(str(data))
    names = [name for r in reports if (name := r.plan.upstream.database) in _CORE]
    if not names:
        return f"ecgscroll instances --data {folder} --set supplementary"
    dx = "reference" if all(_without_signals(report) for report in reports) else "none"
    return (
        f"ecgscroll run --policy rule --dx {dx} --databases {','.join(names)} "
        f"--data {folder} --out runs/rule"
    )


def _without_signals(report: Report) -> bool:
    return not any(e.suffix == SIGNAL_SUFFIX for e in (*report.plan.present, *report.plan.missing))


def _raise_failures(reports: list[Report]) -> None:
    failures = [sentence for report in reports for _, sentence in report.outcome.failed]
    if not failures:
        return
    more = f"\n... and {len(failures) - _MAX_SHOWN} more" if len(failures) > _MAX_SHOWN else ""
    shown = "\n".join(sorted(failures)[:_MAX_SHOWN])
    raise DownloadError(f"{shown}{more}\n{_files(len(failures))} could not be fetched.")
