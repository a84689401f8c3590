"""Fit the trees of ``ecgscroll.signals.ectopy`` on training patients and write them.

Run ``python benchmarks/fit_ectopy.py [--data DIR] [--write]``; under a minute. Beats come from the
training side (``datasets/splits.yaml``) of the databases below: mitdb DS1 less 201, which has most
of the ventricular beats, and others for what is not ventricular; once as a finished block shows
them, once as a cursor in the middle of a block does. Fusion and unclassifiable beats and
ventricular flutter are left out, false detections count as normal. A patient with many beats counts
less per beat. The bias is set where F1 is highest on mitdb DS1, each patient scored by trees fitted
without the patient; those figures are printed.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

import numpy as np
from accuracy import ROOT
from boosting import Ensemble, boost
from numpy.typing import NDArray

from ecgscroll.catalogue.splits import split_of
from ecgscroll.causal.sources import Source, open_source
from ecgscroll.errors import DataError
from ecgscroll.records.databases import patient_of
from ecgscroll.records.recording import Recording
from ecgscroll.scoring.ec57 import pair_beats
from ecgscroll.signals.ectopy import FEATURES, ectopy_features
from ecgscroll.signals.segment import cut_segment
from ecgscroll.signals.store import BlockScheme

DATABASES = ("mitdb", "qtdb", "ltafdb_1h", "cpsc2021", "icentia11k")
VENTRICULAR, UNCLEAR = ("V", "E", "r"), ("F", "Q", "/", "f")
EASY_KEPT = 5
"""Of the normal beats that look normal, every fifth is used, with five times the weight."""
OUT = ROOT / "ecgscroll" / "signals" / "ectopy_trees.py"


@dataclass(frozen=True)
class Sample:
    """Beats with a target: features, whether ventricular, patient; ventricular beats missed.

    ``tail`` is True for the copy of a beat as it is seen at a cursor in the middle of its block.
    """

    x: NDArray[np.float64]
    target: NDArray[np.bool_]
    patient: NDArray[np.str_]
    tail: NDArray[np.bool_]
    missed: int


def sources(data: Path) -> Iterator[Source]:
    """Training recordings whose beats have symbols."""
    for database in DATABASES:
        for header in sorted((data / database).glob("*.hea")):
            if split_of(database, header.stem) != "train":
                continue
            try:
                source = open_source(data / database, header.stem, database)
            except DataError:
                continue
            if source.reference is not None and source.reference.beat_symbols is not None:
                yield source


def seen(recording: Recording, *, tail: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Features and times of the beats, block by block; of its first half at half time if tail."""
    scheme = BlockScheme()
    features, times = [np.empty((0, len(FEATURES)))], [np.empty(0)]
    for start in np.arange(0.0, recording.duration, scheme.block_s):
        end = min(start + scheme.block_s * (0.5 if tail else 1.0), recording.duration)
        begin = max(0.0, start - scheme.guard_s)
        stop = end if tail or end == recording.duration else end - scheme.guard_s
        first = round(max(0.0, begin - scheme.context_s) * recording.fs)
        signal = recording.read(first, round(end * recording.fs))[list(recording.ecg)]
        cut = cut_segment(signal, recording.fs, first)
        if len(cut.time):
            inside = (cut.time >= begin) & (cut.time < stop)
            features.append(ectopy_features(cut.windows, cut.complexes, cut.y)[inside])
            times.append(cut.time[inside])
    return np.concatenate(features), np.concatenate(times)


def sample(source: Source, *, tail: bool) -> Sample:
    """Features and targets of one recording's beats."""
    recording, reference = source.recording, source.reference
    assert reference is not None
    assert reference.beat_symbols is not None
    features, time = seen(recording, tail=tail)
    symbols = np.full(len(time), "?")
    theirs, mine = pair_beats(reference.beat_times, time)
    symbols[mine] = reference.beat_symbols[theirs]
    kept = ~np.isin(symbols, UNCLEAR)
    for span in reference.rhythm:
        if span.label in ("VFL", "VF"):
            kept &= (time < span.start) | (time >= span.stop)
    target = np.isin(symbols[kept], VENTRICULAR)
    missed = int(np.isin(np.delete(reference.beat_symbols, theirs), VENTRICULAR).sum())
    patient = np.full(len(target), patient_of(recording.database, recording.name))
    return Sample(features[kept], target, patient, np.full(len(target), tail), missed)


