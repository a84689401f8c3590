"""An environment with labels, at the beginning of an episode."""

from __future__ import annotations

import pytest
from environment_calls import PVC

import ecgscroll
from ecgscroll.environment.env import ECGScrollEnv


@pytest.fixture
def env(synth_data) -> ECGScrollEnv:
    made = ecgscroll.make(PVC, data=synth_data, dx="reference")
    made.reset(seed=0)
    return made
