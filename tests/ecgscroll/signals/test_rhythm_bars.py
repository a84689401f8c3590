"""Bars that a later change must not lower: fibrillation by R-R on patients of the test side."""

import numpy as np
import pytest

from ecgscroll.catalogue.splits import split_of
from ecgscroll.causal.sources import open_source
from ecgscroll.errors import DataError
from ecgscroll.signals import rhythm
from ecgscroll.signals.beats import Beats

pytestmark = [pytest.mark.real, pytest.mark.slow]


def flags(time, spans):
    flag = np.zeros(len(time), dtype=bool)
    for span in spans:
        first, last = np.searchsorted(time, (span.start, span.stop), side="right")
        flag[first:last] = True
    return flag


def rates(folder, ahead_s):
    """Sensitivity and specificity over the test side, where a rhythm is noted."""
    counts = np.zeros((2, 2), dtype=int)
    for header in sorted(folder.glob("*.hea")):
        try:
            source = open_source(folder, header.stem, folder.name)
        except DataError:
            continue
        if split_of(folder.name, header.stem) != "test":
            continue
        reference = source.reference
        called = rhythm.judge(Beats.from_times(reference.beat_times), ahead_s)
        noted = flags(called.stop, reference.rhythm)
        truth = flags(called.stop, reference.af)[noted]
        np.add.at(counts, (truth.astype(int), called.af[noted].astype(int)), 1)
    (tn, fp), (fn, tp) = counts
    return tp / (tp + fn), tn / (tn + fp)


@pytest.mark.parametrize(
    ("database", "ahead_s", "sensitivity", "specificity"),
    [("afdb", 30.0, 0.96, 0.975), ("afdb", 0.0, 0.95, 0.97), ("ltafdb", 30.0, 0.96, 0.945)],
)
def test_accuracy_by_rr(data, database, ahead_s, sensitivity, specificity):
    found = rates(data / database, ahead_s)
    assert found[0] >= sensitivity
    assert found[1] >= specificity
