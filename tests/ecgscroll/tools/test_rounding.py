import numpy as np

from ecgscroll.tools.rounding import capped, milliseconds, millivolts, ratio, seconds


def test_each_unit_has_its_own_precision():
    assert (milliseconds(812.6), millivolts(0.1249), ratio(0.12345)) == (813, 0.12, 0.123)
    assert seconds(61.26) == 61.3


def test_what_is_not_known_is_none():
    assert milliseconds(np.nan) is millivolts(np.nan) is ratio(np.inf) is None


def test_small_negative_level_is_plain_zero():
    assert str(millivolts(-0.001)) == "0.0"


def test_list_is_capped_and_counted():
    found = capped("x", range(100))
    assert (len(found["x"]), found["x_count"]) == (60, 100)
