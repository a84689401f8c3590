"""Bars for detection under noise and with leads failing, on mitdb DS2, where nothing was fitted.

The first ten minutes of eight records; the whole table is that of ``make accuracy``.
"""

import numpy as np
import pytest
from signals_fakes import FakeStream

from ecgscroll.causal.sources import open_source
from ecgscroll.scoring.ec57 import pair_beats
from ecgscroll.signals.store import FeatureStore
from ecgscroll.synth import stress

RECORDS = ("100", "105", "117", "200", "213", "221", "228", "233")
SECONDS = 600
pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(scope="module")
def recorded(data):
    out = []
    for name in RECORDS:
        source = open_source(data / "mitdb", name, "mitdb")
        x = source.recording.read(0, SECONDS * 360)
        truth = source.reference.beat_times
        truth = truth[truth < SECONDS]
        out.append((int(name), x, truth, stress.qrs_size(x, 360.0, truth)))
    return out


def rates(recorded, worsened, leads=slice(None)):
    """Sensitivity, +P and F1 in percent."""
    counts = []
    for seed, x, truth, size in recorded:
        y = worsened(x, size, seed)[leads]
        stream = FakeStream(y, 360.0).at(SECONDS)
        found = FeatureStore().beats(stream, 0.0, SECONDS, "times").time
        counts.append((len(pair_beats(truth, found)[0]), len(truth), len(found)))
    hits, reference, called = np.sum(counts, axis=0)
    return 100 * hits / reference, 100 * hits / called, 200 * hits / (reference + called)


def noisy(kind, level):
    return lambda x, size, seed: stress.with_noise(x, 360.0, kind, level, size, seed)


def failed(how):
    return lambda x, size, seed: stress.failing(x, 360.0, how, size, seed)


def as_recorded(x, size, seed):
    return x


BARS = [
    ("as recorded", as_recorded, 99.7, 99.6),
    ("muscle 12", noisy("muscle", 12.0), 99.7, 99.6),
    ("muscle 6", noisy("muscle", 6.0), 99.5, 98.9),
    ("baseline 6", noisy("baseline", 6.0), 99.7, 99.6),
    ("motion 12", noisy("motion", 12.0), 99.4, 98.5),
    ("motion 6", noisy("motion", 6.0), 99.0, 97.0),
    *((how, failed(how), 99.0, 98.7) for how in stress.FAILURES),
]


@pytest.mark.parametrize(
    ("worsened", "sensitivity", "predictivity"),
    [bar[1:] for bar in BARS],
    ids=[bar[0] for bar in BARS],
)
def test_two_leads(recorded, worsened, sensitivity, predictivity):
    found = rates(recorded, worsened)
    assert found[0] >= sensitivity
    assert found[1] >= predictivity


@pytest.mark.parametrize(
    "worsened",
    [noisy("muscle", 6.0), noisy("motion", 6.0), failed("noise"), failed("flat")],
    ids=["muscle", "motion", "a lead noise", "a lead flat"],
)
def test_two_leads_beat_the_first(recorded, worsened):
    assert rates(recorded, worsened)[2] > rates(recorded, worsened, slice(0, 1))[2]
