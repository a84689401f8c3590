"""What the annotations of one recording say, in seconds: beats, rhythms, AF and ST episodes.

Everything is built so that it can be clipped at a cursor: the part of a span before time k is the
one that annotations before k give, once ``known_from`` has passed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ecgscroll.annotations import Annotations, read_annotations
from ecgscroll.databases import Card, Kind
from ecgscroll.recording import Recording

BEAT_SYMBOLS = frozenset("NLRBAaJSVrFejnE/fQ?")
PVC_SYMBOLS = frozenset("VE")
AF_LABELS = ("AFIB", "AFL")
_ST_NOTE = re.compile(r"(?P<open>\()?ST(?P<lead>\d)(?P<sign>[+-]+)(?P<close>\))?")
_ST_EXTREME = re.compile(r"AST(?P<lead>\d)(?P<sign>[+-])(?P<microvolts>\d{1,5})")
_RHYTHM_END = ")"


@dataclass(frozen=True)
class Span:
    """A labelled interval [start, stop) in seconds, revealed by the stream at ``known_from``."""

    label: str
    start: float
    stop: float
    known_from: float


@dataclass(frozen=True)
class StEpisode(Span):
    """An ischemic ST episode of one lead.

    Attributes
    ----------
    lead
        Channel index, from 0.
    extrema
        (time in s, signed deviation in mV) of each extremum that was noted.
    matched
        Whether both its opening and its closing were noted.
    """

    lead: int
    extrema: tuple[tuple[float, float], ...]
    matched: bool

    @property
    def peak_time(self) -> float | None:
        """Time of the largest noted deviation, in seconds."""
        return max(self.extrema, key=_magnitude)[0] if self.extrema else None

    @property
    def peak_mv(self) -> float | None:
        """The largest noted deviation, signed, in millivolts."""
        return max(self.extrema, key=_magnitude)[1] if self.extrema else None


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
    notes = read_annotations(recording.folder, recording.name, main, recording.fs)
    own_beats = None
    if beats is not None and beats != main:
        own_beats = read_annotations(recording.folder, recording.name, beats, recording.fs)
    annotated = dict(zip(_KINDS, kinds, strict=True))
    return build_reference(notes, own_beats, recording.duration, st_lead_base, annotated, af_labels)


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
    st = _st_episodes(_aux_notes(times, aux), duration, st_lead_base)
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
    return [
        (time, note.removeprefix("("))
        for time, note in notes
        if (note.startswith("(") and not _ST_NOTE.fullmatch(note)) or note == _RHYTHM_END
    ]


def _rhythms(changes: list[tuple[float, str]], duration: float) -> tuple[Span, ...]:
    ends = [time for time, _ in changes[1:]] + [duration]
    return tuple(
        Span(label, start, stop, start)
        for (start, label), stop in zip(changes, ends, strict=False)
        if label != _RHYTHM_END and stop > start
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


@dataclass
class _Episode:
    """An ST episode while its notes come in; ``stop`` is infinite until it is closed."""

    lead: int
    sign: str
    start: float
    known_from: float
    stop: float = math.inf
    extrema: list[tuple[float, float]] = field(default_factory=list)


def _st_episodes(
    notes: list[tuple[float, str]], duration: float, lead_base: int
) -> tuple[StEpisode, ...]:
    """Pair openings and closings of each lead and sign.

    In an excerpt an episode may be under way at the start, which its extremum or its closing
    reveals, or unfinished at the end. A second opening changes nothing; a closing or extremum
    without opening is an episode under way only if it is the first note of its lead and sign.
    """
    episodes: list[_Episode] = []
    for time, note in notes:
        if match := _ST_EXTREME.fullmatch(note):
            _note_extremum(episodes, time, match)
        elif match := _ST_NOTE.fullmatch(note):
            _note_bound(episodes, time, match)
    found = [
        StEpisode(
            label="ST",
            start=episode.start,
            stop=min(episode.stop, duration),
            known_from=episode.known_from,
            lead=episode.lead - lead_base,
            extrema=tuple(episode.extrema),
            matched=episode.start == episode.known_from and episode.stop < math.inf,
        )
        for episode in episodes
        if episode.lead >= lead_base
    ]
    return tuple(sorted(found, key=lambda episode: (episode.start, episode.lead)))


def _note_extremum(episodes: list[_Episode], time: float, match: re.Match[str]) -> None:
    """Give an extremum to the running episodes of its lead and direction."""
    lead, sign = int(match["lead"]), match["sign"]
    known = [one for one in episodes if one.lead == lead and one.sign[0] == sign]
    if not known:
        known = [_Episode(lead, sign, 0.0, time)]
        episodes += known
    millivolts = int(sign + match["microvolts"]) / 1000
    for episode in known:
        if episode.stop == math.inf:
            episode.extrema.append((time, millivolts))


def _note_bound(episodes: list[_Episode], time: float, match: re.Match[str]) -> None:
    """Open or close an episode."""
    lead, sign = int(match["lead"]), match["sign"]
    known = [one for one in episodes if one.lead == lead and one.sign == sign]
    running = bool(known) and known[-1].stop == math.inf
    opens = match["open"] is not None
    if opens and match["close"] is None and not running:
        episodes.append(_Episode(lead, sign, time, time))
    elif not opens and match["close"] is not None and running:
        known[-1].stop = time
    elif not opens and match["close"] is not None and not known:
        episodes.append(_Episode(lead, sign, 0.0, time, stop=time))


def _magnitude(extreme: tuple[float, float]) -> float:
    return abs(extreme[1])
