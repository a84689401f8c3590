"""Fixtures of the environment's tests: made-up recordings that every machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

import ecgscroll
from ecgscroll.environment.env import ECGScrollEnv


@pytest.fixture
def env(synth_data: Path) -> ECGScrollEnv:
    """A PVC burden environment with labels, at the beginning of an episode."""
    made = ecgscroll.make("pvc_burden/synth/ectopy01", data=synth_data, dx="reference")
    made.reset(seed=0)
    return made
