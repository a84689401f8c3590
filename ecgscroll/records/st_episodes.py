"""Episodes of ST change out of annotation notes, as the European ST-T Database writes them.

``(ST0+`` opens an episode of rising ST in the first signal, ``AST0+150`` notes its extremum in
microvolts, ``ST0+)`` closes it. Notes of T waves and axis shifts look alike and are no ischemia.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

RHYTHM_END = ")"
_ST_NOTE = re.compile(r"(?P<open>\()?ST(?P<lead>\d)(?P<sign>[+-]+)(?P<close>\))?")
_ST_EXTREME = re.compile(r"AST(?P<lead>\d)(?P<sign>[+-])(?P<microvolts>\d{1,5})")


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


def is_st_note(note: str) -> bool:
    """Tell whether a note opens or closes an ST episode."""
    return _ST_NOTE.fullmatch(note) is not None


def is_rhythm_note(note: str) -> bool:
    """Tell whether a note at a change of rhythm names a rhythm, or ends one; ST notes do not."""
    return (note.startswith("(") and not is_st_note(note)) or note == RHYTHM_END


@dataclass
class _Episode:
    """An ST episode while its notes come in; ``stop`` is infinite until it is closed."""

    lead: int
    sign: str
    start: float
    known_from: float
    stop: float = math.inf
    extrema: list[tuple[float, float]] = field(default_factory=list)


def st_episodes(
    notes: list[tuple[float, str]], duration: float, lead_base: int
) -> tuple[StEpisode, ...]:
    """Pair openings and closings of each lead and sign.

    In an excerpt an episode may be under way at the start, which its extremum or its closing
    reveals, or unfinished at the end. A second opening changes nothing; a closing or extremum
    without opening is an episode under way only if it is the first note of its lead and sign.

    Parameters
    ----------
    notes
        (time in s, note) in order of time.
    duration
        Length of the recording in seconds.
    lead_base
        The digit by which a note names the first signal.

    Returns
    -------
    tuple of StEpisode
        By start, then lead.
    """
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
        for episode in _paired(notes)
        if episode.lead >= lead_base
    ]
    return tuple(sorted(found, key=lambda episode: (episode.start, episode.lead)))


def open_at(notes: list[tuple[float, str]]) -> list[str]:
    """Return the notes that open the episodes that these notes leave under way."""
    running = (episode for episode in _paired(notes) if episode.stop == math.inf)
    return [f"(ST{episode.lead}{episode.sign}" for episode in running]


def _paired(notes: list[tuple[float, str]]) -> list[_Episode]:
    episodes: list[_Episode] = []
    for time, note in notes:
        if match := _ST_EXTREME.fullmatch(note):
            _note_extremum(episodes, time, match)
        elif match := _ST_NOTE.fullmatch(note):
            _note_bound(episodes, time, match)
    return episodes


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
