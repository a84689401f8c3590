"""The expert: right on what labels say, blind to all but its last turns, never at a loss."""

from __future__ import annotations

from collections import deque

import pytest

import ecgscroll
from ecgscroll.catalogue.instances import list_instances
from ecgscroll.tasks import CORE_TASKS
from policies.expert import Expert, plan_for
from policies.expert.beats import run_end
from policies.expert.ischemia import raised
from policies.expert.rhythm import SKIM_S
from policies.expert.view import MEMORY, Turn, View, number


def play(env, expert=None):
    expert = expert or Expert()
    obs, info = env.reset(seed=0)
    expert.reset(info)
    ended = False
    while not ended:
        obs, _, terminated, truncated, info = env.step(expert.act(obs, info))
        ended = terminated or truncated
    assert terminated, "the expert finishes by itself"
    return info


@pytest.mark.parametrize("task", CORE_TASKS)
def test_with_labels_it_is_right_on_every_synthetic_recording(synth_data, task):
    instances = list_instances(synth_data, "supplementary", [task])
    assert instances
    for instance in instances:
        info = play(ecgscroll.make(instance, dx="reference"))
        assert info["score"].value > 0.9, instance.id
        assert info["counts"]["errors"] == 0
        assert info["counts"]["rewinds"] == 0


@pytest.mark.parametrize("dx", [None, "signal"])
@pytest.mark.parametrize("task", CORE_TASKS)
def test_without_labels_it_makes_no_bad_call(synth_data, task, dx):
    for instance in list_instances(synth_data, "supplementary", [task])[:2]:
        info = play(ecgscroll.make(instance, dx=dx))
        assert info["counts"]["errors"] == 0


class Forgetful(Expert):
    """Gets a memory of its own turns from the text alone that a window of turns shows."""

    def act(self, obs, info):
        self._turns = deque(list(self._turns)[-MEMORY:], maxlen=MEMORY)
        return super().act(obs, info)


def test_a_decision_follows_from_the_last_turns(synth_data):
    env = ecgscroll.make("episode_detection/synth/paf01", data=synth_data, dx="reference")
    assert play(env)["ledger"] == play(env, Forgetful())["ledger"]
    plan = plan_for("episode_detection", "reference")
    turns = [Turn("measure", {"t0": 0.0, "t1": 100.0, "af_frac": 0.3})]
    assert plan(View("episode_detection", 100.0, 900.0, turns)) == {
        "name": "measure",
        "arguments": {"tool": "classify_rhythm", "t0": 0, "t1": 70},
    }
    turns.append(Turn("measure", {"t0": 0.0, "t1": 70.0, "af_frac": 0.0}))
    assert plan(View("episode_detection", 100.0, 900.0, turns))["arguments"] == {
        "t0": 70,
        "t1": 100,
    }
    turns.append(Turn("write", {"t0": 70.0, "t1": 100.0}))
    assert plan(View("episode_detection", 100.0, 900.0, turns)) == {
        "name": "skim",
        "arguments": {"duration": int(SKIM_S)},
    }


def test_a_window_with_two_boundaries_is_walked_in_finer_steps():
    plan = plan_for("af_burden", "reference")
    turns = [
        Turn("measure", {"t0": 0.0, "t1": 100.0, "af_frac": 0.3}),
        Turn("measure", {"t0": 0.0, "t1": 70.0, "af_frac": 0.43}),
    ]
    arguments = plan(View("af_burden", 100.0, 900.0, turns))["arguments"]
    assert (arguments["t0"], arguments["t1"]) == (0, 10)


def test_a_broken_or_foreign_result_is_survived():
    for task in CORE_TASKS:
        for dx in (None, "reference"):
            plan = plan_for(task, dx)
            for name in ("skim", "measure", "write"):
                turns = [Turn(name, {"t0": 0.0, "t1": 60.0})]
                assert plan(View(task, 60.0, 600.0, turns))["name"] in (
                    "skim",
                    "measure",
                    "write",
                    "finish",
                )


def test_runs_of_beats_are_one_finding():
    assert run_end([1.0, 1.6, 2.2, 4.0], 0.8) == 2.2
    assert run_end([1.0], 0.8) == 1.0


def test_st_findings_last_half_a_minute_or_go_on_from_one():
    bins = [[60.0 + 10 * i, 70.0 + 10 * i, v] for i, v in enumerate([0.12, 0.08, 0.09, 0.0])]
    assert raised(bins, -1.0) == [(60.0, 90.0)]
    assert raised(bins[1:3], -1.0) == []
    assert raised(bins[:1], 60.0) == [(60.0, 70.0)]


def test_times_are_written_short():
    assert (number(60.0), number(1.005), number(59.999)) == (60, 1.0, 60)


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("episode_detection/afdb/08215", 0.99),
        ("change_detection/afdb/05091", 0.99),
        ("ischemia/edb/e0103", 0.99),
        ("pvc_burden/mitdb/119", 0.95),
        ("rare_event/mitdb/100", 0.99),
    ],
)
def test_on_real_recordings_with_labels(data, name, least):
    assert play(ecgscroll.make(name, data=data, dx="reference"))["score"].value >= least
