from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from ecgscroll.cli.main import app
from ecgscroll.evaluation import leaderboard as module
from ecgscroll.evaluation.leaderboard import leaderboard, reasons
from ecgscroll.evaluation.leaderboard_table import leaderboard_grids
from ecgscroll.evaluation.loading import load_runs
from ecgscroll.evaluation.published import published_rows
from ecgscroll.evaluation.reading import truth_digest
from ecgscroll.tasks import CORE_TASKS

TASK = "af_burden"


@pytest.fixture
def run(finished):
    found = load_runs([finished.path])[0]
    return replace(found, config=replace(found.config, scoring="published"))


@pytest.fixture
def frozen(run, monkeypatch):
    """Take the run's own instances for the core set, all but the last for the published one."""
    rows = {
        one.instance.id: SimpleNamespace(truth=truth_digest(one.instance)) for one in run.outcomes
    }
    names = [name for name in rows if name.startswith(f"{TASK}/")]
    monkeypatch.setattr(module, "core_rows", lambda: rows)
    monkeypatch.setattr(module, "published_ids", lambda: names[:-1])
    return rows, names


def test_the_published_tables_are_whole():
    rows = published_rows()
    assert [row.table for row in rows].count("planning") == 16
    assert [row.table for row in rows].count("judge") == 14
    for row in rows:
        assert row.scores.keys() == set(CORE_TASKS)
        assert all(0 <= score <= 1 for score in row.scores.values())


def test_reasons_name_what_does_not_compare(run, frozen):
    rows, names = frozen
    held = [one for one in run.outcomes if one.instance.id in names]
    assert reasons(run, TASK, held[:-1]) == []
    assert reasons(run, TASK, held) == ["whole core set"]
    assert reasons(run, TASK, held[:1]) == [f"1 of {len(names) - 1} instances"]
    other = replace(run, config=replace(run.config, dx="signal", scoring="committed"))
    assert reasons(other, TASK, held[:-1]) == ["committed scoring", "dx signal"]
    rows[names[0]].truth = "another"
    assert reasons(run, TASK, held[:-1]) == ["other truths"]
    failed = [replace(held[0], row={**held[0].row, "error": "lost"}), *held[1:-1]]
    assert "errors" in reasons(run, TASK, failed)


def test_runs_stand_beside_floors_and_published_agents(run):
    rows = leaderboard([run])
    kinds = [row["kind"] for row in rows]
    assert kinds[:2] == ["run", "floor"]
    assert kinds.count("published") == 30
    for cell in rows[0]["cells"].values():
        assert not cell["comparable"]  # synthetic recordings
        assert "other instances" in cell["reasons"]
    grids, notes = leaderboard_grids(rows)
    assert len(grids) == 1
    assert len(grids[0].rows) == 2 + 15
    assert notes[0].startswith("[1] ")


def test_an_equal_floor_is_shown_once(run):
    rows = leaderboard([run, replace(run, name="again")])
    assert [row["kind"] for row in rows[:3]] == ["run", "floor", "run"]


def test_every_form_is_printed(finished):
    words = ["leaderboard", str(finished.path)]
    assert json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)[0]["kind"] == "run"
    assert (
        "| Rule, planning | 0.52 |"
        in CliRunner().invoke(app, [*words, "--format", "markdown"]).stdout
    )
    assert "committed scoring" in CliRunner().invoke(app, words).stdout
