"""Two leads decide together which peaks are beats.

Asked where the first lead is not clear enough to be believed alone. Each lead is read by itself
(:mod:`ecgscroll.signals.detector`). Peaks of the two within 120 ms of
one another are one event, and small trees (fitted by ``benchmarks/fit_leads.py`` on mitdb DS1, with
and without noise added) tell whether it is a beat from how high it stands in each lead against the
beats around, how its shape fits the lead's median beat, how clean each lead is just there, how
often each lead is right about beats that both could see, and when it comes. A lead that fails for a
while is thus not heard while it does. Where one lead alone has signal, it decides.

An event is timed by the first lead where that lead shows it and is not much the noisier of the two,
else by the other, less what the two usually differ by, so that a change of lead is no R-R change.

Known failures: an artefact of QRS shape in both leads at once; a beat that only one lead shows
while that lead is noisy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from ecgscroll.signals import leads_kernels as kernels
from ecgscroll.signals import leads_trees
from ecgscroll.signals.ectopy_kernels import trees_say
from ecgscroll.signals.quality import long_runs

TOGETHER_S = 0.12
NEAR_S = 0.05
PIECE_S = 2.0
PIECES = 5
"""Pieces whose medians tell how clean a lead is at a place: 10 s."""
AROUND = 9
SHAPE_S = 0.09
MUCH_NOISIER = 0.7
"""Log of the ratio of contrasts from which the other lead times an event."""

Float = NDArray[np.float64]
Index = NDArray[np.int64]
PER_LEAD = ("there", "height", "contrast", "level", "fit", "usual_fit", "right")
FEATURES = (
    *(f"{name}_{lead}" for lead in "ab" for name in PER_LEAD),
    *("before", "after", "agreed_before", "agreed_after"),
)


@dataclass(frozen=True)
class LeadPeaks:
    """What one lead shows.

    Parameters
    ----------
    sample
        (n,) sample numbers of its R peaks, at the signal's own rate.
    at
        (n,) where the energy of each is highest, at the slower rate.
    band, energy, valid
        (m,) filtered signal (mV), energy (mV/s) and validity at the slower rate.
    factor, rate
        Samples averaged into one, and the slower rate, Hz.
    contrast
        (p,) how its complexes stand out, see `contrast`.
    clear
        Whether its complexes stand out so well that it is believed alone.
    """

    sample: Index
    at: Index
    band: Float
    energy: Float
    valid: NDArray[np.bool_]
    factor: int
    rate: float
    contrast: Float
    clear: bool

    def full(self, n: int) -> NDArray[np.bool_]:
        """Validity of the ``n`` samples at the signal's own rate."""
        mask = np.repeat(self.valid, self.factor)
        return np.pad(mask, (0, n - len(mask)), mode="edge")


def together(leads: list[LeadPeaks], fs: float) -> Index:
    """(n,) sample numbers of the beats that the leads, in their order, show together."""
    if not leads:
        return np.empty(0, np.int64)
    if len(leads) == 1:
        return leads[0].sample
    a, b = leads[:2]
    at, sample = events(a, b, fs)
    if len(at) == 0:
        return sample
    seen = np.stack([_seen(lead, at) for lead in (a, b)])
    there = np.stack([nearest(lead.at, at)[1] <= TOGETHER_S * lead.rate for lead in (a, b)])
    score = np.where(seen[0], there[0], there[1]) - 0.5
    both = seen.all(axis=0)
    if both.any():
        score[both] = log_odds(features(a, b, at, there)[both])
    beats = best_apart(sample, score, 0.2 * fs)
    for lead in leads[2:]:
        beats = np.sort(np.concatenate([beats, _stand_in(lead, leads[:2])]))
    return beats


