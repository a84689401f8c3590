"""Fit the network of ``ecgscroll.signals.rhythm`` on training patients, and write it.

Run ``python benchmarks/fit_rhythm.py [--data DIR]``. The R-R intervals are those of the reference
beats of ltafdb and mitdb (training side; where no rhythm is noted, nothing is learned), and made-up
ones: sinus rhythm of the training side of edb with ectopic beats put in, singly, in patterns of two
to four and in runs, and with the breathing of young hearts. Every recording has the same number of
intervals, drawn at random, and some more around its onsets; of a third of them the look-ahead is
cut short, since close to the cursor it will be. One hidden layer, trained by Adam on minibatches
from a fixed seed.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import wrap

import numpy as np
from accuracy import ROOT, records
from numpy.typing import NDArray

from ecgscroll.causal.sources import Source
from ecgscroll.records.reference import Span
from ecgscroll.signals import rr
from ecgscroll.signals.irregularity import AHEAD_S, features

Float = NDArray[np.float64]
Flag = NDArray[np.bool_]
HEADER = '''"""Weights of the network of ``rhythm``, written by ``benchmarks/fit_rhythm.py``.

Row by row (features, then hidden biases, then output weights), the output bias last.
"""

WEIGHTS = """
'''
Sample = tuple[Float, Flag, float]

HIDDEN = 12
EPOCHS, BATCH, RATE, DECAY = 8, 1024, 1e-2, 1e-2
MITDB_WEIGHT, MADE_UP_WEIGHT = 3.0, 0.2


def samples(data: Path, rng: np.random.Generator) -> Iterator[Sample]:
    """Features, truth and weight of intervals of each training recording."""
    for database, count, weight in (("ltafdb", 6000, 1.0), ("mitdb", 2000, MITDB_WEIGHT)):
        for source in records(data, database, "train"):
            sample = of_record(source, count, weight, rng)
            if sample is not None:
                yield sample
    for times in [s.reference.beat_times for s in records(data, "edb", "train") if s.reference]:
        ms = np.diff(times) * 1000
        ms = ms[(ms > 300) & (ms < 2000)][:4000]
        for made in (with_ectopy(ms, rng), with_ectopy(ms, rng), with_breathing(ms, rng)):
            chosen = np.sort(rng.choice(len(made), min(1200, len(made)), replace=False))
            sinus = np.zeros(len(made), dtype=bool)
            x, y = drawn(made, np.cumsum(made) / 1000, chosen, sinus, rng)
            yield x, y, MADE_UP_WEIGHT


def of_record(source: Source, count: int, weight: float, rng: np.random.Generator) -> Sample | None:
    """Intervals of one recording for which a rhythm is noted."""
    if source.reference is None:
        return None
    times = source.reference.beat_times
    found = rr.intervals(times, np.zeros(len(times), dtype=bool))
    noted = inside(found.end, source.reference.rhythm)
    af = inside(found.end, source.reference.af)
    chosen = rng.choice(len(af), min(count, len(af)), replace=False)
    changes = np.flatnonzero(np.diff(af.astype(np.int8)))
    if len(changes):
        near = rng.choice(changes, count // 6) + rng.integers(-40, 41, count // 6)
        chosen = np.concatenate([chosen, near.clip(0, len(af) - 1)])
    x, y = drawn(found.ms, found.end, np.sort(chosen[noted[chosen]]), af, rng)
    return x, y, weight


def inside(time: Float, spans: Iterable[Span]) -> Flag:
    flag = np.zeros(len(time), dtype=bool)
    for span in spans:
        first, last = np.searchsorted(time, (span.start, span.stop), side="right")
        flag[first:last] = True
    return flag


def drawn(
    ms: Float, end: Float, chosen: NDArray[np.intp], af: Flag, rng: np.random.Generator
) -> tuple[Float, Flag]:
    """Features of some intervals, some of them with a short look-ahead."""
    ahead = np.full(len(ms), AHEAD_S)
    short = rng.random(len(ms)) < 1 / 3
    ahead[short] = np.maximum(rng.uniform(-AHEAD_S / 2, AHEAD_S, short.sum()), 0.0)
    return features(ms, end, ahead)[chosen], af[chosen]


def with_ectopy(ms: Float, rng: np.random.Generator) -> Float:
    """Sinus intervals with early beats, their coupling and pause of one kind per recording."""
    coupling, jitter = rng.uniform(0.45, 0.85), rng.uniform(0.01, 0.08)
    pause = rng.choice([0.0, rng.uniform(0.0, 1.0), 1.0])  # 1: fully compensatory, 0: reset
    share, out, i = rng.uniform(0.03, 0.5), ms.copy(), 0
    while i < len(ms) - 8:
        pattern = int(rng.choice([0, 0, 2, 3, 4]))  # 0: at random
        until = min(i + int(rng.integers(10, 120)), len(ms) - 8)
        while i < until:
            gap = pattern if pattern else 1 + int(rng.geometric(share))
            i += gap - 1
            if i >= until:
                break
            run = 1 + (int(rng.geometric(0.7)) - 1 if not pattern else 0)
            run = min(run, 4)
            out[i : i + run] = ms[i] * coupling * (1 + jitter * rng.standard_normal(run))
            longer = 1 + pause * (1 - coupling)
            out[i + run] = ms[i] * longer * (1 + jitter / 2 * rng.standard_normal())
            i += run + 1 if pattern == 0 else 1
    return out.clip(220, 3000)


def with_breathing(ms: Float, rng: np.random.Generator) -> Float:
    """Sinus intervals that follow the breath: up to a quarter either way, never quite the same."""
    beat = np.cumsum(rng.uniform(0.2, 0.5) * np.exp(0.15 * smooth(rng, len(ms), 10)))
    depth = rng.uniform(0.03, 0.25) * np.exp(0.5 * smooth(rng, len(ms), 20))
    return ms * (1 + depth * np.sin(2 * np.pi * beat)).clip(0.5, 1.8)


def smooth(rng: np.random.Generator, n: int, width: int) -> Float:
    noise = np.convolve(rng.standard_normal(n + width - 1), np.ones(width) / width, mode="valid")
    return np.asarray(noise * np.sqrt(width))


def fit(x: Float, y: Flag, weight: Float, seed: int = 0) -> list[Float]:
    """Weights and biases of both layers, for standardised ``x``."""
    rng = np.random.default_rng(seed)
    inner = rng.normal(0, 1 / np.sqrt(x.shape[1]), (x.shape[1], HIDDEN))
    p = [inner, np.zeros(HIDDEN), rng.normal(0, 0.3, HIDDEN), np.zeros(())]
    first, second = [np.zeros_like(v) for v in p], [np.zeros_like(v) for v in p]
    steps, step = EPOCHS * (len(x) // BATCH), 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(x))
        for b in range(len(x) // BATCH):
            rows = order[b * BATCH : (b + 1) * BATCH]
            grads = gradients(p, x[rows], y[rows], weight[rows])
            step += 1
            rate = RATE * min(1.0, 4 * step / steps) * 0.5 * (1 + np.cos(np.pi * step / steps))
            for k, g in enumerate(grads):
                first[k] = 0.9 * first[k] + 0.1 * g
                second[k] = 0.99 * second[k] + 0.01 * g * g
                m, v = first[k] / (1 - 0.9**step), second[k] / (1 - 0.99**step)
                p[k] = p[k] * (1 - rate * DECAY * (k % 2 == 0)) - rate * m / (np.sqrt(v) + 1e-8)
    return p


def gradients(p: list[Float], x: Float, y: Flag, weight: Float) -> list[Float]:
    hidden = np.tanh(x @ p[0] + p[1])
    wrong = weight * (1 / (1 + np.exp(-(hidden @ p[2] + p[3]))) - y) / len(x)
    back = wrong[:, None] * p[2] * (1 - hidden**2)
    return [x.T @ back, back.sum(axis=0), hidden.T @ wrong, wrong.sum()]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    default = os.environ.get("ECGSCROLL_DATA", ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=default, help="folder of databases")
    weights = ROOT / "ecgscroll" / "signals" / "rhythm_weights.py"
    parser.add_argument("--out", type=Path, default=weights)
    args = parser.parse_args()
    drawn_samples = list(samples(args.data, np.random.default_rng(0)))
    x = np.concatenate([s[0] for s in drawn_samples])
    y = np.concatenate([s[1] for s in drawn_samples])
    weight = np.concatenate([np.full(len(s[1]), s[2]) for s in drawn_samples])
    mean, sd = x.mean(axis=0), x.std(axis=0) + 1e-6
    p = fit(((x - mean) / sd).astype(np.float32), y, weight.astype(np.float32))
    slope = p[0] / sd[:, None]
    numbers = [*slope.ravel(), *(p[1] - mean @ slope), *p[2], p[3]]
    lines = wrap(" ".join(f"{v:.5g}" for v in numbers), 99)
    args.out.write_text("\n".join([HEADER.rstrip("\n"), *lines, '"""', ""]))
    print(len(y), "intervals,", f"{y.mean():.2f} AF")


if __name__ == "__main__":
    main()
