"""What the page holds of one recording: beats, an envelope, and full samples near the moments.

All of it fits into a number of bytes; what does not is left out, the least telling first, and the
page says so where samples are missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecgscroll.causal.sources import Source
from ecgscroll.causal.stream import Stream
from ecgscroll.report.envelope import (
    BAND_MV,
    BUCKETS_S,
    SAMPLE_MV,
    Band,
    coarser,
    envelope,
    quantised,
)
from ecgscroll.report.moments import Window, windows
from ecgscroll.report.pack import Pack
from ecgscroll.signals.beats import MARKS, Beats

MAX_LEADS = 2
LEAST_BYTES = 4000
"""Of a recording; under it nothing of it is worth embedding."""
_BEATS_SHARE = 0.4
_ENVELOPE_SHARE = 0.35
_HALVES_S = (120.0, 60.0, 30.0, 15.0, 10.0, 6.0)
_TRIES = 4
_BAND_BUCKETS = 2000
_NO_TIME = -32768

Value = dict[str, Any]


def pack_recording(source: Source, times: Sequence[float], share: int) -> str | None:
    """Return a recording's pack, at most ``share`` characters long.

    Parameters
    ----------
    source
        The recording with its annotations.
    times
        Moments in seconds, the most telling first.
    share
        Greatest length of the pack.

    Returns
    -------
    str or None
        None where not even its beats fit.
    """
    if share < LEAST_BYTES:
        return None
    ground = _Ground(source, share)
    rest = share - len(ground.close([]))
    wanted = ground.affordable(times, rest)
    for _ in range(_TRIES):
        chosen = ground.choose(times, wanted)
        text = ground.close(chosen)
        if len(text) <= share:
            return text
        wanted *= 0.9 * max(0.0, rest) / max(1, len(text) - share + rest)
    text = ground.close([])
    return text if len(text) <= share else None


class _Ground:
    """What is embedded of a recording whichever windows are chosen."""

    def __init__(self, source: Source, share: int) -> None:
        self.source = source
        self.recording = source.recording
        self.stream = Stream(source)
        self.stream.advance(self.recording.duration)
        self.leads = self.recording.ecg[:MAX_LEADS] if self.recording.has_signal else ()
        self.beats, self.symbols, self.kind = _beats(source, self.stream)
        self.whole_beats = len(self._trial_beats()) <= _BEATS_SHARE * share
        self.band = self._band(_ENVELOPE_SHARE * share) if self.leads else None

    def affordable(self, times: Sequence[float], rest: int) -> float:
        """Seconds of full samples that so many characters hold, by those at the first moment."""
        if not self.leads:
            return 0.0
        total = self.recording.duration
        start = min(max(0.0, times[0] - 15.0), max(0.0, total - 30.0))
        trial = (start, min(total, start + 30.0))
        cost = len(self.close([trial])) - len(self.close([]))
        return max(0.0, rest) * (trial[1] - trial[0]) / max(1, cost)

    def choose(self, times: Sequence[float], seconds: float) -> list[Window]:
        """Windows of so many seconds in all: everything, or as wide as all moments allow."""
        total = self.recording.duration
        if not self.leads or seconds <= 0:
            return []
        if seconds >= total:
            return [(0.0, total)]
        for half in _HALVES_S:
            found = windows(times, half, total)
            if _length(found) <= seconds:
                return found
        low, high = 0, len(times)  # as many moments, from the first on, as fit
        while low < high:
            middle = (low + high + 1) // 2
            fits = _length(windows(times[:middle], _HALVES_S[-1], total)) <= seconds
            low, high = (middle, high) if fits else (low, middle - 1)
        return windows(times[:low], _HALVES_S[-1], total)

    def close(self, chosen: Sequence[Window]) -> str:
        """Return the pack with these windows."""
        pack = Pack()
        recording = self.recording
        value: Value = {
            "fs": recording.fs,
            "duration": recording.duration,
            "leads": [recording.leads[lead] for lead in self.leads],
            "others": len(recording.leads) - len(self.leads) if recording.has_signal else 0,
            "has_signal": recording.has_signal,
            "sample_mv": SAMPLE_MV,
            "band_mv": BAND_MV,
            "rhythm": self._rhythm(),
            "beats": self._pack_beats(pack, chosen),
            "envelope": None if self.band is None else _pack_band(pack, *self.band),
            "windows": [self._pack_window(pack, *window) for window in chosen],
        }
        return pack.close(value)

    def _rhythm(self) -> list[tuple[str, float, float]]:
        reference = self.source.reference
        spans = reference.rhythm if reference else ()
        return [(span.label, round(span.start, 3), round(span.stop, 3)) for span in spans]

    def _trial_beats(self) -> str:
        pack = Pack()
        return pack.close(_pack_beats(pack, self.beats, self.symbols, self.recording.fs))

    def _pack_beats(self, pack: Pack, chosen: Sequence[Window]) -> Value:
        """All beats, or the bands of their R-R intervals with the beats in the windows alone."""
        kept = np.ones(len(self.beats), dtype=bool)
        value: Value = {"source": self.kind, "whole": self.whole_beats}
        if not self.whole_beats:
            value["band"] = _pack_rr_band(pack, self.beats, self.recording.duration)
            kept = _inside(self.beats, chosen)
        symbols = None if self.symbols is None else self.symbols[kept]
        return value | _pack_beats(pack, self.beats[kept], symbols, self.recording.fs)

    def _band(self, allowance: float) -> tuple[Band, Band, float]:
        """Return the finest envelope that the allowance holds, or the coarsest there is."""
        duration, leads = self.recording.duration, len(self.leads)
        steps = [s for s in BUCKETS_S if duration / s * leads <= 2.0 * allowance] or [BUCKETS_S[-1]]
        low, high, bucket = finest = envelope(self.recording, self.leads, steps[0])
        for step in steps:
            times = max(1, round(step / bucket))
            finest = (*coarser(low, high, times), bucket * times)
            pack = Pack()
            if len(pack.close(_pack_band(pack, *finest))) <= allowance:
                break
        return finest

    def _pack_window(self, pack: Pack, start: float, stop: float) -> Value:
        recording = self.recording
        first = round(start * recording.fs)
        last = min(round(stop * recording.fs), recording.n_samples)
        signal = recording.read(first, last)[list(self.leads)]
        lead_wise = [pack.add(quantised(lead, SAMPLE_MV, 16), "i2") for lead in signal]
        found = self.stream.beats(start, stop, "waves")
        return {
            "start": first,
            "n": last - first,
            "leads": lead_wise,
            "marks": _pack_marks(pack, found, recording.fs),
        }


def _beats(
    source: Source, stream: Stream
) -> tuple[NDArray[np.float64], NDArray[np.str_] | None, str]:
    """Times (s) and symbols of the annotated beats; without any, of those that are detected."""
    reference = source.reference
    if reference is not None and reference.has_beats:
        return reference.beat_times, reference.beat_symbols, "reference"
    found = stream.beats(0.0, stream.total, "times")
    return found.time, None, found.source


def _pack_beats(
    pack: Pack, times: NDArray[np.float64], symbols: NDArray[np.str_] | None, fs: float
) -> Value:
    codes = None if symbols is None else pack.add([ord(symbol) for symbol in symbols], "i1")
    return {"times": pack.add(np.rint(times * fs), "i4"), "symbols": codes}


def _pack_marks(pack: Pack, beats: Beats, fs: float) -> Value:
    """R peaks in samples, the other marks in ms against them, and what looks ventricular."""
    values: Mapping[str, NDArray[Any]] = {name: getattr(beats, name) for name in MARKS}
    held = {
        name: np.where(np.isfinite(mark), np.nan_to_num(mark), _NO_TIME)
        for name, mark in values.items()
    }
    return {
        "r": pack.add(np.rint(beats.time * fs), "i4"),
        "ectopic": pack.add(beats.ectopic, "i1"),
        **{name: pack.add(np.rint(mark.astype(np.float64)), "i2") for name, mark in held.items()},
    }


def _pack_band(pack: Pack, low: Band, high: Band, bucket_s: float) -> Value:
    return {
        "bucket_s": bucket_s,
        "low": [pack.add(quantised(lead, BAND_MV, 8), "i1") for lead in low],
        "high": [pack.add(quantised(lead, BAND_MV, 8), "i1") for lead in high],
    }


def _pack_rr_band(pack: Pack, times: NDArray[np.float64], total: float) -> Value:
    """Least and greatest R-R interval (ms) in equal stretches; -1 where none ends."""
    rr = np.diff(times) * 1000
    bucket = np.minimum((times[1:] / total * _BAND_BUCKETS).astype(int), _BAND_BUCKETS - 1)
    low = np.full(_BAND_BUCKETS, np.inf)
    high = np.full(_BAND_BUCKETS, -1.0)
    np.minimum.at(low, bucket, rr)
    np.maximum.at(high, bucket, rr)
    low = np.where(np.isfinite(low), low, -1.0)
    held = {"low": low, "high": high}
    return {"bucket_s": total / _BAND_BUCKETS} | {
        name: pack.add(np.rint(np.minimum(band, 32767)), "i2") for name, band in held.items()
    }


def _inside(times: NDArray[np.float64], chosen: Sequence[Window]) -> NDArray[np.bool_]:
    kept = np.zeros(len(times), dtype=bool)
    for start, stop in chosen:
        kept |= (times >= start) & (times < stop)
    return kept


def _length(chosen: Sequence[Window]) -> float:
    return sum(stop - start for start, stop in chosen)