def weights(s: Sample) -> NDArray[np.float64]:
    """One over the root of how many beats of its class a patient has; mean 1."""
    weight = np.ones(len(s.target))
    for patient in np.unique(s.patient):
        for value in (False, True):
            mask = (s.patient == patient) & (s.target == value)
            weight[mask] = 1 / np.sqrt(max(1, mask.sum()))
    return np.asarray(weight / weight.mean())


def thinned(
    s: Sample, weight: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Which beats to fit on, and their weights."""
    unlike, early = (s.x[:, FEATURES.index(name)] for name in ("unlike", "early"))
    easy = ~s.target & (unlike < 0.1) & (early > -0.1)
    used = ~easy | (np.cumsum(easy) % EASY_KEPT == 0)
    return used, np.where(easy, EASY_KEPT * weight, weight)


def held_out_scores(
    s: Sample, used: NDArray[np.bool_], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Log odds of each beat of mitdb, by trees that never saw its patient; NaN elsewhere."""
    score = np.full(len(s.target), np.nan)
    for patient in np.unique(s.patient):
        if patient.startswith("mitdb/"):
            mine = s.patient == patient
            train = used & ~mine
            score[mine] = boost(s.x[train], s.target[train], weight[train]).score(s.x[mine])
    return score


def best_shift(score: NDArray[np.float64], target: NDArray[np.bool_], missed: int) -> float:
    """What to add to the score so that F1 at zero is highest; prints the figures there."""
    shifts = np.arange(-1.5, 1.51, 0.1)
    hits = np.array([((score + shift > 0) & target).sum() for shift in shifts])
    called = np.array([(score + shift > 0).sum() for shift in shifts])
    reference = target.sum() + missed
    best = int(np.argmax(2 * hits / (called + reference)))
    print(f"held-out DS1: Se {hits[best] / reference:.4f}, +P {hits[best] / called[best]:.4f}")
    return float(shifts[best])


def as_module(model: Ensemble, shift: float) -> str:
    """The trees as the text of a Python module."""
    asked = [(j, b) for questions, _ in model.trees for j, b in questions]
    thresholds = [round(1000 * model.edges[j][min(b, len(model.edges[j]) - 1)]) for j, b in asked]
    leaves = np.round(100 * np.concatenate([leaves for _, leaves in model.trees])).astype(int)
    parts = {
        "ASKED": ("The feature of each question, four a tree.", [FEATURES[j] for j, _ in asked]),
        "THRESHOLDS": ("In thousandths: is the feature above it?", thresholds),
        "LEAVES": ("Log odds in hundredths, sixteen a tree; first answer highest.", leaves),
    }
    text = '"""The trees of ectopy.py in numbers; written by benchmarks/fit_ectopy.py."""\n\n'
    text += f"BIAS = {model.bias + shift:.2f}\n"
    for name, (note, values) in parts.items():
        body = fill(" ".join(map(str, values)), 98)
        text += f'\n# {note}\n{name} = """\n{body}\n"""\n'
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    default = os.environ.get("ECGSCROLL_DATA", ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=default, help="folder of databases")
    parser.add_argument("--write", action="store_true", help=f"replace {OUT.name}")
    arguments = parser.parse_args()
    opened = list(sources(arguments.data))
    parts = [sample(source, tail=tail) for tail in (False, True) for source in opened]
    x, target, patient, tail = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("x", "target", "patient", "tail")
    )
    missed = sum(part.missed for part in parts if not part.tail.any())
    whole = Sample(x, target, patient, tail, missed)
    used, weight = thinned(whole, weights(whole))
    print(f"{len(target)} beats, {target.sum()} ventricular, {used.sum()} fitted on")
    score = held_out_scores(whole, used, weight)
    known = np.isfinite(score) & ~tail
    shift = best_shift(score[known], target[known], missed)
    seen_late = np.isfinite(score) & tail
    called = score[seen_late] + shift > 0
    hits = (called & target[seen_late]).sum()
    print(f"at the cursor: Se {hits / target[seen_late].sum():.4f}, +P {hits / called.sum():.4f}")
    text = as_module(boost(x[used], target[used], weight[used]), shift)
    if arguments.write:
        OUT.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
