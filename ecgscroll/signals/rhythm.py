"""Atrial fibrillation, interval by interval: how R-R intervals repeat, then P waves.

A network of one hidden layer reads how the R-R intervals around each beat repeat
(:mod:`ecgscroll.signals.irregularity`): up to 60 s back and 30 s ahead, and less ahead where the
cursor is nearer. Its weights were fitted on the training patients of ltafdb and mitdb and on
made-up ectopy (``benchmarks/fit_rhythm.py``). What is regular, or repeats a pattern, is no
fibrillation whatever the network says of rates that it seldom saw (an escape rhythm of 40 per
minute), unless the rate is one of flutter. The logit makes episodes by hysteresis, whose thresholds
were chosen on ltafdb's training patients for episodes and intervals together. Where
there is a waveform, two more things must agree: the intervals between beats that are not
ventricular are irregular too, and not nearly every beat around has a P wave
(:mod:`ecgscroll.signals.waves`), a share chosen on mitdb DS1.

Known failures: flutter with fixed conduction is regular and mostly missed, and another tachycardia
of 100 to 170 per minute without P waves may be called by what is not; fibrillation whose intervals
fall into two tight groups (afdb 04936) looks like ectopy; very frequent atrial ectopy (ltafdb 103)
looks like fibrillation; episodes under ten beats are blurred or missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ecgscroll.signals import rhythm_weights, rr
from ecgscroll.signals.beats import Beats
from ecgscroll.signals.irregularity import AHEAD_S, LAGS, N_FEATURES, feature_blocks, spans
from ecgscroll.signals.threads import one_thread

Float = NDArray[np.float64]
Flag = NDArray[np.bool_]

ENTER, LEAVE, UNDECIDED = 0.5, -2.0, -0.75
"""Logits at which fibrillation begins and ends, and what parts them with nothing to go by."""
HOLD_S = 60.0
"""For how long a verdict holds between the thresholds."""
MIN_INTERVALS = 8
MAX_P_SHARE, MIN_P_JUDGED = 0.8, 0.2
MAX_REGULAR, SAME, SAME_MS = 0.75, 0.03, 10.0
"""Share of the 41 intervals around that may equal the one before them at a lag of 1 to 8, to 3 % or
10 ms (one tick of a clock of 128 Hz is 8). 0.14 % of the fibrillation of ltafdb's and mitdb's
training patients has more, against 59 % of their other intervals."""
FLUTTER_MS = (350.0, 600.0)
"""Mean interval between which the network is believed of a regular rhythm too: two thirds of what
it then calls is annotated on the training patients, some of whom have flutter."""
STALE_S = 20.0
"""Age at which the verdict on the last interval between normal beats says nothing any more."""
_AROUND = (-20, 20)


@dataclass(frozen=True)
class Rhythm:
    """R-R intervals [start, stop) in seconds, (m,), and whether each is fibrillation."""

    start: Float
    stop: Float
    af: Flag

    def seconds(self, t0: float, t1: float) -> tuple[float, float]:
        """Seconds of [t0, t1) that are fibrillation, and that could be judged."""
        length = np.minimum(self.stop, t1) - np.maximum(self.start, t0)
        length = np.maximum(length, 0.0)
        return float(length[self.af].sum()), float(length.sum())

    def episodes(self) -> list[tuple[float, float]]:
        """Runs of fibrillation, (onset, offset) in seconds; a gap in the signal ends none."""
        edges = np.flatnonzero(np.diff(np.concatenate([[False], self.af, [False]]).astype(np.int8)))
        return [
            (float(self.start[i]), float(self.stop[j - 1]))
            for i, j in edges.reshape(-1, 2).tolist()
        ]


@one_thread
def judge(beats: Beats, ahead_s: float = AHEAD_S) -> Rhythm | None:
    """Judge every R-R interval of ``beats``; ``None`` under eight intervals.

    Parameters
    ----------
    beats
        A window of beats. Labels depend on up to 120 s and 17 beats before them.
    ahead_s
        Seconds after each interval that may be used, at most 30; 0 is what is known at once.
    """
    found = rr.intervals(beats.time, beats.after_gap)
    if len(found.ms) < MIN_INTERVALS:
        return None
    score = _checked_logit(found.ms, found.end, ahead_s)
    if beats.has_waveform:
        at = np.searchsorted(beats.time, found.end)
        score = np.fmin(score, _between_normal(found, beats.ectopic, at, ahead_s))
        waves = p_wave_share(beats.p_present[at], found.end, ahead_s)
        score[waves > MAX_P_SHARE] = -np.inf
    return Rhythm(found.end - found.ms / 1000, found.end, hysteresis(score, found.end))


def hysteresis(score: Float, end: Float) -> Flag:
    """True from where the score exceeds ``ENTER`` to where it falls under ``LEAVE``.

    Between the two the last verdict holds, for 60 s; then ``UNDECIDED`` parts them.
    """
    verdict = (score > ENTER) | (score < LEAVE)
    last = np.maximum.accumulate(np.where(verdict, np.arange(len(score)), 0))
    holds = verdict[last] & (end - end[last] <= HOLD_S)
    return np.asarray(np.where(holds, score[last] > ENTER, score > UNDECIDED))


def logit(ms: Float, end: Float, ahead_s: float = AHEAD_S) -> Float:
    """(m,) logit of fibrillation for R-R intervals (ms) that end at ``end`` (s)."""
    inner, inner_bias, outer, bias = _network()
    hidden, row = np.tile(inner_bias, (len(ms), 1)), 0
    for block in feature_blocks(ms, end, ahead_s):  # a day's features at once would be 100 MB
        hidden += block @ inner[row : row + block.shape[1]]
        row += block.shape[1]
    return np.asarray(np.tanh(hidden) @ outer + bias)


def _checked_logit(ms: Float, end: Float, ahead_s: float) -> Float:
    """(m,) the same, minus infinity where the intervals around are regular and no flutter's."""
    score = logit(ms, end, ahead_s)
    low, high = spans(end, _AROUND, ahead_s)
    total = np.concatenate([[0.0], np.cumsum(ms)])
    mean = (total[high + 1] - total[low]) / (high - low + 1)
    flutter = (mean > FLUTTER_MS[0]) & (mean < FLUTTER_MS[1])
    score[~flutter & (regular_share(ms, end, ahead_s) > MAX_REGULAR)] = -np.inf
    return score


