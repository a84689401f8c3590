"""Beats as a structure of arrays: what every tool, cue and classifier reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecgscroll.signals.rr import premature

Source = Literal["detected", "reference"]
Float = NDArray[np.float32]
Mark = NDArray[np.float16]
Flag = NDArray[np.bool_]

WIDE_QRS_MS = 120.0
"""A QRS complex of this duration or more is wide (AHA/ACCF/HRS 2009, Circulation 119:e235)."""
MARKS = ("p_on_ms", "p_off_ms", "qrs_on_ms", "qrs_off_ms", "t_peak_ms", "t_off_ms")
PER_LEAD = ("qrs_amp", "st_mv", "t_amp")


@dataclass(frozen=True)
class Beats:
    """``n`` beats on ``L`` ECG leads; NaN is a value that could not be measured.

    Parameters
    ----------
    source
        ``detected`` from the waveform, ``reference`` from annotation times alone.
    leads
        Names of the ``L`` ECG leads.
    time
        (n,) R peak, seconds from the record's start, increasing.
    qrs_ms, pr_ms, qt_ms
        (n,) QRS duration, P onset to QRS onset, QRS onset to T end, milliseconds.
    p_ms
        (n,) P peak against the R peak, milliseconds; negative.
    p_on_ms, p_off_ms, qrs_on_ms, qrs_off_ms, t_peak_ms, t_off_ms
        (n,) the other marks against the R peak, milliseconds, to half a millisecond.
    p_amp
        (n,) P wave against the PR baseline, millivolts, signed.
    p_present
        (n,) 1 with a P wave, 0 without, NaN where it cannot be judged.
    qrs_amp, st_mv, t_amp
        (n, L) peak-to-peak QRS, ST level at J+80 ms and T peak against the PR baseline, millivolts.
    ectopic
        (n,) the beat looks ventricular; on annotation times, the beat comes early.
    after_gap
        (n,) signal in which a beat could hide is missing between the previous beat and this one, or
        noise hides one in a long interval, so the R-R interval that ends here is unknown.
    """

    source: Source
    leads: tuple[str, ...]
    time: NDArray[np.float64]
    qrs_ms: Float
    pr_ms: Float
    p_ms: Float
    p_amp: Float
    p_present: Float
    qt_ms: Float
    p_on_ms: Mark
    p_off_ms: Mark
    qrs_on_ms: Mark
    qrs_off_ms: Mark
    t_peak_ms: Mark
    t_off_ms: Mark
    qrs_amp: Float
    st_mv: Float
    t_amp: Float
    ectopic: Flag
    after_gap: Flag

    def __len__(self) -> int:
        return len(self.time)

    @property
    def has_waveform(self) -> bool:
        """Whether waveform measurements were possible at all."""
        return self.source == "detected"

    def between(self, t0: float, t1: float) -> Beats:
        """Beats with ``t0 <= time < t1``."""
        start, stop = self.time.searchsorted((t0, t1)).tolist()
        return self.take(slice(start, stop))

    def take(self, index: slice | Flag | NDArray[np.intp]) -> Beats:
        """Beats at an index along the beat axis; they keep these alive."""
        return Beats.lazy(self.source, self.leads, lambda name: getattr(self, name)[index])

    def settled(self) -> Beats:
        """Make every array now, and let go of what they are made of."""
        arrays = {name: getattr(self, name) for name in ARRAYS}
        return Beats(self.source, self.leads, **arrays)

    @classmethod
    def lazy(
        cls, source: Source, leads: tuple[str, ...], make: Callable[[str], NDArray[Any]]
    ) -> Beats:
        """Beats whose arrays ``make`` makes by name, each when it is first asked for.

        A cue or a tool reads a few of the arrays, so cutting all costs more than it does.
        """
        beats = object.__new__(cls)
        beats.__dict__.update(source=source, leads=leads, _make=make)
        return beats

    def __getattr__(self, name: str) -> Any:
        make = self.__dict__.get("_make")
        if make is None or name not in ARRAYS:
            raise AttributeError(name)
        array = self.__dict__[name] = make(name)
        return array

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def empty(cls, leads: Sequence[str] = (), source: Source = "detected") -> Beats:
        """No beats."""
        return cls.from_times((), source=source, leads=leads)

    @classmethod
    def from_times(
        cls, times: ArrayLike, *, source: Source = "reference", leads: Sequence[str] = ()
    ) -> Beats:
        """Beats of which only the times are known, as in a recording without a waveform.

        Parameters
        ----------
        times
            (n,) seconds, in any order; equal ones count once.

        Notes
        -----
        The ectopy cue is then prematurity alone (:func:`ecgscroll.signals.rr.premature`). Pass a
        few beats before the window of interest and cut with :meth:`between`, so that its first
        beats have a past to be early against.
        """
        time = np.unique(np.asarray(times, dtype=np.float64))
        n = len(time)
        gap = np.zeros(n, dtype=bool)
        waveform = {name: np.full(n, np.nan, dtype=np.float32) for name in _WAVEFORM}
        lead_wise = {name: np.full((n, len(leads)), np.nan, dtype=np.float32) for name in PER_LEAD}
        marks = {name: np.full(n, np.nan, dtype=np.float16) for name in MARKS}
        values: dict[str, Any] = {**waveform, **marks, **lead_wise}
        early = premature(time, gap)
        return cls(source, tuple(leads), time, **values, ectopic=early, after_gap=gap)

    @classmethod
    def concatenate(cls, parts: Sequence[Beats]) -> Beats:
        """Join beats of consecutive spans; at least one part."""
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        return cls.lazy(
            first.source,
            first.leads,
            lambda name: np.concatenate([getattr(part, name) for part in parts]),
        )


ARRAYS = tuple(f.name for f in fields(Beats) if f.name not in ("source", "leads"))
"""Names of the arrays, in order."""
_WAVEFORM = ("qrs_ms", "pr_ms", "p_ms", "p_amp", "p_present", "qt_ms")


def lead_medians(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Median over beats of (n, L) values per lead; NaN for a lead that has none."""
    out = np.full(values.shape[1], np.nan)
    # Sorted, NaN comes last, so a lead's known values stand first: much faster than nanmedian.
    for lead, ordered in enumerate(np.sort(values.T, axis=1)):
        n = int(ordered.searchsorted(np.nan))
        if n:
            out[lead] = (float(ordered[(n - 1) // 2]) + float(ordered[n // 2])) / 2
    return out
