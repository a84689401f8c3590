"""What the annotations of one recording say, in seconds: beats, rhythms, AF and ST episodes.

Everything is built so that it can be clipped at a cursor: the part of a span before time k is the
one that annotations before k give, once ``known_from`` has passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ecgscroll.records.annotations import Annotations, read_annotations
from ecgscroll.records.databases import Card, Kind
from ecgscroll.records.excerpts import excerpt
from ecgscroll.records.pauses import find_pauses
from ecgscroll.records.recording import Recording
from ecgscroll.records.st_episodes import (
    RHYTHM_END,
    Span,
    StEpisode,
    is_rhythm_note,
    st_episodes,
)

__all__ = ["AF_LABELS", "Reference", "Span", "StEpisode", "build_reference", "load_reference"]

BEAT_SYMBOLS = frozenset("NLRBAaJSVrFejnE/fQ?")
PVC_SYMBOLS = frozenset("VE")
AF_LABELS = ("AFIB", "AFL")


@dataclass(frozen=True)
class Reference:
    """Reference labels of one recording; times in seconds from its start.

    Attributes
    ----------
    beat_times, beat_symbols
        Beats only, float64 and str, shape (n,); symbols are None where beats carry no type.
    rhythm
        Every rhythm note to the next one or the end.
    af
        Atrial fibrillation or flutter, touching spans merged.
    st
        ST episodes of each lead, by start.
    has_beats, has_beat_labels, has_rhythm, has_st
        What was annotated at all: no AF where nobody looked is not an absence of AF.
    beats_end
        Time after which beat times say nothing.
    pauses
        Long R-R intervals, by end; none where beats are no annotator's.
    """

    beat_times: NDArray[np.float64]
    beat_symbols: NDArray[np.str_] | None
    rhythm: tuple[Span, ...]
    af: tuple[Span, ...]
    st: tuple[StEpisode, ...]
    has_beats: bool
    has_beat_labels: bool
    has_rhythm: bool
    has_st: bool
    beats_end: float
    pauses: tuple[Span, ...] = ()

    def pvc_times(self) -> NDArray[np.float64]:
        """Return the times of ventricular ectopic beats (V and E), in seconds."""
        if self.beat_symbols is None:
            return np.empty(0)
        return self.beat_times[np.isin(self.beat_symbols, sorted(PVC_SYMBOLS))]


def load_reference(
    recording: Recording, card: Card | None, af_labels: Sequence[str] = AF_LABELS
) -> Reference | None:
    """Read the reference annotations of a recording.

    Parameters
    ----------
    recording
        Which one.
    card
        Its database's card, if it has one.
    af_labels
        Rhythms that count as AF.

    Returns
    -------
    Reference or None
        None if the recording has no annotation file.

    Raises
    ------
    DataError
        If an annotation file is damaged.
    """
    main = card.annotator if card else "atr"
    beats = card.beats_annotator if card else "atr"
    kinds = {kind: card.annotates(kind, recording.name) if card else None for kind in _KINDS}
    stamps = tuple(_stamp(recording.folder / f"{recording.name}.{ext}") for ext in (main, beats))
    if stamps[0] is None:
        return None
    return _load(
        recording,
        main,
        beats if stamps[1] else None,
        card.st_lead_base if card else 0,
        tuple(kinds.values()),
        tuple(af_labels),
        stamps,
    )


_KINDS: tuple[Kind, ...] = ("beats", "beat_labels", "rhythm", "st")


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return what changes when a file does."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=16)
def _load(
    recording: Recording,
    main: str,
    beats: str | None,
    st_lead_base: int,
    kinds: tuple[bool | None, ...],
    af_labels: tuple[str, ...],
    _stamps: tuple[tuple[int, int] | None, ...],
) -> Reference:
    notes = _notes(recording, main, _stamps[0])
    own_beats = None
    if beats is not None and beats != main:
        own_beats = _notes(recording, beats, _stamps[1])
    annotated = dict(zip(_KINDS, kinds, strict=True))
    return build_reference(notes, own_beats, recording.duration, st_lead_base, annotated, af_labels)


def _notes(recording: Recording, extension: str, stamp: tuple[int, int] | None) -> Annotations:
    """Return the annotations of a recording; of a part, those that lie in it."""
    notes = _file(recording.folder, recording.name, extension, recording.fs, stamp)
    if recording.span is None:
        return notes
    start = recording.first / recording.fs
    return excerpt(notes, start, start + recording.duration)


@lru_cache(maxsize=8)
def _file(
    folder: Path, name: str, extension: str, fs: float, _stamp: tuple[int, int] | None
) -> Annotations:
    """Keep files read: many parts of one recording are opened one after another."""
    return read_annotations(folder, name, extension, fs)


def build_reference(
    notes: Annotations,
    own_beats: Annotations | None,
    duration: float,
    st_lead_base: int = 0,
    annotated: Mapping[Kind, bool | None] | None = None,
    af_labels: Sequence[str] = AF_LABELS,
) -> Reference:
    """Turn annotations into labels in seconds.

    Parameters
    ----------
    notes
        The main annotation file.
    own_beats
        The file that beat times come from, if it is another one; it gives no beat types.
    duration
        Length of the recording in seconds; what is noted at or after it is dropped.
    st_lead_base
        The digit by which an ST note names the first signal.
    annotated
        What the database annotates; a kind that is absent or None counts as annotated if the
        file holds a note of it.
    af_labels
        Rhythms that count as AF.
    """
    order, times = _valid(notes, duration)
    symbols, aux = notes.symbol[order], notes.aux[order]
    rhythm = _rhythms(_rhythm_notes(times, symbols, aux), duration)
    st = st_episodes(_aux_notes(times, aux), duration, st_lead_base)
    is_beat = np.isin(symbols, sorted(BEAT_SYMBOLS))
    beat_times, beat_symbols = times[is_beat], symbols[is_beat]
    beats_end = duration
    if own_beats is not None:
        chosen, all_times = _valid(own_beats, duration)
        beat_times = all_times[np.isin(own_beats.symbol[chosen], sorted(BEAT_SYMBOLS))]
        beats_end = float(beat_times[-1]) if len(beat_times) else 0.0
    found: dict[Kind, bool] = {
        "beats": len(beat_times) > 0,
        "beat_labels": own_beats is None and len(beat_times) > 0,
        "rhythm": bool(rhythm),
        "st": bool(st),
    }
    has = {kind: _known((annotated or {}).get(kind), held) for kind, held in found.items()}
    return Reference(
        beat_times=beat_times,
        beat_symbols=beat_symbols if own_beats is None else None,
        rhythm=rhythm,
        af=_merged(span for span in rhythm if span.label in af_labels),
        st=st,
        has_beats=has["beats"],
        has_beat_labels=has["beat_labels"],
        has_rhythm=has["rhythm"],
        has_st=has["st"],
        beats_end=beats_end,
        pauses=find_pauses(times, symbols, aux, is_beat) if own_beats is None else (),
    )


def _known(annotated: bool | None, held: bool) -> bool:
    return held if annotated is None else annotated


def _valid(notes: Annotations, duration: float) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the order and times of the annotations within the recording."""
    order = np.argsort(notes.sample, kind="stable")
    times = notes.seconds[order]
    keep = (times >= 0) & (times < duration)
    return order[keep], times[keep]


