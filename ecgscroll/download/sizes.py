"""How large the files of a selection are, asked of the server before anything is fetched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from ecgscroll.download.disk import size_text
from ecgscroll.download.http import FileError, Server
from ecgscroll.download.listing import Entry
from ecgscroll.download.pool import run_all
from ecgscroll.download.upstream import Upstream

MAX_QUESTIONS = 400  # above this many files some stand for all


@dataclass(frozen=True)
class Size:
    """Bytes of a set of files; None where the server does not say.

    Parameters
    ----------
    n_bytes
        Sum over the files.
    exact
        False where some files stood for all.
    """

    n_bytes: int | None
    exact: bool

    def __str__(self) -> str:
        if self.n_bytes is None:
            return "of a size that the server does not tell"
        return size_text(self.n_bytes) if self.exact else f"about {size_text(self.n_bytes)}"


def expected_size(server: Server, upstream: Upstream, entries: Iterable[Entry]) -> Size:
    """Size of the listed files.

    Every file is asked for up to `MAX_QUESTIONS`; beyond, evenly spaced ones of each suffix stand
    for the rest, since files of one kind are of like size.
    """
    kinds: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        kinds[entry.suffix].append(entry)
    n_files = sum(map(len, kinds.values()))
    step = -(-n_files // MAX_QUESTIONS) or 1
    asked = [entry for kind in kinds.values() for entry in kind[::step]]
    known = run_all(server, asked, lambda entry: _size_of(server, upstream.url + entry.path))
    total = 0.0
    for kind in kinds.values():
        sizes = [size for entry in kind[::step] if (size := known[entry]) is not None]
        if not sizes:
            return Size(None, exact=False)
        total += sum(sizes) / len(sizes) * len(kind)
    return Size(round(total), exact=len(asked) == n_files and None not in known.values())


def _size_of(server: Server, url: str) -> int | None:
    try:
        return server.retrying(lambda: _ask(server, url), url)
    except FileError:
        return None  # told when it is its turn to be fetched


def _ask(server: Server, url: str) -> int | None:
    with server.open("HEAD", url, {}) as response:
        text = response.headers.get("content-length", "")
        return int(text) if response.status_code == 200 and text.isdecimal() else None
