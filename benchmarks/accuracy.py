"""How well the signal tools measure, on real recordings with reference annotations.

Run ``python benchmarks/accuracy.py [--data DIR]``; a database that is absent is left out. Every row
says which records it counts: thresholds were chosen on mitdb DS1, on the training patients of
ltafdb (datasets/splits.yaml) and, for the bounds of waves, on those of qtdb (delineation.py).
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import fibrillation
import ischemia
import numpy as np
import stress
import yaml
from delineation import manual_marks
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sleepecg import detect_heartbeats

from ecgscroll.catalogue.splits import split_of
from ecgscroll.causal.sources import Source, open_source
from ecgscroll.causal.stream import Stream
from ecgscroll.errors import DataError
from ecgscroll.scoring.ec57 import Rate, compare_beats
from ecgscroll.signals.beats import Beats

ROOT = Path(__file__).resolve().parents[1]
PACED = ("102", "104", "107", "217")


def splits() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "datasets" / "splits.yaml").read_text()))


def records(data: Path, database: str, side: str | None = None) -> Iterator[Source]:
    """Sources of a database, all or those of one side of the split."""
    for header in sorted((data / database).glob("*.hea")):
        if side is None or split_of(database, header.stem) == side:
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


def atrial_fibrillation(data: Path, table: Table) -> None:
    """AF by R-R, from annotations where there is no waveform; afdb also without its broken file."""
    for database, side in (
        ("afdb", "test"),
        ("ltafdb", "train"),
        ("ltafdb", "test"),
        ("mitdb", "train"),
        ("mitdb", "test"),
        ("mitdb", None),
        ("cpsc2021", "test"),
        ("cpsc2021", None),
        ("ltafdb_1h", "test"),
        ("ltafdb_1h", None),
    ):
        if (data / database).is_dir():
            found = fibrillation.tally(records(data, database, side), all_beats, database)
            fibrillation.rows(table, f"{database}{', ' + side if side else ''}", found)
    if (data / "afdb").is_dir():
        others = (s for s in records(data, "afdb", "test") if s.recording.name != "07162")
        fibrillation.rows(table, "afdb less 07162", fibrillation.tally(others, all_beats, "afdb"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    default = os.environ.get("ECGSCROLL_DATA", ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=default, help="folder of databases")
    data = Path(parser.parse_args().data)
    table = Table("what", "on", "", " ", "note", title="Accuracy of the signal tools")
    if (data / "mitdb").is_dir():
        qrs_and_pvc(data, table)
        stress.add_rows(records(data, "mitdb"), table)
    atrial_fibrillation(data, table)
    if (data / "qtdb").is_dir():
        manual_marks(data, table)
        ischemia.add_rows(data, table)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
