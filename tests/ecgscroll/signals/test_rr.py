import numpy as np
import pytest

from ecgscroll.signals import rr


def times(*ms):
    return np.concatenate([[0.0], np.cumsum(ms)]) / 1000


def intervals(time, gaps=()):
    after_gap = np.zeros(len(time), dtype=bool)
    after_gap[list(gaps)] = True
    return rr.intervals(time, after_gap)


def test_regular_rhythm_keeps_every_interval():
    found = intervals(times(800, 810, 790))
    assert found.ms == pytest.approx([800, 810, 790])
    assert found.excluded == 0


def test_missed_beat_is_left_out_and_counted():
    found = intervals(times(800, 800, 1600, 800, 800))
    assert found.ms == pytest.approx([800] * 4)
    assert found.excluded == 1


def test_doubled_beat_is_left_out():
    assert intervals(times(800, 150, 650, 800)).excluded == 1


def test_premature_beat_with_its_pause_stays():
    assert intervals(times(800, 800, 500, 1100, 800)).excluded == 0


def test_interval_over_lost_signal_is_left_out():
    assert intervals(times(800, 800, 900, 800), gaps=[3]).excluded == 1


def test_pause_of_four_seconds_stays_and_one_of_six_does_not():
    assert intervals(times(800, 4000, 800)).excluded == 0
    assert intervals(times(800, 6000, 800)).excluded == 1


@pytest.mark.parametrize("count", [0, 1])
def test_without_two_beats_there_is_no_interval(count):
    assert len(intervals(np.arange(count, dtype=float)).ms) == 0


def test_prior_median_uses_only_the_past():
    values = np.array([1.0, 2.0, 3.0, np.nan, 9.0])
    expected = [np.nan, 1.0, 1.5, 2.0, 2.0]
    assert np.array_equal(rr.prior_median(values), expected, equal_nan=True)


def test_early_beat_is_premature_and_the_one_after_its_pause_is_not():
    time = times(800, 800, 800, 500, 1100, 800)
    early = rr.premature(time, np.zeros(len(time), dtype=bool))
    assert np.flatnonzero(early).tolist() == [4]


def test_variation_of_one_interval_is_unknown():
    assert np.isnan(rr.variation(np.array([800.0])))
