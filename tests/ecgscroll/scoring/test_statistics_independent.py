"""Statistics against computations that share no line with them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from ecgscroll.scoring.paired import exact_sign_test, paired
from ecgscroll.scoring.repeats import pass_power, pass_powers, summarise_rollouts
from ecgscroll.scoring.statistics import bootstrap_mean, delay_summary, wilson

UNIT = st.floats(0, 1)
DELAYS = st.none() | st.sampled_from([0.0, 3.0, 3.0, 700.5]) | st.floats(-1e4, 1e5)


def ends_over_all_resamples(groups, tail=0.025):
    """Percentiles over every equally likely resample of patients, none of them drawn."""
    means = []
    for drawn in itertools.product(groups, repeat=len(groups)):
        values = [value for group in drawn for value in group]
        means.append(sum(values) / len(values))
    return np.quantile(means, (tail, 1 - tail), method="inverted_cdf")


@pytest.mark.parametrize(
    "groups",
    [
        [[0.1], [0.4], [0.9], [0.3]],
        [[0.1, 0.2, 0.9, 0.9], [0.4], [0.8, 0.8], [1.0]],
        [[0.0] * 5, [1.0], [0.5, 0.25]],
        [[0.0], [1.0]],
    ],
)
def test_the_interval_is_that_over_all_resamples_of_patients(groups):
    values = [value for group in groups for value in group]
    patients = [index for index, group in enumerate(groups) for _ in group]
    mixed = np.random.default_rng(0).permutation(len(values))
    got = bootstrap_mean([values[i] for i in mixed], [patients[i] for i in mixed], resamples=60_000)
    assert got.mean == pytest.approx(np.mean(values))
    assert (got.low, got.high) == pytest.approx(ends_over_all_resamples(groups), abs=0.012)


def test_one_value_a_patient_is_the_plain_percentile_bootstrap():
    values = np.random.default_rng(4).beta(0.5, 0.5, 45)
    want = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile",
        random_state=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    got = bootstrap_mean(values.tolist(), list(range(45)), resamples=20_000)
    assert (got.low, got.high) == pytest.approx((want.low, want.high), abs=0.006)


@given(st.lists(st.tuples(UNIT, st.integers(0, 4)), min_size=1, max_size=30), st.integers(0, 9))
def test_an_interval_holds_its_mean(pairs, seed):
    values, patients = [value for value, _ in pairs], [whose for _, whose in pairs]
    got = bootstrap_mean(values, patients, seed=seed, resamples=200)
    assert (got.low is None) == (len(set(patients)) == 1)
    if got.low is not None and len(set(values)) == 1:
        assert (got.low, got.high) == pytest.approx((got.mean, got.mean), abs=1e-12)
    elif got.low is not None:
        assert got.low - 1e-12 <= got.mean <= got.high + 1e-12


@pytest.mark.parametrize("value", [0.1, 0.7, 1 / 3])
def test_equal_values_have_an_interval_of_no_width(value):
    got = bootstrap_mean([value] * 11, [f"p{i // 2}" for i in range(11)])
    assert (got.low, got.mean, got.high) == pytest.approx((value,) * 3, abs=1e-12)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_bounds_are_the_rates_at_which_the_score_test_turns(case):
    hits, n = case
    z = stats.norm.ppf(0.975)

    def distance(rate):
        return (hits / n - rate) ** 2 - z * z * rate * (1 - rate) / n

    low = 0.0 if hits == 0 else optimize.brentq(distance, 0.0, min(hits / n, 1 - 1e-9))
    high = 1.0 if hits == n else optimize.brentq(distance, max(hits / n, 1e-9), 1.0)
    got = wilson(hits, n)
    assert (got.low, got.high) == pytest.approx((low, high), abs=1e-9)


@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, n))
    )
)
def test_pass_power_is_the_hypergeometric_chance_of_successes_alone(case):
    successes, rollouts, k = case
    want = stats.hypergeom(rollouts, successes, k).pmf(k)
    assert pass_power(successes, rollouts, k) == pytest.approx(want, abs=1e-12)


def test_pass_powers_average_over_instances_whatever_their_number_of_rollouts():
    scores = [[1.0, 0.0, 1.0, 1.0], [0.6, 0.2], [None, 0.9, 0.1]]
    found = pass_powers(scores, ["a", "b", "c"])
    ran = [[s for s in one if s is not None] for one in scores]
    for k in range(1, 5):
        chances = [
            np.mean([all(v >= 0.5 for v in some) for some in itertools.combinations(one, k)])
            for one in ran
            if len(one) >= k
        ]
        assert found[k - 1]["score"].mean == pytest.approx(np.mean(chances))
        assert found[k - 1]["score"].n == len(chances)


def test_rollouts_weigh_an_instance_once_however_many_they_are():
    got = summarise_rollouts([[0.0] * 9, [1.0], [None, 0.5]], ["a", "b", "c"])
    assert got.score.mean == pytest.approx((0.0 + 1.0 + 0.5) / 3)
    assert got.with_errors.mean == pytest.approx((0.0 + 1.0 + 0.25) / 3)


def test_the_paired_interval_is_that_over_all_resamples_of_patients():
    first = [0.1, 0.5, 0.9, 0.2, 0.4]
    second = [0.3, 0.4, 1.0, 0.9, 0.4]
    patients = ["a", "a", "b", "c", "d"]
    groups = {}
    for a, b, whose in zip(first, second, patients, strict=True):
        groups.setdefault(whose, []).append(b - a)
    want = ends_over_all_resamples(list(groups.values()))
    got = paired(first, second, patients).difference
    assert got.mean == pytest.approx(np.mean(second) - np.mean(first))
    assert (got.low, got.high) == pytest.approx(want, abs=0.03)


def test_pairs_of_one_patient_have_no_interval():
    got = paired([0.1, 0.2], [0.3, 0.9], ["a", "a"]).difference
    assert (got.low, got.high) == (None, None)
    assert got.mean == pytest.approx(0.45)


@pytest.mark.parametrize("value", [0.7, 0.1, 1 / 3])
@pytest.mark.parametrize("rollouts", [3, 6, 7])
def test_equal_means_over_other_numbers_of_rollouts_are_ties(value, rollouts):
    mean = math.fsum([value] * rollouts) / rollouts
    assert exact_sign_test([value, mean], [mean, value]) == {
        "first_better": 0, "second_better": 0, "p": None,
    }  # fmt: skip


def test_the_sign_test_is_twice_the_smaller_tail():
    rng = np.random.default_rng(9)
    for _ in range(20):
        first, second = rng.integers(0, 3, 14) / 2, rng.integers(0, 3, 14) / 2
        won, lost = int((second > first).sum()), int((second < first).sum())
        got = exact_sign_test(first.tolist(), second.tolist())
        n, few = won + lost, min(won, lost)
        tail = sum(math.comb(n, i) for i in range(few + 1)) / 2**n
        assert got["p"] == pytest.approx(min(1.0, 2 * tail))


def interpolated(values, share):
    """Return a quantile by the definition: linear between order statistics."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


@given(st.lists(DELAYS, max_size=25))
def test_quartiles_are_of_the_detected_and_misses_stand_beside(delays):
    found = [delay for delay in delays if delay is not None]
    got = delay_summary(delays)
    assert got["events"] == len(delays)
    if delays:
        assert got["missed_share"] == pytest.approx((len(delays) - len(found)) / len(delays))
    for name, share in (("q1", 0.25), ("median", 0.5), ("q3", 0.75)):
        want = interpolated(found, share) if found else None
        assert got[name] == (None if want is None else pytest.approx(want, abs=1e-5))


def test_quartiles_of_one_of_equal_and_of_missed_delays():
    assert delay_summary([7.0]) | {"events": 1} == {
        "events": 1, "missed_share": 0.0, "q1": 7.0, "median": 7.0, "q3": 7.0,
    }  # fmt: skip
    assert set(delay_summary([3.0] * 9).values()) == {9, 0.0, 3.0}
    assert delay_summary([None, None])["missed_share"] == 1.0
