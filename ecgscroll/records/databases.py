"""Database cards: what a database is, what it annotates, and who its patients are.

The cards are ``datasets/cards/<database>.yaml``. A folder without a card is a database too: what
it annotates is then what its files hold, and every record is a patient.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ecgscroll.errors import ConfigError, DataError
from ecgscroll.files import datasets_dir

MAX_PARTS = 16
Kind = Literal["beats", "beat_labels", "rhythm", "st"]


class Card(BaseModel):
    """What is known of one database.

    Attributes
    ----------
    name, title, version, url, doi, citation, licence
        Identity and terms; ``url`` is the folder the files are fetched from, with a final slash.
    fs
        Sampling rate in Hz.
    records
        Record names, in upstream order; where ``record_count`` is larger, only some are listed.
    record_count
        Number of records upstream.
    annotator, beats_annotator
        Extension of the annotation file, and of the one that beat times come from.
    extensions
        Extensions of every file of a record.
    annotated
        For each kind of label, patterns of the records that carry it; a kind that is absent is
        looked up in the file itself.
    st_lead_base
        The digit by which an ST note names the first signal.
    excerpts
        Whether records are cut from longer ones, so an ST episode may lack its start or end.
    size_bytes
        About the size of the signal files upstream, where it is known.
    patients
        Pattern of record names to ``database/patient``, where groups of the pattern may be used;
        an excerpt has its parent's patient. A record that fits none is a patient by itself.
    supplementary
        For each task, the records that are supplementary instances of it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str
    version: str | None = None
    url: str | None = None
    doi: str | None = None
    citation: str
    licence: str
    about: str
    fs: float = Field(gt=0)
    records: tuple[str, ...]
    record_count: int = Field(gt=0)
    annotator: str = "atr"
    beats_annotator: str = "atr"
    extensions: tuple[str, ...]
    annotated: dict[Kind, tuple[str, ...]]
    st_lead_base: int = 0
    excerpts: bool = False
    size_bytes: int | None = None
    patients: dict[str, str] = {}
    supplementary: dict[str, tuple[str, ...]] = {}

    def annotates(self, kind: Kind, record: str) -> bool | None:
        """Tell whether ``record`` carries labels of this kind; None if only its file can say."""
        patterns = self.annotated.get(kind)
        if patterns is None:
            return None
        return any(fnmatchcase(record, pattern) for pattern in patterns)

    def patient(self, record: str) -> str:
        """Return the patient of ``record`` as ``database/patient``, unique over all databases."""
        for pattern, patient in self.patients.items():
            if match := re.fullmatch(pattern, record):
                return match.expand(patient)
        return f"{self.name}/{record}"


def _cards() -> dict[str, Card]:
    files = sorted((datasets_dir() / "cards").glob("*.yaml"))
    return {file.stem: _load(file) for file in files}


def get_card(name: str) -> Card | None:
    """Return the card of a database, or None for a folder that has none."""
    return CARDS.get(name)


def patient_of(database: str, record: str) -> str:
    """Return the patient of a record as ``database/patient``."""
    card = get_card(database)
    return card.patient(record) if card else f"{database}/{record}"


def locate(data: Path, database: str, record: str) -> tuple[Path, str]:
    """Return the folder and the bare name of a record, which may lie in subfolders.

    Parameters
    ----------
    data
        Data directory.
    database
        Folder in it.
    record
        Record name, with forward slashes where the database has subfolders (Icentia11k).

    Raises
    ------
    DataError
        If a part of the name could lead out of the data directory.
    """
    parts = [database, *record.split("/")]
    if len(parts) > MAX_PARTS:
        raise DataError(f"{record[:80]!r} lies under {len(parts)} folders, {MAX_PARTS} at most.")
    for part in parts:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}", part):
            raise DataError(f"{part[:80]!r} is not a name that a database or record may have.")
    folder = data.joinpath(*parts[:-1])
    if not folder.resolve().is_relative_to(data.joinpath(database).resolve()):
        raise DataError(f"{record!r} lies behind a link out of {database!r}; copy it in.")
    return folder, parts[-1]


def _load(file: Path) -> Card:
    try:
        return Card.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (yaml.YAMLError, ValidationError) as error:
        raise ConfigError(f"The database card {file.name} is malformed: {error}") from None


CARDS: dict[str, Card] = _cards()
"""Every card by database name, in alphabetical order."""
