"""How well the signal tools measure, on real recordings with reference annotations.

Run ``python benchmarks/accuracy.py [--data DIR]``; a database that is absent is left out. Every row
says which records it counts: thresholds were chosen on mitdb DS1, on the training patients of
ltafdb (datasets/splits.yaml) and, for QRS bounds, on every second record of qtdb that has manual
marks.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sleepecg import detect_heartbeats

from ecgscroll.annotations import read_annotations
from ecgscroll.ec57 import Rate, compare_beats
from ecgscroll.errors import DataError
from ecgscroll.signals import rhythm
from ecgscroll.signals.beats import Beats
from ecgscroll.sources import Source, open_source
from ecgscroll.stream import Stream

ROOT = Path(__file__).resolve().parents[1]
PACED = ("102", "104", "107", "217")
AF_LABELS = ("AFIB", "AFL")


def splits() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "datasets" / "splits.yaml").read_text()))


def records(data: Path, database: str, side: str | None = None) -> Iterator[Source]:
    """Sources of a database, all or those of one side of the split."""
    patterns = splits()[database][side] if side else ["*"]
    for header in sorted((data / database).glob("*.hea")):
        if any(fnmatch(header.stem, pattern) for pattern in patterns):
            with suppress(DataError):  # two headers of afdb have neither signal nor length
                yield open_source(data / database, header.stem, database)


def all_beats(source: Source) -> Beats:
    """Beats of a whole recording, block by block, as an environment at its end sees them."""
    stream = Stream(source)
    stream.advance(stream.total)
    return stream.beats(0.0, stream.total)


def add(rates: list[Rate]) -> Rate:
    sums = (sum(getattr(r, f) for r in rates) for f in ("true_positive", "reference", "detected"))
    return Rate(*sums)


def percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f}"


def qrs_and_pvc(data: Path, table: Table) -> None:
    """QRS detection and ventricular ectopic beats on mitdb, beside sleepecg."""
    plain, ec57, peer, jitter = [], [], [], []
    pvc: dict[str, list[Rate]] = {"train": [], "test": []}
    pvc_ec57: list[Rate] = []
    took = peer_took = 0.0
    sides = {name: side for side in pvc for name in splits()["mitdb"][side]}
    for source in records(data, "mitdb"):
        reference, name = source.reference, source.recording.name
        if reference is None or reference.beat_symbols is None:
            continue
        start = time.process_time()
        beats = all_beats(source)
        took += time.process_time() - start
        truth, symbols = reference.beat_times, reference.beat_symbols.tolist()
        mine = np.where(beats.ectopic, "V", "N").tolist()
        every = compare_beats(truth, symbols, beats.time, mine, learning_s=0.0)
        flutter = [(s.start, s.stop) for s in reference.rhythm if s.label in ("VFL", "VF")]
        plain.append(every.detection)
        learned = compare_beats(truth, symbols, beats.time, mine, exclude=flutter)
        ec57.append(learned.detection)
        if name in sides and name not in PACED:
            counted = compare_beats(
                truth, symbols, beats.time, mine, learning_s=0.0, exclude=flutter
            )
            pvc[sides[name]].append(counted.of_class("V"))
            if sides[name] == "test":
                pvc_ec57.append(learned.of_class("V"))
        lead = source.recording.read(0, source.recording.n_samples)[0].astype(np.float64)
        start = time.process_time()
        other = detect_heartbeats(np.nan_to_num(lead), source.recording.fs) / source.recording.fs
        peer_took += time.process_time() - start
        labels = ["N"] * len(other)
        peer.append(compare_beats(truth, symbols, other, labels, learning_s=0.0).detection)
        jitter.append(nearest_error_ms(beats.time, truth))
    row(table, "QRS", "mitdb, 48, every beat", add(plain), f"{took:.1f} s CPU, all features")
    row(table, "QRS", "mitdb, 48, EC57 exclusions", add(ec57), "")
    row(table, "QRS, sleepecg", "mitdb, 48, every beat", add(peer), f"{peer_took:.1f} s CPU")
    spread = np.concatenate(jitter)
    table.add_row(
        "R peak",
        "mitdb, 48",
        f"median {np.median(spread):.0f} ms",
        f"s.d. {spread.std():.0f} ms",
        "",
    )
    row(table, "PVC", "mitdb DS1 less 201 (train)", add(pvc["train"]), "but flutter")
    row(table, "PVC", "mitdb DS2 (test)", add(pvc["test"]), "but flutter")
    row(table, "PVC", "mitdb DS2 (test), EC57 exclusions", add(pvc_ec57), "")


def row(table: Table, what: str, where: str, rate: Rate, note: str) -> None:
    shown = (f"Se {percent(rate.sensitivity)}", f"+P {percent(rate.positive_predictivity)}")
    table.add_row(what, where, *shown, note)


def nearest_error_ms(found: NDArray[np.float64], truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Signed error of every found beat that has a true one within 150 ms."""
    right = np.clip(np.searchsorted(truth, found), 1, len(truth) - 1)
    left_nearer = found - truth[right - 1] < truth[right] - found
    error = (found - truth[np.where(left_nearer, right - 1, right)]) * 1000
    return np.asarray(error[np.abs(error) <= 150])


