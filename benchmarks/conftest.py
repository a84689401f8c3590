"""Where benchmarks read and keep: real recordings, a made-up day, a feature cache of their own."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ecgscroll.files import cache_dir
from ecgscroll.synth import RecordPlan, preset, write_database

ROOT = Path(__file__).resolve().parents[1]
DAY_S = 86_400.0


def pytest_configure() -> None:
    """Code is compiled once, like imports: rows do not count it."""
    os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_dir() / "kernels"))


@pytest.fixture(scope="session")
def data() -> Path:
    for folder in (os.environ.get("ECGSCROLL_DATA"), ROOT.parent / "shared" / "data"):
        if folder and (Path(folder) / "mitdb").is_dir():
            return Path(folder)
    pytest.skip("no mitdb: set ECGSCROLL_DATA")


@pytest.fixture(scope="session")
def day() -> Path:
    """Data folder with ``load/day``: 24 h of two leads at 250 Hz; made once per machine."""
    folder = Path(tempfile.gettempdir()) / "ecgscroll-bench"
    plan = RecordPlan("day", preset("paf", 1, DAY_S), 1)
    write_database(folder / "load", [plan], renew=True)
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("ECGSCROLL_CACHE", str(tmp_path / "cache"))
    yield tmp_path / "cache"
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)


@pytest.fixture
def row(capsys: pytest.CaptureFixture[str]) -> Callable[..., None]:
    """Print one row: what, its ratio or value, its budget, and the parts it was made of."""

    def shown(what: str, value: float, budget: str, met: bool, **parts: object) -> None:
        told = ", ".join(f"{name.replace('_', ' ')} {part}" for name, part in parts.items())
        with capsys.disabled():
            print(f"\n{'ok  ' if met else 'OVER'} {what}: {value:.2f} (budget {budget}) <- {told}")

    return shown
