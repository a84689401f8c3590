from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from ecgscroll.cli.main import app
from ecgscroll.errors import ConfigError, DataError
from ecgscroll.evaluation.comparison import compare, compare_task
from ecgscroll.evaluation.comparison_table import comparison_grids, left_out_sentence
from ecgscroll.evaluation.config import Limits
from ecgscroll.evaluation.layout import Grid, comma_separated, markdown
from ecgscroll.evaluation.loading import load_runs


@pytest.fixture
def copied(finished, tmp_path):
    """Return a run's copy that may be damaged."""
    target = tmp_path / "copied"
    shutil.copytree(finished.path, target)
    return target


def edit(run, change, index=0):
    """Change the last line of one transcript."""
    path = sorted((run / "episodes").glob("*.jsonl"))[index]
    *lines, last = path.read_text().splitlines()
    end = json.loads(last)
    change(end)
    path.write_text("\n".join([*lines, json.dumps(end)]) + "\n")


def said(*words):
    """Return the sentence that a command refuses with."""
    found = CliRunner().invoke(app, [str(word) for word in words])
    assert isinstance(found.exception, ConfigError | DataError), found.output
    return str(found.exception)


def test_a_run_equals_its_copy(finished, copied):
    a, b = load_runs([finished.path, copied])
    found = compare(a, b)
    assert found["warnings"] == []
    assert not any(found["left_out"].values())
    for one in found["tasks"].values():
        assert one["score"]["difference"]["mean"] == 0
        assert one["sign"]["p"] is None


def test_differences_are_counted_on_pairs_alone(finished, copied):
    def worse(end):
        end["row"]["score"] = 0.0

    edit(copied, worse)
    sorted((copied / "episodes").glob("*.jsonl"))[-1].unlink()
    a, b = load_runs([finished.path, copied])
    found = compare(a, b)
    assert found["left_out"]["only_first"] == found["left_out"]["unfinished_second"] == 1
    assert "1 only" in left_out_sentence(found)
    before = {one.instance.id: one.row["score"] for one in a.outcomes}
    changed = next(one for one in b.outcomes if one.row["score"] != before[one.instance.id])
    task = found["tasks"][changed.row["task"]]
    assert task["score"]["second"] < task["score"]["first"]
    assert task["sign"]["first_better"] == 1


def test_an_error_is_left_out_of_one_denominator(finished):
    run = load_runs([finished.path])[0]
    one = next(one for one in run.outcomes if one.row["score"] == 1.0)
    lost = replace(one, row={**one.row, "error": "lost", "score": None}, latency=None)
    found = compare_task({one.instance.id: ([one], [lost])})
    assert found["errors"] == [0, 1]
    assert (found["score"]["n"], found["with_errors"]["n"]) == (0, 1)
    assert found["with_errors"]["difference"]["mean"] == -1.0
    assert found["latency"]["first"]["events"] == 0


def test_rollouts_are_averaged_before_they_are_paired(finished):
    run = load_runs([finished.path])[0]
    one = next(one for one in run.outcomes if one.row["score"] == 1.0)
    zero = replace(one, row={**one.row, "score": 0.0})
    found = compare_task({one.instance.id: ([one], [one, zero, zero, zero])})
    assert found["score"]["n"] == 1
    assert found["score"]["second"] == 0.25


def test_other_truths_are_refused(finished, copied):
    def other(end):
        end["events"] = [*end["events"], [1.0, 2.0]]
        for kind in ("onset_s", "earliest_s"):
            end["latency"][kind] = [*end["latency"][kind], None]

    edit(copied, other)
    with pytest.raises(DataError, match="different truths on 1 instances"):
        compare(*load_runs([finished.path, copied]))


def test_what_differs_besides_the_agent_is_said(finished, copied):
    a, b = load_runs([finished.path, copied])
    b = replace(b, config=replace(b.config, dx=None, budget=9, version="0", data="x"))
    assert [one.split()[0] for one in compare(a, b)["warnings"]] == [
        "dx",
        "budget",
        "version",
        "The",
    ]


def test_other_limits_rollouts_and_recordings_are_said(finished, copied):
    a, b = load_runs([finished.path, copied])
    b = replace(b, config=replace(b.config, limits=Limits(tokens=9), rollouts=2, recordings="x"))
    tokens, rollouts, files = compare(a, b)["warnings"]
    assert tokens == f"limits.tokens differs: none in {a.name}, 9 in {b.name}."
    assert rollouts.startswith("rollouts differs: 1 in")
    assert files == "The headers or file sizes of the recordings differ between the runs."


@pytest.mark.parametrize(
    "change",
    [
        lambda end: end["row"].update(score="high"),
        lambda end: end["row"].update(score=None),
        lambda end: end["row"].update(score=7.0),
        lambda end: end["row"].update(score=float("nan")),
        lambda end: end["row"].update(skims=None),
        lambda end: end["row"].update(task="nonsense"),
        lambda end: end["row"].update(patient=[1]),
        lambda end: end["row"].update(usage=[1]),
        lambda end: end.update(events=[[1]]),
        lambda end: end["latency"].update(onset_s=[1.0] * 999),
        lambda end: end.update(latency=[]),
    ],
)
def test_a_damaged_row_gives_one_sentence(finished, copied, change):
    edit(copied, change)
    for verb in (("compare", finished.path), ("leaderboard",)):
        assert "cannot be read" in said(*verb, copied)


def test_folders_that_hold_no_run_give_one_sentence(finished, copied, tmp_path):
    assert "no config.json" in said("compare", finished.path, tmp_path)
    assert "twice" in said("compare", finished.path, finished.path)
    assert "two runs" in said("compare", finished.path)
    (copied / "config.json").write_text("{")
    assert "damaged" in said("leaderboard", copied)
    shutil.copy(finished.path / "config.json", copied / "config.json")
    shutil.rmtree(copied / "episodes")
    assert "No episode" in said("leaderboard", copied)


def test_all_errors_can_be_compared_and_ranked(finished, copied):
    for index in range(len(list((copied / "episodes").iterdir()))):
        edit(
            copied,
            lambda end: end.update(latency=None) or end["row"].update(error="lost", score=None),
            index,
        )
    for verb in (("compare", finished.path), ("leaderboard",)):
        found = CliRunner().invoke(app, [*map(str, verb), str(copied)])
        assert found.exit_code == 0, found.output
    assert "lost" not in found.output


def test_every_form_is_printed(finished, copied):
    runs = [str(finished.path), str(copied)]
    found = json.loads(CliRunner().invoke(app, ["compare", *runs, "--json"]).stdout)
    assert found[0]["tasks"]
    rows = CliRunner().invoke(app, ["compare", *runs, "--format", "csv"]).stdout.splitlines()
    assert rows[0].startswith("table,task,n,")
    text = CliRunner().invoke(app, ["compare", *runs, "--format", "markdown"]).stdout
    assert text.count("| --- |") == len(comparison_grids(found[0]))
    assert "…" not in CliRunner().invoke(app, ["compare", *runs]).stdout


def test_names_with_bars_and_commas_stay_in_their_cells():
    grid = Grid("a|b", ("x",), [("c|d,e",)])
    assert "c\\|d" in markdown([grid])
    assert comma_separated([grid]).splitlines()[1] == 'a|b,"c|d,e"'
