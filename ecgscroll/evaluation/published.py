"""The published tables, as facts to set runs beside (``datasets/published.yaml``)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import yaml

from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.config import Source
from ecgscroll.files import datasets_dir


@dataclass(frozen=True)
class PublishedRow:
    """One agent of a published table.

    Parameters
    ----------
    table
        ``planning`` or ``judge``.
    agent
        Its model.
    dx
        ``reference`` for the +dx tier, None for -dx.
    scores
        Mean score by task.
    """

    table: str
    agent: str
    dx: Source | None
    scores: dict[str, float]


@cache
def published_rows() -> tuple[PublishedRow, ...]:
    """Return the rows of the published tables.

    Raises
    ------
    ConfigError
        If the file is missing or malformed.
    """
    try:
        found = yaml.safe_load((datasets_dir() / "published.yaml").read_text(encoding="utf-8"))
        tasks = found["tasks"]
        return tuple(
            PublishedRow(
                row["table"],
                row["agent"],
                None if row["dx"] == "none" else row["dx"],
                dict(zip(tasks, row["scores"], strict=True)),
            )
            for row in found["rows"]
        )
    except (OSError, ValueError, KeyError, TypeError, yaml.YAMLError) as error:
        raise ConfigError(f"The published tables cannot be read: {error}; reinstall.") from None
