"""Instances: a task on a recording, with its truth; the core set and whatever else lies there."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from ecgscroll.catalogue.core_set import core_rows, published_ids
from ecgscroll.catalogue.opened import Availability, OpenedRecord, open_record
from ecgscroll.catalogue.spans import Span, split_span
from ecgscroll.catalogue.truths import Truth
from ecgscroll.errors import ConfigError, DataError
from ecgscroll.files import data_dir
from ecgscroll.records.databases import get_card, locate, patient_of
from ecgscroll.records.reference import AF_LABELS
from ecgscroll.tasks import TASKS, get_task

__all__ = [
    "Instance",
    "Truth",
    "TruthDiffersWarning",
    "UnscoredWarning",
    "availability",
    "get_instance",
    "list_instances",
]

SETS = ("core", "published", "supplementary", "all")
# Tasks that only some records of a database answer, which only their annotations tell.
_DEPENDS_ON_CONTENT = ("change_detection", "rare_event")


class TruthDiffersWarning(UserWarning):
    """The annotations give another truth than the one that was frozen for the core set."""


class UnscoredWarning(UserWarning):
    """The annotations cannot answer the task, so an episode gets no score."""


@dataclass(frozen=True)
class Instance:
    """A task on a recording, or on a span of one.

    Attributes
    ----------
    id
        ``task/database/record``, or ``task/database/record@t0-t1`` in whole seconds.
    set
        ``core``, ``published`` or ``supplementary``.
    task, database, record
        The parts of the id; a record may lie in subfolders.
    patient
        ``database/patient``; an excerpt has its parent's.
    duration
        Length by the header, or of the span, in seconds.
    truth
        What the reference says; None if it was not asked for or cannot be read.
    data
        Data directory.
    available
        Whether the signals are there, only the annotations, or nothing.
    differs
        Whether the truth is another one than was frozen.
    span
        Start and end in seconds of the recording; None for all of it. Every other time counts
        from the span's start.
    """

    id: str
    set: str
    task: str
    database: str
    record: str
    patient: str
    duration: float
    truth: Truth | None = None
    data: Path | None = None
    available: Availability = "none"
    differs: bool = False
    span: Span | None = None


def get_instance(
    id: str,  # noqa: A002
    data: str | Path | None = None,
    af_labels: Sequence[str] = AF_LABELS,
    *,
    scorable: bool = True,
) -> Instance:
    """Open one instance with its truth.

    Parameters
    ----------
    id
        ``task/database/record``, of any WFDB folder in the data directory; a span of it is
        ``task/database/record@t0-t1``.
    data
        Data directory; ``ECGSCROLL_DATA`` if it is not given.
    af_labels
        Rhythms that count as AF.
    scorable
        Whether annotations that turn out not to answer the task are an error; if not, the truth
        is None. What the database's card rules out is an error either way.

    Returns
    -------
    Instance
        Its truth is None if the recording has no annotation file.

    Raises
    ------
    ConfigError
        If the id is malformed, the task unknown or there is no data directory.
    DataError
        If the recording is absent or damaged, or its annotations cannot answer the task.

    Warns
    -----
    TruthDiffersWarning
        If the truth is not the one that was frozen for the core set.
    UnscoredWarning
        If the annotations cannot answer the task and ``scorable`` is false.
    """
    task, database, record, span = _parts(id)
    folder = data_dir(data)
    if folder is None:
        raise ConfigError(f"{id} needs a data directory: pass data=, or set ECGSCROLL_DATA.")
    located, name = locate(folder, database, record)
    if not (located / f"{name}.hea").is_file():
        raise DataError(f"{database}/{record} is not in {folder}; {remedy(database)}.")
    opened = open_record(folder, database, record, tuple(af_labels), span=span)
    try:
        truth = opened.truth(task)
    except DataError as error:
        if scorable or opened.never_answers(task):
            raise
        warnings.warn(f"{id} cannot be scored: {error}", UnscoredWarning, stacklevel=2)
        truth = None
    found = _judged(_placed(_row(id), opened), truth, opened)
    if found.differs:
        warnings.warn(_difference([found]), TruthDiffersWarning, stacklevel=2)
    return found


def list_instances(
    data: str | Path | None = None,
    set: str = "core",  # noqa: A002
    tasks: Iterable[str] | None = None,
    databases: Iterable[str] | None = None,
    *,
    truth: bool = True,
    af_labels: Sequence[str] = AF_LABELS,
) -> list[Instance]:
    """List instances.

    Parameters
    ----------
    data
        Data directory; ``ECGSCROLL_DATA`` if it is not given. Without one, core instances are
        listed as not available.
    set
        ``core`` (390 instances), ``published`` (the subset behind the published tables),
        ``supplementary`` (what else lies in the data directory; a supplementary task on the
        recordings that hold its event) or ``all`` (core and that).
    tasks, databases
        Keep these alone.
    truth
        Whether to read the annotations; without, the list takes a fraction of a second.
    af_labels
        Rhythms that count as AF.

    Raises
    ------
    ConfigError
        If the set or a task is unknown, or the data directory does not exist.

    Warns
    -----
    TruthDiffersWarning
        If truths are not those that were frozen.
    """
    if set not in SETS:
        raise ConfigError(f"There is no set {set!r}; choose one of {', '.join(SETS)}.")
    folder = data_dir(data)
    wanted = [get_task(task).name for task in tasks] if tasks else list(TASKS)
    kept = frozenset(databases) if databases else None
    listed = [row for row in _listed(set, folder) if row.task in wanted]
    listed = [row for row in listed if kept is None or row.database in kept]
    if folder is not None:
        listed = _filled(listed, folder, truth, tuple(af_labels))
    differing = [row for row in listed if row.differs]
    if differing:
        warnings.warn(_difference(differing), TruthDiffersWarning, stacklevel=2)
    return listed


def availability(data: str | Path | None, database: str, record: str) -> Availability:
    """Tell whether a record's signals are there, only its annotations, or nothing usable."""
    if data is None:
        return "none"
    try:
        return open_record(Path(data), database, record, read=False).available
    except DataError:
        return "none"


