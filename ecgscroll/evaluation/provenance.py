"""Where a run came from: recordings, code, libraries."""

from __future__ import annotations

import hashlib
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ecgscroll.catalogue.instances import Instance
from ecgscroll.errors import DataError
from ecgscroll.files import inside, read_inside
from ecgscroll.records.databases import get_card, locate
from ecgscroll.records.wfdb_header import MAX_HEADER_BYTES, parse_header
from ecgscroll.records.wfdb_segment import NO_FILE

_ALWAYS = ("gymnasium", "numba", "numpy", "scipy", "wfdb")
_WHERE_IMPORTED = ("openai", "peft", "ray", "torch", "transformers")


def provenance(data: Path | None) -> dict[str, Any]:
    """Return where a run came from; recorded beside the configuration, never compared."""
    imported = [name for name in _WHERE_IMPORTED if name in sys.modules]
    return {
        "data": None if data is None else str(data),
        "commit": _commit(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in sorted([*_ALWAYS, *imported])},
    }


def recordings_digest(instances: Iterable[Instance]) -> str:
    """SHA-256 over the headers of the instances' recordings and the sizes of their files.

    Samples are not read: a file that was replaced by another of the same size is not noticed.
    """
    records = {(one.database, one.record): one.data for one in instances if one.data is not None}
    lines = [
        f"{database}/{record} {' '.join(_facts(data, database, record))}"
        for (database, record), data in sorted(records.items())
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _facts(data: Path, database: str, record: str) -> Iterator[str]:
    folder, name = locate(data, database, record)
    card = get_card(database)
    yield _size(folder, f"{name}.{card.annotator if card else 'atr'}")
    header = read_inside(folder, f"{name}.hea", MAX_HEADER_BYTES)
    yield hashlib.sha256(header).hexdigest()
    segments = [segment for segment, length in parse_header(header, name).segments if length]
    for segment in segments or [name]:
        if segment != NO_FILE:
            yield from _signal_files(folder, segment)


def _signal_files(folder: Path, name: str) -> Iterator[str]:
    header = parse_header(read_inside(folder, f"{name}.hea", MAX_HEADER_BYTES), name)
    for file in dict.fromkeys(signal.file for signal in header.signals):
        yield _size(folder, file)


def _size(folder: Path, name: str) -> str:
    """Return a file's name and size in bytes; ``-`` where it is absent or not to be read."""
    try:
        return f"{name}:{inside(folder, name).stat().st_size}"
    except (OSError, DataError):
        return f"{name}:-"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """Commit of the repository this package runs from, ``+`` when changed; None outside one."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return None
    try:
        head = _git(root, "rev-parse", "HEAD")
        return head + ("+" if _git(root, "status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()
