"""Fixtures that every test may use: where the real recordings are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def real_data_dir() -> Path | None:
    """Folder of real recordings, if this machine has one."""
    for candidate in (os.environ.get("ECGSCROLL_DATA"), ROOT.parent / "shared" / "data"):
        if candidate and Path(candidate).is_dir():
            return Path(candidate)
    return None


@pytest.fixture(scope="session")
def data() -> Path:
    """Real recordings; tests that ask for them skip for a stranger who has none."""
    folder = real_data_dir()
    if folder is None:
        pytest.skip("no real recordings: set ECGSCROLL_DATA")
    return folder


@pytest.fixture(autouse=True)
def nothing_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No beats from an earlier run or another test, which might hide what this one should find."""
    monkeypatch.setattr("ecgscroll.sources.beats_file", lambda recording: None)
