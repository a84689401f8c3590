"""The disk side of a download: where a file may go, the lock, free space, errors in words."""

from __future__ import annotations

import errno
import hashlib
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ecgscroll.errors import DownloadError

CHUNK = 1 << 16
LOCK_NAME = ".prepare.lock"
SPACE_MARGIN = 32 << 20  # left free, so that a download never fills a disk to the last byte
_PART = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9._+-]{0,127}")
_MAX_DEPTH = 6


def is_plain_path(path: str) -> bool:
    """Whether a server's relative path is made of plain names only.

    Examples
    --------
    >>> is_plain_path("p00/p00000/p00000_s00.dat"), is_plain_path("../100.dat")
    (True, False)
    """
    parts = path.split("/")
    return len(parts) <= _MAX_DEPTH and all(_PART.fullmatch(part) for part in parts)


def target_path(folder: Path, path: str) -> Path:
    """Where a listed file goes, its parent folders made.

    Parameters
    ----------
    folder
        The database's own folder; it may itself be a link, its owner's choice.
    path
        Relative path as the server lists it.

    Raises
    ------
    DownloadError
        If the path, or a link on the way, leads out of the folder.
    """
    if not is_plain_path(path):
        raise DownloadError(
            f"The server lists {path!r}, which is no plain path; nothing is written."
        )
    target = folder.joinpath(*path.split("/"))
    with disk_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        inside = target.parent.resolve().is_relative_to(folder.resolve())
    if target.is_symlink() or not inside:
        raise DownloadError(
            f"{target} leads through a link out of its database's folder; remove the link."
        )
    return target


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, hexadecimal, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn the system's refusal to read or write ``path`` into one sentence."""
    try:
        yield
    except OSError as error:
        raise DownloadError(_sentence(path, error)) from error


def _sentence(path: Path, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return (
            f"The disk is full: {path} could not be written; free some space or choose another "
            "folder with --data, then run the same command again, it resumes."
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"No permission to write {path}; choose a folder of yours with --data."
    if error.errno in (errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ELOOP):
        return f"{path} cannot be written: something else stands in its place; move it away."
    return f"{path} cannot be read or written: {error.strerror or error}."


@contextmanager
def database_lock(folder: Path, database: str) -> Iterator[None]:
    """Hold the database's folder for one process; the system lets go when the process dies.

    Raises
    ------
    DownloadError
        If another process holds it, or the folder cannot be made.
    """
    import fcntl  # POSIX only: the rest of the package runs without it

    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK_NAME).open("ab")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DownloadError(
                f"Another `ecgscroll prepare` is fetching {database} into {folder}; "
                "wait until it ends, or stop it."
            ) from None
        yield


def require_space(folder: Path, n_bytes: int, database: str) -> None:
    """Refuse to start what the disk cannot hold.

    Raises
    ------
    DownloadError
        If fewer than ``n_bytes`` and a margin are free where ``folder`` lies.
    """
    free = shutil.disk_usage(folder).free
    if n_bytes > 0 and n_bytes + SPACE_MARGIN > free:
        raise DownloadError(
            f"{database} needs {size_text(n_bytes)} and only {size_text(free)} are free in "
            f"{folder}; free some space, choose another folder with --data, or fewer records."
        )


def size_text(n_bytes: float) -> str:
    """Size in decimal units.

    Examples
    --------
    >>> size_text(532), size_text(98_500_000)
    ('532 B', '98.5 MB')
    """
    if n_bytes < 1000:
        return f"{n_bytes:.0f} B"
    for unit in ("kB", "MB", "GB"):
        n_bytes /= 1000
        if n_bytes < 1000:
            return f"{n_bytes:.1f} {unit}"
    return f"{n_bytes / 1000:.1f} TB"
