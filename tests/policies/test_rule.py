from __future__ import annotations

import subprocess
import sys

import pytest

from ecgscroll.errors import ConfigError
from ecgscroll.tasks import TASKS, get_task
from policies.rule import Rule, cue_value, label_value


def walk(rule, results, total=70.0, task="pvc_burden", dx="reference"):
    """Drive a policy over a made-up recording; ``results`` maps a chunk's start to a result."""
    cursor, result, calls = 0.0, {}, []
    rule.reset({"task": task, "dx": dx})
    while not calls or calls[-1]["name"] != "finish":
        call = rule.act({"cursor": cursor, "total": total}, {"result": result})
        calls.append(call)
        arguments = call["arguments"]
        if call["name"] == "skim":
            cursor = min(cursor + arguments["duration"], total)
        result = results.get(arguments.get("t0"), {"error": "nothing"})
    return calls


def beats(count):
    return {"pvc_times_count": count}


def written(calls):
    return [call["arguments"] for call in calls if call["name"] == "write"]


def test_chunks_tile_the_recording_and_the_last_is_short():
    calls = walk(Rule(), {})
    measured = [
        (c["arguments"]["t0"], c["arguments"]["t1"]) for c in calls if c["name"] == "measure"
    ]
    assert measured == [(0.0, 30.0), (30.0, 60.0), (60.0, 70.0)]
    assert calls[-1] == {"name": "finish", "arguments": {}}


def test_each_task_measures_with_its_label_tool():
    for task, tool in {
        "af_burden": "classify_rhythm",
        "ischemia": "flag_ischemia",
        "rare_event": "classify_beats",
    }.items():
        calls = walk(Rule(), {}, task=task)
        assert {c["arguments"]["tool"] for c in calls if c["name"] == "measure"} == {tool}


def test_without_labels_each_task_measures_its_cue():
    for task, tool in {
        "change_detection": "get_rate_rhythm",
        "ischemia": "get_st",
        "pvc_burden": "get_qrs",
    }.items():
        calls = walk(Rule("released"), {}, task=task, dx=None)
        assert {c["arguments"]["tool"] for c in calls if c["name"] == "measure"} == {tool}


def test_more_ectopic_beats_make_a_surer_write():
    writes = written(walk(Rule(), {0.0: beats(1), 30.0: beats(2), 60.0: beats(0)}))
    assert [(w["t0"], w["t1"]) for w in writes] == [(0.0, 30.0), (30.0, 60.0)]
    assert writes[0]["confidence"] == 0.5 < writes[1]["confidence"] < 1


def test_a_cue_at_the_threshold_is_written_and_one_below_is_not():
    results = {0.0: {"rr_irregularity": 0.2}, 30.0: {"rr_irregularity": 0.19}, 60.0: {}}
    results[60.0] = {"rr_irregularity": None}
    writes = written(walk(Rule("released"), results, task="af_burden", dx=None))
    assert [(w["t0"], w["confidence"]) for w in writes] == [(0.0, 0.5)]


@pytest.mark.parametrize("profile", ["default", "released"])
@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_a_cue_and_a_label(profile, task):
    assert {"tool", "field", "threshold"} <= set(Rule.fingerprint(profile)["cues"][task])
    for dx in (None, "reference", "signal"):
        assert walk(Rule(profile), {}, task=task, dx=dx)[1]["name"] == "measure"


def test_pauses_are_written_as_the_tool_bounds_them():
    results = {0.0: {"pauses": [[4.0, 6.5], [20.1, 22.3]], "pauses_count": 2}}
    for dx in (None, "reference"):
        writes = written(walk(Rule(), results, task="pause_detection", dx=dx))
        assert [(w["t0"], w["t1"]) for w in writes] == [(4.0, 6.5), (20.1, 22.3)]


@pytest.mark.parametrize(
    ("task", "result", "value"),
    [
        ("flutter_detection", {"rhythms": {"atrial flutter": 0.6, "sinus rhythm": 0.4}}, 0.6),
        ("flutter_detection", {"rhythms": {"atrial fibrillation": 1.0}}, 0.0),
        ("flutter_detection", {"dominant_rhythm": "AF"}, None),  # the signal classifier
        ("bbb_burden", {"types": {"L": 3, "N": 1}}, 0.75),
        ("bbb_burden", {"types": None}, None),
        ("pause_detection", {"pauses_count": 2}, 2),
    ],
)
def test_a_supplementary_label_is_a_share_or_a_count(task, result, value):
    assert label_value(get_task(task), result) == value


def test_an_error_result_flags_nothing():
    assert written(walk(Rule(), {0.0: {"error": "no waveform"}})) == []


def test_an_episode_begins_afresh():
    rule = Rule()
    results = {0.0: beats(1), 30.0: beats(3), 60.0: beats(0)}
    assert walk(rule, results) == walk(rule, results)


def test_a_rhythm_label_counts_where_it_dominates():
    task = get_task("af_burden")
    assert label_value(task, {"dominant_rhythm": "AF", "af_frac": 0.5}) == 0.5
    assert label_value(task, {"dominant_rhythm": "N", "af_frac": 0.4}) is None


def test_a_cue_per_lead_is_its_largest_magnitude():
    assert cue_value({"MLII": -0.15, "V5": 0.1, "V1": None}) == 0.15
    assert cue_value({"MLII": None}) is None


def test_an_unknown_profile_names_the_known():
    with pytest.raises(ConfigError, match="default, released"):
        Rule("strict")


def test_the_rule_agent_loads_no_torch():
    code = "import sys, policies.rule; print({'torch', 'transformers', 'wfdb'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
