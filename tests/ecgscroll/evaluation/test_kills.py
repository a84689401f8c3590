"""A run that is killed again and again ends as one that was left alone."""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ecgscroll.evaluation.folder import RunFolder, read_rows
from ecgscroll.evaluation.provenance import recordings_digest
from ecgscroll.evaluation.run import Execution, evaluate

POLICY, PAUSE, KILLS = "evaluation_fakes:Slow", 0.004, 5


def start(out, recordings, rollouts, concurrency):
    """Begin or go on with a run in a process group of its own."""
    command = [
        sys.executable, "-m", "ecgscroll.cli.main", "run", "--policy", POLICY, "-o",
        f"pause={PAUSE}", "--dx", "reference", "--set", "supplementary", "--workers", 2,
        "--rollouts", rollouts, "--concurrency", concurrency, "--data", recordings, "--out", out,
    ]  # fmt: skip
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        list(map(str, command)),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def kill_after_some(process, out, rng, whole_group):
    """Kill a run, or its parent process alone, some moments after it has kept another episode."""

    def kept():
        return len(list((out / "episodes").glob("*.jsonl")))

    before = kept()
    while process.poll() is None and kept() <= before:
        time.sleep(0.002)
    time.sleep(rng.uniform(0, 0.15))
    assert process.poll() is None, process.stderr.read().decode()
    os.killpg(process.pid, signal.SIGKILL) if whole_group else process.kill()
    process.wait()
    process.stderr.close()


@pytest.mark.slow
def test_killed_five_times_a_run_ends_as_one_left_alone(tmp_path, recordings, chosen, configure):
    """Sixty episodes; each time it goes on with another number of them at once."""
    rollouts = math.ceil(60 / len(chosen))
    config = configure(
        policy=POLICY, options={"pause": PAUSE}, rollouts=rollouts,
        recordings=recordings_digest(chosen),
    )  # fmt: skip
    whole, killed = RunFolder(tmp_path / "whole"), RunFolder(tmp_path / "killed")
    rng = random.Random(20)
    for turn in range(KILLS):
        process = start(killed.path, recordings, rollouts, concurrency=1 + 2 * (turn % 2))
        kill_after_some(process, killed.path, rng, whole_group=turn % 3 > 0)
    last = start(killed.path, recordings, rollouts, concurrency=2)
    assert last.wait(timeout=120) == 0, last.stderr.read().decode()
    evaluate(config, chosen, recordings, whole, Execution(concurrency=8))
    assert killed.results.read_bytes() == whole.results.read_bytes()
    assert transcripts(killed) == transcripts(whole)
    assert len(read_rows(killed.results)) == len(chosen) * rollouts
    assert not list(killed.path.rglob("*.part"))


def transcripts(folder):
    return {file.name: file.read_bytes() for file in folder.episodes.iterdir()}
