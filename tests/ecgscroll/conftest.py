"""Fixtures of the environment's tests: made-up recordings that every machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

import ecgscroll
from ecgscroll.environment.env import ECGScrollEnv
from ecgscroll.synth import default_data


@pytest.fixture(scope="session")
def synth_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded default data: database ``synth`` with paf01, ectopy01, rare01, ischemia01."""
    return default_data(tmp_path_factory.mktemp("synth_data"))


@pytest.fixture
def env(synth_data: Path) -> ECGScrollEnv:
    """A PVC burden environment with labels, at the beginning of an episode."""
    made = ecgscroll.make("pvc_burden/synth/ectopy01", data=synth_data, dx="reference")
    made.reset(seed=0)
    return made
