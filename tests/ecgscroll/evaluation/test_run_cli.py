from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ecgscroll.cli.main import app
from ecgscroll.cli.run import parse_options
from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.folder import RunFolder, read_rows


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def basic(recordings, tmp_path):
    """Arguments of a short run of one task."""
    return (
        "run", "--data", recordings, "--set", "supplementary", "--tasks", "rare_event",
        "--dx", "reference", "--out", tmp_path / "run",
    )  # fmt: skip


def test_a_run_prints_tables_and_says_where_the_files_are(basic, tmp_path):
    done = call(*basic)
    assert done.exit_code == 0, done.output
    assert "rare_event" in done.stdout
    assert str(tmp_path / "run") in done.stderr.replace("\n", "")
    assert (tmp_path / "run" / "results.jsonl").exists()


def test_json_prints_the_summary_alone(basic, tmp_path):
    done = call(*basic, "--json")
    assert json.loads(done.stdout) == json.loads((tmp_path / "run" / "summary.json").read_text())


def test_every_option_reaches_the_configuration(basic, tmp_path):
    call(
        *basic, "--scoring", "published", "--seed", 5, "--rewind", "forbidden", "--budget", 50,
        "--limit", 1, "-o", "profile=released",
    )  # fmt: skip
    config = RunFolder(tmp_path / "run").config()
    assert (config.scoring, config.seed, config.rewind) == ("published", 5, "forbidden")
    assert (config.budget, len(config.instances)) == (50, 1)
    assert config.options == {"profile": "released"}
    assert config.fingerprint["cues"]["ischemia"]["threshold"] == 0.1
    (row,) = read_rows(tmp_path / "run" / "results.jsonl")
    assert (row["seed"], row["scoring"], row["policy"]) == (5, "published", "rule")


def test_instances_come_from_a_file(basic, tmp_path, chosen):
    (tmp_path / "list").write_text("\n".join(one.id for one in chosen[:2]))
    call("run", *basic[1:3], "--instances", tmp_path / "list", "--out", tmp_path / "run")
    assert RunFolder(tmp_path / "run").config().instances == tuple(one.id for one in chosen[:2])


def test_a_policy_beside_the_caller_is_found(basic, tmp_path, monkeypatch):
    code = "class Mine:\n    name = 'mine'\n    def reset(self, info): pass\n"
    code += "    def act(self, obs, info): return {'name': 'finish', 'arguments': {}}\n"
    (tmp_path / "policy_beside.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    done = call(*basic, "--policy", "policy_beside:Mine", "--workers", 2, "--json")
    assert json.loads(done.stdout)["tasks"]["rare_event"]["behaviour"]["empty_ledgers"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--policy", "ruel"), "no policy 'ruel'"),
        (("-o", "profile=strict"), "no profile 'strict'"),
        (("-o", "haste=1"), "haste"),
        (("-o", "profile"), "key=value"),
        (("-o", "profile=2026-01-01"), "not one that JSON has"),
        (("-o", "profile=.nan"), "not one that JSON has"),
        (("--policy", "evaluation_fakes:Endless", "--instances", "nowhere"), "cannot be read"),
        (("--tasks", "stroke"), "no task 'stroke'"),
        (("--budget", "endless"), "no budget 'endless'"),
    ],
)
def test_a_mistake_is_one_sentence(basic, arguments, message):
    done = call(*basic, *arguments)
    assert message in str(done.exception)
    assert type(done.exception).__module__ == "ecgscroll.errors"


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_policy_prints_is_not_in_the_results(basic, workers):
    command = [sys.executable, "-m", "ecgscroll.cli.main", *map(str, basic), "--json"]
    command += ["--policy", "evaluation_fakes:Chatty", "--workers", str(workers)]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert json.loads(done.stdout)["episodes"] > 0
    assert "from the policy" in done.stderr
    assert "from its child" in done.stderr


def test_what_the_system_refuses_is_a_sentence(basic, tmp_path):
    (tmp_path / "run" / "results.jsonl").mkdir(parents=True)
    command = [sys.executable, "-m", "ecgscroll.cli.main", *map(str, basic)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "The system refused to read or write" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_in_which_everything_fails_exits_with_1(basic):
    done = call(*basic, "--policy", "evaluation_fakes:Failing")
    assert done.exit_code == 1
    assert "ended in an error" in done.stderr.replace("\n", " ")


def test_ctrl_c_says_how_to_go_on(basic, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("ecgscroll.cli.run.evaluate", interrupted)
    done = call(*basic)
    assert done.exit_code == 130
    assert "the same command goes on" in done.stderr


def test_rescore_prints_new_scores(basic, tmp_path):
    call(*basic)
    done = call(
        "rescore", tmp_path / "run", "--tolerance-s", 0, "--v0", 0.1, "--iou", 0.9, "--json"
    )
    summary = json.loads(done.stdout)
    assert summary["parameters"] == {
        "scoring": "committed", "iou": 0.9, "v0": 0.1, "tolerance_s": 0.0,
    }  # fmt: skip
    assert (tmp_path / "run" / "rescored" / "results.jsonl").exists()


def test_rescore_prints_tables(basic, tmp_path):
    call(*basic)
    done = call("rescore", tmp_path / "run", "--out", tmp_path / "new", "--scoring", "published")
    assert "published scoring" in done.stdout
    assert (tmp_path / "new" / "summary.json").exists()


@pytest.mark.parametrize(
    "verb", ["prepare", "instances", "synth", "run", "rescore", "check", "--help"]
)
def test_help_is_whole_at_80_columns(verb, monkeypatch):
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 80)
    done = call(*dict.fromkeys((verb, "--help")))
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    if verb == "instances":
        assert "[[onset, offset]," in done.stdout


def test_options_are_read_as_yaml():
    read = parse_options(["a=1", "b=0.5", "c=true", "d=text", "e=[1, 2]", "f="])
    assert read == {"a": 1, "b": 0.5, "c": True, "d": "text", "e": [1, 2], "f": None}


@pytest.mark.parametrize("pair", ["a", "=1", "a b=1", "a=[1", "a=1"])
def test_an_option_that_cannot_be_read_is_refused(pair):
    with pytest.raises(ConfigError):
        parse_options(["a=1", pair])


def test_folders_may_be_named_as_markup(basic, tmp_path):
    out = tmp_path / "[red]" / "[/x]"
    for arguments in ((*basic, "--out", out), ("rescore", out)):
        done = call(*arguments)
        assert done.exit_code == 0, done.output
        assert str(out) in done.stderr.replace("\n", "")