def remedy(database: str) -> str:
    """Say how to get a database that is not there."""
    card = get_card(database)
    if card is not None and card.url is not None:
        return f"get it with `ecgscroll prepare {database}`"
    return f"put its WFDB files into the folder {database!r} there"


def _parts(name: str) -> tuple[str, str, str, Span | None]:
    if not isinstance(name, str):
        raise ConfigError(f"An instance id is text, task/database/record, not {name!r:.80}.")
    task, _, rest = name.partition("/")
    database, _, record = rest.partition("/")
    if not (task and database and record):
        raise ConfigError(f"{name!r} is no instance id; write it as task/database/record.")
    return get_task(task).name, database, *split_span(record)


def _row(name: str, chosen_set: str | None = None) -> Instance:
    """Return an instance as it is known without any data."""
    task, database, record, span = _parts(name)
    frozen = core_rows().get(name)
    return Instance(
        id=name,
        set=chosen_set or ("core" if frozen else "supplementary"),
        task=task,
        database=database,
        record=record,
        patient=patient_of(database, record),
        duration=frozen.duration_s if frozen else 0.0,
        span=span,
    )


def _listed(chosen_set: str, data: Path | None) -> list[Instance]:
    if chosen_set == "published":
        return [_row(name, "published") for name in published_ids()]
    rows = [_row(name) for name in core_rows()] if chosen_set != "supplementary" else []
    if chosen_set != "core" and data is not None:
        rows += [_row(name) for name in _candidates(data) if name not in core_rows()]
    return rows


def _candidates(data: Path) -> Iterator[str]:
    """Name every supplementary instance that the data directory may hold."""
    for folder in sorted(path for path in data.iterdir() if path.is_dir()):
        offered = _offered(folder.name)
        for header in sorted(folder.rglob("*.hea")):
            record = header.relative_to(folder).with_suffix("").as_posix()
            for task, patterns in offered.items():
                if any(fnmatchcase(record, pattern) for pattern in patterns):
                    yield f"{task}/{folder.name}/{record}"


def _offered(database: str) -> dict[str, tuple[str, ...]]:
    """Return the supplementary instances a database may have: of each task, patterns of records."""
    card = get_card(database)
    offered: dict[str, tuple[str, ...]] = dict.fromkeys(TASKS, ("*",))
    if card is None:
        return offered
    return card.supplementary | {name: offered[name] for name in TASKS if TASKS[name].supplementary}


def _filled(
    rows: list[Instance], data: Path, truth: bool, af_labels: tuple[str, ...]
) -> list[Instance]:
    """Complete rows from the data directory, each record opened once; drop what is none."""
    by_record: dict[tuple[str, str], list[int]] = {}
    for index, row in enumerate(rows):
        by_record.setdefault((row.database, row.record), []).append(index)
    filled: dict[int, Instance] = {}
    for (database, record), indices in by_record.items():
        read = truth or any(_is_open_question(rows[index]) for index in indices)
        try:
            opened = open_record(data, database, record, af_labels, read=read)
        except DataError:
            opened = None
        for index in indices:
            completed = _completed(rows[index], opened, truth)
            if completed is not None:
                filled[index] = completed
    return [filled[index] for index in sorted(filled)]


def _completed(row: Instance, opened: OpenedRecord | None, truth: bool) -> Instance | None:
    """Complete one row; None if it is supplementary and its annotations cannot answer it."""
    supplementary = row.set == "supplementary"
    if opened is None or (supplementary and not opened.annotated):
        return None if supplementary else row
    row = _placed(row, opened)
    if not truth and not _is_open_question(row):
        return row
    try:
        found = opened.truth(row.task)
    except DataError:
        return None if supplementary else row
    if found is not None and not found.events and get_task(row.task).supplementary:
        return None
    return _judged(row, found, opened) if truth else row


def _is_open_question(row: Instance) -> bool:
    """Tell whether only its annotations say if this is an instance at all."""
    depends = row.task in _DEPENDS_ON_CONTENT or get_task(row.task).supplementary
    known = get_card(row.database) is not None and not depends
    return row.set == "supplementary" and not known


def _placed(row: Instance, opened: OpenedRecord) -> Instance:
    duration = opened.recording.duration
    return replace(row, data=opened.data, available=opened.available, duration=duration)


def _judged(row: Instance, truth: Truth | None, opened: OpenedRecord) -> Instance:
    frozen = core_rows().get(row.id)
    differs = False
    if frozen is not None and truth is not None and opened.af_labels == AF_LABELS:
        differs = (truth.digest(), row.duration) != (frozen.truth, frozen.duration_s)
    return replace(row, truth=truth, differs=differs)


def _difference(rows: Sequence[Instance]) -> str:
    databases = " ".join(sorted({row.database for row in rows}))
    return (
        f"{len(rows)} core instance(s), {rows[0].id} first, have other annotations here than the "
        f"frozen ones, so scores on them do not compare; `ecgscroll prepare {databases}` mends it."
    )
