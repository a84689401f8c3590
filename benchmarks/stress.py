"""QRS detection where it is hard: mitdb with noise of known level added, and with leads failing.

Noise is :mod:`ecgscroll.synth.stress`, from fixed seeds (the record's number). Beside our own, on
one lead and on two, stand sleepecg and, on four records, WFDB's XQRS, on the first lead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from sleepecg import detect_heartbeats
from wfdb.processing import xqrs_detect

from ecgscroll.catalogue.splits import split_of
from ecgscroll.causal.sources import Source
from ecgscroll.scoring.ec57 import Rate, pair_beats
from ecgscroll.signals.store import FeatureStore
from ecgscroll.synth import stress

Signal = NDArray[np.float32]
Times = NDArray[np.float64]
XQRS_RECORDS = ("100", "105", "203", "228")


@dataclass(frozen=True)
class Signals:
    """Samples in memory, all of them elapsed; satisfies the protocol that features need."""

    x: Signal
    fs: float

    @property
    def n_samples(self) -> int:
        return self.x.shape[1]

    @property
    def elapsed(self) -> int:
        return self.x.shape[1]

    @property
    def leads(self) -> tuple[str, ...]:
        return tuple(str(i) for i in range(len(self.x)))

    @property
    def ecg(self) -> tuple[int, ...]:
        return tuple(range(len(self.x)))

    def read(self, start: int, stop: int) -> Signal:
        return self.x[:, start:stop].copy()


@dataclass(frozen=True)
class Recorded:
    """A recording in memory: (L, n) millivolts, true beats (s), QRS amplitude of each lead (mV)."""

    name: str
    fs: float
    x: Signal
    truth: Times
    size: Times

    @property
    def seed(self) -> int:
        return int(self.name)


def loaded(source: Source) -> Recorded:
    recording, reference = source.recording, source.reference
    assert reference is not None
    x = recording.read(0, recording.n_samples)[list(recording.ecg)]
    size = stress.qrs_size(x, recording.fs, reference.beat_times)
    return Recorded(recording.name, recording.fs, x, reference.beat_times, size)


def found(x: Signal, fs: float) -> Times:
    """Beats as the tools find them, block by block."""
    return FeatureStore().beats(Signals(x, fs), 0.0, x.shape[1] / fs, "times").time


def first_lead(x: Signal, fs: float) -> Times:
    return found(x[:1], fs)


def sleepecg(x: Signal, fs: float) -> Times:
    return np.asarray(detect_heartbeats(np.nan_to_num(x[0]).astype(np.float64), fs) / fs)


def xqrs(x: Signal, fs: float) -> Times:
    lead = np.nan_to_num(x[0]).astype(np.float64)
    return np.asarray(xqrs_detect(lead, fs, verbose=False) / fs, dtype=np.float64)


def good_lead(r: Recorded) -> Times:
    """Beats of whichever lead does not fail, each read alone and undisturbed."""
    alone = [found(r.x[i : i + 1], r.fs) for i in range(2)]
    second = np.zeros(r.x.shape[1] + 1, dtype=bool)
    for start, stop, lead in stress.failure_spans(r.x.shape[1], r.fs, len(r.x), r.seed):
        second[start:stop] = lead == 0
    sides = (
        alone[0][~second[np.rint(alone[0] * r.fs).astype(int)]],
        alone[1][second[np.rint(alone[1] * r.fs).astype(int)]],
    )
    return np.sort(np.concatenate(sides))


def rate(found: Times, truth: Times) -> Rate:
    return Rate(len(pair_beats(truth, found)[0]), len(truth), len(found))


Condition = tuple[str, Callable[[Recorded], Signal]]


def conditions() -> Iterator[Condition]:
    """As recorded, then each kind of noise at each level."""
    yield "as recorded", lambda r: r.x
    kinds: tuple[stress.NoiseKind, ...] = ("muscle", "baseline", "motion")
    for kind in kinds:
        for db in (12.0, 6.0):
            yield (
                f"{kind} {db:.0f} dB",
                lambda r, kind=kind, db=db: stress.with_noise(r.x, r.fs, kind, db, r.size, r.seed),
            )


def failures() -> Iterator[Condition]:
    """One lead failing at a time, in each way."""
    for how in stress.FAILURES:
        yield f"a lead {how}", lambda r, how=how: stress.failing(r.x, r.fs, how, r.size, r.seed)


METHODS = {"first lead": first_lead, "two leads": found, "sleepecg": sleepecg, "XQRS": xqrs}


def tallies(
    records: Iterable[Recorded], todo: Iterable[Condition], methods: Iterable[str]
) -> dict[tuple[str, str], dict[str, Rate]]:
    """Rates by condition and method, then by record."""
    todo = list(todo)
    out: dict[tuple[str, str], dict[str, Rate]] = {}
    for r in records:
        for what, worsened in todo:
            x = worsened(r)
            for name in methods:
                if name != "XQRS" or r.name in XQRS_RECORDS:
                    mine = rate(METHODS[name](x, r.fs), r.truth)
                    out.setdefault((what, name), {})[r.name] = mine
    return out


def add(rates: Iterable[Rate]) -> Rate:
    listed = list(rates)
    sums = (sum(getattr(r, f) for r in listed) for f in ("true_positive", "reference", "detected"))
    return Rate(*sums)


def f1(r: Rate) -> float:
    return 200 * r.true_positive / (r.reference + r.detected)


def _cells(r: Rate) -> tuple[str, str]:
    return f"Se {100 * (r.sensitivity or 0):.2f}", f"+P {100 * (r.positive_predictivity or 0):.2f}"


def add_rows(sources: Iterable[Source], table: Table) -> None:
    """Rows of both kinds, on every record and on DS2 with the paced ones."""
    opened = [loaded(source) for source in sources]
    counted = tallies(opened, conditions(), METHODS)
    counted |= tallies(opened, failures(), ("first lead", "two leads"))
    oracle = {r.name: rate(good_lead(r), r.truth) for r in opened}
    counted["a lead fails", "the good lead alone"] = oracle
    for (what, name), rates in counted.items():
        test = add(r for record, r in rates.items() if split_of("mitdb", record) == "test")
        every = add(rates.values())
        note = f"test: {' '.join(_cells(test))}"
        if name == "XQRS":
            same = add(counted[what, "two leads"][record] for record in rates)
            note = f"two leads on these: {' '.join(_cells(same))}"
        where = f"mitdb, {len(rates)}, {what}"
        table.add_row(f"QRS, {name}", where, *_cells(every), f"F1 {f1(every):.2f}; {note}")
