import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecgscroll.errors import ConfigError
from ecgscroll.scoring.ec57 import (
    AAMI_CLASS,
    compare_beats,
    episode_rate,
    interval_measures,
    pair_beats,
)
from ecgscroll.scoring.intervals import Union

BEATS = st.lists(st.integers(0, 400), max_size=25, unique=True).map(
    lambda ticks: [tick / 20 for tick in sorted(ticks)]
)


def everything(reference, symbols, test, test_symbols, **options):
    return compare_beats(reference, symbols, test, test_symbols, learning_s=0.0, **options)


# --- beats ---


@given(BEATS, BEATS)
def test_pairs_are_one_to_one_in_order_and_within_the_window(left, right):
    i, j = pair_beats(left, right)
    assert len(set(i.tolist())) == len(set(j.tolist())) == len(i)
    assert np.all(np.diff(i) > 0)
    assert np.all(np.diff(j) > 0)
    assert np.all(np.abs(np.array(left)[i] - np.array(right)[j]) <= 0.15)


RHYTHM = st.lists(st.floats(0.35, 2.0), max_size=15).map(lambda rr: np.cumsum(rr).tolist())


@given(RHYTHM, RHYTHM)
def test_no_pair_is_left_that_nobody_else_wants(left, right):
    i, j = pair_beats(left, right)
    lone_left = [t for k, t in enumerate(left) if k not in set(i.tolist())]
    lone_right = [t for k, t in enumerate(right) if k not in set(j.tolist())]
    assert all(abs(a - b) > 0.15 for a in lone_left for b in lone_right)


def test_a_beat_pairs_with_its_nearer_neighbour():
    i, j = pair_beats([1.0, 1.12], [1.1])
    assert (i.tolist(), j.tolist()) == ([1], [0])


def test_the_window_includes_its_end():
    assert len(pair_beats([1.0], [1.125], window_s=0.125)[0]) == 1
    assert len(pair_beats([1.0], [1.126], window_s=0.125)[0]) == 0


def test_no_beats_pair_with_none():
    assert len(pair_beats([], [1.0])[0]) == len(pair_beats([1.0], [])[0]) == 0


def test_detection_counts_misses_and_extra_beats():
    rate = everything([1, 2, 3], "NNN", [1.01, 2.5, 3.02, 4], "NNNN").detection
    assert (rate.true_positive, rate.reference, rate.detected) == (2, 3, 4)
    assert (rate.sensitivity, rate.positive_predictivity) == (pytest.approx(2 / 3), 0.5)


def test_classes_are_scored_each_on_its_own():
    compared = everything([1, 2, 3, 4], "NVVN", [1, 2, 3, 4], "NVNV")
    assert compared.counts == {("N", "N"): 1, ("V", "V"): 1, ("V", "N"): 1, ("N", "V"): 1}
    assert compared.of_class("V").sensitivity == 0.5
    assert compared.of_class("V").positive_predictivity == 0.5


def test_a_fusion_called_ventricular_is_no_false_alarm_and_a_normal_is():
    compared = everything([1, 2, 3], "VFN", [1, 2, 3], "VVV")
    assert compared.of_class("V").positive_predictivity == 0.5


def test_an_extra_ventricular_beat_is_a_false_alarm():
    assert everything([1], "V", [1, 2], "VV").of_class("V").positive_predictivity == 0.5


def test_a_class_that_never_occurs_has_no_rate():
    rate = everything([1], "N", [1], "N").of_class("S")
    assert (rate.sensitivity, rate.positive_predictivity) == (None, None)


def test_the_learning_period_is_left_out():
    compared = compare_beats([10, 310], "NN", [10, 20, 310], "NNN")
    assert compared.counts == {("N", "N"): 1}


def test_flutter_is_left_out_on_both_sides():
    compared = everything([10, 20, 30], "NNN", [10, 21, 30], "NNN", exclude=[(15, 25)])
    assert compared.counts == {("N", "N"): 2}


