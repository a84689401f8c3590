"""The guide's commands, one after another in an empty folder, as a newcomer runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("trl")

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "train-your-own.md").read_text(encoding="utf-8")
# What needs the network, or what the test does itself
ELSEWHERE = ("pip install", "ecgscroll prepare", "export ")
MOST_S = 300


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, flags=re.DOTALL)


def commands() -> list[str]:
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [line for line in lines if not line.startswith(ELSEWHERE)]


def told(line: str) -> list[str]:
    """Return a line's words for this interpreter."""
    words = line.partition("#")[0].split()
    if words[0] == "python":
        return [sys.executable, *words[1:]]
    return [str(Path(sys.executable).with_name(words[0])), *words[1:]]


@pytest.mark.timeout(2 * MOST_S)
def test_from_nothing_to_a_trained_and_evaluated_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    environment.pop("ECGSCROLL_DATA", None)
    (tmp_path / "use.py").write_text(blocks("python")[0])
    began = time.process_time() + sum(os.times()[2:4])
    for line in [*commands(), "python use.py"]:
        done = subprocess.run(
            told(line), cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    assert time.process_time() + sum(os.times()[2:4]) - began < 2 * MOST_S  # of two cores
    for run in ("expert", "smoke"):
        assert "<html" in (tmp_path / "runs" / run / "report.html").read_text(encoding="utf-8")
    assert "Score(" in done.stdout
    assert (tmp_path / "runs" / "smoke-grpo" / "model" / "model.safetensors").is_file()