def events(a: LeadPeaks, b: LeadPeaks, fs: float) -> tuple[Index, Index]:
    """Peaks of two leads as one list: (n,) places at the slower rate and sample numbers."""
    if len(a.at) == 0 or len(b.at) == 0:
        return (a.at, a.sample) if len(a.at) else (b.at, b.sample)
    mine, apart = nearest(b.at, a.at)
    pair = (apart <= TOGETHER_S * a.rate) & (nearest(a.at, b.at)[0][mine] == np.arange(len(a.at)))
    alone = np.ones(len(b.at), dtype=bool)
    alone[mine[pair]] = False
    moved = b.sample - _usual_shift(a.sample[pair], b.sample[mine[pair]])
    clear = [lead.contrast[_piece(lead, a.at)] for lead in (a, b)]
    noisier = clear[1] - clear[0] > MUCH_NOISIER
    sample = np.where(pair & noisier, moved[mine], a.sample)
    at = np.concatenate([a.at, b.at[alone]])
    sample = np.concatenate([sample, moved[alone]])
    order = np.argsort(at, kind="stable")
    return at[order], np.clip(sample[order], 0, len(a.energy) * a.factor - 1)


def _usual_shift(a: Index, b: Index) -> int:
    return round(float(np.median(b - a))) if len(a) else 0


def features(a: LeadPeaks, b: LeadPeaks, at: Index, there: NDArray[np.bool_]) -> Float:
    """(n, F) features, in the order of ``FEATURES``, of the events at the places ``at``.

    - there: whether the lead's own thresholds passed it; height: log of the energy over that of the
      nine beats around; contrast: log of the energy of beats over that of the stillest fifth, over
      10 s; level: log of the energy of the beats around over the segment's; fit: correlation with
      the lead's median beat, usual_fit that of the beats around; right: share of the lead's beats
      around that the other has too;
    - before, after: log of the time to the events on either side over the usual R-R interval;
      agreed_before, agreed_after: to those that both leads show.
    """
    agreed = np.asarray(there.all(axis=0))
    columns: list[Float] = []
    for lead, mine in zip((a, b), there, strict=True):
        columns += _of_lead(lead, at, mine, agreed)
    columns += _timing(at, agreed)
    return np.clip(np.nan_to_num(np.column_stack(columns)), -5.0, 5.0)


def _of_lead(
    lead: LeadPeaks, at: Index, there: NDArray[np.bool_], agreed: NDArray[np.bool_]
) -> list[Float]:
    reach = round(NEAR_S * lead.rate)
    index = np.clip(at[:, None] + np.arange(-reach, reach + 1), 0, len(lead.energy) - 1)
    size = lead.energy[index].max(axis=1)
    fit = _fit(lead, at, there)
    if there.any():
        mine = np.flatnonzero(there)
        near = nearest(at[mine], at)[0]
        usual = _median(size[mine])[near]
        level = np.log(usual / np.median(size[mine]))
        usual_fit = _median(fit[mine])[near]
        right = _mean(agreed[mine].astype(np.float64))[near]
    else:
        usual, level = np.full(len(at), np.median(size)), np.zeros(len(at))
        usual_fit, right = np.zeros(len(at)), np.zeros(len(at))
    height = np.log(np.maximum(size, 1e-6) / np.maximum(usual, 1e-6))
    clear = lead.contrast[_piece(lead, at)]
    return [there.astype(np.float64), height, clear, level, fit, usual_fit, right]


def _median(values: Float) -> Float:
    """Median of nine values around each."""
    return np.asarray(kernels.running_median(values, AROUND))


def _mean(values: Float) -> Float:
    """Mean of nine values around each."""
    return np.asarray(uniform_filter1d(values, AROUND, mode="nearest"))


def _fit(lead: LeadPeaks, at: Index, there: NDArray[np.bool_]) -> Float:
    """Correlation of the band-passed beats with the median of the lead's own."""
    half = round(SHAPE_S * lead.rate)
    span = np.arange(-half, half + 1)
    last = len(lead.band) - 1
    near = lead.band[np.clip(at[:, None] + span, 0, last)]
    peak = at + np.abs(near).argmax(axis=1) - half
    beats = lead.band[np.clip(peak[:, None] + span, 0, last)]
    beats = beats - beats.mean(axis=1, keepdims=True)
    usual = np.median(beats[there], axis=0) if there.any() else np.zeros(len(span))
    norm = np.sqrt((beats**2).sum(axis=1) * (usual**2).sum())
    return np.asarray(beats @ usual / np.maximum(norm, 1e-9))


