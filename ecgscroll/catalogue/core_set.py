"""The core set of 390 instances, frozen with the hash of every truth.

The list is ``datasets/instances/core.jsonl``. ``python -m ecgscroll.catalogue.core_set DATA``
writes it again from the recordings' headers and annotations in DATA.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

from ecgscroll.catalogue.truths import build_truth
from ecgscroll.errors import ConfigError, DataError
from ecgscroll.files import datasets_dir, write_atomic
from ecgscroll.records.databases import CARDS
from ecgscroll.records.recording import Recording
from ecgscroll.records.reference import load_reference

# Of each task, the databases in the order in which the published subset was drawn from them.
SOURCES: dict[str, tuple[str, ...]] = {
    "episode_detection": ("afdb", "ltafdb"),
    "af_burden": ("afdb", "ltafdb"),
    "change_detection": ("afdb",),
    "ischemia": ("edb",),
    "pvc_burden": ("mitdb", "ltdb"),
    "rare_event": ("mitdb", "ltdb"),
}
PUBLISHED_SIZE = 30
_WHOLE_WHEN_PUBLISHED = frozenset({"change_detection", "rare_event"})


@dataclass(frozen=True)
class CoreRow:
    """A line of the frozen list; ``truth`` is the digest of the instance's `Truth`."""

    id: str
    patient: str
    duration_s: float
    truth: str


@cache
def core_rows() -> Mapping[str, CoreRow]:
    """Return the frozen list by instance id: tasks, databases and record names in order.

    Raises
    ------
    ConfigError
        If the list is missing or malformed.
    """
    try:
        lines = _list_file().read_text(encoding="utf-8").splitlines()
        rows = [CoreRow(**json.loads(line)) for line in lines]
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"The core instance list cannot be read: {error}; reinstall.") from None
    return MappingProxyType({row.id: row for row in rows})


def published_ids() -> list[str]:
    """Return the ids behind the published tables.

    Change and rare event use all theirs. Of the other tasks every floor(n / 30)-th of the n
    instances was taken, in this list's order, and the first 30 of those.
    """
    chosen: list[str] = []
    for task, group in groupby(core_rows(), key=lambda name: name.partition("/")[0]):
        names = list(group)
        if task not in _WHOLE_WHEN_PUBLISHED:
            names = names[:: max(1, len(names) // PUBLISHED_SIZE)][:PUBLISHED_SIZE]
        chosen += names
    return chosen


def freeze(data: Path) -> list[CoreRow]:
    """Build the core set from the annotations in ``data``.

    A record without length (two of afdb), without an ischemic episode, or without a rare event
    is no instance of the task.

    Raises
    ------
    DataError
        If a record of a core database is not there.
    """
    databases = dict.fromkeys(name for names in SOURCES.values() for name in names)
    rows = [row for database in databases for row in _rows(data, database)]
    tasks = list(SOURCES)
    return sorted(rows, key=lambda row: tasks.index(row.id.partition("/")[0]))


def _rows(data: Path, database: str) -> Iterator[CoreRow]:
    """Yield the instances of one database by record; its tasks are put in order later."""
    card = CARDS[database]
    for header in sorted((data / database).glob("*.hea")):
        record = header.stem
        try:
            recording = Recording.open(header.parent, record)
        except DataError:
            continue
        reference = load_reference(recording, card)
        if reference is None:
            raise DataError(f"{database}/{record} has no annotations; fetch it again.")
        for task in (task for task, sources in SOURCES.items() if database in sources):
            try:
                truth = build_truth(task, reference, recording.duration, excerpt=card.excerpts)
            except DataError:
                continue
            if truth.events or task != "ischemia":
                name, patient = f"{task}/{database}/{record}", card.patient(record)
                yield CoreRow(name, patient, recording.duration, truth.digest())


def _list_file() -> Path:
    return datasets_dir() / "instances" / "core.jsonl"


def main(data: Path) -> None:
    """Write the frozen list again from the annotations in ``data``."""
    rows = freeze(data)
    write_atomic(_list_file(), "".join(json.dumps(asdict(row)) + "\n" for row in rows))
    sys.stdout.write(f"{len(rows)} instances written to {_list_file()}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
