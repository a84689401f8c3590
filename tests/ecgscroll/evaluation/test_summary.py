from __future__ import annotations

import itertools

import pytest

from ecgscroll.evaluation.comparison import compare_task
from ecgscroll.evaluation.outcome import Outcome, StoredInstance, StoredTruth
from ecgscroll.evaluation.summary import summarise_run
from ecgscroll.evaluation.table import print_summary
from ecgscroll.tasks import TASKS

PARAMETERS = {"scoring": "committed"}
NUMBER = itertools.count()
LATE = {"onset_s": [10.0, None], "earliest_s": [4.0, None]}


def outcome(
    score=1.0,
    error=None,
    task="af_burden",
    patient="p1",
    truth=0.5,
    entries=1,
    ended="finish",
    name=None,
    **more,
):
    instance = StoredInstance(
        id=f"{task}/d/{next(NUMBER) if name is None else name}",
        task=task,
        database="d",
        patient=patient,
        duration=100.0,
        truth=None if truth is None else StoredTruth(truth, ((0.0, 50.0),)),
    )
    row = {
        "task": task, "patient": patient, "score": score, "error": error, "ended": ended,
        "cursor_s": 100.0, "steps": 4, "skims": 2, "measures": 1, "writes": entries, "rewinds": 0,
        "errors": 0, **more,
    }  # fmt: skip
    ledger = ({"type": "af", "t0": 0.0, "t1": 50.0, "cursor": 50.0},) * entries
    return Outcome(row, instance, ledger, None if score is None else LATE)


def summed(*outcomes):
    return summarise_run(outcomes, 0, PARAMETERS)["tasks"]


def test_an_error_is_kept_apart_from_a_zero():
    found = summed(outcome(1.0), outcome(0.0), outcome(None, error="lost"))["af_burden"]
    assert (found["instances"], found["errors"]) == (3, 1)
    assert found["score"]["mean"] == 0.5
    assert found["with_errors"]["mean"] == pytest.approx(1 / 3)


def test_a_recording_without_annotations_is_in_no_denominator():
    found = summed(outcome(1.0), outcome(None, truth=None))["af_burden"]
    assert (found["instances"], found["unscored"], found["score"]["n"]) == (2, 1, 1)
    assert found["with_errors"]["n"] == 1


def test_an_error_without_annotations_is_an_error_and_in_no_mean():
    lost = outcome(None, error="lost", truth=None)
    found = summed(outcome(1.0), lost)["af_burden"]
    assert (found["errors"], found["unscored"]) == (1, 1)
    assert (found["with_errors"]["n"], found["with_errors"]["mean"]) == (1, 1.0)
    alone = summed(lost)["af_burden"]
    assert (alone["errors"], alone["with_errors"]["mean"]) == (1, None)
    both = compare_task({"x": ([lost], [lost])})
    assert (both["unscored"], both["errors"], both["with_errors"]["n"]) == (1, [1, 1], 0)


def test_hits_have_a_wilson_interval_and_means_a_bootstrap():
    found = summed(outcome(1.0, task="rare_event", truth=3.0), outcome(1.0))
    assert found["rare_event"]["score"]["method"] == "wilson"
    assert found["af_burden"]["score"]["method"] == "bootstrap"


def test_latency_pools_events_and_counts_misses():
    late = summed(outcome(), outcome())["af_burden"]["latency"]
    assert late["from_onset"] == {
        "events": 4, "missed_share": 0.5, "q1": 10.0, "median": 10.0, "q3": 10.0,
    }  # fmt: skip
    assert late["from_earliest"]["median"] == 4.0


def test_behaviour_leaves_errors_out_and_names_empty_ledgers():
    found = summed(outcome(entries=0), outcome(ended="budget"), outcome(None, error="lost"))
    behaviour = found["af_burden"]["behaviour"]
    assert behaviour["writes"] == 0.5
    assert behaviour["empty_ledgers"] == 0.5
    assert behaviour["budget_ended"] == 0.5


def test_floors_are_scored_on_the_same_instances():
    floors = summed(outcome(truth=0.5), outcome(truth=1.0))["af_burden"]["floors"]
    assert floors["empty"] == 0.0
    assert floors["whole"] == 0.5


def test_a_task_where_everything_failed_can_be_printed(capsys):
    summary = summarise_run([outcome(None, error="lost")], 0, PARAMETERS)
    print_summary({**summary, "config": {"policy": "rule", "dx": None}, "parameters": PARAMETERS})
    assert "af_burden" in capsys.readouterr().out


def test_tables_fit_a_terminal(monkeypatch, capsys):
    late = {"events": 7643, "missed_share": 1.0, "q1": 1234.5, "median": 12345.6, "q3": 23456.7}
    found = summed(outcome(), outcome(None, error="lost"))["af_burden"]
    found |= {"instances": 107, "latency": {"from_onset": late, "from_earliest": late}}
    found["behaviour"] |= dict.fromkeys(("skims", "measures", "writes", "rewinds"), 2880.0)
    found["floors"]["every_beat"] = 0.5
    summary = {"episodes": 642, "hours": 9999.0, "tasks": dict.fromkeys(TASKS, found)}
    monkeypatch.setattr("ecgscroll.evaluation.table._PLAIN_WIDTH", 80)
    print_summary({**summary, "config": {"policy": "rule", "dx": None}, "parameters": PARAMETERS})
    shown = capsys.readouterr().out
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 80
    for text in (*TASKS, "7643", "107", "12346 (1234 to 23457)", "2880.0", "alternate", "measures"):
        assert shown.count(text) >= 1
    assert shown.count("0.500") >= len(TASKS)  # the last column of the floors


def test_tasks_keep_their_order():
    found = summed(outcome(task="rare_event", truth=3.0), outcome(task="af_burden"))
    assert list(found) == ["af_burden", "rare_event"]


def test_rollouts_of_an_instance_count_once():
    rolls = [outcome(score, name="x", rollout=i) for i, score in enumerate((1.0, 0.0, 0.2, 0.8))]
    found = summed(*rolls, outcome(0.0))["af_burden"]
    assert (found["instances"], found["episodes"], found["score"]["n"]) == (2, 5, 2)
    assert found["score"]["mean"] == pytest.approx(0.25)
    powers = [one["score"]["mean"] for one in found["pass_power"]["powers"]]
    assert found["pass_power"]["threshold"] == 0.5
    assert powers[:2] == pytest.approx([0.25, 1 / 6])
    print_summary({
        **summarise_run(rolls, 0, PARAMETERS),
        "config": {"policy": "rule", "dx": None}, "parameters": PARAMETERS,
    })  # fmt: skip


def test_consumption_counts_what_rows_tell_per_episode_and_hour():
    usage = {"requests": 2, "prompt_tokens": 100, "completion_tokens": 10, "cost": None}
    told = outcome(read_s=60.0, usage=usage, cursor_s=1800.0)
    lost = outcome(None, error="lost", read_s=20.0, usage=usage, cursor_s=1800.0)
    found = summed(told, lost, outcome())["af_burden"]["consumption"]
    assert found["ran"]["per_episode"]["read_s"] == 60.0
    assert found["with_errors"]["per_episode"]["read_s"] == 40.0
    assert found["with_errors"]["per_hour"]["prompt_tokens"] == 200.0
    assert found["ran"]["per_hour"]["cost"] is None


def test_episodes_that_a_limit_ended_are_counted():
    found = summed(outcome(ended="tokens"), outcome(ended="time"), outcome(), outcome())
    assert found["af_burden"]["behaviour"]["limit_ended"] == 0.5
