"""Opened recordings, shared: every environment of a process on one recording uses one `Source`."""

from __future__ import annotations

import glob
import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import get_args

from ecgscroll.catalogue.spans import Span
from ecgscroll.causal.labels import Labels
from ecgscroll.files import cache_dir
from ecgscroll.records.databases import Card, Kind, get_card
from ecgscroll.records.recording import Recording
from ecgscroll.records.reference import Reference, load_reference
from ecgscroll.signals.cache import CacheFile, made_with
from ecgscroll.signals.store import PIECES, BlockScheme, FeatureStore

MAX_OPEN = 8
AF_LABELS = ("AFIB", "AFL")

_Key = tuple[str, str, str, tuple[str, ...], Span | None, tuple[tuple[str, int, int], ...]]
_open: OrderedDict[_Key, Source] = OrderedDict()
_lock = Lock()


@dataclass(frozen=True, eq=False)
class Source:
    """A recording, its annotations and the features computed of it so far.

    Parameters
    ----------
    recording
        Samples by window.
    card
        What is known of its database; None for a folder without a card.
    reference
        What the annotations say of the whole recording; None without annotations.
    labels
        The same, indexed by time.
    features
        Beats by block, each computed once for all environments.
    af_labels
        Rhythm notes that count as AF.
    """

    recording: Recording
    card: Card | None
    reference: Reference | None
    labels: Labels
    features: FeatureStore
    af_labels: tuple[str, ...]

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as the files' place: a copy opens them anew, or shares what its process has."""
        of = self.recording
        return open_source, (of.folder, of.name, of.database, self.af_labels, of.span)


def open_source(
    folder: Path,
    name: str,
    database: str,
    af_labels: tuple[str, ...] = AF_LABELS,
    span: Span | None = None,
) -> Source:
    """Open a recording or a span of it, or return the open one of the same files.

    Parameters
    ----------
    folder, name
        Where the record's header lies, and its name.
    database
        Name of its database, for the card.
    af_labels
        Rhythm notes that count as AF.
    span
        Its bounds in whole seconds; None for the whole recording.

    Raises
    ------
    DataError
        If the record cannot be opened, or ends before the span.
    """
    key = (str(folder.resolve()), name, database, af_labels, span, _fingerprint(folder, name))
    with _lock:
        if key in _open:
            _open.move_to_end(key)
            return _open[key]
    source = _open_anew(Recording.open(folder, name, database).part(span), af_labels)
    with _lock:
        source = _open.setdefault(key, source)
        while len(_open) > MAX_OPEN:
            _open.popitem(last=False)
    return source


def _open_anew(recording: Recording, af_labels: tuple[str, ...]) -> Source:
    card = get_card(recording.database)
    reference = load_reference(recording, card, af_labels)
    ecg = tuple(recording.leads[i] for i in recording.ecg)
    kinds: tuple[Kind, ...] = get_args(Kind)
    annotated = {kind: card.annotates(kind, recording.name) if card else None for kind in kinds}
    labels = Labels(reference, ecg, annotated)
    features = FeatureStore(cache=beats_file(recording))
    return Source(recording, card, reference, labels, features, af_labels)


def beats_file(recording: Recording) -> CacheFile | None:
    """Return the recording's file of beats, whose key is all that they depend on but samples.

    The file's name also holds the record's, so that recordings of one device share no file.
    """
    if not recording.has_signal:
        return None
    facts = f"{recording.facts} {BlockScheme()} {PIECES}"
    try:
        key = hashlib.sha256(made_with() + facts.encode()).digest()
        named = hashlib.sha256(key + f"{recording.database}/{recording.name}".encode()).hexdigest()
        return CacheFile(cache_dir() / "beats" / f"{named[:32]}.beats", key)
    except (OSError, RuntimeError):
        return None


def _fingerprint(folder: Path, name: str) -> tuple[tuple[str, int, int], ...]:
    """Names, sizes and times of the record's files: a changed file is another recording.

    Contents are not hashed: a hash of the whole file would make a start-up check of the future.
    """
    found = []
    for path in sorted(folder.glob(f"{glob.escape(name)}*")):
        status = path.stat()
        found.append((path.name, status.st_size, status.st_mtime_ns))
    return tuple(found)
