"""Pauses: long R-R intervals between annotated beats, but for those that a lost beat made."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecgscroll.records.st_episodes import Span

MIN_PAUSE_S = 2.0
"""The customary limit (Holter reports; ltafdb's annotators noted ``PSE`` from it on)."""
MAX_PAUSE_S = 10.0
"""The longest R-R interval that an annotator here noted as a pause has 8.4 s. A longer one without
a note is taken for lost signal."""
_UNREADABLE = ("~", "!", "[", "]")  # change of signal quality; waves and bounds of flutter
_MISSED = ("M", "MB", "MISSB")  # notes of ltafdb and mitdb: a beat is missing here
_ROUNDING_S = 1e-6


def find_pauses(
    times: NDArray[np.float64],
    symbols: NDArray[np.str_],
    aux: NDArray[np.object_],
    is_beat: NDArray[np.bool_],
) -> tuple[Span, ...]:
    """Return the pauses, each from one beat to the next, known at the latter.

    Left out are intervals in which a beat may be hidden: within which the signal's quality changes,
    the ventricles flutter, or a note says that a beat is missing; and those over 10 s.

    Parameters
    ----------
    times, symbols, aux
        (n,) annotations in order: seconds, symbol, note.
    is_beat
        (n,) which of them are beats.
    """
    beats = times[is_beat]
    if len(beats) < 2:
        return ()
    noted = (symbols == '"') & np.isin(aux, _MISSED)
    doubts = times[np.isin(symbols, _UNREADABLE) | noted]
    length = np.diff(beats)
    doubted = doubts.searchsorted(beats[1:], "right") > doubts.searchsorted(beats[:-1], "left")
    long = (length >= MIN_PAUSE_S - _ROUNDING_S) & (length <= MAX_PAUSE_S)
    return tuple(
        Span("pause", float(beats[i]), float(beats[i + 1]), float(beats[i + 1]))
        for i in np.flatnonzero(long & ~doubted)
    )
