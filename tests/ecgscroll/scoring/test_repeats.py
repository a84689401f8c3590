from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from ecgscroll.errors import ConfigError
from ecgscroll.scoring.repeats import pass_power, pass_powers, summarise_rollouts
from ecgscroll.scoring.statistics import bootstrap_mean, summarise


def test_pass_power_is_the_share_of_k_subsets_that_all_succeed():
    rng = np.random.default_rng(3)
    for _ in range(40):
        won = rng.random(int(rng.integers(1, 8))) < 0.6
        for k in range(1, len(won) + 1):
            want = np.mean([all(chosen) for chosen in combinations(won, k)])
            assert pass_power(int(won.sum()), len(won), k) == pytest.approx(want)


def test_pass_power_is_unbiased():
    rng, p, n, k = np.random.default_rng(5), 0.7, 5, 3
    drawn = rng.binomial(n, p, size=40_000)
    assert np.mean([pass_power(int(c), n, k) for c in drawn]) == pytest.approx(p**k, abs=0.01)


@pytest.mark.parametrize(("c", "n", "k"), [(1, 2, 3), (3, 2, 1), (-1, 2, 1), (1, 2, 0)])
def test_pass_power_out_of_range_is_refused(c, n, k):
    with pytest.raises(ConfigError, match="rollouts"):
        pass_power(c, n, k)


def test_both_denominators_of_pass_power():
    scores = [[1.0, 1.0, None], [1.0, 0.0, 1.0], [None, None, None]]
    found = pass_powers(scores, ["a", "b", "c"], threshold=1.0)
    assert [one["score"].n for one in found] == [2, 2, 1]
    assert [one["with_errors"].n for one in found] == [3, 3, 3]
    assert found[0]["score"].mean == pytest.approx((1 + 2 / 3) / 2)
    assert found[1]["score"].mean == pytest.approx((1 + 1 / 3) / 2)
    assert found[1]["with_errors"].mean == pytest.approx((1 / 3 + 1 / 3 + 0) / 3)


def test_a_score_at_the_threshold_is_a_success():
    found = pass_powers([[0.5, 0.49]], ["a"])
    assert found[0]["score"].mean == 0.5
    assert found[1]["score"].mean == 0.0


def test_rollouts_are_averaged_before_patients_are_resampled():
    rng = np.random.default_rng(7)
    scores = [[float(v) for v in rng.random(4)] for _ in range(30)]
    patients = [f"p{i // 3}" for i in range(30)]
    means = [float(np.mean(one)) for one in scores]
    want, got = (
        bootstrap_mean(means, patients, seed=1),
        summarise_rollouts(scores, patients, seed=1),
    )
    assert got.score.n == 30
    for name in ("mean", "low", "high"):
        assert getattr(got.score, name) == pytest.approx(getattr(want, name))


def test_errors_among_rollouts_are_in_one_denominator_alone():
    got = summarise_rollouts([[1.0, None], [0.5, 0.5], [None, None]], ["a", "b", "c"])
    assert (got.score.mean, got.score.n, got.errors) == (0.75, 2, 3)
    assert got.with_errors.mean == pytest.approx((0.5 + 0.5 + 0) / 3)


def test_one_rollout_is_the_plain_summary():
    scores, patients = [1.0, None, 0.0], ["a", "b", "c"]
    for hits in (True, False):
        want = summarise(scores, patients, hits=hits)
        assert summarise_rollouts([[one] for one in scores], patients, hits=hits) == want