def fibrillation(data: Path, table: Table) -> None:
    """AF interval by interval: R-R from annotations where there is no waveform."""
    for database, side in (
        ("afdb", "test"),
        ("ltafdb", "train"),
        ("ltafdb", "test"),
        ("mitdb", None),
        ("cpsc2021", None),
        ("ltafdb_1h", None),
    ):
        if not (data / database).is_dir():
            continue
        counts = np.zeros((2, 2), dtype=np.int64)  # [truth, called]
        for source in records(data, database, side):
            if source.reference is not None and source.reference.has_rhythm:
                counts += af_counts(source)
        (tn, fp), (fn, tp) = counts
        where = f"{database}{', ' + side if side else ''}"
        ppv = tp / max(1, tp + fp)
        table.add_row(
            "AF per R-R",
            where,
            f"Se {percent(tp / max(1, tp + fn))}",
            f"Sp {percent(tn / max(1, tn + fp))}",
            f"+P {percent(ppv)}",
        )


def af_counts(source: Source) -> NDArray[np.int64]:
    found = rhythm.judge(all_beats(source))
    counts = np.zeros((2, 2), dtype=np.int64)
    if found is None or source.reference is None:
        return counts
    truth = np.zeros(len(found.stop), dtype=bool)
    for span in source.reference.af:
        truth |= (found.stop > span.start) & (found.stop <= span.stop)
    np.add.at(counts, (truth.astype(int), found.af.astype(int)), 1)
    return counts


def manual_marks(data: Path, table: Table) -> None:
    """PR, QRS, QT and ST level against those from the manual marks of qtdb."""
    names = sorted(path.stem for path in (data / "qtdb").glob("*.q1c"))
    for title, chosen in (("every second record (train)", names[::2]), ("the others", names[1::2])):
        errors: dict[str, list[float]] = {"P": [], "PR": [], "QRS": [], "QT": [], "ST": []}
        for name in chosen:
            compare_marks(open_source(data / "qtdb", name, "qtdb"), errors)
        for what, unit in (("PR", "ms"), ("QRS", "ms"), ("QT", "ms"), ("ST", "mV")):
            values = np.array(errors[what])
            known = values[np.isfinite(values)]
            digits = 3 if unit == "mV" else 1
            table.add_row(
                what,
                f"qtdb q1c, {title}",
                f"bias {known.mean():.{digits}f} {unit}",
                f"s.d. {known.std():.{digits}f} {unit}",
                f"{len(known)} of {len(values)}",
            )


def compare_marks(source: Source, errors: dict[str, list[float]]) -> None:
    recording = source.recording
    marks = read_annotations(recording.folder, recording.name, "q1c", recording.fs)
    beats = all_beats(source)
    signal = recording.read(0, recording.n_samples)
    symbol, at = marks.symbol.tolist(), marks.sample
    for i in range(1, len(symbol) - 1):
        if symbol[i - 1 : i + 2] not in [["(", c, ")"] for c in "NVAaRLj"]:
            continue
        j = int(np.argmin(np.abs(beats.time - at[i] / recording.fs)))
        if abs(beats.time[j] - at[i] / recording.fs) > 0.1:
            continue
        to_ms = 1000 / recording.fs
        onset, end = at[i - 1], at[i + 1]
        errors["QRS"].append(beats.qrs_ms[j] - (end - onset) * to_ms)
        errors["ST"] += (beats.st_mv[j] - st_by_marks(signal, onset, end, recording.fs)).tolist()
        if symbol[max(0, i - 4) : i - 1] == ["(", "p", ")"]:
            errors["PR"].append(beats.pr_ms[j] - (onset - at[i - 4]) * to_ms)
        t_end = next(
            (
                at[k + 1]
                for k in range(i + 2, min(i + 5, len(symbol) - 1))
                if symbol[k] == "t" and symbol[k + 1] == ")"
            ),
            None,
        )
        if t_end is not None:
            errors["QT"].append(beats.qt_ms[j] - (t_end - onset) * to_ms)


def st_by_marks(
    signal: NDArray[np.float32], onset: int, end: int, fs: float
) -> NDArray[np.float32]:
    """Level at J+80 ms against the PR segment, both by the manual marks, (n_leads,)."""
    level = signal[:, end + round(0.07 * fs) : end + round(0.09 * fs) + 1].mean(axis=1)
    base = signal[:, onset - round(0.024 * fs) : onset - round(0.008 * fs) + 1].mean(axis=1)
    return np.asarray(level - base)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    default = os.environ.get("ECGSCROLL_DATA", ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=default, help="folder of databases")
    data = Path(parser.parse_args().data)
    table = Table("what", "on", "", " ", "note", title="Accuracy of the signal tools")
    if (data / "mitdb").is_dir():
        qrs_and_pvc(data, table)
    fibrillation(data, table)
    if (data / "qtdb").is_dir():
        manual_marks(data, table)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
