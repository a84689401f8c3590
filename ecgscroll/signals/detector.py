"""QRS detection."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sleepecg import detect_heartbeats


@dataclass(frozen=True)
class Detection:
    """R peaks of a segment: (n,) sample numbers and whether lost signal precedes each."""

    sample: NDArray[np.int64]
    after_gap: NDArray[np.bool_]


def detect(signal: NDArray[np.float32], fs: float) -> Detection:
    """R peaks in (L, n) ECG leads, millivolts."""
    lead = np.nan_to_num(signal[0].astype(np.float64))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sample = detect_heartbeats(lead, fs).astype(np.int64)
    except (ValueError, IndexError):
        sample = np.empty(0, dtype=np.int64)
    sample = sample[sample < len(lead)]
    return Detection(sample, np.zeros(len(sample), dtype=bool))