def _timing(at: Index, agreed: NDArray[np.bool_]) -> list[Float]:
    gaps = np.diff(at).astype(np.float64)
    sure = at[agreed]
    usual = float(np.median(np.diff(sure if len(sure) > 3 else at))) if len(at) > 1 else 1.0
    far = 4 * usual
    before, after = np.concatenate([[far], gaps]), np.concatenate([gaps, [far]])
    padded = np.concatenate([[-np.inf], sure, [np.inf]])
    left = at - padded[np.searchsorted(sure, at, side="left")]
    right = padded[np.searchsorted(sure, at, side="right") + 1] - at
    every = (before, after, left, right)
    return [np.log(np.clip(gap, 1.0, far) / max(usual, 1.0)) for gap in every]


def spread(clear: Float, least: float, n: int, rate: float) -> NDArray[np.bool_]:
    """(n,) whether the `contrast` of the pieces around is ``least`` or more for 10 s.

    A shorter segment is judged as a whole.
    """
    good = clear >= least
    if good.all():
        return np.ones(n, dtype=bool)
    good = long_runs(good, min(PIECES, len(good)))
    mask = np.repeat(good, max(1, round(PIECE_S * rate)))
    return np.pad(mask, (0, max(0, n - len(mask))), mode="edge")[:n]


def contrast(energy: Float, rate: float) -> Float:
    """(p,) log of the energy of beats over that of the stillest fifth, around each piece."""
    found = kernels.tops_and_quiets(energy, max(1, round(PIECE_S * rate)))
    top, quiet = (np.maximum(kernels.running_median(x, PIECES), 1e-6) for x in found)
    return np.asarray(np.log(top / quiet))


def _piece(lead: LeadPeaks, at: Index) -> Index:
    size = max(1, round(PIECE_S * lead.rate))
    return np.minimum(at // size, max(1, len(lead.energy) // size) - 1)


def _seen(lead: LeadPeaks, at: Index) -> NDArray[np.bool_]:
    """Whether a lead has signal all around each place."""
    reach = round(TOGETHER_S * lead.rate)
    lost = np.concatenate([[0], np.cumsum(~lead.valid)])
    low, high = np.maximum(at - reach, 0), np.minimum(at + reach + 1, len(lead.valid))
    return np.asarray(lost[high] == lost[low])


def nearest(where: Index, at: Index) -> tuple[Index, Index]:
    """For each place the index of the nearest of the sorted ``where``, and how far it is."""
    if len(where) == 0:
        return np.zeros(len(at), np.int64), np.full(len(at), np.iinfo(np.int64).max)
    right = np.clip(np.searchsorted(where, at), 1, max(1, len(where) - 1))
    right = np.minimum(right, len(where) - 1)
    left = np.maximum(right - 1, 0)
    best = np.where(at - where[left] <= where[right] - at, left, right)
    return best, np.abs(where[best] - at)


def best_apart(sample: Index, score: Float, least: float) -> Index:
    """Samples with a score above 0, the best of those nearer than ``least`` to one another."""
    order = np.argsort(sample, kind="stable")
    sample = sample[order]
    return np.asarray(sample[kernels.keep_best(sample, score[order], least)])


def _stand_in(lead: LeadPeaks, others: list[LeadPeaks]) -> Index:
    """Beats of a lead where none of the others has signal."""
    lost = ~np.any([_seen(other, lead.at) for other in others], axis=0)
    return np.asarray(lead.sample[lost])


DEPTH = 4


def _numbers(text: str, scale: float) -> Float:
    return np.array(text.split(), dtype=np.float64) * scale


_ASKED = np.array([FEATURES.index(name) for name in leads_trees.ASKED.split()], dtype=np.int64)
_THRESHOLDS = _numbers(leads_trees.THRESHOLDS, 0.001)
_LEAVES = _numbers(leads_trees.LEAVES, 0.01)


def log_odds(x: Float) -> Float:
    """(n,) log odds that an event of the (n, F) features is a beat."""
    sums = trees_say(x, _ASKED, _THRESHOLDS, _LEAVES, DEPTH)
    return np.asarray(sums + leads_trees.BIAS)
