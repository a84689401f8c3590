"""Fit the trees by which two leads decide together (:mod:`ecgscroll.signals.leads`).

Run ``python benchmarks/fit_leads.py [--data DIR] [--write]``; a few minutes. Events come from mitdb
DS1 less 201 alone: as recorded, with muscle and motion noise added at 12, 6 and 0 dB, and with one
lead failing by noise at a time; noise from other seeds than those of the accuracy table. Both
orders of the leads are shown. Ventricular flutter is left out.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill

import numpy as np
from accuracy import ROOT, records
from boosting import Ensemble, Settings, boost
from numpy.typing import NDArray

from ecgscroll.causal.sources import Source
from ecgscroll.scoring.ec57 import pair_beats
from ecgscroll.signals.artefacts import without_spikes
from ecgscroll.signals.detector import read_lead
from ecgscroll.signals.leads import DEPTH, FEATURES, TOGETHER_S, events, features, nearest
from ecgscroll.signals.quality import valid_samples
from ecgscroll.signals.store import BlockScheme
from ecgscroll.synth.stress import failing, qrs_size, with_noise

OUT = ROOT / "ecgscroll" / "signals" / "leads_trees.py"
SEED = 1000
CLEAN_WEIGHT = 8.0
"""Recordings without added noise count this much more: they are what the tools mostly see."""
BEAT_WEIGHT = 2.5
"""A missed beat costs as much as this many false ones: no figure of one lead may get worse."""
Array = NDArray[np.float64]
Rows = tuple[Array, NDArray[np.bool_], Array]


def versions(source: Source) -> Iterator[tuple[NDArray[np.float32], float]]:
    """The recording as it is, and made worse, with a weight."""
    recording, reference = source.recording, source.reference
    assert reference is not None
    x, fs = recording.read(0, recording.n_samples)[list(recording.ecg)], recording.fs
    size, seed = qrs_size(x, fs, reference.beat_times), SEED + int(recording.name)
    yield x, CLEAN_WEIGHT
    for level in (12.0, 6.0, 0.0):
        yield with_noise(x, fs, "muscle", level, size, seed), 1.0
        yield with_noise(x, fs, "motion", level, size, seed), 1.0
    yield failing(x, fs, "noise", size, seed), 2.0


def of_signal(x: NDArray[np.float32], source: Source) -> Iterator[tuple[Array, NDArray[np.bool_]]]:
    """Features of the events of each block, and whether each is a beat."""
    scheme, fs, reference = BlockScheme(), source.recording.fs, source.reference
    assert reference is not None
    flutter = [(s.start, s.stop) for s in reference.rhythm if s.label in ("VFL", "VF")]
    for start in np.arange(0.0, x.shape[1] / fs, scheme.block_s):
        first = round(max(0.0, start - scheme.guard_s - scheme.context_s) * fs)
        piece = without_spikes(x[:, first : round((start + scheme.block_s) * fs)], fs)
        valid = valid_samples(piece, fs)
        a, b = (read_lead(piece[i], valid[i], fs) for i in (0, 1))
        if a is None or b is None:
            continue
        for one, other in ((a, b), (b, a)):
            at, sample = events(one, other, fs)
            near = TOGETHER_S * one.rate
            there = np.stack([nearest(lead.at, at)[1] <= near for lead in (one, other)])
            time = (first + sample) / fs
            target = np.zeros(len(at), dtype=bool)
            target[pair_beats(reference.beat_times, time)[1]] = True
            kept = np.ones(len(at), dtype=bool)
            for t0, t1 in flutter:
                kept &= (time < t0) | (time >= t1)
            yield features(one, other, at, there)[kept], target[kept]


def rows(data: Path) -> dict[str, Rows]:
    """Features, targets and weights by record."""
    found: dict[str, Rows] = {}
    for source in records(data, "mitdb", "train"):
        parts = [
            (x, target, np.full(len(target), weight))
            for signal, weight in versions(source)
            for x, target in of_signal(signal, source)
        ]
        x, target, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
        found[source.recording.name] = x, target, weight
    return found


def joined(parts: list[Rows]) -> Rows:
    x, target, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    return x, target, weight


def thinned(x: Array, target: NDArray[np.bool_], weight: Array) -> Rows:
    """Of the events that both leads show clearly, every fifth, with five times the weight."""
    shown = [FEATURES.index(f"there_{lead}") for lead in "ab"]
    easy = x[:, shown].all(axis=1) & target
    used = ~easy | (np.cumsum(easy) % 5 == 0)
    weight = weight * np.where(target, BEAT_WEIGHT, 1.0)
    return x[used], target[used], np.where(easy, 5 * weight, weight)[used]


def as_module(model: Ensemble) -> str:
    """The trees as the text of a Python module."""
    asked = [(j, b) for questions, _ in model.trees for j, b in questions]
    thresholds = [round(1000 * model.edges[j][min(b, len(model.edges[j]) - 1)]) for j, b in asked]
    leaves = np.round(100 * np.concatenate([leaves for _, leaves in model.trees])).astype(int)
    parts = {
        "ASKED": ("The feature of each question, four a tree.", [FEATURES[j] for j, _ in asked]),
        "THRESHOLDS": ("In thousandths: is the feature above it?", thresholds),
        "LEAVES": ("Log odds in hundredths, sixteen a tree; first answer highest.", leaves),
    }
    text = '"""The trees of leads.py in numbers; written by benchmarks/fit_leads.py."""\n\n'
    text += f"BIAS = {model.bias:.2f}\n"
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
    settings = Settings(trees=80, depth=DEPTH, columns=0.4)
    found = rows(arguments.data)
    used = {name: thinned(*part) for name, part in found.items()}
    print(f"{sum(len(part[1]) for part in used.values())} events of {len(used)} recordings")
    wrong = own = 0.0
    folds = [list(used)[i::4] for i in range(4)]
    for fold in folds:
        model = boost(*joined([part for name, part in used.items() if name not in fold]), settings)
        for x, target, weight in (found[name] for name in fold):
            wrong += float((weight * ((model.score(x) > 0) != target)).sum())
            own += float((weight * ((x[:, 0] > 0) != target)).sum())
    print(f"held-out errors, weighted: {wrong:.0f}; first lead alone {own:.0f}")
    text = as_module(boost(*joined(list(used.values())), settings))
    if arguments.write:
        OUT.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
