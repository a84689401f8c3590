"""Fit the weights of ``ecgscroll.signals.ectopy`` on the training records of mitdb, and print them.

Run ``python benchmarks/fit_ectopy.py [--data DIR]``. One logistic model with a small ridge, by
Newton's method; fusion beats are left out, false detections count as normal. The bias is then moved
to where sensitivity and +P on the same records balance best (highest F1).
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from accuracy import ROOT, records
from numpy.typing import NDArray

from ecgscroll.causal.sources import Source
from ecgscroll.scoring.ec57 import pair_beats
from ecgscroll.signals.ectopy import FEATURES, ectopy_features
from ecgscroll.signals.segment import cut_segment
from ecgscroll.signals.store import BlockScheme

RIDGE = 1.0


def samples(source: Source) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Features and reference symbols ("?" for none) of every detected beat, block by block."""
    recording, reference, scheme = source.recording, source.reference, BlockScheme()
    features, times = [], []
    for start in np.arange(0.0, recording.duration, scheme.block_s):
        stop = min(start + scheme.block_s, recording.duration)
        first = round(max(0.0, start - scheme.context_s) * recording.fs)
        last = round(min(stop + scheme.guard_s, recording.duration) * recording.fs)
        signal = recording.read(first, last)[list(recording.ecg)]
        cut = cut_segment(signal, recording.fs, first)
        if len(cut.time) == 0:
            continue
        inside = (cut.time >= start) & (cut.time < stop)
        features.append(ectopy_features(cut.windows, cut.complexes, cut.y)[inside])
        times.append(cut.time[inside])
    symbols = np.full(sum(map(len, times)), "?")
    if reference is not None and reference.beat_symbols is not None:
        theirs, mine = pair_beats(reference.beat_times, np.concatenate(times))
        symbols[mine] = reference.beat_symbols[theirs]
    return np.concatenate(features), symbols


def fit(features: NDArray[np.float64], target: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Weights, bias last."""
    x = np.column_stack([features, np.ones(len(features))])
    ridge = RIDGE * np.diag([1.0] * features.shape[1] + [0.0])
    weights = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ weights))
        curvature = (x.T * np.maximum(p * (1 - p), 1e-6)) @ x + ridge
        weights += np.linalg.solve(curvature, x.T @ (target - p) - ridge @ weights)
    return weights


def best_shift(score: NDArray[np.float64], target: NDArray[np.bool_]) -> float:
    """What to add to the score so that F1 at zero is highest."""
    shifts = np.arange(-1.0, 2.01, 0.05)
    called = [score + shift > 0 for shift in shifts]
    f1 = [2 * (c & target).sum() / (c.sum() + target.sum()) for c in called]
    return float(shifts[int(np.argmax(f1))])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    default = os.environ.get("ECGSCROLL_DATA", ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=default, help="folder of databases")
    pairs = [samples(source) for source in records(parser.parse_args().data, "mitdb", "train")]
    features = np.concatenate([pair[0] for pair in pairs])
    symbols = np.concatenate([pair[1] for pair in pairs])
    kept = symbols != "F"
    target = np.isin(symbols[kept], ["V", "E"])
    weights = fit(features[kept], target)
    shift = best_shift(features[kept] @ weights[:-1] + weights[-1], target)
    for name, weight in zip(FEATURES, weights, strict=False):
        print(f"{name:>14} {weight:6.2f}")
    print(f"{'bias':>14} {weights[-1] + shift:6.2f}  (moved by {shift:.2f})")


if __name__ == "__main__":
    main()
