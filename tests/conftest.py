"""Fixtures that every test may use: where the real recordings are."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ecgscroll.files import cache_dir
from ecgscroll.synth import default_data

ROOT = Path(__file__).resolve().parents[1]


def pytest_configure() -> None:
    """Let the programs that tests interrupt hear it: a background job's children ignore SIGINT.

    Code is compiled once for all tests, also for those that move the cache.
    """
    os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_dir() / "kernels"))
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def real_data_dir() -> Path | None:
    """Folder of real recordings, if this machine has one."""
    for candidate in (os.environ.get("ECGSCROLL_DATA"), ROOT.parent / "shared" / "data"):
        if candidate and Path(candidate).is_dir():
            return Path(candidate)
    return None


def processor_seconds(call: Callable[[], object]) -> float:
    """Least processor time of three calls; what else the machine does hardly counts."""
    spent = []
    for _ in range(3):
        start = time.process_time()
        call()
        spent.append(time.process_time() - start)
    return max(min(spent), 1e-4)


@pytest.fixture
def growth() -> Callable[[Callable[[], object], Callable[[], object]], float]:
    """How many times the processor time of one call another takes."""
    return lambda small, large: processor_seconds(large) / processor_seconds(small)


@pytest.fixture(scope="session")
def data() -> Path:
    """Real recordings; tests that ask for them skip for a stranger who has none."""
    folder = real_data_dir()
    if folder is None:
        pytest.skip("no real recordings: set ECGSCROLL_DATA")
    return folder


@pytest.fixture(scope="session")
def synth_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded default data: database ``synth`` with paf01, ectopy01, rare01, ischemia01."""
    return default_data(tmp_path_factory.mktemp("synth_data"))


@pytest.fixture(autouse=True, scope="session")
def nothing_on_disk() -> Iterator[None]:
    """No beats from an earlier run or another test, which might hide what this one should find.

    For the whole session, since fixtures that tests share are set up before any test's own.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ecgscroll.causal.sources.beats_file", lambda recording: None)
        yield