def _aux_notes(times: NDArray[np.float64], aux: NDArray[np.object_]) -> list[tuple[float, str]]:
    held = np.flatnonzero(aux != "")
    return [(float(times[i]), str(aux[i])) for i in held]


def _rhythm_notes(
    times: NDArray[np.float64], symbols: NDArray[np.str_], aux: NDArray[np.object_]
) -> list[tuple[float, str]]:
    """Return changes of rhythm; other notes (MISSB, PSE, Aux) and ST notes are no rhythm."""
    held = np.flatnonzero(symbols == "+")
    notes = [(float(times[i]), str(aux[i])) for i in held]
    return [(time, note.removeprefix("(")) for time, note in notes if is_rhythm_note(note)]


def _rhythms(changes: list[tuple[float, str]], duration: float) -> tuple[Span, ...]:
    ends = [time for time, _ in changes[1:]] + [duration]
    return tuple(
        Span(label, start, stop, start)
        for (start, label), stop in zip(changes, ends, strict=False)
        if label != RHYTHM_END and stop > start
    )


def _merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Join AF spans that touch."""
    out: list[Span] = []
    for span in spans:
        if out and span.start <= out[-1].stop:
            out[-1] = replace(out[-1], stop=span.stop)
        else:
            out.append(replace(span, label="AF"))
    return tuple(out)