def regular_share(ms: Float, end: Float, ahead_s: float = AHEAD_S) -> Float:
    """(m,) share of the 41 intervals around each that repeat the one 1 to 8 before, the largest.

    High in a steady rhythm, and in a pattern such as bigeminy or a Wenckebach period.
    """
    low, high = spans(end, _AROUND, ahead_s)
    most = np.zeros(len(ms), dtype=np.int64)
    for lag in range(1, min(LAGS, len(ms) - 1) + 1):
        same = np.abs(ms[lag:] - ms[:-lag]) <= np.maximum(SAME * ms[lag:], SAME_MS)
        count = np.concatenate([np.zeros(lag + 1, dtype=np.int64), np.cumsum(same)])
        most = np.maximum(most, count[high + 1] - count[low])
    return np.asarray(most / (high - low + 1))


@cache
def _network() -> tuple[Float, Float, Float, float]:
    """Weights (F, H) and biases (H,) of the hidden layer, then (H,) weights and the bias."""
    flat = np.array(rhythm_weights.WEIGHTS.split(), dtype=np.float64)
    table = flat[:-1].reshape(N_FEATURES + 2, -1)
    return table[:-2], table[-2], table[-1], float(flat[-1])


def _between_normal(
    found: rr.Intervals, ectopic: Flag, at: NDArray[np.intp], ahead_s: float
) -> Float:
    """Logit from the intervals between beats that are not ventricular, NaN where there are none.

    An ectopic beat takes the logit of the last such interval before it.
    """
    score = np.full(len(found.ms), np.nan)
    normal = np.flatnonzero(~(ectopic[at] | ectopic[np.maximum(at - 1, 0)]))
    if len(normal) < MIN_INTERVALS:
        return score
    own = _checked_logit(found.ms[normal], found.end[normal], ahead_s)
    last = np.searchsorted(normal, np.arange(len(score)), side="right") - 1
    known = last >= 0
    known[known] = (found.end[known] - found.end[normal[last[known]]]) < STALE_S
    score[known] = own[last[known]]
    return score


def p_wave_share(present: NDArray[np.float32], end: Float, ahead_s: float = AHEAD_S) -> Float:
    """Share of the 41 beats around each that have a P wave; 0 where few can be judged."""
    judged = np.isfinite(present)
    low, high = spans(end, _AROUND, ahead_s)
    counted, waved = (
        np.concatenate([[0], np.cumsum(flag)]) for flag in (judged, judged & (present > 0.5))
    )
    count, waves = counted[high + 1] - counted[low], waved[high + 1] - waved[low]
    enough = count > MIN_P_JUDGED * (high + 1 - low)
    return np.asarray(np.where(enough, waves / np.maximum(count, 1), 0.0))
