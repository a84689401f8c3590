import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ecgscroll.signals.quality import filled, long_runs, valid_samples


@given(st.lists(st.booleans(), max_size=80), st.integers(1, 12))
def test_long_runs_keeps_exactly_the_long_ones(bits, length):
    mask = np.array(bits, dtype=bool)
    text = "".join("1" if b else "0" for b in bits)
    expected = "".join(part if len(part) >= length else "0" * len(part) for part in _runs(text))
    assert "".join("1" if b else "0" for b in long_runs(mask, length)) == expected


def _runs(text):
    out = []
    for char in text:
        if out and out[-1][0] == char:
            out[-1] += char
        else:
            out.append(char)
    return out


def test_flat_second_is_invalid_and_half_a_second_is_not():
    x = 0.02 * np.random.default_rng(0).standard_normal((1, 1000)).astype(np.float32).cumsum(axis=1)
    x[0, 100:351] = 2.0
    x[0, 600:725] = x[0, 599]
    valid = valid_samples(x, 250.0)
    assert not valid[0, 100:351].any()
    assert valid[0, 351:].all()
    assert valid[0, :100].all()


def test_values_held_with_a_jump_are_invalid_off_the_rails_and_in_every_lead_alone():
    x = 0.02 * np.random.default_rng(0).standard_normal((2, 1000)).astype(np.float32).cumsum(axis=1)
    x[:, 100], x[:, 200] = 9.0, -9.0
    x[:, 300:320] = 5.0
    x[:, 400:420] = 9.0
    x[0, 500:520] = 5.0
    valid = valid_samples(x, 250.0)
    assert not valid[:, 300:320].any()
    assert valid.sum() == x.size - 40


def test_impossible_values_are_invalid():
    x = np.array([[0.1, np.nan, np.inf, -np.inf, 1e9, 0.2]], dtype=np.float32)
    assert valid_samples(x, 250.0).tolist() == [[True, False, False, False, False, True]]


def test_filled_draws_a_line_over_a_hole():
    lead = np.array([0, np.nan, np.nan, 3], dtype=np.float32)
    assert filled(lead, np.isfinite(lead)).tolist() == [0, 1, 2, 3]


def test_filled_lead_without_a_valid_sample_is_zero():
    lead = np.full(4, np.nan, dtype=np.float32)
    assert filled(lead, np.isfinite(lead)).tolist() == [0] * 4
