"""Bars for ST episodes on the excerpts of the European ST-T database, at what was measured.

Of 17 episodes with a baseline 14 were found, of 16 spans called outside those under way at an
excerpt's start 13 were right; on the test patients, on whom nothing was chosen, 3 of 5 and 3 of 4.
In the 16 excerpts without an episode none was called.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from ecgscroll.catalogue.splits import split_of
from ecgscroll.causal.sources import open_source
from ecgscroll.causal.stream import Stream
from ecgscroll.scoring.ec57 import episode_rate
from ecgscroll.scoring.intervals import Union
from ecgscroll.tools.classifiers import flag_ischemia

pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(scope="module")
def counts(data):
    names = sorted(path.stem for path in (data / "qtdb").glob("sele*.hea"))
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(partial(count, data / "qtdb"), names))
    sides = np.array([split_of("qtdb", name) for name in names])
    return {"all": np.sum(rows, axis=0), "test": np.sum(np.array(rows)[sides == "test"], axis=0)}


def count(folder, name):
    """Episodes found, episodes, spans called right, spans called, spans called in a quiet one."""
    source = open_source(folder, name, "qtdb")
    stream = Stream(source)
    stream.advance(stream.total)
    called = Union(map(tuple, flag_ischemia(stream.beats, 0, stream.total)["episodes"])).intervals()
    truth = Union((e.start, e.stop) for e in source.reference.st).intervals()
    end = max((stop for start, stop in truth if start == 0), default=0.0)
    truth_later = [span for span in truth if span[0] > 0]
    later = [span for span in called if span[0] >= end]
    peaks = [
        max((abs(mv), at) for e in source.reference.st for at, mv in e.extrema if a <= at <= b)[1]
        for a, b in truth_later
    ]
    found, right = episode_rate(truth_later, later, "st", peaks)
    quiet = 0 if truth else len(called)
    return found.true_positive, len(truth_later), right.true_positive, len(later), quiet


def test_episodes_are_found(counts):
    assert counts["all"][1] == 17
    assert counts["test"][1] == 5
    assert counts["all"][0] >= 14
    assert counts["test"][0] >= 3


def test_what_is_called_is_right(counts):
    assert counts["all"][2] / counts["all"][3] >= 13 / 16
    assert counts["test"][2] / counts["test"][3] >= 3 / 4


def test_quiet_excerpts_stay_quiet(counts):
    assert counts["all"][4] == 0
