"""``ecgscroll synth``: writes, reports, refuses."""

import json

import pytest
import typer
from typer.testing import CliRunner

from ecgscroll.cli.synth import synth
from ecgscroll.errors import EcgScrollError

app = typer.Typer()
app.command()(synth)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_it_writes_numbered_records_and_says_so_in_json(tmp_path):
    request = (tmp_path / "db", "--preset", "rare", "--records", 2, "--hours", 0.02, "--json")
    result = json.loads(run(*request).stdout)
    assert result["written"] == ["rare01", "rare02"]
    assert (tmp_path / "db" / "rare02.hea").exists()
    assert json.loads(run(*request).stdout)["written"] == []


def test_it_says_what_it_did_in_a_line(tmp_path):
    result = run(tmp_path / "db", "--preset", "sinus", "--hours", 0.01)
    assert "recordings written: 1, already there: 0" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--preset", "stress"), "preset"),
        (("--records", 0), "records"),
        (("--hours", 0), "duration_s"),
        (("--hours", 1000), "duration_s"),
        (("--seed", -1), "seed"),
        (("--fs", 10), "fs"),
    ],
)
def test_a_wrong_option_is_one_sentence_and_writes_nothing(tmp_path, arguments, named):
    result = run(tmp_path / "db", *arguments)
    assert isinstance(result.exception, EcgScrollError)
    assert named in str(result.exception)
    assert not (tmp_path / "db").exists()


def test_it_does_not_touch_a_folder_of_something_else(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    result = run(tmp_path, "--hours", 0.01)
    assert isinstance(result.exception, EcgScrollError)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_default_writes_the_database_synth(tmp_path):
    result = json.loads(run(tmp_path, "--default", "--json").stdout)
    assert "paf01" in result["records"]
    assert (tmp_path / "synth" / "ischemia01.atr").exists()
