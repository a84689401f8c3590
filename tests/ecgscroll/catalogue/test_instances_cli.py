"""``ecgscroll instances``."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner
from wfdb_files import annotation_bytes, write_record

from ecgscroll.cli.instances import instances

app = typer.Typer()
app.command()(instances)
FIELDS = ["id", "set", "database", "record", "task", "duration_s", "available"]


def call(*arguments: str):
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "120", "ECGSCROLL_DATA": ""})


@pytest.fixture
def own(tmp_path):
    notes = [(100, "N", ""), (200, "V", ""), (300, "+", "(AFIB"), (400, "+", "(N")]
    write_record(tmp_path / "mine", "r", ["r.dat 16"], 10_000, {"r.dat": b"\0" * 20_000})
    (tmp_path / "mine" / "r.atr").write_bytes(annotation_bytes(notes))
    return tmp_path


def test_json_is_one_object_a_line_with_the_fields_in_order(own):
    result = call("--data", str(own), "--json")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(lines) == 390
    assert all(list(line) == FIELDS for line in lines)


def test_truth_is_a_fraction_seconds_or_intervals(own):
    result = call("--data", str(own), "--set", "supplementary", "--json", "--truth")
    lines = {json.loads(line)["task"]: json.loads(line) for line in result.stdout.splitlines()}
    assert list(lines["af_burden"])[:8] == [*FIELDS, "truth"]
    assert {task: line["truth"] for task, line in lines.items()} == {
        "episode_detection": [[3.0, 4.0]],
        "af_burden": 0.01,
        "change_detection": 3.0,
        "pvc_burden": 0.5,
        "rare_event": 2.0,
    }


def test_table_says_what_is_missing_and_how_to_get_it(own):
    result = call("--data", str(own), "--tasks", "rare_event,ischemia", "--databases", "mitdb,edb")
    assert result.exit_code == 0
    assert "98 instances" in result.stdout
    assert "mitdb: 13 records are not there; get it with `ecgscroll prepare mitdb`" in result.stdout


def test_table_with_truths_reads_as_text(own):
    result = call("--data", str(own), "--set", "supplementary", "--truth")
    assert "1 episodes, 1 s" in result.stdout
    assert "0.5000" in result.stdout
    assert "2.00 s" in result.stdout


def test_without_data_it_says_how_to_name_them():
    assert "ECGSCROLL_DATA" in call().stdout


def test_truth_that_differs_is_told_on_stderr_and_in_its_line(own):
    (own / "mine").rename(own / "mitdb")
    for suffix in ("hea", "dat", "atr"):
        (own / "mitdb" / f"r.{suffix}").rename(own / "mitdb" / f"100.{suffix}")
    result = call("--data", str(own), "--json", "--truth", "--tasks", "pvc_burden")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["id"] for line in lines if line["truth_differs"]] == ["pvc_burden/mitdb/100"]
    assert "prepare mitdb" in result.stderr


@pytest.mark.parametrize("option", [["--set", "x"], ["--tasks", "x"], ["--data", "/nowhere"]])
def test_mistake_is_one_sentence(option):
    result = call(*option)
    assert result.exit_code != 0
    assert str(result.exception).endswith(".")


def test_pipe_that_closes_early_leaves_no_traceback(own):
    command = f"{sys.executable} -m ecgscroll.cli.main instances --json --data {own} | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["id"] == "episode_detection/afdb/04015"
    assert done.stderr == ""
