"""Fixtures of the environment's tests: made-up recordings that every machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

from ecgscroll.synth import default_data


@pytest.fixture(scope="session")
def synth_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded default data: database ``synth`` with paf01, ectopy01, rare01, ischemia01."""
    return default_data(tmp_path_factory.mktemp("synth_data"))
