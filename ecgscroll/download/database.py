"""Fetch a database from PhysioNet or a mirror: resumed after a kill, every file verified.

The server's SHA256SUMS.txt says what a database holds and how each file must read; RECORDS says
which files are its records. Both are hostile until checked. A file gets its final name only when
its checksum is right, so whatever lies under a final name need never be fetched again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from ecgscroll.download.disk import database_lock, require_space, sha256_of, target_path
from ecgscroll.download.http import FileError, Server
from ecgscroll.download.index import selected
from ecgscroll.download.listing import Entry, Selection
from ecgscroll.download.pool import run_all
from ecgscroll.download.sizes import Size, expected_size
from ecgscroll.download.transfer import Job, fetch
from ecgscroll.download.upstream import Upstream


@dataclass(frozen=True)
class Plan:
    """What a database's selection comes to, before anything of it is fetched.

    Parameters
    ----------
    upstream, folder
        Where from and where to.
    present, missing
        Listed files that lie there verified, and those that do not.
    replaced
        How many of the missing lie there but differ from their checksum.
    size
        Bytes of the missing ones.
    """

    upstream: Upstream
    folder: Path
    present: tuple[Entry, ...]
    missing: tuple[Entry, ...]
    replaced: int
    size: Size

    @property
    def records(self) -> int:
        """Number of records, those already there included."""
        return len({entry.stem for entry in (*self.present, *self.missing)})


@dataclass
class Outcome:
    """What was fetched, and what could not be: (path, sentence) pairs."""

    fetched: list[Entry] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)


def make_plan(
    server: Server, upstream: Upstream, folder: Path, selection: Selection, scratch: Path
) -> Plan:
    """List what is asked for and what of it is missing.

    Parameters
    ----------
    server, upstream
        Connections, and where the database lies on the server.
    folder
        The database's folder; read, and written only where it is also ``scratch``.
    selection
        What of the database is asked for.
    scratch
        Where the server's lists are kept; ``folder`` itself but for a dry run.

    Raises
    ------
    ConfigError
        On records or patients that the database does not have.
    DownloadError
        If the lists cannot be had or are not to be trusted.
    """
    entries = selected(server, upstream, folder, selection, scratch)
    states = run_all(server, entries, lambda entry: _state(folder, entry))
    missing = tuple(entry for entry in entries if states[entry] != "verified")
    return Plan(
        upstream=upstream,
        folder=folder,
        present=tuple(entry for entry in entries if states[entry] == "verified"),
        missing=missing,
        replaced=sum(states[entry] == "differs" for entry in missing),
        size=expected_size(server, upstream, missing),
    )


def carry_out(server: Server, plan: Plan, advance: Callable[[int], None]) -> Outcome:
    """Fetch what a plan misses.

    Parameters
    ----------
    server, plan
        Connections, and what to fetch.
    advance
        Told of every change in the number of bytes held; called from several threads.

    Returns
    -------
    Outcome
        Files that the server lacks or holds damaged are in ``failed``.

    Raises
    ------
    DownloadError
        If the disk, the network or the server fails for all files.
    """
    require_space(plan.folder, plan.size.n_bytes or 0, plan.upstream.database)
    outcome = Outcome()

    def fetch_one(entry: Entry) -> None:
        try:
            fetch(server, _job(plan.upstream, plan.folder, entry), advance)
            outcome.fetched.append(entry)
        except FileError as error:
            outcome.failed.append((entry.path, str(error)))

    run_all(server, plan.missing, fetch_one)
    return outcome


def _job(upstream: Upstream, folder: Path, entry: Entry) -> Job:
    return Job(upstream.url + entry.path, target_path(folder, entry.path), entry.digest)


def _state(folder: Path, entry: Entry) -> str:
    path = folder.joinpath(*entry.path.split("/"))
    if path.is_symlink() or not path.is_file():
        return "absent"
    return "verified" if sha256_of(path) == entry.digest else "differs"


@dataclass(frozen=True)
class Report:
    """What a database's folder holds of a selection after `prepare_database`."""

    plan: Plan
    outcome: Outcome
    dry_run: bool

    def to_dict(self) -> dict[str, object]:
        """Plain values, for programs; sizes in bytes, null where the server does not tell."""
        plan, outcome = self.plan, self.outcome
        there = [*plan.present, *outcome.fetched]
        return {
            "database": plan.upstream.database,
            "version": plan.upstream.version,
            "url": plan.upstream.url,
            "folder": str(plan.folder),
            "dry_run": self.dry_run,
            "records": len({entry.stem for entry in there}),
            "files": len(there),
            "bytes": sum(_size_on_disk(plan.folder, entry) for entry in there),
            "to_fetch": {
                "files": len(plan.missing),
                "bytes": plan.size.n_bytes,
                "exact": plan.size.exact,
                "replaced": plan.replaced,
            },
            "fetched": {
                "files": len(outcome.fetched),
                "bytes": sum(_size_on_disk(plan.folder, entry) for entry in outcome.fetched),
            },
            "failed": [{"path": path, "error": error} for path, error in sorted(outcome.failed)],
        }


def prepare_database(
    server: Server,
    upstream: Upstream,
    data: Path,
    selection: Selection,
    *,
    dry_run: bool = False,
    on_plan: Callable[[Plan], Callable[[int], None]] = lambda plan: lambda n_bytes: None,
) -> Report:
    """Bring what is asked for of one database into ``data/<database>/``.

    Parameters
    ----------
    server, upstream, selection
        Connections, where the database lies on the server, and what of it is asked for.
    data
        Folder of databases.
    dry_run
        Say what would be fetched; write nothing.
    on_plan
        Told the plan before anything of it is fetched; what it returns is told of every change in
        the number of bytes held, from several threads.

    Raises
    ------
    ConfigError
        On records or patients that the database does not have.
    DownloadError
        If it cannot be fetched; what was fetched stays and is not fetched again.
    """
    folder = data / upstream.database
    if dry_run:
        with TemporaryDirectory() as scratch:
            plan = make_plan(server, upstream, folder, selection, Path(scratch))
        on_plan(plan)
        return Report(plan, Outcome(), dry_run=True)
    with database_lock(folder, upstream.database):
        plan = make_plan(server, upstream, folder, selection, folder)
        outcome = carry_out(server, plan, on_plan(plan))
    return Report(plan, outcome, dry_run=False)


def _size_on_disk(folder: Path, entry: Entry) -> int:
    return folder.joinpath(*entry.path.split("/")).stat().st_size
