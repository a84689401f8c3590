from __future__ import annotations

import numpy as np
import pytest

from ecgscroll.records.recording import Recording
from ecgscroll.report import envelope as module
from ecgscroll.report.envelope import coarser, envelope, quantised


@pytest.fixture(scope="module")
def recording(reported_recordings):
    return Recording.open(reported_recordings / "synth", "ectopy01")


def test_every_sample_lies_within_its_stretch(recording, monkeypatch):
    monkeypatch.setattr(module, "_AT_ONCE", 4000)  # several blocks
    low, high, bucket = envelope(recording, (0, 1), 0.5)
    size = round(bucket * recording.fs)
    signal = recording.read(0, recording.n_samples)
    for number in (0, 1, 77, low.shape[1] - 1):
        part = signal[:, number * size : (number + 1) * size]
        assert low[:, number].tolist() == np.nanmin(part, axis=1).tolist()
        assert high[:, number].tolist() == np.nanmax(part, axis=1).tolist()


def test_joined_stretches_are_those_of_a_coarser_envelope(recording):
    low, high, bucket = envelope(recording, (0,), 0.1)
    joined = coarser(low, high, 5)
    direct = envelope(recording, (0,), 5 * bucket)
    assert np.array_equal(joined[0], direct[0], equal_nan=True)
    assert np.array_equal(joined[1], direct[1], equal_nan=True)


def test_invalid_samples_have_a_value_of_their_own():
    signal = np.array([0.0, 0.0074, np.nan, np.inf, 1e6, -1e6], dtype=np.float32)
    assert quantised(signal, 0.005, 16).tolist() == [0, 1, -32768, -32768, 32767, -32767]
