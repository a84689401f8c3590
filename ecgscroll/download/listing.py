"""What a server says a database holds (SHA256SUMS.txt, RECORDS), and which of it is asked for."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ecgscroll.download.disk import is_plain_path
from ecgscroll.download.http import not_the_files
from ecgscroll.errors import ConfigError, DownloadError

SUMS = "SHA256SUMS.txt"
RECORDS = "RECORDS"
MAX_SUMS_BYTES = 1 << 30
MAX_RECORDS_BYTES = 64 << 20
_MAX_LINE = 2048
_LINE = re.compile(r"([0-9a-fA-F]{64})[ \t]+\*?(?:\./)?(.+)")


@dataclass(frozen=True, slots=True)
class Entry:
    """One listed file: path relative to the database, SHA-256."""

    path: str
    digest: str

    @property
    def stem(self) -> str:
        """Path without the suffix: the record's name as WFDB knows it."""
        return self.path.rpartition(".")[0]

    @property
    def suffix(self) -> str:
        """What follows the last dot: ``hea``, ``dat``, ``atr``, ..."""
        return self.path.rpartition(".")[2]


@dataclass(frozen=True)
class Selection:
    """What of a database is asked for; without records and patients, all of it.

    Parameters
    ----------
    records
        Record names, with or without their folders.
    patients
        Patients by number.
    annotations_only
        Leave the signal files out.
    """

    records: tuple[str, ...] = ()
    patients: tuple[int, ...] = ()
    annotations_only: bool = False

    @property
    def whole(self) -> bool:
        """Whether every record is asked for."""
        return not self.records and not self.patients


def read_sums(path: Path, url: str) -> Iterator[Entry]:
    """Files of a list of checksums, in its order, one at a time.

    Raises
    ------
    DownloadError
        If it is no list of checksums, or a path in it leads out of the database's folder.
    """
    with path.open("rb") as file:
        for line in iter(lambda: file.readline(_MAX_LINE), b""):
            text = line.decode("utf-8", "replace").strip()
            if not text:
                continue
            match = _LINE.fullmatch(text)
            if match is None or len(line) == _MAX_LINE:
                raise not_the_files(url, url) if text.startswith("<") else _bad_line(url, text)
            _refuse_escape(match[2], url)
            yield Entry(match[2], match[1].lower())


def _bad_line(url: str, text: str) -> DownloadError:
    return DownloadError(
        f"{url} is no list of checksums (it has the line {text[:60]!r}); check --base-url."
    )


def _refuse_escape(path: str, url: str) -> None:
    climbs = path.startswith(("/", "~")) or ".." in path.split("/")
    if climbs or "\\" in path or not path.isprintable():
        raise DownloadError(
            f"{url} lists {path!r}, a path out of its folder; nothing is fetched from this server."
        )


def choose(
    sums: Path, url: str, suffixes: frozenset[str], wanted: Callable[[Entry], bool]
) -> list[Entry]:
    """Record files that are wanted, sorted by path.

    Raises
    ------
    DownloadError
        If one path is listed with two checksums.
    """
    chosen: dict[str, Entry] = {}
    for entry in read_sums(sums, url):
        if entry.suffix not in suffixes or not wanted(entry) or not is_plain_path(entry.path):
            continue
        if chosen.setdefault(entry.path, entry).digest != entry.digest:
            raise DownloadError(f"{url} lists {entry.path} with two checksums; check --base-url.")
    return [chosen[path] for path in sorted(chosen)]


def in_records(records: Path) -> Callable[[Entry], bool]:
    """Whether a file belongs to a record of the RECORDS file (records, or folders of them)."""
    lines = {line.strip() for line in records.read_text("utf-8", "replace").splitlines()}
    folders = {line.rstrip("/") for line in lines if line.endswith("/")}

    def wanted(entry: Entry) -> bool:
        return entry.stem in lines or any(folder in folders for folder in _folders(entry.path))

    return wanted


def _folders(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def by_name(names: tuple[str, ...]) -> Callable[[Entry], bool]:
    """Whether a file belongs to one of the named records, named with or without its folders."""
    wanted = set(names)
    return lambda entry: entry.stem in wanted or entry.stem.rpartition("/")[2] in wanted


def without_namesakes(entries: list[Entry], names: tuple[str, ...]) -> list[Entry]:
    """Files of the named records; a name that is a path itself means that record alone."""
    exact = {entry.stem for entry in entries} & set(names)
    return [e for e in entries if e.stem in exact or e.stem.rpartition("/")[2] not in exact]


def unknown_records(entries: list[Entry], names: tuple[str, ...]) -> list[str]:
    """Names that no file belongs to."""
    have = {entry.stem for entry in entries}
    have |= {stem.rpartition("/")[2] for stem in have}
    return [name for name in names if name not in have]


def no_such_record(database: str, name: str, known: list[str]) -> str:
    """Sentence for a record that the database does not have, with near ones that it has."""
    near = difflib.get_close_matches(name, known[:5000], 5, 0.5) or known[:5]
    return f"{database} has no record {name!r}; it has {', '.join(near)} ... ({len(known)} in all)."


def parse_records(text: str) -> tuple[str, ...]:
    """Record names from a list with commas.

    Raises
    ------
    ConfigError
        If the list is empty or a name is no plain path.

    Examples
    --------
    >>> parse_records("100, 101")
    ('100', '101')
    """
    names = tuple(dict.fromkeys(name for item in text.split(",") if (name := item.strip())))
    if not names or not all(map(is_plain_path, names)):
        raise ConfigError(f"--records takes names such as 100,101; not {text!r}.")
    return names


def parse_patients(text: str) -> tuple[int, ...]:
    """Patient numbers from a list with ranges.

    Raises
    ------
    ConfigError
        If it is no such list.

    Examples
    --------
    >>> parse_patients("0-2,17")
    (0, 1, 2, 17)
    """
    numbers: set[int] = set()
    for item in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,6})\s*(?:-\s*([0-9]{1,6})\s*)?", item)
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if low > high:
            raise ConfigError(f"--patients takes numbers and ranges such as 0-4,17; not {text!r}.")
        numbers.update(range(low, high + 1))
    return tuple(sorted(numbers))
