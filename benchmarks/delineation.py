"""How well waves are bounded: P, QRS and T marks and the values from them, against manual ones.

Run ``python benchmarks/delineation.py [--data DIR]``. The reference is the first annotator of the
QT database (``q1c``); thresholds were chosen on the training side (catalogue/splits.py) alone. As
in the literature (Martinez et al., IEEE Trans Biomed Eng 51:570, 2004) mean and s.d. are those
within a record, averaged over records, and the better of the two leads is taken for every mark
(``better lead``). ``one decision`` is what the tools say: both leads together, nothing chosen
afterwards. The second annotator (``q2c``, where there is one) and the marks that come with the
database (``pu``: ecgpuwave) are scored the same way.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from ecgscroll.catalogue.splits import split_of
from ecgscroll.causal.sources import Source, open_source
from ecgscroll.causal.stream import Stream
from ecgscroll.errors import DataError
from ecgscroll.records.annotations import read_annotations
from ecgscroll.signals.beats import Beats
from ecgscroll.signals.store import FeatureStore

ROOT = Path(__file__).resolve().parents[1]
MARKS = ("P on", "P", "P off", "QRS on", "QRS off", "T", "T off")
PUBLISHED = {
    "wavelet, Martinez 2004": ("2±15", "4±13", "2±13", "5±8", "1±9", "0±14", "-2±18"),
}
"""On all 105 records, better lead; rounded to a millisecond."""
GOAL_SD = (15, None, 15, 10, 12, 15, 30)
BEATS = "NVAaRLjBFEeSJ"
NEAR_S = 0.1
Times = NDArray[np.float64]


@dataclass(frozen=True)
class Marked:
    """Beats with marks: (n,) R times and (n, 7) mark times in the order of MARKS, seconds."""

    r: Times
    at: Times


def from_file(source: Source, extension: str, lead: int = 0) -> Marked:
    """Marks of an annotation file, in which a wave is ``( peak )`` with either end optional."""
    recording = source.recording
    notes = read_annotations(recording.folder, recording.name, extension, recording.fs)
    mine = notes.chan == lead
    symbol, time = notes.symbol[mine].tolist(), notes.seconds[mine]
    waves = [
        (
            symbol[i],
            time[i - 1] if i and symbol[i - 1] == "(" else np.nan,
            time[i],
            time[i + 1] if symbol[i + 1 : i + 2] == [")"] else np.nan,
        )
        for i in range(len(symbol))
        if symbol[i] not in "()"
    ]
    rows = [_row(waves, k) for k in range(len(waves)) if waves[k][0] in BEATS]
    r = np.array([wave[2] for wave in waves if wave[0] in BEATS], dtype=np.float64)
    return Marked(r, np.array(rows, dtype=np.float64).reshape(-1, len(MARKS)))


def _row(waves: list[tuple[str, float, float, float]], k: int) -> list[float]:
    """Marks of the P, QRS and T wave around beat ``k``; a P wave belongs to a beat 0.5 s after."""
    nothing = ("", np.nan, np.nan, np.nan)
    before, beat = waves[k - 1] if k else nothing, waves[k]
    after = waves[k + 1] if k + 1 < len(waves) else nothing
    p = before if before[0] == "p" and beat[2] - before[2] < 0.5 else nothing
    t = after if after[0] == "t" else nothing
    return [*p[1:], beat[1], beat[3], *t[2:]]


def measured(beats: Beats) -> Marked:
    """Marks that the signal tools make."""
    names = ("p_on_ms", "p_ms", "p_off_ms", "qrs_on_ms", "qrs_off_ms", "t_peak_ms", "t_off_ms")
    offset = np.column_stack([getattr(beats, name).astype(np.float64) for name in names])
    return Marked(beats.time, beats.time[:, None] + offset / 1000)


def read_beats(source: Source, t0: float, t1: float, lead: int | None = None) -> Beats:
    """Beats in [t0, t1) as an environment at the recording's end sees them."""
    stream = Stream(source)
    if lead is not None:
        stream.ecg = (lead,)
    stream.advance(stream.total)
    return FeatureStore().beats(stream, t0, t1)


def errors_ms(found: Marked, reference: Marked) -> Times:
    """(n, 7) errors of the found beat nearest to each reference beat; NaN without one."""
    if len(found.r) == 0:
        return np.full_like(reference.at, np.nan)
    nearest = np.abs(np.subtract.outer(reference.r, found.r)).argmin(axis=1)
    error = (found.at[nearest] - reference.at) * 1000
    error[np.abs(found.r[nearest] - reference.r) > NEAR_S] = np.nan
    return error


def better(errors: list[Times]) -> Times:
    """Error of the lead that errs least, mark by mark."""
    stacked = np.array(errors)
    size = np.where(np.isnan(stacked), np.inf, np.abs(stacked))
    return np.asarray(np.take_along_axis(stacked, size.argmin(axis=0)[None], axis=0)[0])


@dataclass
class Errors:
    """Per record: side, marks expected (n, 7) and, by who made the marks, errors (n, 7)."""

    side: str
    expected: NDArray[np.bool_]
    by: dict[str, Times]
    values: dict[str, Times]


def sources(data: Path) -> Iterator[Source]:
    for path in sorted((data / "qtdb").glob("*.q1c")):
        yield open_source(data / "qtdb", path.stem, "qtdb")


