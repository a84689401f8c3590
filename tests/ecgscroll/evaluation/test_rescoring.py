from __future__ import annotations

import json

import pytest

from ecgscroll.errors import ConfigError, DataError
from ecgscroll.evaluation.folder import RunFolder, read_rows
from ecgscroll.evaluation.rescoring import rescore


def test_the_runs_own_parameters_give_its_own_results(finished, tmp_path):
    summary = rescore(finished, tmp_path / "again")
    assert (tmp_path / "again" / "results.jsonl").read_bytes() == finished.results.read_bytes()
    assert summary == json.loads((finished.path / "summary.json").read_text())


def test_other_parameters_give_other_scores_of_the_same_answers(finished, tmp_path):
    strict = rescore(finished, tmp_path / "strict", iou=1.0, v0=0.5, tolerance_s=0.0)
    assert strict["parameters"]["v0"] == 0.5
    old, new = read_rows(finished.results), read_rows(tmp_path / "strict" / "results.jsonl")
    assert [row["answer"] for row in new] == [row["answer"] for row in old]
    assert any(a["score"] > b["score"] for a, b in zip(old, new, strict=True))
    assert any(
        a["score"] < b["score"]
        for a, b in zip(old, new, strict=True)
        if a["task"].endswith("burden")
    )


def test_published_scoring_pays_an_empty_ledger_for_time_zero(tmp_path, play, chosen):
    timed = [one for one in chosen if one.task == "rare_event"]
    play(tmp_path, policy="evaluation_fakes:Idle", instances=timed)
    rescore(RunFolder(tmp_path), tmp_path / "again", scoring="published")
    before = read_rows(tmp_path / "results.jsonl")
    after = read_rows(tmp_path / "again" / "results.jsonl")
    assert {row["answer"] for row in before} == {None}
    assert {row["answer"] for row in after} == {0.0}
    assert {row["scoring"] for row in after} == {"published"}


def test_an_error_stays_an_error(tmp_path, play, chosen):
    options = {"at": chosen[0].id, "mended": str(tmp_path / "never")}
    play(tmp_path, policy="evaluation_fakes:Stumble", options=options)
    rescore(RunFolder(tmp_path), tmp_path / "again")
    rows = read_rows(tmp_path / "again" / "results.jsonl")
    assert [row["instance"] for row in rows if row["error"]] == [chosen[0].id]


def test_a_folder_without_episodes_says_so(tmp_path, configure):
    folder = RunFolder(tmp_path)
    folder.begin(configure(), {})
    with pytest.raises(DataError, match="nothing to score"):
        rescore(folder, tmp_path / "again")


def test_a_runs_own_results_are_not_overwritten(finished):
    before = finished.results.read_bytes()
    with pytest.raises(ConfigError, match="the run's own results"):
        rescore(finished, finished.path / "episodes" / "..", scoring="published")
    assert finished.results.read_bytes() == before


def test_a_wrong_parameter_is_refused(finished, tmp_path):
    with pytest.raises(ConfigError, match="IoU"):
        rescore(finished, tmp_path / "again", iou=2.0)


def test_a_tolerance_that_json_cannot_carry_is_refused(finished, tmp_path):
    with pytest.raises(ConfigError, match="tolerance_s"):
        rescore(finished, tmp_path / "again", tolerance_s=float("inf"))
