"""Fixtures of the agents' tests."""

from __future__ import annotations

import shutil

import pytest


@pytest.fixture(scope="session")
def annotations(data, tmp_path_factory):
    """The real data with mitdb's annotations alone: labels need no waveform, and this is fast."""
    folder = tmp_path_factory.mktemp("annotations")
    for database in ("afdb", "ltafdb", "edb"):
        (folder / database).symlink_to(data / database)
    (folder / "mitdb").mkdir()
    for suffix in ("hea", "atr"):
        for file in (data / "mitdb").glob(f"*.{suffix}"):
            shutil.copy(file, folder / "mitdb")
    return folder
