"""The example of a plain PyTorch loop runs, repeats itself and learns."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("torch")

EXAMPLE = Path(__file__).parents[2] / "examples" / "pytorch_loop.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pytorch_loop", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_is_short() -> None:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    assert sum(bool(line.strip()) for line in lines) < 60


def test_a_seed_gives_the_same_scores(example: ModuleType) -> None:
    assert example.train(4, group=3, seed=5) == example.train(4, group=3, seed=5)


def test_it_learns(example: ModuleType) -> None:
    scores = example.train(200)
    assert sum(scores[-30:]) / 30 > sum(scores[:30]) / 30 + 0.1
