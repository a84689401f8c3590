"""Beats of segments on disk, shared by processes: an append-only file per recording.

A file begins with its own key, a hash of what its entries were computed with: this package's
source, numpy, scipy, the processor's vector units, the recording's header. An entry is found by a
hash of the samples up to its end (:mod:`ecgscroll.signals.store`), so a recording with another
future shares the entries of its past and nothing else.

Nothing in a file is believed before it was checked: magic, key, lengths and checksums, and that
the times lie where they must. What fails is computed again; a file with a foreign beginning is
replaced. An entry is written whole, under a lock, after the last good one, so that a kill at any
point costs the entry that was being written. A file is read once, whole, and what others add to it
when something is missing: a found entry costs no system call. It is not mapped: a mapped file that
somebody cuts short turns into zeros or kills its reader, and the beats of a day are 12 MB. A folder
that cannot be written, or a busy lock, means no entry, silently.

Known limit: a stranger who can write to the folder can forge an entry of plausible numbers.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import sys
import zlib
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy

from ecgscroll.files import write_atomic

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: no locks, so nothing is written
    fcntl = None  # type: ignore[assignment]

KEY_BYTES = 32
MAX_FILE_BYTES = 64 << 20
"""A file that would grow over this begins anew; a day of two leads takes about 12 MB."""
MAX_FOLDER_BYTES = 2 << 30
"""The files used longest ago go when a new one would join more than this."""
_MAGIC = b"ecgscrl1"
_HEAD = len(_MAGIC) + KEY_BYTES
_RECORD = struct.Struct("<4sIII32s")  # magic, payload length, its checksum, the head's, key
_MARK = b"beat"
_ALIGN = 8


@dataclass
class CacheFile:
    """One file of entries; ``get`` and ``put`` never raise for what is on the disk.

    Parameters
    ----------
    path
        Where it lies; its folder is made when something is written.
    key
        32 bytes of which every entry is a function.
    """

    path: Path
    key: bytes
    _entries: dict[bytes, tuple[memoryview, int]] = field(default_factory=dict, repr=False)
    _end: int = field(default=0, repr=False)
    _inode: int = field(default=-1, repr=False)

    def get(self, key: bytes) -> memoryview | None:
        """Bytes stored under a key, checked against their checksum; None without."""
        if key not in self._entries:
            with contextlib.suppress(OSError):
                self._catch_up()
        payload, checksum = self._entries.get(key, (None, 0))
        if payload is not None and zlib.crc32(payload) != checksum:
            del self._entries[key]  # the next of its key on disk stands for it
            return None
        return payload

    def _catch_up(self) -> None:
        status = self.path.stat()
        if status.st_ino != self._inode or status.st_size != self._end:
            with self.path.open("rb") as file:
                self._scan(file.fileno())

    def put(self, key: bytes, payload: bytes) -> None:
        """Store bytes under a key, if that can be done at once."""
        with contextlib.suppress(OSError):
            if fcntl is None or len(payload) > MAX_FILE_BYTES // 4:
                return
            if not self.path.exists():
                self._begin()
            if not self._append(key, payload):
                self._begin()
                self._append(key, payload)

    def _append(self, key: bytes, payload: bytes) -> bool:
        """Write an entry after the last whole one; False if the file must begin anew first."""
        with self.path.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return self._append_locked(file.fileno(), key, payload)

    def _append_locked(self, fd: int, key: bytes, payload: bytes) -> bool:
        self._scan(fd)
        padded = payload + bytes(-len(payload) % _ALIGN)
        if self._end < _HEAD or self._end + _RECORD.size + len(padded) > MAX_FILE_BYTES:
            return False
        if key in self._entries:
            return True
        if os.fstat(fd).st_size > self._end:
            os.ftruncate(fd, self._end)  # what a killed writer left
        record = _head(key, payload) + padded
        if os.pwrite(fd, record, self._end) == len(record):
            self._entries[key] = memoryview(payload), zlib.crc32(payload)
            self._end += len(record)
        return True

    def _begin(self) -> None:
        """Put an empty file in place; those who read or wrote the old one keep it."""
        if not self.path.exists():
            prune(self.path.parent, MAX_FOLDER_BYTES)
        write_atomic(self.path, _MAGIC + self.key)
        self._forget()

    def _forget(self) -> None:
        self._entries, self._end, self._inode = {}, 0, -1

    def _scan(self, fd: int) -> None:
        """Read the whole entries after the last one known; stop at the first that is not whole."""
        status = os.fstat(fd)
        if status.st_ino != self._inode or status.st_size < self._end:
            self._forget()
        if self._end == 0:
            if os.pread(fd, _HEAD, 0) != _MAGIC + self.key:
                return
            self._end, self._inode = _HEAD, status.st_ino
        begin = self._end
        data = os.pread(fd, min(status.st_size, MAX_FILE_BYTES) - begin, begin)
        view, at = memoryview(data), 0
        while at + _RECORD.size <= len(data):
            mark, length, checksum, own, key = _RECORD.unpack_from(data, at)
            start = at + _RECORD.size
            stop = start + length + -length % _ALIGN
            if mark != _MARK or own != _own_checksum(length, checksum, key) or stop > len(data):
                break
            self._entries[key] = view[start : start + length], checksum
            at = stop
        self._end = begin + at


@lru_cache(maxsize=1)
def made_with() -> bytes:
    """Hash of what beats are a function of besides the recording: code, libraries, processor.

    The code is every source file of this package and of the reader of samples; the last bits of a
    sum may differ between vector units, so their names count too.
    """
    here = Path(__file__).resolve().parent
    records = here.parent / "records"
    sources = [*here.glob("*.py"), records / "recording.py", *records.glob("wfdb_*.py")]
    digest = hashlib.sha256(f"{np.__version__} {scipy.__version__} {sys.byteorder}".encode())
    digest.update(repr(np.show_config(mode="dicts").get("SIMD Extensions")).encode())
    for path in sorted(sources):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()


def _head(key: bytes, payload: bytes) -> bytes:
    checksum = zlib.crc32(payload)
    own = _own_checksum(len(payload), checksum, key)
    return _RECORD.pack(_MARK, len(payload), checksum, own, key)


def _own_checksum(length: int, checksum: int, key: bytes) -> int:
    return zlib.crc32(key, zlib.crc32(struct.pack("<II", length, checksum)))


def prune(folder: Path, limit: int) -> None:
    """Remove the files written longest ago until the folder's files come to ``limit`` bytes."""
    with contextlib.suppress(OSError):
        found = [(p.stat().st_mtime, p.stat().st_size, p) for p in folder.glob("*.beats")]
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= limit:
                break
            path.unlink()
            total -= size
