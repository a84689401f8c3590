"""Compiled code: found again on disk, and never a reason to fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ecgscroll import compiled
from ecgscroll.compiled import Kernel, code_folder
from ecgscroll.signals.order_kernels import median, nth_smallest

VALUES = np.array([3.0, 1.0, 2.0, 5.0])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("ECGSCROLL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(Kernel, "_trusts_disk", True)
    return tmp_path / "cache" / "kernels"


def anew() -> float:
    """Result of a kernel, which another of its file calls, as a new process builds it."""
    nth = Kernel(nth_smallest.py_func)
    return float(nth(VALUES.copy(), 4, 1))


def test_code_is_kept_in_the_cache_folder_and_found_there(folder: Path) -> None:
    assert anew() == 2.0
    kept = {path: path.stat().st_mtime_ns for path in folder.rglob("*.nbc")}
    assert len(kept) == 1
    assert anew() == 2.0
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.nbc")} == kept
    assert not folder.stat().st_mode & 0o022


@pytest.mark.parametrize("kind", ["*.nbi", "*.nbc"])
def test_damaged_code_is_compiled_anew(folder: Path, kind: str) -> None:
    anew()
    for path in folder.rglob(kind):
        path.write_bytes(path.read_bytes()[:20])
    assert anew() == 2.0


def test_a_folder_that_others_can_write_to_is_not_used(folder: Path) -> None:
    assert code_folder() is not None
    folder.chmod(0o777)
    assert code_folder() is None
    assert anew() == 2.0
    assert not list(folder.rglob("*.nbc"))


def test_a_cache_that_cannot_be_made_costs_no_more_than_time(folder: Path) -> None:
    folder.parent.write_text("a file where the folder should be")
    assert code_folder() is None
    assert anew() == 2.0


def test_the_users_own_folder_of_compiled_code(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    found = code_folder()
    assert found is not None
    assert found.parent == tmp_path / "numba"


def test_every_file_of_kernels_names_the_folder() -> None:
    package = Path(compiled.__file__).parent
    users = {p for p in package.rglob("*.py") if "import compiled\n" in p.read_text()}
    assert users == set(package.glob(compiled.SOURCES))


def test_a_mistake_of_the_kernels_own_is_told(folder: Path) -> None:
    with pytest.raises(Exception, match="none"):
        Kernel(nth_smallest.py_func)(None, 1, 0)


def test_a_kernel_calls_another() -> None:
    assert median(VALUES.copy(), 4) == median.py_func(VALUES.copy(), 4) == 2.5


def test_the_compiler_is_not_imported_until_something_is_measured() -> None:
    code = "import sys, ecgscroll.environment.env, policies.rule; print(sorted(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert "'numba'" not in out.stdout
    assert "'ecgscroll.signals.order_kernels'" in out.stdout
