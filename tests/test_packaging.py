"""The house as a stranger meets it: light imports, and a wheel that works elsewhere."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("ecgscroll", "policies", "training")
HEAVY = ("torch", "transformers", "trl", "lightning", "matplotlib", "pandas", "wfdb")


def run(*command: str | Path, cwd: Path, **environ: str) -> str:
    """Standard output of a command that must succeed, with nothing of this process on its path."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**inherited, **environ},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_importing_the_core_imports_nothing_heavy(tmp_path: Path) -> None:
    script = f"import sys, ecgscroll; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert run(sys.executable, "-c", script, cwd=tmp_path).strip() == "[]"


def test_the_rule_agent_reads_a_recording_without_torch(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from ecgscroll.synth import default_data
from ecgscroll.cli.main import app
data = default_data(Path("data"))
app(["run", "--policy", "rule", "--dx", "signal", "--data", str(data), "--set", "supplementary",
     "--out", "run", "--workers", "1", "--limit", "2"], standalone_mode=False)
print([m for m in ("torch", "transformers", "trl", "lightning") if m in sys.modules])
"""
    out = run(sys.executable, "-c", script, cwd=tmp_path, ECGSCROLL_CACHE=str(tmp_path / "cache"))
    assert out.strip().splitlines()[-1] == "[]"
    rows = (tmp_path / "run" / "results.jsonl").read_text().splitlines()
    assert [json.loads(row)["error"] for row in rows] == [None, None]


@pytest.mark.skipif(importlib.util.find_spec("trl") is None, reason="needs the train extra")
def test_trl_finds_its_own_datasets_library_from_the_repository_root() -> None:
    out = run(sys.executable, "-c", "from trl import GRPOTrainer; print('ok')", cwd=ROOT)
    assert out.strip().endswith("ok")


def test_the_folder_datasets_holds_no_code() -> None:
    assert not list((ROOT / "datasets").rglob("*.py"))


def test_every_package_is_listed_for_the_wheel() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = [path.parent for top in PACKAGES for path in (ROOT / top).rglob("*.py")]
    found = {".".join(folder.relative_to(ROOT).parts) for folder in folders}
    assert found <= set(listed)


def build_wheel(folder: Path) -> Path:
    """Build the wheel from a copy, so that the working tree stays as it is."""
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("ecgscroll", "policies", "training", "datasets"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder)
    run(*build, source, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.mark.slow
def test_a_wheel_in_an_empty_environment_runs_from_another_folder(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path)
    home = tmp_path / "env"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel, cwd=tmp_path)

    command = home / "bin" / "ecgscroll"
    environ = {"ECGSCROLL_CACHE": str(tmp_path / "cache"), "ECGSCROLL_DATA": ""}
    listing = run(command, "instances", "--data", tmp_path, "--json", cwd=tmp_path, **environ)
    assert len(listing.splitlines()) == 390
    run(command, "synth", "data", "--default", cwd=tmp_path, **environ)
    run(
        *(command, "run", "--policy", "rule", "--set", "supplementary", "--data", "data"),
        *("--out", "run", "--workers", "2"),
        cwd=tmp_path,
        **environ,
    )
    rows = [json.loads(row) for row in (tmp_path / "run" / "results.jsonl").open()]
    assert {row["task"] for row in rows} >= {"af_burden", "pvc_burden", "ischemia"}
    assert all(row["error"] is None for row in rows)
