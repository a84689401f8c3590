"""Synthetic recordings on disk: WFDB records, whole or absent, in bounded memory."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from ecgscroll.errors import ConfigError, DataError
from ecgscroll.files import write_atomic
from ecgscroll.synth.config import SynthConfig
from ecgscroll.synth.notes import annotate, write_notes
from ecgscroll.synth.recording import SyntheticRecording, synthesize
from ecgscroll.synth.streams import VERSION

GAIN = 200.0
"""Converter units per mV: 5 microvolts a step, the resolution of ambulatory recorders."""
_RANGE = 2047
_INVALID = -32768
_NAME = re.compile(r"[A-Za-z0-9_]{1,20}")

Progress = Callable[[float], None]


def write_record(
    folder: str | Path,
    name: str,
    config: SynthConfig,
    seed: int,
    *,
    chunk_s: float = 300.0,
    progress: Progress | None = None,
) -> Path:
    """Write ``name.dat``, ``name.atr`` and, last, ``name.hea``.

    The header comes last and each file appears whole, so a record that has a header is complete.

    Parameters
    ----------
    folder
        The database's folder; created if it is missing.
    name
        Record name: letters, digits and underscores, at most 20.
    config, seed
        What to write.
    chunk_s
        Seconds rendered at a time; changes the memory used, never the files.
    progress
        Called with the fraction done.

    Returns
    -------
    Path
        The header.

    Raises
    ------
    ConfigError
        If the name or the seed is not valid.
    DataError
        If the folder cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"A record name has 1 to 20 letters, digits or underscores, not {name!r}."
        )
    recording = synthesize(config, seed)
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=f".{name}.") as temporary:
            draft = Path(temporary)
            with (draft / f"{name}.dat").open("wb") as file:
                lines = _write_samples(file, name, recording, chunk_s, progress)
                os.fsync(file.fileno())
            write_notes(draft, name, annotate(config, recording.plan), config.fs)
            for suffix in (".dat", ".atr"):
                (draft / f"{name}{suffix}").replace(folder / f"{name}{suffix}")
        header = folder / f"{name}.hea"
        write_atomic(header, _header(name, recording, lines))
    except OSError as error:
        raise DataError(f"Cannot write {name!r} to {str(folder)!r}: {error.strerror}.") from error
    return header


def _write_samples(
    file: BinaryIO,
    name: str,
    recording: SyntheticRecording,
    chunk_s: float,
    progress: Progress | None,
) -> list[str]:
    """Write all samples in format 16; return the header's signal lines."""
    n_samples, leads = recording.config.n_samples, recording.config.leads
    done, first = 0, np.zeros(len(leads), dtype=np.int64)
    checksum = np.zeros(len(leads), dtype=np.int64)
    for chunk in recording.chunks(chunk_s):
        digital = _digitise(chunk)
        file.write(digital.T.tobytes())
        first = digital[:, 0].astype(np.int64) if done == 0 else first
        checksum += digital.sum(axis=1, dtype=np.int64)
        done += digital.shape[1]
        if progress is not None:
            progress(done / n_samples)
    # A header's checksum is the sum as a signed number of 16 bits.
    signed = (checksum + 32768) % 65536 - 32768
    return [
        f"{name}.dat 16 {GAIN:g}(0)/mV 12 0 {first[i]} {signed[i]} 0 {lead}"
        for i, lead in enumerate(leads)
    ]


def _digitise(signal: NDArray[np.float32]) -> NDArray[np.int16]:
    units = np.clip(np.round(signal * GAIN), -_RANGE - 1, _RANGE)
    return np.where(np.isnan(signal), _INVALID, units).astype("<i2")


def _header(name: str, recording: SyntheticRecording, lines: list[str]) -> str:
    config = recording.config
    return "\n".join(
        [
            f"{name} {len(config.leads)} {config.fs} {config.n_samples}",
            *lines,
            f"# synthetic: ecgscroll.synth recipe {VERSION}, seed {recording.seed}",
            "# no part of this record was recorded from a person",
            "",
        ]
    )
