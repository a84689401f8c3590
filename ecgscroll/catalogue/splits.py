"""Who trains and who tests: a fixed division by patient, so that no patient is on both sides."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from ecgscroll.catalogue.spans import split_span
from ecgscroll.errors import ConfigError
from ecgscroll.files import datasets_dir
from ecgscroll.records.databases import patient_of

Side = Literal["train", "test"]


class _Sides(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    train: tuple[str, ...]
    test: tuple[str, ...]


class _Splits(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, _Sides]

    left_out: tuple[str, ...]
    otherwise: Side


def split_of(database: str, record: str) -> Side | None:
    """Return the side of a recording.

    Parameters
    ----------
    database, record
        Which recording, or span of one; its patient decides, so an excerpt is on its parent's
        side.

    Returns
    -------
    "train", "test" or None
        None for a recording that is left out.

    Raises
    ------
    ConfigError
        If ``datasets/splits.yaml`` is malformed.
    """
    splits, record = _splits(), split_span(record)[0]
    if f"{database}/{record}" in splits.left_out:
        return None
    source, _, patient = patient_of(database, record).partition("/")
    sides = splits.__pydantic_extra__.get(source)
    if sides is None:
        return splits.otherwise
    if any(fnmatchcase(patient, pattern) for pattern in sides.test):
        return "test"
    if any(fnmatchcase(patient, pattern) for pattern in sides.train):
        return "train"
    return None


@cache
def _splits() -> _Splits:
    file = datasets_dir() / "splits.yaml"
    try:
        return _Splits.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        raise ConfigError(f"The patient splits cannot be read: {error}") from None
