"""Instances and their recordings, opened where they are needed: in each worker, once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ecgscroll.catalogue.instances import Instance, get_instance
from ecgscroll.causal.sources import Source, open_source
from ecgscroll.errors import ConfigError
from ecgscroll.records.databases import locate
from ecgscroll.tools.registry import Dx, check_dx


def opened(instances: Iterable[str | Instance], data: str | Path | None) -> list[Instance]:
    """Return instances with their truths; ids are looked up in the data directory.

    Raises
    ------
    ConfigError
        If there are none, or an id is malformed.
    DataError
        If a recording is absent or damaged.
    """
    found = [one if isinstance(one, Instance) else get_instance(one, data) for one in instances]
    if not found:
        raise ConfigError("There is no instance to load; give one at least.")
    return found


def open_instance(one: Instance) -> Source:
    """Open an instance's recording, or return the one that this process has open.

    Raises
    ------
    ConfigError
        If the instance does not know its data directory.
    DataError
        If the recording is absent or damaged.
    """
    if one.data is None:
        raise ConfigError(f"{one.id} needs a data directory: get it by get_instance(id, data).")
    folder, name = locate(Path(one.data), one.database, one.record)
    return open_source(folder, name, one.database, span=one.span)


def tier_name(dx: Dx) -> str:
    """Return a tier's name in rows and on the command line: None is ``none``."""
    check_dx(dx)
    return "none" if dx is None else dx
