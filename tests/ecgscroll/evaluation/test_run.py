from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ecgscroll.errors import ConfigError, EcgScrollError
from ecgscroll.evaluation.folder import RunFolder, read_rows

FAKES = "evaluation_fakes"
REQUIRED = {
    "instance", "policy", "dx", "beats", "scoring", "seed", "score", "answer", "truth", "latency",
    "skims", "measures", "writes", "rewinds", "error",
}  # fmt: skip


def transcripts(path):
    return {file.name: file.read_bytes() for file in sorted((path / "episodes").iterdir())}


def test_every_instance_has_one_row_in_its_order(finished, chosen):
    rows = read_rows(finished.results)
    assert [row["instance"] for row in rows] == [one.id for one in chosen]
    assert all(set(row) >= REQUIRED for row in rows)
    assert all(row["error"] is None and 0 <= row["score"] <= 1 for row in rows)
    summary = json.loads((finished.path / "summary.json").read_text())
    assert summary["episodes"] == len(chosen)


def test_a_transcript_holds_every_step_and_the_ledger(finished, chosen):
    for one in chosen:
        text = finished.episode_path(one.id).read_text()
        start, *steps, end = map(json.loads, text.splitlines())
        row = end["row"]
        assert start["instance"] == row["instance"] == one.id
        assert len(steps) == row["steps"] == steps[-1]["n"]
        writes = [step["result"] for step in steps if step["action"]["name"] == "write"]
        assert [w["t0"] for w in writes] == [entry["t0"] for entry in end["ledger"]]
        assert sum(steps[-1]["reward"].values()) == pytest.approx(row["score"])


def test_workers_change_nothing(tmp_path, play, finished):
    for workers in (2, 4):
        path = tmp_path / str(workers)
        play(path, workers=workers)
        assert transcripts(path) == transcripts(finished.path)
        for name in ("results.jsonl", "summary.json", "config.json"):
            assert (path / name).read_bytes() == (finished.path / name).read_bytes()


def test_what_has_been_played_is_not_played_again(tmp_path, play, chosen):
    play(tmp_path)
    before = transcripts(tmp_path)
    RunFolder(tmp_path).episode_path(chosen[1].id).unlink()
    play(tmp_path)
    assert transcripts(tmp_path) == before
    times = [json.loads(line) for line in (tmp_path / "timing.jsonl").read_text().splitlines()]
    assert len(times) == len(chosen) + 1


def test_a_changed_configuration_is_refused(tmp_path, play, chosen):
    play(tmp_path)
    before = (tmp_path / "results.jsonl").read_bytes()
    with pytest.raises(ConfigError, match=r'dx was "reference", now null'):
        play(tmp_path, dx=None)
    with pytest.raises(ConfigError, match=f"instances were {len(chosen)}, now 1"):
        play(tmp_path, instances=chosen[:1])
    assert (tmp_path / "results.jsonl").read_bytes() == before


def test_a_policy_that_raises_is_an_error_and_tried_again(tmp_path, play, chosen):
    mended = tmp_path / "mended"
    options = {"at": chosen[2].id, "mended": str(mended)}
    run = {"policy": f"{FAKES}:Stumble", "options": options}
    summary = play(tmp_path / "run", **run)
    rows = read_rows(tmp_path / "run" / "results.jsonl")
    failed = [row for row in rows if row["error"]]
    assert [row["instance"] for row in failed] == [chosen[2].id]
    assert failed[0]["score"] is None
    assert failed[0]["error"] == "ValueError at step 2: lost the thread"
    assert summary["tasks"][chosen[2].task]["errors"] == 1
    mended.touch()
    assert all(not found["errors"] for found in play(tmp_path / "run", **run)["tasks"].values())


def test_a_worker_that_dies_is_an_error_of_its_episode(tmp_path, play, chosen):
    play(tmp_path, policy=f"{FAKES}:Fatal", options={"at": chosen[0].id}, workers=2)
    rows = read_rows(tmp_path / "results.jsonl")
    errors = {row["instance"]: row["error"] for row in rows if row["error"]}
    assert errors == {chosen[0].id: "The worker that played this episode ended with exit code 7."}
    assert len(rows) == len(chosen)


