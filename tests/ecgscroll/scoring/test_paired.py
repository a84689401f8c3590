from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from ecgscroll.errors import ConfigError
from ecgscroll.scoring.paired import exact_sign_test, paired


def test_the_paired_interval_agrees_with_a_brute_force_bootstrap():
    rng = np.random.default_rng(2)
    patients = [f"p{i // 2}" for i in range(60)]
    a = rng.random(60)
    b = a + rng.normal(0.1, 0.2, 60)
    got = paired(a.tolist(), b.tolist(), patients).difference
    gains = (b - a).reshape(30, 2)
    means = [gains[rng.integers(0, 30, 30)].mean() for _ in range(4000)]
    assert got.mean == pytest.approx(float((b - a).mean()))
    assert (got.low, got.high) == pytest.approx(np.quantile(means, (0.025, 0.975)), abs=0.01)


def test_equal_agents_differ_by_nothing():
    found = paired([0.1, 0.9], [0.1, 0.9], ["a", "b"])
    assert (found.difference.mean, found.difference.low, found.difference.high) == (0, 0, 0)


def test_no_pairs_give_no_means():
    found = paired([], [], []).to_dict()
    assert found["first"] is None
    assert found["difference"]["mean"] is None


def test_unequal_numbers_are_refused():
    with pytest.raises(ConfigError, match="numbers"):
        paired([1.0], [], [])


@pytest.mark.parametrize(("won", "lost"), [(1, 0), (5, 1), (3, 3), (0, 12), (9, 20)])
def test_mcnemar_agrees_with_its_closed_form(won, lost):
    first, second = [0.0] * won + [1.0] * (lost + 2), [1.0] * won + [0.0] * lost + [1.0] * 2
    found = exact_sign_test(first, second)
    want = min(1.0, 2 * float(binom.cdf(min(won, lost), won + lost, 0.5)))
    assert (found["first_better"], found["second_better"]) == (lost, won)
    assert found["p"] == pytest.approx(want)


def test_ties_alone_give_no_probability():
    assert exact_sign_test([1.0, 0.0], [1.0, 0.0])["p"] is None
