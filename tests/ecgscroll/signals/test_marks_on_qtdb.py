"""Bars that a later change must not lower: marks against manual ones on qtdb's test patients."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.real, pytest.mark.slow]

MOST_SD = {
    "one decision": (12.5, 8.5, 11.0, 8.5, 11.0, 12.5, 16.5),
    "better lead": (10.0, 7.5, 9.0, 7.5, 9.0, 8.5, 13.5),
}
MOST_BIAS = {"PR": 6.5, "QRS": 5.0, "QT": 7.0, "ST": 0.01}
LEAST_SE = (0.99, 0.99, 0.99, 0.999, 0.999, 0.99, 0.99)


@pytest.fixture(scope="module")
def bench():
    file = Path(__file__).parents[3] / "benchmarks" / "delineation.py"
    spec = importlib.util.spec_from_file_location("delineation", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules["delineation"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def test_side(bench, data):
    found = [bench.errors_of(source) for source in bench.sources(data)]
    return [record for record in found if record.side == "test"]


@pytest.mark.parametrize("who", MOST_SD)
def test_marks(bench, test_side, who):
    _, spread, sensitivity = bench.by_record(test_side, who)
    for mark, sd, most, se, least in zip(
        bench.MARKS, spread, MOST_SD[who], sensitivity, LEAST_SE, strict=True
    ):
        assert sd <= most, mark
        assert se >= least, mark


@pytest.mark.parametrize("what", MOST_BIAS)
def test_values(test_side, what):
    errors = np.concatenate([record.values[what] for record in test_side])
    assert abs(np.nanmean(errors)) <= MOST_BIAS[what]
