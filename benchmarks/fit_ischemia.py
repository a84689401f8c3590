"""Show how the constants of ``ecgscroll.signals.ischemia`` were chosen, on training patients.

Run ``python benchmarks/fit_ischemia.py [--data DIR]``. One constant is moved at a time; beside the
training excerpts of edb in qtdb, the last column counts what is called in the training records of
mitdb, where there is no ST truth: most of it is change of axis, of conduction or of pacemaker.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

from accuracy import ROOT, all_beats, records
from ischemia import compare
from rich.console import Console
from rich.table import Table

from ecgscroll.catalogue.splits import split_of
from ecgscroll.causal.sources import Source, open_source
from ecgscroll.scoring.intervals import Interval, Union
from ecgscroll.signals import ischemia, st_course
from ecgscroll.signals.beats import Beats

GRID: tuple[tuple[ModuleType, str, tuple[float, ...]], ...] = (
    (ischemia, "DEVIATION_MV", (0.08, 0.09, 0.10, 0.11, 0.12)),
    (ischemia, "LASTS_S", (15.0, 20.0, 25.0, 30.0)),
    (ischemia, "EDGE_MV", (0.04, 0.05, 0.06)),
    (ischemia, "BRIDGE_S", (10.0, 15.0, 20.0, 30.0)),
    (ischemia, "UNKNOWN_S", (60.0, 120.0, 180.0, 300.0)),
    (ischemia, "SHIFT_ST", (0.6, 0.65, 0.7, 0.8)),
    (ischemia, "SHIFT_LOG_AMPLITUDE", (0.2, 0.3, 0.4)),
    (ischemia, "SHIFT_QRS_MS", (14.0, 18.0, 22.0, 26.0, 30.0)),
    (ischemia, "JUMP_ST", (0.6, 0.75, 0.85, 9.0)),
    (st_course, "LEAST_AMPLITUDE", (0.4, 0.5, 0.6)),
    (st_course, "NEAREST_S", (0.0, 0.3, 0.36, 0.42)),
    (st_course, "SMOOTH", (9, 11, 13, 15)),
    (st_course, "LEAST_SHARE", (0.25, 0.4, 0.5, 0.6)),
    (st_course, "REACH_S", (300.0, 450.0, 600.0)),
)


def excerpts(data: Path) -> dict[Source, Beats]:
    """Training excerpts with their beats."""
    names = [path.stem for path in sorted((data / "qtdb").glob("sele*.hea"))]
    chosen = [name for name in names if split_of("qtdb", name) == "train"]
    found = (open_source(data / "qtdb", name, "qtdb") for name in chosen)
    return {source: all_beats(source) for source in found}


def called(beats: Beats) -> list[Interval]:
    """Spans called in a whole recording, leads together."""
    end = float(beats.time[-1])
    spans = ((e.start, min(e.stop, end)) for e in ischemia.episodes(beats))
    return list(Union(spans).intervals())


def add_row(table: Table, name: str, edb: dict[Source, Beats], mitdb: list[Beats]) -> None:
    """Count with the constants as they are now."""
    one = [compare(source, lambda source: called(edb[source])) for source in edb]
    sums = {key: sum(getattr(t, key) for t in one) for key in ("found", "reference", "right")}
    spans = sum(t.called for t in one)
    table.add_row(
        name,
        f"{sums['found']}/{sums['reference']}",
        f"{sums['right']}/{spans}",
        f"{sum(t.scores[0] for t in one) / len(one):.3f}",
        str(sum(len(called(beats)) for beats in mitdb)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    default = os.environ.get("ECGSCROLL_DATA", ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=default, help="folder of databases")
    data = Path(parser.parse_args().data)
    edb = excerpts(data)
    mitdb = [all_beats(source) for source in records(data, "mitdb", "train")]
    table = Table("constant", "Se", "+P", "F1 at IoU 0.75", "called in mitdb DS1")
    add_row(table, "as it is", edb, mitdb)
    for module, name, values in GRID:
        for value in values:
            with patch.object(module, name, value):
                add_row(table, f"{name} {value}", edb, mitdb)
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
