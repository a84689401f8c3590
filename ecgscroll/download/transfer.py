"""One file from the server to the disk: resumed, verified, renamed whole."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ecgscroll.download.disk import CHUNK, disk_errors, size_text
from ecgscroll.download.http import FileError, Server, TransientError

if TYPE_CHECKING:
    import httpx

MAX_FILE_BYTES = 8 << 30
ROUNDS = 3  # a file that differs from its checksum is fetched again, twice
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,19})-[0-9]{1,19}/([0-9]{1,19}|\*)")


@dataclass(frozen=True)
class Job:
    """What to fetch: address, final place, SHA-256 (None for the list of checksums itself)."""

    url: str
    target: Path
    digest: str | None
    limit: int = MAX_FILE_BYTES


class Part:
    """A file on its way, ``NAME.part``, with the running SHA-256 of what it holds.

    The server's validator (ETag or date) lies beside it in ``NAME.validator.part``, so that after
    a kill the rest is asked for only of the same version of the file.

    Parameters
    ----------
    target
        Final path.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.with_name(target.name + ".part")
        self._note = target.with_name(target.name + ".validator.part")
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
        self._file = os.fdopen(os.open(self.path, flags, 0o666), "r+b")
        self._hash = hashlib.sha256()
        self.size = 0
        while chunk := self._file.read(CHUNK):
            self._hash.update(chunk)
            self.size += len(chunk)
        self.validator = self._read_note() if self.size else None

    def __enter__(self) -> Part:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        if self.size == 0:
            self.discard()

    @property
    def digest(self) -> str:
        """SHA-256 of what is held, hexadecimal."""
        return self._hash.hexdigest()

    def _read_note(self) -> str | None:
        if not self._note.is_file() or self._note.is_symlink():
            return None
        return self._note.read_bytes()[:1000].decode("ascii", "replace").strip() or None

    def restart(self, validator: str | None) -> None:
        """Drop what is held; ``validator`` is that of the version which follows."""
        self._file.seek(0)
        self._file.truncate()
        self._hash = hashlib.sha256()
        self.size = 0
        self._note.unlink(missing_ok=True)
        self.validator = validator
        if validator is not None:
            self._note.write_text(validator, encoding="ascii")

    def append(self, chunk: bytes) -> None:
        """Add bytes at the end and hand them to the system, so that a kill loses nothing."""
        self._file.write(chunk)
        self._file.flush()
        self._hash.update(chunk)
        self.size += len(chunk)

    def finish(self) -> None:
        """Rename to the final name: the file is there whole or not at all."""
        os.fsync(self._file.fileno())
        self._note.unlink(missing_ok=True)
        self.path.replace(self.target)

    def discard(self) -> None:
        """Leave nothing behind."""
        self._note.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)


def fetch(server: Server, job: Job, advance: Callable[[int], None]) -> None:
    """Fetch one file, resuming what an earlier run left.

    Parameters
    ----------
    server
        Connections.
    job
        Address, place, checksum.
    advance
        Told of every change in the number of bytes held (negative when a file starts anew).

    Raises
    ------
    FileError
        If this file is absent, too large, or differs from its checksum each time.
    DownloadError
        If the network, the server or the disk fails for good.
    """
    with disk_errors(job.target), Part(job.target) as part:
        advance(part.size)
        for _ in range(ROUNDS):
            if _is_whole(part, job) or _receive_all(server, job, part, advance):
                part.finish()
                return
            advance(-part.size)
            part.restart(None)
        part.discard()
    raise FileError(
        f"{job.url} differs from its checksum in SHA256SUMS.txt each of {ROUNDS} times; the copy "
        "on the server is damaged: try later or a mirror (--base-url)."
    )


def _is_whole(part: Part, job: Job) -> bool:
    return job.digest is not None and part.digest == job.digest


def _receive_all(server: Server, job: Job, part: Part, advance: Callable[[int], None]) -> bool:
    server.retrying(lambda: _receive(server, job, part, advance), job.url, done=lambda: part.size)
    return job.digest is None or part.digest == job.digest


def _receive(server: Server, job: Job, part: Part, advance: Callable[[int], None]) -> None:
    """One request: the rest of the file where the server can, else all of it."""
    if job.digest is None and part.validator is None:
        advance(-part.size)
        part.restart(None)  # without checksum or validator two versions could be mixed unnoticed
    with server.open("GET", job.url, _range_headers(part)) as response:
        if response.status_code == 416 and job.digest is not None:
            return  # nothing after what is held: the checksum decides
        if not _continues(response, part):
            advance(-part.size)
            part.restart(validator_of(response))
        if response.status_code != 200 and part.size == 0:
            raise TransientError("the server sent another part of the file than asked for")
        _check_length(response, job, part.size)
        _read_body(server, response, job, part, advance)


def _range_headers(part: Part) -> dict[str, str]:
    if part.size == 0:
        return {}
    headers = {"Range": f"bytes={part.size}-"}
    return headers | ({"If-Range": part.validator} if part.validator else {})


def _continues(response: httpx.Response, part: Part) -> bool:
    match = _CONTENT_RANGE.fullmatch(response.headers.get("content-range", ""))
    at = int(match[1]) if match else -1
    return response.status_code == 206 and part.size > 0 and at == part.size


def validator_of(response: httpx.Response) -> str | None:
    """Strong ETag or, without one, the date of the last change; what If-Range accepts."""
    etag: str = response.headers.get("etag", "")
    value = etag if etag.startswith('"') else response.headers.get("last-modified", "")
    return value if value.isascii() and value.isprintable() and 0 < len(value) < 1000 else None


def _check_length(response: httpx.Response, job: Job, held: int) -> None:
    text = response.headers.get("content-length", "")
    if text.isdecimal() and held + int(text) > job.limit:
        raise _too_large(job, held + int(text))


def _too_large(job: Job, size: int) -> FileError:
    return FileError(
        f"{job.url} is {size_text(size)} or more, over the limit of {size_text(job.limit)} for "
        "one file; it is not fetched."
    )


def _read_body(
    server: Server, response: httpx.Response, job: Job, part: Part, advance: Callable[[int], None]
) -> None:
    for chunk in response.iter_raw():  # as it arrives, so that a cut loses nothing
        server.check_stop()
        if part.size + len(chunk) > job.limit:
            part.discard()
            raise _too_large(job, part.size + len(chunk))
        part.append(chunk)
        advance(len(chunk))