def test_every_beat_symbol_of_the_format_has_a_class_and_an_unknown_one_is_q():
    assert set("NLRBejAaJSnVErF/fQ?") == set(AAMI_CLASS)
    assert everything([1], "x", [1], "N").counts == {("Q", "N"): 1}


def test_a_symbol_for_every_beat_is_asked_for():
    with pytest.raises(ConfigError, match="differ in number"):
        compare_beats([1, 2], "N", [1], "N")


@pytest.mark.real
def test_a_record_compared_with_itself_is_perfect(data):
    import wfdb

    note = wfdb.rdann(str(data / "mitdb" / "200"), "atr")
    beats = [(s / 360, c) for s, c in zip(note.sample, note.symbol, strict=True) if c in AAMI_CLASS]
    times, symbols = [t for t, _ in beats], [c for _, c in beats]
    compared = compare_beats(times, symbols, times, symbols)
    for name in ("N", "V", "F"):
        rate = compared.of_class(name)
        assert (rate.sensitivity, rate.positive_predictivity) == (1.0, 1.0)
    assert compared.detection.reference == sum(t >= 300 for t in times)


# --- episodes and durations ---


def rates(reference, test, rule="overlap", **extrema):
    found, right = episode_rate(reference, test, rule, **extrema)
    return found.sensitivity, right.positive_predictivity


def test_any_overlap_counts_for_af():
    assert rates([(0, 100), (200, 300)], [(99, 110), (400, 410), (299, 301)]) == (1.0, 2 / 3)


def test_one_long_answer_finds_two_episodes_and_is_right_once():
    assert rates([(0, 10), (20, 30)], [(0, 30)]) == (1.0, 1.0)


def test_st_asks_for_half_of_the_episode():
    assert rates([(0, 100)], [(0, 50)], "st") == (1.0, 1.0)
    assert rates([(0, 100)], [(0, 49)], "st") == (0.0, 1.0)


def test_half_of_an_st_episode_may_be_covered_in_pieces():
    assert rates([(0, 100)], [(0, 30), (60, 90)], "st")[0] == 1.0


def test_st_is_content_with_the_extremum():
    assert rates([(0, 100)], [(80, 90)], "st", reference_extrema=[85.0])[0] == 1.0
    assert rates([(0, 100)], [(80, 90)], "st", reference_extrema=[50.0])[0] == 0.0
    assert rates([(0, 100)], [(80, 90)], "st", reference_extrema=[None])[0] == 0.0


def test_an_answer_that_covers_too_much_has_no_st_predictivity():
    assert rates([(0, 40)], [(0, 100)], "st") == (1.0, 0.0)
    assert rates([(0, 40)], [(0, 100)], "st", test_extrema=[20.0])[1] == 1.0


def test_touching_is_not_overlapping():
    assert rates([(0, 10)], [(10, 20)]) == (0.0, 0.0)


SPANS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 20)).map(lambda p: (p[0] / 4, sum(p) / 4)),
    max_size=8,
).map(lambda spans: list(Union(spans).intervals()))


@given(SPANS, SPANS)
def test_measures_swap_with_their_sides(left, right):
    one, other = interval_measures(left, right), interval_measures(right, left)
    assert one["episode_se"] == other["episode_ppv"]
    assert one["duration_ppv"] == pytest.approx(other["duration_se"])


@given(SPANS.filter(bool))
def test_a_perfect_answer_has_perfect_measures(spans):
    assert interval_measures(spans, spans, "st") == {
        "rule": "st",
        "episode_se": 1.0,
        "episode_ppv": 1.0,
        "duration_se": pytest.approx(1.0),
        "duration_ppv": pytest.approx(1.0),
    }


def test_duration_measures_are_shares_of_time():
    measures = interval_measures([(0, 100)], [(50, 250)])
    assert (measures["duration_se"], measures["duration_ppv"]) == (0.5, 0.25)


def test_nothing_over_nothing_is_none():
    assert set(interval_measures([], []).values()) == {"overlap", None}
