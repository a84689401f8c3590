import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from ecgscroll.scoring.intervals import Matcher, Spans, Union, shared_length

# Quarters of a second: exact in binary, so that touching and exact IoU ties do occur.
SPANS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 20)).map(lambda p: (p[0] / 4, (p[0] + p[1]) / 4)),
    max_size=12,
)


def covered(spans, step=0.125, end=25.0):
    times = np.arange(0, end, step) + step / 2
    return np.array([any(a <= t < b for a, b in spans) for t in times])


@given(SPANS)
def test_union_covers_what_its_spans_cover(spans):
    union = Union(spans)
    assert np.array_equal(covered(union.intervals()), covered(spans))
    assert union.length() == covered(spans).sum() * 0.125


@given(SPANS, st.randoms())
def test_union_does_not_depend_on_order_or_repetition(spans, rng):
    again = spans + rng.sample(spans, rng.randint(0, len(spans)))
    rng.shuffle(again)
    assert Union(again).intervals() == Union(spans).intervals()


@given(SPANS)
def test_union_is_sorted_with_gaps_between(spans):
    union = Union(spans)
    flat = [t for span in union.intervals() for t in span]
    assert all(a < b for a, b in pairwise(flat))


def test_touching_spans_are_one():
    assert Union([(0, 30), (60, 90), (30, 60)]).intervals() == ((0, 90),)


def test_gap_up_to_join_is_closed_and_a_wider_one_is_not():
    assert len(Union([(0, 1), (1 + 1e-7, 2)], join_s=1e-6)) == 1
    assert len(Union([(0, 1), (1.01, 2)], join_s=1e-6)) == 2


def test_adding_what_is_covered_changes_nothing():
    union = Union([(0, 10)])
    assert union.add(2, 5) is None
    assert union.add(0, 10) is None


def test_length_is_the_same_to_the_bit_in_any_order():
    rng = random.Random(3)
    spans = [(t, t + rng.random()) for t in (rng.uniform(0, 9e4) for _ in range(500))]
    want = Union(spans).length()
    rng.shuffle(spans)
    assert Union(spans).length() == want


@given(SPANS, SPANS)
def test_shared_length_is_the_time_in_both(left, right):
    want = (covered(left) & covered(right)).sum() * 0.125
    assert shared_length(Union(left), Union(right)) == pytest.approx(want, abs=1e-9)


@given(SPANS, st.tuples(st.integers(0, 60), st.integers(1, 20)))
def test_overlapping_finds_what_a_scan_finds_even_among_overlapping_spans(spans, window):
    start, stop = window[0] / 4, sum(window) / 4
    found = Spans(spans).overlapping(start, stop)
    ordered = sorted(spans)
    assert found == [i for i, (a, b) in enumerate(ordered) if min(b, stop) > max(a, start)]


def test_an_instant_overlaps_windows_that_hold_or_end_at_it():
    spans = Spans([(5.0, 5.0)])
    assert [len(spans.overlapping(*w)) for w in ((4, 6), (5, 6), (4, 5), (5.1, 6))] == [1, 1, 1, 0]


def iou(a, b):
    shared = max(0.0, min(a[1], b[1]) - max(a[0], b[0]))
    return shared / (a[1] - a[0] + b[1] - b[0] - shared)


def best_matching(answer, truth, threshold):
    table = np.array([[iou(a, t) >= threshold for t in truth] for a in answer], dtype=int)
    if not table.size:
        return 0
    return int((maximum_bipartite_matching(csr_matrix(table), perm_type="column") >= 0).sum())


@given(SPANS, SPANS, st.sampled_from([0.05, 0.25, 0.5, 0.75, 1.0]))
def test_matching_is_maximum_after_every_write(spans, truth, threshold):
    truth = Union(truth).intervals()
    union, matcher = Union(), Matcher(truth, threshold)
    for span in spans:
        change = union.add(*span)
        if change:
            matcher.update(change)
        assert matcher.matched() == best_matching(union.intervals(), truth, threshold)


def test_one_component_matches_one_truth_though_two_would_do():
    matcher = Matcher([(0, 4), (5, 9)], iou=0.4)
    matcher.update(Union().add(0, 9))
    assert matcher.matched() == 1


def test_greedy_by_iou_would_lose_a_pair_here():
    # The middle pair has the best IoU, yet taking it first would leave both others alone.
    truth, answer = [(0, 10), (11, 15)], [(2.5, 4.5), (5.5, 15)]
    union, matcher = Union(), Matcher(truth, iou=0.2)
    for span in answer:
        matcher.update(union.add(*span))
    assert matcher.matched() == best_matching(answer, truth, 0.2) == 2
