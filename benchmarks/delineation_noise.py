"""What muscle noise does to the marks: qtdb's training records with noise of known size added.

Run ``python benchmarks/delineation_noise.py [--data DIR] [--alone]``; ``--alone`` switches off the
averaging of :mod:`ecgscroll.signals.steady`, whose constants, like those of
:func:`ecgscroll.signals.windows.trust`, were chosen on these rows. Noise is band-passed to 4-90 Hz;
its level is that of the MIT noise stress test: the power of the QRS complexes is an eighth of their
squared amplitude.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from delineation import MARKS, ROOT, Times, errors_ms, from_file, measured, read_beats, sources
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.signal import butter, sosfiltfilt

from ecgscroll.catalogue.splits import split_of
from ecgscroll.causal.sources import Source
from ecgscroll.causal.stream import Stream
from ecgscroll.signals import segment
from ecgscroll.signals.store import FeatureStore

LEVELS_DB = (None, 24.0, 18.0, 12.0, 6.0)


@dataclass
class Noisy:
    """A recording up to its end with noise added; satisfies the protocol that features need."""

    stream: Stream
    x: NDArray[np.float32]

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream, name)

    def read(self, start: int, stop: int) -> NDArray[np.float32]:
        return self.x[:, start:stop]


def noisy(source: Source, level_db: float | None, amplitude: NDArray[np.float32]) -> Noisy:
    stream = Stream(source)
    stream.advance(stream.total)
    x = stream.read(0, stream.n_samples).copy()
    if level_db is not None:
        rng = np.random.default_rng(0)
        band = butter(2, (4.0, 90.0), "bandpass", fs=stream.fs, output="sos")
        noise = sosfiltfilt(band, rng.standard_normal(x.shape), axis=1)
        size = amplitude / np.sqrt(8) * 10 ** (-level_db / 20)
        x += (noise / noise.std(axis=1, keepdims=True) * size[:, None]).astype(np.float32)
    return Noisy(stream, x)


def errors(data: Path, level_db: float | None) -> Iterator[Times]:
    for source in sources(data):
        if split_of("qtdb", source.recording.name) != "train":
            continue
        reference = from_file(source, "q1c")
        t0, t1 = float(reference.r.min()) - 2, float(reference.r.max()) + 2
        amplitude = np.nanmedian(read_beats(source, t0, t1).qrs_amp, axis=0)
        beats = FeatureStore().beats(noisy(source, level_db, amplitude), t0, t1)
        error = errors_ms(measured(beats), reference)
        yield np.where(np.isfinite(reference.at), error, -np.inf)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    default = os.environ.get("ECGSCROLL_DATA", ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=default, help="folder of databases")
    parser.add_argument("--alone", action="store_true", help="without averaging")
    options = parser.parse_args()
    if options.alone:
        segment.steadied = lambda windows: windows
    table = Table("noise", *MARKS, title="all beats: mean±s.d. (ms), marked (%)")
    for level in LEVELS_DB:
        every = np.concatenate(list(errors(options.data, level)))
        cells = []
        for error in every.T:
            known = error[np.isfinite(error)]
            share = 100 * len(known) / np.count_nonzero(~np.isneginf(error))
            shown = f"{known.mean():.0f}±{known.std():.0f} " if len(known) else "- "
            cells.append(f"{shown}{share:.0f}")
        table.add_row("none" if level is None else f"{level:.0f} dB", *cells)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
