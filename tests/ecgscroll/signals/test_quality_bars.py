"""Bars that a later change must not lower, on mitdb DS2, where nothing was fitted."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ecgscroll.causal.sources import open_source
from ecgscroll.causal.stream import Stream
from ecgscroll.scoring.ec57 import compare_beats
from ecgscroll.signals import rhythm
from ecgscroll.signals.detector import detect_lead

DS2 = [
    "100",
    "103",
    "105",
    "111",
    "113",
    "117",
    "121",
    "123",
    "200",
    "202",
    "210",
    "212",
    "213",
    "214",
    "219",
    "221",
    "222",
    "228",
    "231",
    "232",
    "233",
    "234",
]


pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(scope="module")
def counts(data):
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda name: count(data / "mitdb", name), DS2))
    return {key: np.sum([f[key] for f in found], axis=0) for key in found[0]}


def count(folder, name):
    """(hits, reference, called) of QRS and PVC, and of AF in R-R intervals."""
    source = open_source(folder, name, "mitdb")
    stream = Stream(source)
    stream.advance(stream.total)
    beats, reference = stream.beats(0, stream.total), source.reference
    mine = np.where(beats.ectopic, "V", "N").tolist()
    compared = compare_beats(
        reference.beat_times, reference.beat_symbols.tolist(), beats.time, mine, learning_s=0.0
    )
    called = rhythm.judge(beats)
    truth = np.zeros(len(called.stop), dtype=bool)
    for span in reference.af:
        truth |= (called.stop > span.start) & (called.stop <= span.stop)
    return {
        "qrs": rates(compared.detection),
        "pvc": rates(compared.of_class("V")),
        "af": (int((truth & called.af).sum()), int(truth.sum()), int(called.af.sum())),
    }


def rates(rate):
    return rate.true_positive, rate.reference, rate.detected


@pytest.mark.parametrize(
    ("what", "sensitivity", "predictivity"),
    [("qrs", 0.998, 0.996), ("pvc", 0.96, 0.95), ("af", 0.95, 0.79)],
)
def test_accuracy_on_ds2(counts, what, sensitivity, predictivity):
    hits, reference, called = counts[what]
    assert hits / reference >= sensitivity
    assert hits / called >= predictivity


@pytest.mark.parametrize("name", ["103", "117", "202", "219"])
def test_beats_are_found_under_noise_of_6_db(data, name):
    source = open_source(data / "mitdb", name, "mitdb")
    lead = source.recording.read(0, 120 * 360)[0]
    truth = source.reference.beat_times[source.reference.beat_times < 120]
    swing = [np.ptp(lead[i - 20 : i + 20]) for i in (truth[2:-2] * 360).astype(int)]
    level = np.sqrt(np.mean(np.square(swing)) / 8 / 10**0.6)
    noisy = lead + level * np.random.default_rng(1).standard_normal(len(lead))
    found = detect_lead(noisy.astype(np.float32), np.ones(len(lead), dtype=bool), 360.0) / 360.0
    near = np.abs(np.subtract.outer(truth, found)) < 0.15
    assert near.any(axis=1).mean() >= 0.98
    assert near.any(axis=0).mean() >= 0.95