def test_a_hostile_policy_ends_by_its_budget(tmp_path, play, chosen):
    play(tmp_path, policy=f"{FAKES}:Hostile", instances=chosen[:1])
    (row,) = read_rows(tmp_path / "results.jsonl")
    assert (row["ended"], row["error"], row["errors"]) == ("budget", None, row["steps"])


@pytest.mark.parametrize(
    ("policy", "error"),
    [
        ("Cancelled", "CancelledError at step 1: "),
        ("Speechless", "MuteError at step 1: (its message cannot be read)"),
        ("Endless", f"ValueError at step 1: {'x' * 2000}..."),
    ],
)
def test_whatever_a_policy_raises_is_an_error_row(tmp_path, play, chosen, policy, error):
    play(tmp_path, policy=f"{FAKES}:{policy}", instances=chosen[:1])
    (row,) = read_rows(tmp_path / "results.jsonl")
    assert row["error"] == error


@pytest.mark.parametrize("workers", [1, 2])
def test_an_episode_that_cannot_be_kept_ends_the_run(tmp_path, play, chosen, workers):
    (tmp_path / "episodes").mkdir()
    (tmp_path / "episodes" / "x").write_text("")
    blocked = RunFolder(tmp_path).episode_path(chosen[0].id)
    blocked.mkdir()
    (blocked / "x").write_text("")
    with pytest.raises((EcgScrollError, OSError), match=r"directory"):
        play(tmp_path, workers=workers, instances=chosen[:2])


def test_numbers_of_numpy_are_kept_as_numbers(tmp_path, play, chosen):
    play(tmp_path, policy=f"{FAKES}:Counting", instances=chosen[:1])
    step = json.loads(RunFolder(tmp_path).episode_path(chosen[0].id).read_text().splitlines()[1])
    assert step["action"] == {"name": "skim", "arguments": {"duration": 30.0}}


def test_a_recording_that_cannot_serve_the_tier_is_an_error_row(tmp_path, play, chosen, recordings):
    (row,) = _rows_without_signal(tmp_path, recordings, chosen)
    assert row["score"] is None
    assert "needs dx='reference'" in row["error"]


def _rows_without_signal(tmp_path, recordings, chosen):
    from ecgscroll.evaluation.config import RunConfig
    from ecgscroll.evaluation.run import evaluate
    from ecgscroll.evaluation.selection import select

    folder = tmp_path / "data" / "made"
    folder.mkdir(parents=True)
    record = next(one.record for one in chosen if one.task == "pvc_burden")
    for suffix in ("hea", "atr"):
        source = recordings / "made" / f"{record}.{suffix}"
        (folder / source.name).write_bytes(source.read_bytes())
    data = tmp_path / "data"
    found, _ = select(data, chosen_set="supplementary", tasks=["pvc_burden"])
    config = RunConfig(policy="rule", instances=tuple(one.id for one in found), data="")
    evaluate(config, found, data, RunFolder(tmp_path / "run"))
    return read_rows(tmp_path / "run" / "results.jsonl")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_has_ended_and_leaves_no_worker(tmp_path, recordings, number):
    process = _start(tmp_path, recordings)
    while not list(tmp_path.glob("episodes/*.jsonl")):
        time.sleep(0.02)
    process.send_signal(number)
    said = process.communicate(timeout=30)[1].decode()
    assert process.returncode == 130
    assert "the same command goes on from there" in said
    rows = read_rows(tmp_path / "results.jsonl")
    assert rows
    assert len(rows) == len(list(tmp_path.glob("episodes/*.jsonl")))


def _start(out, recordings):
    command = [
        sys.executable, "-m", "ecgscroll.cli.main", "run", "--policy", f"{FAKES}:Slow",
        "-o", "pause=0.01", "--dx", "reference", "--set", "supplementary", "--workers", "2",
        "--data", str(recordings), "--out", str(out), "--json",
    ]  # fmt: skip
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
