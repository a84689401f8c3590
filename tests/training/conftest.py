"""A small model that was taught by `training.sft` to make a few calls, once for all tests."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from training_fakes import sft_values

if importlib.util.find_spec("trl") is None:
    collect_ignore_glob = ["*.py"]


@pytest.fixture(scope="session")
def taught(synth_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a run of SFT: the model in it has learnt `CALLS`, more or less."""
    from training.config import SFTRun
    from training.sft import train

    output = tmp_path_factory.mktemp("taught")
    train(SFTRun.model_validate(sft_values(synth_data, output)))
    return output
