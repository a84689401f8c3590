"""A run's folder: its configuration, a transcript per episode, the results assembled from them.

The transcripts are the only state. Each is written whole, atomically, when its episode ends, and
its last line carries the results row; so a kill at any moment loses only episodes under way. A
transcript that is damaged, or of another configuration, counts as not played.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from ecgscroll.errors import ConfigError, DataError
from ecgscroll.evaluation.config import RunConfig, Trial, differences, digest_of
from ecgscroll.evaluation.shapes import is_end, is_finite, is_sound
from ecgscroll.files import write_atomic

Row = dict[str, Any]
_BLOCK = 1 << 16
_MALFORMED = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


class RunFolder:
    """Where one run keeps everything.

    Parameters
    ----------
    path
        The folder; made when a run begins.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.episodes = path / "episodes"
        self.results = path / "results.jsonl"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for one run.

        Raises
        ------
        ConfigError
            If another process holds it.
        """
        try:
            self.episodes.mkdir(parents=True, exist_ok=True)
            handle = (self.path / ".lock").open("w")
        except OSError as error:
            raise ConfigError(f"The run folder {self.path} cannot be used: {error}.") from None
        with handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ConfigError(
                    f"Another run is under way in {self.path}; wait for it or choose another --out."
                ) from None
            yield

    def begin(self, config: RunConfig, provenance: dict[str, Any]) -> None:
        """Record what is run, or make sure that the same was run here before.

        Raises
        ------
        ConfigError
            If the folder holds a run of another configuration; the message names what differs.
        """
        target = self.path / "config.json"
        new = config.to_dict()
        if target.exists():
            changed = differences(self.config().to_dict(), new)
            if changed:
                raise ConfigError(
                    f"{self.path} holds another run: {'; '.join(changed)}. "
                    "Choose another --out, or give the same options to resume it."
                )
            return
        stored = {"config": new, "digest": config.digest(), "provenance": provenance}
        write_atomic(target, json.dumps(stored, indent=1) + "\n")

    def stored(self) -> dict[str, Any]:
        """Return what `begin` recorded: ``config``, ``digest``, ``provenance``.

        Raises
        ------
        DataError
            If this is no run's folder, its configuration is damaged, or another version of the
            package wrote it that this one does not understand.
        """
        target = self.path / "config.json"
        try:
            stored: dict[str, Any] = json.loads(target.read_bytes())
            if stored["digest"] != digest_of(stored["config"]):
                raise ValueError("edited since the run began")
            _understood(self.path, stored["config"])
        except FileNotFoundError:
            raise DataError(f"{self.path} holds no run: there is no config.json.") from None
        except (OSError, *_MALFORMED) as error:
            raise DataError(f"{target} is damaged ({error}); run into another folder.") from None
        return stored

    def config(self) -> RunConfig:
        """Return the configuration of the run that this folder holds; errors as `stored`."""
        return RunConfig.from_dict(self.stored()["config"])

    def episode_path(self, instance: str, rollout: int = 0) -> Path:
        """File of an episode's transcript; no two episodes share one."""
        *parts, last = (quote(part, safe="") for part in instance.split("/"))
        if re.fullmatch(r"r\d+", last):  # a record of that name is no rollout
            last = f"%72{last[1:]}"
        turn = f"+r{rollout}" if rollout else ""
        return self.episodes / f"{'+'.join([*parts, last])}{turn}.jsonl"

    def last_line(self, instance: str, rollout: int = 0) -> dict[str, Any] | None:
        """Last line of an episode's transcript, or None if it has not been played to an end.

        What is returned has the shape that `ecgscroll.evaluation.shapes.is_end` checks. Errors as
        `stored`.
        """
        played = {"instance": instance, "config": self._digest}
        try:
            with self.episode_path(instance, rollout).open("rb") as handle:
                start, end = json.loads(handle.readline()), json.loads(_last_line(handle))
        except (OSError, ValueError, RecursionError):
            return None
        return end if start == played and is_end(end, instance, rollout) else None

    def damaged(self) -> list[Trial]:
        """Return the episodes whose transcripts are there and cannot be read; errors as `stored`.

        The same command as before plays them again.
        """
        found = (one for one in self.config().trials() if self.episode_path(*one).exists())
        return [trial for trial in found if self.last_line(*trial) is None]

    @cached_property
    def _digest(self) -> str:
        digest: str = self.stored()["digest"]
        return digest

    def row(self, instance: str, rollout: int = 0) -> Row | None:
        """Results row of an episode, or None if it has not been played to an end."""
        end = self.last_line(instance, rollout)
        return None if end is None else end["row"]

    def sweep(self) -> None:
        """Remove what writes that were killed half-way have left; call it under the lock."""
        for folder in (self.path, self.episodes):  # its own files: others' runs may lie below
            for left in folder.glob(".*.part"):
                left.unlink(missing_ok=True)
        timing = self.path / "timing.jsonl"
        if timing.exists() and not timing.read_bytes().endswith(b"\n"):
            with timing.open("a") as handle:  # a line cut short must not swallow the next one
                handle.write("\n")

    def append_timing(self, note: Mapping[str, Any]) -> None:
        """Add a line to ``timing.jsonl``, the one place for wall time."""
        with (self.path / "timing.jsonl").open("a") as handle:
            handle.write(json.dumps(note) + "\n")

    def timing(self) -> list[dict[str, Any]]:
        """Return the lines of ``timing.jsonl``; one that is cut short or damaged is left out."""
        try:
            lines = (self.path / "timing.jsonl").read_bytes().splitlines()
        except FileNotFoundError:
            return []
        return [note for note in map(_read_note, lines) if note is not None]


def write_rows(target: Path, rows: Iterable[Row]) -> None:
    """Write one JSON line per row, atomically."""
    write_atomic(target, "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows))


def read_rows(source: Path) -> list[Row]:
    """Read rows that `write_rows` wrote.

    Raises
    ------
    DataError
        If the file is absent or damaged.
    """
    try:
        return [json.loads(line) for line in source.read_bytes().splitlines()]
    except (OSError, ValueError) as error:
        raise DataError(f"{source} cannot be read ({error}); run it again to mend it.") from None


def _understood(path: Path, config: Mapping[str, Any]) -> None:
    """Make sure that a whole configuration is one that this version can read."""
    try:
        read = RunConfig.from_dict(config)
    except (TypeError, KeyError):
        written, ours = config.get("version"), version("ecgscroll")
        if not isinstance(written, str):
            raise
        raise DataError(
            f"{path} holds a run of ecgscroll {written}, which this version, {ours}, cannot read; "
            "use that version, or run into another folder."
        ) from None
    if not is_sound(read):
        raise ValueError("values of other types than a configuration has")


def _read_note(line: bytes) -> dict[str, Any] | None:
    try:
        note: dict[str, Any] = json.loads(line)
        known = note.get("usage") or {}
        sound = all(_is_amount(value) for value in known.values())
    except _MALFORMED:
        return None
    return note if sound else None


def _is_amount(value: Any) -> bool:
    return value is None or (is_finite(value) and value >= 0)


def _last_line(handle: BinaryIO) -> bytes:
    """Last line of a file, read from its end: a transcript can be megabytes long."""
    position = handle.seek(0, os.SEEK_END)
    tail = b""
    while position and b"\n" not in tail[:-1]:
        step = min(_BLOCK, position)
        position = handle.seek(position - step)
        tail = handle.read(step) + tail
    return tail.rstrip(b"\n").rpartition(b"\n")[2]
