"""The lists of a database (SHA256SUMS.txt, RECORDS), fetched, and the files asked for in them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from ecgscroll.download import listing
from ecgscroll.download.disk import disk_errors, sha256_of, target_path
from ecgscroll.download.http import FileError, Server
from ecgscroll.download.listing import RECORDS, SUMS, Entry, Selection
from ecgscroll.download.transfer import Job, fetch
from ecgscroll.download.upstream import Upstream
from ecgscroll.errors import ConfigError, DownloadError
from ecgscroll.files import write_atomic

NOTE = ".SHA256SUMS.json"  # address and version of the list of checksums that lies beside it


def selected(
    server: Server, upstream: Upstream, folder: Path, selection: Selection, scratch: Path
) -> list[Entry]:
    """Files that a selection asks for, sorted by path.

    Parameters
    ----------
    server, upstream, selection
        Connections, where the database lies on the server, and what of it is asked for.
    folder
        The database's folder, whose lists serve where the server's have not changed.
    scratch
        Where lists are written.

    Raises
    ------
    ConfigError
        On records or patients that the database does not have.
    DownloadError
        If the lists cannot be had or are not to be trusted.
    """
    sums = _fetch_sums(server, upstream, folder, scratch)
    url = upstream.url + SUMS
    suffixes = upstream.suffixes(selection.annotations_only)
    if selection.records:
        entries = _named(sums, url, suffixes, upstream, selection.records)
    elif selection.patients:
        entries = listing.choose(sums, url, suffixes, _of_patients(upstream, selection.patients))
        _require_patients(entries, upstream, selection.patients)
    else:
        records = _fetch_records(server, upstream, sums, scratch)
        entries = listing.choose(sums, url, suffixes, records)
    if not entries:
        raise DownloadError(f"{url} lists no record of {upstream.database}; check --base-url.")
    return entries


def _named(
    sums: Path, url: str, suffixes: frozenset[str], upstream: Upstream, names: tuple[str, ...]
) -> list[Entry]:
    entries = listing.choose(sums, url, suffixes, listing.by_name(names))
    entries = listing.without_namesakes(entries, names)
    if unknown := listing.unknown_records(entries, names):
        known = [entry.stem for entry in listing.read_sums(sums, url) if entry.suffix == "hea"]
        raise ConfigError(listing.no_such_record(upstream.database, unknown[0], known))
    return entries


def _of_patients(upstream: Upstream, patients: tuple[int, ...]) -> Callable[[Entry], bool]:
    folders = {upstream.patient_folder(number) for number in patients}
    return lambda entry: entry.path.rpartition("/")[0] in folders


def _require_patients(entries: list[Entry], upstream: Upstream, patients: tuple[int, ...]) -> None:
    have = {entry.path.rpartition("/")[0] for entry in entries}
    absent = [str(n) for n in patients if upstream.patient_folder(n) not in have]
    if absent:
        raise ConfigError(f"{upstream.database} has no patient {', '.join(absent[:10])}.")


def _fetch_sums(server: Server, upstream: Upstream, folder: Path, scratch: Path) -> Path:
    """The list of checksums; not fetched again while the server's is the same version."""
    url = upstream.url + SUMS
    version = server.retrying(lambda: _version(server, url), url)
    for place in (folder, scratch):
        if version and _note(place) == _made_note(place, url, version):
            return place / SUMS
    _fetch_list(server, Job(url, target_path(scratch, SUMS), None, listing.MAX_SUMS_BYTES))
    _refuse_bad_sums(scratch / SUMS, url)
    with disk_errors(scratch / NOTE):
        write_atomic(scratch / NOTE, json.dumps(_made_note(scratch, url, version or "")))
    return scratch / SUMS


def _refuse_bad_sums(sums: Path, url: str) -> None:
    """Read the list to its end before its first file is fetched; a bad one is not kept."""
    try:
        for _ in listing.read_sums(sums, url):
            pass
    except DownloadError:
        sums.unlink()
        raise


def _version(server: Server, url: str) -> str:
    """What the server says that changes with the list: its ETag or date, else nothing."""
    try:
        with server.open("HEAD", url, {}) as response:
            headers = response.headers if response.status_code == 200 else {}
            return str(headers.get("etag") or headers.get("last-modified") or "")[:1000]
    except FileError as error:
        raise FileError(
            f"{url} is not there: the server holds no such database, or its files lie elsewhere; "
            "check --base-url."
        ) from error


def _made_note(place: Path, url: str, version: str) -> dict[str, str] | None:
    sums = place / SUMS
    digest = sha256_of(sums) if sums.is_file() else ""
    return {"url": url, "version": version, "sha256": digest}


def _note(place: Path) -> object:
    try:
        return json.loads((place / NOTE).read_bytes())
    except (OSError, ValueError):
        return None


def _fetch_records(
    server: Server, upstream: Upstream, sums: Path, scratch: Path
) -> Callable[[Entry], bool]:
    """Which files are records': by the server's RECORDS, without one all that are listed."""
    url = upstream.url + SUMS
    listed = [entry for entry in listing.read_sums(sums, url) if entry.path == RECORDS]
    if not listed:
        return lambda entry: True
    target = target_path(scratch, RECORDS)
    if not target.is_file() or sha256_of(target) != listed[0].digest:
        job = Job(upstream.url + RECORDS, target, listed[0].digest, listing.MAX_RECORDS_BYTES)
        _fetch_list(server, job)
    return listing.in_records(target)


def _fetch_list(server: Server, job: Job) -> None:
    fetch(server, job, lambda n_bytes: None)
