import math

import numpy as np
import pytest

from ecgscroll.errors import ConfigError
from ecgscroll.scoring.statistics import bootstrap_mean, delay_summary, summarise, wilson


def test_wilson_agrees_with_published_figures():
    # Brown, Cai and DasGupta's worked form, 10 of 20: 0.299 to 0.701.
    estimate = wilson(10, 20)
    assert estimate.mean == 0.5
    assert (estimate.low, estimate.high) == pytest.approx((0.2993, 0.7007), abs=1e-4)


@pytest.mark.parametrize(("hits", "n"), [(0, 13), (13, 13), (11, 13), (1, 1)])
def test_wilson_agrees_with_scipy(hits, n):
    from scipy.stats import binomtest

    want = binomtest(hits, n).proportion_ci(method="wilson")
    got = wilson(hits, n)
    assert (got.low, got.high) == pytest.approx((want.low, want.high), abs=1e-9)


def test_an_estimate_reads_as_a_mean_with_its_interval():
    assert str(wilson(10, 20)) == "0.500 (0.299 to 0.701)"
    assert str(bootstrap_mean([0.25], ["a"])) == "0.250"
    assert str(wilson(0, 0)) == "-"


def test_no_trials_have_no_rate():
    assert wilson(0, 0).mean is None


@pytest.mark.parametrize(("hits", "n"), [(2, 1), (-1, 3)])
def test_impossible_hits_are_refused(hits, n):
    with pytest.raises(ConfigError):
        wilson(hits, n)


def test_a_seed_fixes_the_interval_and_another_changes_it():
    values, patients = list(np.linspace(0, 1, 40)), list(range(40))
    assert bootstrap_mean(values, patients, seed=1) == bootstrap_mean(values, patients, seed=1)
    assert bootstrap_mean(values, patients, seed=1) != bootstrap_mean(values, patients, seed=2)


def test_the_global_generator_is_left_alone():
    np.random.seed(5)  # noqa: NPY002 - the state that must not move
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    bootstrap_mean([0.0, 1.0], ["a", "b"])
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_many_recordings_of_few_patients_widen_the_interval():
    values = [0.0] * 50 + [1.0] * 50
    alone = bootstrap_mean(values, list(range(100)))
    shared = bootstrap_mean(values, [i // 25 for i in range(100)])
    assert shared.mean == alone.mean == 0.5
    assert shared.high - shared.low > 2 * (alone.high - alone.low)


def test_the_bootstrap_covers_like_the_normal_interval_of_independent_values():
    values = list(np.random.default_rng(0).normal(0.5, 0.1, 200))
    half = 1.96 * np.std(values) / math.sqrt(200)
    estimate = bootstrap_mean(values, list(range(200)))
    assert estimate.high - estimate.low == pytest.approx(2 * half, rel=0.08)


def test_one_patient_has_a_mean_and_no_interval():
    estimate = bootstrap_mean([0.2, 0.4], ["a", "a"])
    assert (estimate.mean, estimate.low, estimate.high) == (pytest.approx(0.3), None, None)


def test_nothing_has_no_mean():
    assert bootstrap_mean([], []).mean is None


def test_values_that_are_not_finite_are_refused():
    with pytest.raises(ConfigError, match="finite"):
        bootstrap_mean([math.nan], ["a"])


def test_values_without_their_patients_are_refused():
    with pytest.raises(ConfigError, match="patient"):
        bootstrap_mean([1.0], [])


def test_errors_are_kept_apart_from_zeros():
    summary = summarise([1.0, None, 0.5, None], ["a", "b", "c", "d"])
    assert summary.errors == 2
    assert (summary.score.mean, summary.score.n) == (0.75, 2)
    assert (summary.with_errors.mean, summary.with_errors.n) == (0.375, 4)


def test_hits_are_summarised_by_wilson_with_both_denominators():
    summary = summarise([1.0, None, 0.0], ["a", "b", "c"], hits=True)
    assert summary.score == wilson(1, 2)
    assert summary.with_errors == wilson(1, 3)


def test_delays_give_quartiles_of_the_found_and_the_share_missed():
    got = delay_summary([10.0, None, 30.0, 20.0])
    assert got == {"events": 4, "missed_share": 0.25, "q1": 15.0, "median": 20.0, "q3": 25.0}


def test_no_delays_have_no_quartiles():
    assert delay_summary([])["missed_share"] is None
    assert delay_summary([None])["median"] is None
