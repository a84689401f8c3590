"""Folders of synthetic records, resumable and recognised; and the small default data."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ecgscroll.errors import DataError
from ecgscroll.files import inside, write_atomic
from ecgscroll.synth.config import SynthConfig
from ecgscroll.synth.presets import preset
from ecgscroll.synth.streams import VERSION
from ecgscroll.synth.write import write_record

MANIFEST = "synth.json"
"""Names what a folder of synthetic records holds, with the hashes of the finished files."""
DEFAULT_DATABASE = "synth"
_SUFFIXES = (".dat", ".atr", ".hea")

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class RecordPlan:
    """One record to write: its name, configuration and seed."""

    name: str
    config: SynthConfig
    seed: int


def write_database(
    folder: str | Path,
    records: Sequence[RecordPlan],
    progress: Progress | None = None,
    *,
    renew: bool = False,
) -> list[str]:
    """Write records into a folder of their own; what is there and whole is kept.

    Parameters
    ----------
    folder
        The database's folder.
    records
        What it shall hold.
    progress
        Called with a record's name and the fraction of it done.
    renew
        Whether synthetic records of another request, or of an older recipe, make way.

    Returns
    -------
    list of str
        Names of the records written now: none when the folder was complete.

    Raises
    ------
    DataError
        If the folder holds anything else.
    """
    folder = Path(folder)
    digest = _digest(records)
    known = _read_manifest(folder)
    if known is not None and known["records"] == digest and not _missing(folder, records, known):
        return []
    manifest = _open_manifest(folder, records, digest, renew)
    with _alone(folder):
        # Another process may have been at it while this one waited.
        manifest = _read_manifest(folder) or manifest
        missing = _missing(folder, records, manifest)
        for record in missing:
            _remove_drafts(folder, record.name)
            report = None if progress is None else _bind(progress, record.name)
            write_record(folder, record.name, record.config, record.seed, progress=report)
            manifest["files"] |= {name: _hash(folder / name) for name in _files(record)}
            _write_manifest(folder, manifest)
    return [record.name for record in missing]


def default_records() -> list[RecordPlan]:
    """Records of the default data: an hour of signal that carries all six tasks."""
    plans = [
        ("paf01", "paf", 900.0, 19),
        ("paf02", "paf", 600.0, 1),
        ("ectopy01", "ectopy", 600.0, 10),
        ("rare01", "rare", 600.0, 2),
        ("ischemia01", "ischemia", 900.0, 17),
    ]
    return [
        RecordPlan(name, preset(kind, seed, duration), seed) for name, kind, duration, seed in plans
    ]


def default_data(folder: str | Path) -> Path:
    """Make sure that the default data lie in ``folder``; return it.

    The first call takes some seconds; later ones check the files' hashes. Files left by a call that
    was killed are written again. Several processes may call it at the same time: all write the same
    bytes, each file whole.

    Raises
    ------
    DataError
        If ``folder/synth`` holds something else, or cannot be written.
    """
    folder = Path(folder)
    write_database(folder / DEFAULT_DATABASE, default_records(), renew=True)
    return folder


def _digest(records: Sequence[RecordPlan]) -> str:
    text = json.dumps([asdict(record) for record in records], sort_keys=True)
    return hashlib.sha256(f"{VERSION} {text}".encode()).hexdigest()


def _open_manifest(
    folder: Path, records: Sequence[RecordPlan], digest: str, renew: bool
) -> dict[str, Any]:
    """Manifest of the folder; a new one when the folder is empty or makes way."""
    present = list(folder.iterdir()) if folder.is_dir() else []
    occupied = any(not path.name.startswith(".") for path in present)
    manifest = _read_manifest(folder) if occupied else None
    if manifest is not None and manifest["records"] == digest:
        return manifest
    if occupied and (manifest is None or not renew):
        raise DataError(
            f"{str(folder)!r} holds other files than this request would write; "
            "choose another folder or empty it."
        )
    for name in manifest["files"] if manifest else ():
        inside(folder, name).unlink(missing_ok=True)
    fresh = {"recipe": VERSION, "records": digest, "files": {}}
    _write_manifest(folder, fresh)
    write_atomic(folder / "RECORDS", "".join(f"{record.name}\n" for record in records))
    return fresh


def _read_manifest(folder: Path) -> dict[str, Any] | None:
    """What a manifest says, None when there is none that could be ours."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    known = isinstance(manifest, dict) and isinstance(manifest.get("files"), dict)
    return manifest if known and isinstance(manifest.get("records"), str) else None


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    try:
        write_atomic(folder / MANIFEST, json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    except OSError as error:
        raise DataError(f"Cannot write to {str(folder)!r}: {error.strerror}.") from error


def _files(record: RecordPlan) -> list[str]:
    return [f"{record.name}{suffix}" for suffix in _SUFFIXES]


def _missing(
    folder: Path, records: Sequence[RecordPlan], manifest: dict[str, Any]
) -> list[RecordPlan]:
    """Records of which a file is absent, unfinished or changed."""
    known = manifest["files"]

    def whole(name: str) -> bool:
        path = folder / name
        return name in known and path.is_file() and _hash(path) == known[name]

    return [record for record in records if not all(map(whole, _files(record)))]


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process writes to the folder; the system lets go of a dead one's lock."""
    import fcntl  # POSIX only: the rest of the package runs without it

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _remove_drafts(folder: Path, record: str) -> None:
    """Remove what a killed process left of a record that it was writing."""
    for draft in folder.glob(f".{record}.*"):
        if draft.is_dir() and not draft.is_symlink():
            shutil.rmtree(draft, ignore_errors=True)
        else:
            draft.unlink(missing_ok=True)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _bind(progress: Progress, name: str) -> Callable[[float], None]:
    return lambda fraction: progress(name, fraction)
