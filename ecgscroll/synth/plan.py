"""What happens in a synthetic recording, beat by beat: the exact truth behind its annotations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecgscroll.synth import ectopy, ischemia, noise
from ecgscroll.synth.config import SynthConfig
from ecgscroll.synth.morphology import qt_intervals
from ecgscroll.synth.rhythm import FIBRILLATION, VENTRICULAR

# The European ST-T rule: a deviation shorter than this is no episode.
_LEAST_ST_S = 30.0
_EVENT_LABELS = {"run": "(VT", "bigeminy": "(B"}


@dataclass(frozen=True)
class StEpisode:
    """An annotated ST episode in one lead.

    Parameters
    ----------
    lead
        Lead index.
    start, peak, stop
        Samples of the first beat at or above 0.1 mV, of the extremum, of the first beat below again
        (the last sample where the recording ends first).
    peak_mv
        Signed deviation of the beat at ``peak``, mV.
    """

    lead: int
    start: int
    peak: int
    stop: int
    peak_mv: float


@dataclass(frozen=True)
class Plan:
    """What happens in a recording; positions are samples.

    Parameters
    ----------
    sample
        R peaks, ascending, shape (n_beats,).
    kind
        0 sinus, 1 conducted in AF, 2 ventricular, per beat.
    qt_s
        QT per beat, s.
    st_mv
        ST deviation per beat and lead, mV, 0 on ventricular beats.
    rhythm
        (sample, label) of every rhythm change, the first at 0; each change lies on a beat.
    af
        Intervals [start, stop) in AF: rhythm change to rhythm change.
    st
        ST episodes in order of time.
    pauses
        (beat before, beat after) of each sinus pause.
    lead_off
        Stretches without contact.
    """

    sample: NDArray[np.int64]
    kind: NDArray[np.int8]
    qt_s: NDArray[np.float64]
    st_mv: NDArray[np.float32]
    rhythm: tuple[tuple[int, str], ...]
    af: tuple[tuple[int, int], ...]
    st: tuple[StEpisode, ...]
    pauses: tuple[tuple[int, int], ...]
    lead_off: tuple[noise.LeadOff, ...]


def make_plan(
    config: SynthConfig,
    beats: ectopy.Beats,
    events: list[ischemia.StEvent],
    lead_off: tuple[noise.LeadOff, ...],
) -> Plan:
    """Move what was drawn in seconds to samples and beats."""
    sample = np.minimum(np.round(beats.time * config.fs).astype(np.int64), config.n_samples - 1)
    rr = np.diff(beats.time, prepend=2 * beats.time[0] - beats.time[1])
    st = ischemia.deviation(events, beats.time, len(config.leads)).astype(np.float32)
    st[beats.kind == VENTRICULAR] = 0.0
    changes = _rhythm_changes(config, beats, sample)
    edges = [*(start for start, _ in changes[1:]), config.n_samples]
    af = tuple(
        (start, edge)
        for (start, label), edge in zip(changes, edges, strict=True)
        if label == "(AFIB"
    )
    pauses = tuple(
        (round(start * config.fs), round(stop * config.fs))
        for kind, start, stop in beats.events
        if kind == "pause"
    )
    return Plan(
        sample,
        beats.kind,
        qt_intervals(rr, config.qtc_ms),
        st,
        changes,
        af,
        _st_episodes(config, events, beats, sample, st),
        pauses,
        lead_off,
    )


def _rhythm_changes(
    config: SynthConfig, beats: ectopy.Beats, sample: NDArray[np.int64]
) -> tuple[tuple[int, str], ...]:
    label = np.where(beats.kind == FIBRILLATION, "(AFIB", "(N")
    # A ventricular beat belongs to the rhythm of the conducted beat before it.
    conducted = np.where(beats.kind == VENTRICULAR, 0, np.arange(label.size))
    label = label[np.maximum.accumulate(conducted)]
    for kind, start, stop in beats.events:
        if kind in _EVENT_LABELS:
            inside = slice(*np.searchsorted(beats.time, [start, stop]))
            label[inside] = _EVENT_LABELS[kind]
    first = np.flatnonzero(label[1:] != label[:-1]) + 1
    return (
        (0, str(label[0])),
        *((int(sample[beat]), str(label[beat])) for beat in first),
    )


def _st_episodes(
    config: SynthConfig,
    events: list[ischemia.StEvent],
    beats: ectopy.Beats,
    sample: NDArray[np.int64],
    st: NDArray[np.float32],
) -> tuple[StEpisode, ...]:
    conducted = np.flatnonzero(beats.kind != VENTRICULAR)
    episodes = []
    for event in events:
        within = slice(*np.searchsorted(beats.time[conducted], [event.start, event.stop]))
        for lead in range(st.shape[1]):
            beat = conducted[within]
            beat = beat[np.abs(st[beat, lead]) >= ischemia.THRESHOLD_MV]
            if beat.size == 0 or np.ptp(beats.time[beat]) < _LEAST_ST_S:
                continue
            peak = beat[np.argmax(np.abs(st[beat, lead]))]
            after = conducted[np.searchsorted(conducted, beat[-1]) + 1 :]
            stop = int(sample[after[0]]) if after.size else config.n_samples - 1
            episodes.append(
                StEpisode(
                    lead, int(sample[beat[0]]), int(sample[peak]), stop, float(st[peak, lead])
                )
            )
    return tuple(episodes)
