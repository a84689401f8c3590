"""Which instances a run plays, and where their recordings lie."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ecgscroll.catalogue.instances import Instance, get_instance, list_instances
from ecgscroll.errors import ConfigError
from ecgscroll.files import cache_dir, data_dir

_USUAL = (Path("data"), Path("../shared/data"))


def find_data(explicit: Path | None) -> tuple[Path, bool]:
    """Return the folder of recordings, and whether it is the synthetic default.

    That is ``explicit``, else ``ECGSCROLL_DATA``, else ``data`` or ``../shared/data`` where they
    exist, else synthetic recordings that are made once in the cache.
    """
    chosen = data_dir(explicit) or next((usual for usual in _USUAL if usual.is_dir()), None)
    if chosen is not None:
        return chosen, False
    from ecgscroll.synth import default_data

    folder = cache_dir() / "synthetic"
    default_data(folder)
    return folder, True


def select(
    data: Path,
    *,
    chosen_set: str = "core",
    tasks: Sequence[str] = (),
    databases: Sequence[str] = (),
    ids: Sequence[str] = (),
    limit: int | None = None,
) -> tuple[list[Instance], list[Instance]]:
    """Return the instances to play, and those left out because their recordings are not there.

    Parameters
    ----------
    data
        Folder of the recordings.
    chosen_set
        ``core``, ``published``, ``supplementary`` or ``all``; without ``ids``.
    tasks, databases
        Keep these alone; empty keeps all.
    ids
        Instance ids; these alone, in this order.
    limit
        Keep so many at most.

    Raises
    ------
    ConfigError
        If nothing is left.
    """
    if ids:
        found = chosen(ids, data, tasks, databases)
    else:
        found = list_instances(
            data, set=chosen_set, tasks=list(tasks) or None, databases=list(databases) or None
        )
    there = [one for one in found if one.available != "none"]
    absent = [one for one in found if one.available == "none"]
    if not there:
        raise ConfigError(_nothing(data, absent))
    return there[:limit], absent


def chosen(
    ids: Sequence[str],
    data: Path | None,
    tasks: Sequence[str] | None = None,
    databases: Sequence[str] | None = None,
) -> list[Instance]:
    """Open instances by id, those of some tasks and databases alone if any are given."""
    found = (get_instance(name, data) for name in ids)
    return [
        one
        for one in found
        if (not tasks or one.task in tasks) and (not databases or one.database in databases)
    ]


def read_ids(source: Path) -> list[str]:
    """Read instance ids from a file: one a line, as text or as JSON objects with an ``id``.

    Raises
    ------
    ConfigError
        If the file cannot be read, names nothing, a line is no id, or an id comes twice.
    """
    try:
        lines = source.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The list of instances {source} cannot be read: {error}.") from None
    stripped = map(str.strip, lines)
    ids = [_id(source, line) for line in stripped if line and not line.startswith("#")]
    if not ids:
        raise ConfigError(f"{source} names no instance; write one id a line.")
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise ConfigError(f"{source} lists {twice[0]} more than once; an episode is played once.")
    return ids


def _id(source: Path, line: str) -> str:
    if not line.startswith("{"):
        return line
    try:
        name = json.loads(line)["id"]
    except (ValueError, KeyError, RecursionError):
        name = None
    if not isinstance(name, str):
        raise ConfigError(f"{source} has a line without an instance id: {line[:60]!r}.")
    return name


def _nothing(data: Path, absent: Sequence[Instance]) -> str:
    if not absent:
        return "No instance fits these tasks, databases and set; see `ecgscroll instances`."
    needed = " ".join(sorted({one.database for one in absent}))
    return f"None of the recordings is in {data}; get them with `ecgscroll prepare {needed}`."