def errors_of(source: Source) -> Errors:
    name = source.recording.name
    reference = from_file(source, "q1c")
    t0, t1 = float(reference.r.min()) - 2, float(reference.r.max()) + 2
    beats = read_beats(source, t0, t1)
    leads = [measured(read_beats(source, t0, t1, lead)) for lead in source.recording.ecg[:2]]
    by = {
        "better lead": better([errors_ms(lead, reference) for lead in leads]),
        "one decision": errors_ms(measured(beats), reference),
    }
    peer = [errors_ms(from_file(source, "pu", lead), reference) for lead in range(len(leads))]
    by["ecgpuwave, better lead"] = better(peer)
    with suppress(DataError):  # few records have a second annotator
        by["second annotator"] = errors_ms(from_file(source, "q2c"), reference)
    side = str(split_of("qtdb", name))
    return Errors(side, np.isfinite(reference.at), by, value_errors(source, beats, reference))


def value_errors(source: Source, beats: Beats, reference: Marked) -> dict[str, Times]:
    """Errors of PR, QRS, QT (ms) and ST (mV), beat by beat; NaN where one of the two is missing."""
    nearest = np.abs(np.subtract.outer(reference.r, beats.time)).argmin(axis=1)
    p_on, _, _, on, off, _, t_off = (reference.at * 1000).T
    st = [st_by_marks(source, a, b) for a, b in zip(on / 1000, off / 1000, strict=True)]
    return {
        "PR": beats.pr_ms[nearest] - (on - p_on),
        "QRS": beats.qrs_ms[nearest] - (off - on),
        "QT": beats.qt_ms[nearest] - (t_off - on),
        "ST": (beats.st_mv[nearest] - np.array(st)).ravel(),
    }


def st_by_marks(source: Source, onset: float, end: float) -> NDArray[np.float32]:
    """Level at J+80 ms against the PR segment, both by the manual marks, (n_leads,)."""
    fs, read = source.recording.fs, source.recording.read
    level = read(round((end + 0.07) * fs), round((end + 0.09) * fs) + 1).mean(axis=1)
    base = read(round((onset - 0.024) * fs), round((onset - 0.008) * fs) + 1).mean(axis=1)
    return np.asarray(level - base)


def by_record(found: list[Errors], who: str) -> tuple[Times, Times, Times]:
    """(7,) averages over records of the mean and of the s.d. of the error, and the sensitivity."""
    means, spreads, hits, expected = [], [], 0, 0
    for record in found:
        if who in record.by:
            error = np.where(record.expected, record.by[who], np.nan)
            known = np.isfinite(error)
            total = np.maximum(known.sum(axis=0), 1)
            mean = np.where(known.any(axis=0), np.nansum(error, axis=0) / total, np.nan)
            spread = np.sqrt(np.nansum((error - mean) ** 2, axis=0) / total)
            means.append(mean)
            spreads.append(np.where(known.sum(axis=0) > 1, spread, np.nan))
            hits, expected = hits + known.sum(axis=0), expected + record.expected.sum(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a mark that nobody made has no mean
        mean, spread = np.nanmean(means, axis=0), np.nanmean(spreads, axis=0)
    return mean, spread, np.asarray(hits / np.maximum(expected, 1))


def add_rows(found: list[Errors], table: Table) -> None:
    """Rows for the training and the test records and all, and for whom else there is."""
    for side in ("train", "test", "all"):
        chosen = [r for r in found if side in (r.side, "all")]
        if not chosen:
            continue
        for who in ("better lead", "one decision"):
            add_row(table, f"{who}, {side} ({len(chosen)})", by_record(chosen, who))
    for who in ("ecgpuwave, better lead", "second annotator"):
        chosen = [r for r in found if who in r.by]
        if chosen:
            add_row(table, f"{who} ({len(chosen)})", by_record(chosen, who))
    for who, cells in PUBLISHED.items():
        table.add_row(who, *cells)
    table.add_row("goal, s.d. at most", *["-" if sd is None else str(sd) for sd in GOAL_SD])


def add_row(table: Table, title: str, rates: tuple[Times, Times, Times]) -> None:
    cells = zip(*rates, strict=True)
    shown = [f"{m:.0f}±{s:.0f} {100 * se:.1f}" if se else "-" for m, s, se in cells]
    table.add_row(title, *shown)


def manual_marks(data: Path, table: Table) -> None:
    """Rows of the table of accuracy: values and, on the test side, marks."""
    found = [errors_of(source) for source in sources(data)]
    add_values(found, table)
    test = [record for record in found if record.side == "test"]
    for who in ("one decision", "better lead"):
        for mark, m, s, se in zip(MARKS, *by_record(test, who), strict=True):
            rates = (f"mean {m:.1f} ms", f"s.d. {s:.1f} ms", f"Se {100 * se:.1f}")
            table.add_row(mark, f"qtdb q1c, test, {who}", *rates)


def add_values(found: list[Errors], table: Table) -> None:
    for side in ("train", "test"):
        for what, unit in (("PR", "ms"), ("QRS", "ms"), ("QT", "ms"), ("ST", "mV")):
            values = np.concatenate([r.values[what] for r in found if r.side == side])
            known, digits = values[np.isfinite(values)], 3 if unit == "mV" else 1
            bias, spread = f"{known.mean():.{digits}f}", f"{known.std():.{digits}f}"
            shown = (f"bias {bias} {unit}", f"s.d. {spread} {unit}", f"{len(known)} beats")
            table.add_row(what, f"qtdb q1c, {side}", *shown)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    default = os.environ.get("ECGSCROLL_DATA", ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=default, help="folder of databases")
    found = [errors_of(source) for source in sources(parser.parse_args().data)]
    if not found:
        parser.error("no record of qtdb with manual marks (q1c) there")
    marks: Any = Table("marks on qtdb q1c", *MARKS, title="mean±s.d. (ms), sensitivity (%)")
    add_rows(found, marks)
    values = Table("what", "on", "", " ", "note", title="Values from marks")
    add_values(found, values)
    for table in (marks, values):
        Console(width=140).print(table)


if __name__ == "__main__":
    main()
