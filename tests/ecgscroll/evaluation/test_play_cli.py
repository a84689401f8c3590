"""A person at the terminal: lines in, results, ledger and score out."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from ecgscroll.cli.main import app
from ecgscroll.cli.play import Human
from ecgscroll.evaluation.config import RunConfig, data_digest
from ecgscroll.evaluation.folder import RunFolder, read_rows
from ecgscroll.evaluation.run import evaluate
from ecgscroll.evaluation.selection import select

INSTANCE = "rare_event/made/rare1"


@pytest.fixture
def sit_down(recordings):
    """Play with lines from a pipe."""

    def play(*lines, instance=INSTANCE, options=()):
        command = ["play", instance, "--data", str(recordings), *map(str, options)]
        return CliRunner().invoke(app, command, input="\n".join(lines))

    return play


def test_a_person_reads_writes_and_is_scored(sit_down):
    done = sit_down("skim 240", "measure get_rate_rhythm 0 60", "write 1 3", "ledger", "finish\n")
    assert done.exit_code == 0, done.output
    for shown in ("find pvc", "240.0/240.0 s>", "hr_bpm", "written", "Score: 0", "Rare event:"):
        assert shown in done.stdout


def test_the_end_of_the_input_finishes(sit_down):
    for lines in ((), ("skim 60",), ("skim 60", "")):
        done = sit_down(*lines)
        assert done.exit_code == 0, done.output
        assert "Nothing is written." in done.stdout
        assert "Score" in done.stdout


def test_a_slip_of_the_fingers_takes_no_step_and_help_helps(sit_down, tmp_path):
    lines = ("sikm 60", "skim", "skim 6o", "help", "help get_qrs", "skim 60", "measure get_p 0 9")
    done = sit_down(*lines, "[bold]", "'", options=("--out", tmp_path / "run"))
    for shown in ("no action 'sikm'", "duration is missing", "must be a number", "mean QRS"):
        assert shown in done.stdout
    (row,) = read_rows(RunFolder(tmp_path / "run").results)
    assert (row["steps"], row["errors"], row["error"]) == (3, 1, None)


def test_an_episode_that_is_kept_is_a_run_and_replays(sit_down, tmp_path, recordings):
    done = sit_down(
        "skim 240", "write 1 3", "finish", options=("--out", tmp_path / "run", "--dx", "reference")
    )
    assert "kept in" in done.stderr
    (row,) = read_rows(RunFolder(tmp_path / "run").results)
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["episodes"] == 1
    (chosen,) = select(recordings, ids=[INSTANCE])[0]
    config = RunConfig(
        policy="policies.replay:Replay",
        options={"run": str(tmp_path / "run")},
        dx="reference",
        instances=(INSTANCE,),
        data=data_digest({INSTANCE: chosen.truth.digest()}),
    )
    evaluate(config, [chosen], recordings, RunFolder(tmp_path / "again"))
    (again,) = read_rows(RunFolder(tmp_path / "again").results)
    assert again | {"policy": row["policy"]} == row


def test_an_unknown_instance_is_an_error(sit_down):
    assert sit_down(instance="rare_event/made/none").exit_code != 0


def test_a_closed_input_finishes(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    human = Human()
    human.reset({"instance": INSTANCE, "task": "rare_event", "tools": []})
    obs, info = {"cursor": 0.0, "total": 1.0}, {"result": {}}
    assert human.act(obs, info) == {"name": "finish", "arguments": {}}
