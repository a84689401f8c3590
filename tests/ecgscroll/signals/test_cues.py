from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecgscroll.signals.beats import Beats
from ecgscroll.signals.cues import CUE_DETAIL, MIN_BIN_S, cue_value, profile

REGULAR = Beats.from_times(np.arange(0, 60, 0.8), leads=("I", "II"))


def with_ectopic(count):
    ectopic = np.zeros(len(REGULAR), dtype=bool)
    ectopic[5 : 5 + count] = True
    return replace(REGULAR, ectopic=ectopic)


def test_six_equal_bins():
    bins = profile("rr_irregularity", REGULAR, 0, 60)["bins"]
    assert [b[:2] for b in bins] == [[10.0 * i, 10.0 * i + 10] for i in range(6)]


@pytest.mark.parametrize(("span", "count"), [(3, 1), (5, 1), (8, 2), (20, 5), (24, 6), (1800, 6)])
def test_no_bin_is_under_four_seconds(span, count):
    assert len(profile("ectopy", REGULAR, 0, span)["bins"]) == count


def test_one_ectopic_beat_shows_in_a_long_bin():
    assert cue_value("ectopy", with_ectopic(1), 0, 60) >= 0.3


def test_ectopy_saturates():
    values = [cue_value("ectopy", with_ectopic(n), 0, 60) for n in (0, 1, 2, 10)]
    assert values == sorted(values)
    assert 0 == values[0] < values[-1] < 1


def test_peak_is_the_highest_bin():
    found = profile("ectopy", with_ectopic(1), 0, 60)
    assert (found["peak_t0"], found["peak_t1"], found["peak"]) == (0.0, 10.0, 0.333)
    assert found["mean"] == pytest.approx(0.333 / 6, abs=1e-3)


def test_regular_rhythm_has_no_irregularity():
    assert cue_value("rr_irregularity", REGULAR, 0, 60) == pytest.approx(0, abs=1e-6)


def with_st(level, ectopic=0):
    amplitude = np.ones_like(level)
    return replace(with_ectopic(ectopic), st_mv=level, qrs_amp=amplitude)


def test_st_deviation_takes_the_worst_lead_and_only_normal_beats():
    level = np.zeros((len(REGULAR), 2), dtype=np.float32)
    level[REGULAR.time > 40, 1] = -0.2
    level[5:8] = 2.0
    beats = with_st(level, ectopic=3)
    assert cue_value("st_deviation", beats, 45, 60) == pytest.approx(0.2)
    assert cue_value("st_deviation", beats, 0, 10) == pytest.approx(0.0)


def test_st_deviation_is_against_the_usual_level_up_to_the_spans_end():
    level = np.full((len(REGULAR), 2), 0.3, dtype=np.float32)
    level[REGULAR.time >= 40] = 0.5
    beats = with_st(level)
    assert cue_value("st_deviation", beats, 20, 40) == 0
    assert cue_value("st_deviation", beats.between(0, 40), 20, 40) == 0
    assert profile("st_deviation", beats, 40, 60)["peak"] == pytest.approx(0.2)
    assert profile("st_deviation", beats.between(40, 60), 40, 60)["peak"] == 0


def test_a_pause_shows_where_it_ends_even_over_the_edge_of_a_bin():
    beats = Beats.from_times([0, 1, 2, 3, 9.5, 10.5, 11.5])
    assert [b[2] for b in profile("longest_rr", beats, 0, 24)["bins"]][:3] == [1.0, None, 6.5]


def test_lost_signal_is_no_long_interval():
    beats = Beats.from_times([0, 1, 2, 30, 31])
    assert cue_value("longest_rr", beats, 0, 60) == 1.0
    gap = replace(beats, time=np.array([0, 1.0, 4, 5, 6]), after_gap=np.arange(5) == 2)
    assert cue_value("longest_rr", gap, 0, 60) == 1.0


def test_wide_beats_are_a_share_of_those_measured():
    width = np.full(len(REGULAR), np.nan, dtype=np.float32)
    width[:4] = (80, 119, 120, 160)
    assert cue_value("wide_beats", replace(REGULAR, qrs_ms=width), 0, 60) == 0.5
    assert cue_value("wide_beats", REGULAR, 0, 60) is None


@pytest.mark.parametrize("cue", CUE_DETAIL)
def test_without_beats_the_profile_is_null(cue):
    found = profile(cue, Beats.empty(("I",)), 0, 60)
    assert [found[k] for k in ("peak", "peak_t0", "peak_t1", "mean")] == [None] * 4
    assert all(b[2] is None for b in found["bins"])


@given(
    times=st.lists(st.floats(0, 100), max_size=30),
    t0=st.floats(0, 50),
    length=st.floats(0.01, 2000),
)
def test_bins_tile_the_span(times, t0, length):
    bins = profile("rr_irregularity", Beats.from_times(times), t0, t0 + length)["bins"]
    assert bins[0][0] == pytest.approx(t0, abs=0.06)
    assert bins[-1][1] == pytest.approx(t0 + length, abs=0.06)
    assert all(a[1] == b[0] for a, b in pairwise(bins))
    assert len(bins) == 1 or length / len(bins) >= MIN_BIN_S - 1e-9
