"""Labelled chunks of recordings, as waveform or as what the tools measure in them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.signal import resample_poly
from torch.utils.data import Dataset

from ecgscroll.catalogue.instances import Instance
from ecgscroll.catalogue.splits import Side
from ecgscroll.causal.sources import Source
from ecgscroll.causal.stream import Stream
from ecgscroll.environment.wrappers import LIMIT, MEASURED, largest
from ecgscroll.errors import ConfigError
from ecgscroll.loaders.instances import check_side
from ecgscroll.loaders.opening import open_instance, opened
from ecgscroll.tasks import get_task
from ecgscroll.tools.registry import SIGNAL_TOOLS, run_tool

Content = Literal["waveform", "features"]

MEASUREMENTS = tuple(one for one in MEASURED if one[0] in SIGNAL_TOOLS)
"""(tool, field, scale) of each feature; the feature is field / scale."""
CHUNK_FEATURES = (
    *(f"{tool}.{field} over {scale:g}" for tool, field, scale in MEASUREMENTS),
    *(f"{tool}.{field} was measured" for tool, field, _ in MEASUREMENTS),
)
"""Names of the features of a chunk."""
# An interval's chunk is positive where the event takes half of it, as `classify_rhythm` says AF.
_MAJORITY = 0.5
_LONGEST_S = 3600.0


class LabelledChunks(Dataset[dict[str, Any]]):
    """Chunks of ``seconds``, one after another, each with its task's label.

    An item is a dict: ``waveform`` (L, n) float32, millivolts, 0 where there is no sample, with
    ``valid`` (L, n) bool; or ``features`` (F,) float32, as `CHUNK_FEATURES` names them, 0 where
    nothing could be measured; ``label`` int64, 1 where the event takes half of the chunk, or for
    a beat or an onset, where one lies in it; ``share`` float32, the share of the chunk in events,
    or how many moments lie in it; ``instance``, its id; ``t0`` and ``t1``, float64, seconds of the
    instance.

    Parameters
    ----------
    instances
        Ids or instances; each has its truth. What is left of a recording after the last whole
        chunk is no item.
    data
        Data directory, for ids; ``ECGSCROLL_DATA`` if it is not given.
    content
        ``waveform`` or ``features``: what the signal tools measure in the chunk, having seen the
        recording up to its end and nothing after.
    seconds
        Length of a chunk.
    fs
        Sampling rate of waveforms in Hz; a recording with another rate is resampled, chunk by
        chunk, with a polyphase filter (`scipy.signal.resample_poly`).
    leads
        ECG leads of a waveform, the first that there are; a lead that a recording lacks has no
        valid sample.
    side
        Which side of the splits every patient must be on.

    Raises
    ------
    ConfigError
        If a patient is on another side, a recording has no truth or not what is asked of it, or
        a value is out of its range.
    DataError
        If a recording is absent or damaged.

    Notes
    -----
    Labels are of the whole reference, which no agent sees: they are to learn from.
    """

    def __init__(
        self,
        instances: Iterable[str | Instance],
        *,
        data: str | Path | None = None,
        content: Content = "waveform",
        seconds: float = 30.0,
        fs: float = 250.0,
        leads: int = 2,
        side: Side = "train",
    ) -> None:
        if content not in ("waveform", "features"):
            raise ConfigError(f"content is 'waveform' or 'features', not {content!r}.")
        if not 1 <= seconds <= _LONGEST_S or not 1 <= fs <= 10_000 or leads < 1:
            raise ConfigError("A chunk has 1 to 3600 seconds, 1 to 10000 Hz and a lead or more.")
        self.instances = opened(instances, data)
        check_side(self.instances, side)
        self._check(self.instances, content)
        self.content, self.seconds, self.fs, self.leads = content, seconds, fs, leads
        counts = [int((one.duration + 1e-6) // seconds) for one in self.instances]
        self._ends = list(accumulate(counts))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, index: int) -> dict[str, Any]:
        if not -len(self) <= index < len(self):
            raise IndexError(f"There is no chunk {index} of {len(self)}.")
        index %= len(self)
        which = bisect_right(self._ends, index)
        one = self.instances[which]
        t0 = (index - (self._ends[which - 1] if which else 0)) * self.seconds
        share = event_share(one, t0, t0 + self.seconds)
        label = share > 0 if _is_point(one) else share >= _MAJORITY
        return {
            **self._content(open_instance(one), t0),
            "label": torch.tensor(int(label)),
            "share": torch.tensor(share, dtype=torch.float32),
            "instance": one.id,
            "t0": torch.tensor(t0, dtype=torch.float64),
            "t1": torch.tensor(t0 + self.seconds, dtype=torch.float64),
        }

    def _content(self, source: Source, t0: float) -> dict[str, torch.Tensor]:
        if self.content == "features":
            return {"features": torch.from_numpy(features(source, t0, t0 + self.seconds))}
        samples, valid = waveform(source, t0, self.seconds, self.fs, self.leads)
        return {"waveform": torch.from_numpy(samples), "valid": torch.from_numpy(valid)}

    def _check(self, instances: Sequence[Instance], content: Content) -> None:
        for one in instances:
            if one.truth is None:
                raise ConfigError(f"{one.id} has no truth, so its chunks have no labels.")
            if content == "waveform" and one.available != "signal":
                raise ConfigError(
                    f"{one.id} has no waveform here: fetch its signal files, or take "
                    "content='features'."
                )


def event_share(one: Instance, t0: float, t1: float) -> float:
    """Return the share of [t0, t1) s in events, or how many point events lie in it."""
    events = one.truth.events if one.truth else ()
    if _is_point(one):
        return float(sum(t0 <= start < t1 for start, _ in events))
    held = sum(max(0.0, min(stop, t1) - max(start, t0)) for start, stop in events)
    return held / (t1 - t0)


def waveform(
    source: Source, t0: float, seconds: float, fs: float, leads: int
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return (leads, n) millivolts and validity of a chunk at ``fs`` Hz; 0 where there is none."""
    recording = source.recording
    first = round(t0 * recording.fs)
    last = min(first + round(seconds * recording.fs), recording.n_samples)
    own = recording.read(first, last)[list(recording.ecg[:leads])]
    n = round(seconds * fs)
    samples, valid = np.zeros((leads, n), np.float32), np.zeros((leads, n), np.bool_)
    known = np.isfinite(own)
    found = np.where(known, own, np.float32(0))
    if recording.fs != fs:
        ratio = Fraction(fs / recording.fs).limit_denominator(1000)
        found = resample_poly(found, ratio.numerator, ratio.denominator, axis=1)
        nearest = (np.arange(found.shape[1]) / fs * recording.fs).astype(int)
        known = known[:, np.minimum(nearest, last - first - 1)]
    width = min(n, found.shape[1])
    samples[: len(found), :width] = found[:, :width]
    valid[: len(found), :width] = known[:, :width]
    return np.where(valid, samples, np.float32(0)), valid


def features(source: Source, t0: float, t1: float) -> NDArray[np.float32]:
    """Return (F,) what the signal tools measure in [t0, t1) s at a cursor of t1, as numbers."""
    stream = Stream(source)
    stream.advance(t1)
    results = {
        tool: run_tool(tool, None, stream, t0, t1, per_beat=False)
        for tool in dict.fromkeys(tool for tool, _, _ in MEASUREMENTS)
    }
    found = [largest(results[tool].get(field)) for tool, field, _ in MEASUREMENTS]
    scaled = [
        0.0 if value is None else value / scale
        for value, (_, _, scale) in zip(found, MEASUREMENTS, strict=True)
    ]
    flags = [float(value is not None) for value in found]
    return np.clip(np.array([*scaled, *flags], dtype=np.float32), -LIMIT, LIMIT)


def _is_point(one: Instance) -> bool:
    """Whether the events are moments (beats, an onset), not stretches of time."""
    task = get_task(one.task)
    return task.event == "pvc" or task.answer in ("onset", "point")
