"""Rollouts, seeds, limits and episodes at once, as a run's folder shows them."""

from __future__ import annotations

import json

import pytest

from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.config import Limits, Trial
from ecgscroll.evaluation.folder import RunFolder, read_rows
from ecgscroll.evaluation.run import ALONE, Execution, evaluate
from ecgscroll.evaluation.spending import RunLimits

FAKES = "evaluation_fakes"
TALKER = f"{FAKES}:Talker"
KEPT = ("results.jsonl", "summary.json", "config.json")


@pytest.fixture
def carry(recordings, chosen, configure):
    """Run a talking policy into a folder in some way; returns the summary."""

    def run(path, how=ALONE, instances=chosen, policy=TALKER, **changes):
        config = configure(instances, policy=policy, **changes)
        return evaluate(config, instances, recordings, RunFolder(path), how)

    return run


def contents(path):
    files = [path / name for name in KEPT] + sorted((path / "episodes").iterdir())
    return {file.name: file.read_bytes() for file in files}


def steps_of(path, instance, rollout=0):
    lines = RunFolder(path).episode_path(instance, rollout).read_text().splitlines()
    return [json.loads(line) for line in lines[1:-1]]


def test_rollouts_have_a_row_a_transcript_and_a_seed_each(tmp_path, carry, chosen):
    summary = carry(tmp_path, instances=chosen[:2], rollouts=3)
    rows = read_rows(tmp_path / "results.jsonl")
    assert [(row["instance"], row["rollout"]) for row in rows] == [
        (one.id, rollout) for one in chosen[:2] for rollout in range(3)
    ]
    assert len({row["sampling_seed"] for row in rows}) == 6
    assert {row["seed"] for row in rows} == {0}
    for row in rows:
        said = steps_of(tmp_path, row["instance"], row["rollout"])[0]["model"]["reply"]["text"]
        assert int(said) == row["sampling_seed"]
    assert summary["episodes"] == 6


def test_a_sampling_seed_moves_the_policies_alone(tmp_path, carry, chosen, configure):
    for seed in (0, 1):
        carry(tmp_path / str(seed), instances=chosen[:1], sampling_seed=seed)
    first, second = (read_rows(tmp_path / name / "results.jsonl")[0] for name in "01")
    assert first["sampling_seed"] != second["sampling_seed"]
    assert first["seed"] == second["seed"]
    trial = Trial(chosen[0].id)
    assert configure(bootstrap_seed=3).seed_of(trial) == configure().seed_of(trial)


def test_a_bootstrap_seed_moves_the_intervals_alone(tmp_path, carry):
    for seed in (0, 1):
        carry(tmp_path / str(seed), policy="rule", bootstrap_seed=seed)
    one, two = (contents(tmp_path / name) for name in "01")
    assert one["results.jsonl"] == two["results.jsonl"]
    assert one["summary.json"] != two["summary.json"]


@pytest.mark.parametrize(
    ("limits", "ended", "steps"),
    [
        (Limits(steps=3), "steps", 4),
        (Limits(tokens=22), "tokens", 3),
        (Limits(cost=1.0), "cost", 5),
        (Limits(seconds=0.0), "time", 1),
    ],
)
def test_at_a_limit_the_episode_is_finished_and_scored(
    tmp_path, carry, chosen, limits, ended, steps
):
    carry(tmp_path, instances=chosen[:1], limits=limits)
    (row,) = read_rows(tmp_path / "results.jsonl")
    assert (row["ended"], row["steps"], row["error"]) == (ended, steps, None)
    assert row["score"] is not None
    last = steps_of(tmp_path, chosen[0].id)[-1]
    assert last["limit"] == ended
    assert last["action"]["name"] == "finish"


def test_a_limit_on_cost_needs_a_price(tmp_path, carry, chosen):
    carry(tmp_path, instances=chosen[:1], limits=Limits(cost=1.0), options={"price": None})
    (row,) = read_rows(tmp_path / "results.jsonl")
    assert "No price is known" in row["error"]
    how = Execution(limits=RunLimits(cost=1.0))
    with pytest.raises(ConfigError, match="No price is known"):
        carry(tmp_path / "run", how, instances=chosen[:1], options={"price": None})


@pytest.mark.parametrize("workers", [1, 2])
def test_the_runs_limit_stops_it_and_a_higher_one_goes_on(tmp_path, carry, workers):
    carry(tmp_path / "whole")
    total = sum(
        row["usage"]["prompt_tokens"] + row["usage"]["completion_tokens"]
        for row in read_rows(tmp_path / "whole" / "results.jsonl")
    )
    played = []
    for share in (0.0, 0.5, 1.0):
        how = Execution(workers, limits=RunLimits(tokens=int(total * share)))
        played.append(carry(tmp_path / "run", how)["episodes"])
    assert played[0] == 0
    assert played == sorted(set(played))
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_failed_episodes_count_against_the_runs_limit(tmp_path, carry, chosen):
    carry(tmp_path, instances=chosen[:3], limits=Limits(cost=1.0), options={"price": None})
    spent = sum(note["usage"]["prompt_tokens"] for note in RunFolder(tmp_path).timing())
    assert spent == 30


@pytest.mark.parametrize(("workers", "concurrency"), [(1, 4), (2, 3)])
def test_episodes_at_once_change_nothing(tmp_path, carry, workers, concurrency):
    for policy in ("rule", TALKER):
        carry(tmp_path / policy / "one", policy=policy, rollouts=2)
        carry(
            tmp_path / policy / "more", Execution(workers, concurrency), policy=policy, rollouts=2
        )
        one, more = (contents(tmp_path / policy / name) for name in ("one", "more"))
        assert one == more


def test_an_agent_with_a_model_is_the_same_alone_and_beside_others(tmp_path, carry, chosen):
    """The oracle's back end is one object for all threads of a process."""
    changes = {"policy": "judge", "options": {"backend": "oracle"}}
    carry(tmp_path / "one", **changes)
    carry(tmp_path / "more", Execution(1, 3), **changes)
    assert contents(tmp_path / "one") == contents(tmp_path / "more")
    rows = read_rows(tmp_path / "one" / "results.jsonl")
    assert all(row["error"] is None and row["usage"]["requests"] > 0 for row in rows)
    told = [step["model"] for step in steps_of(tmp_path / "one", chosen[0].id) if "model" in step]
    assert told[0]["messages"]
    assert "seconds" not in told[0]["usage"]


def test_wall_times_lie_in_one_file_alone(tmp_path, carry, chosen):
    carry(tmp_path, instances=chosen[:1], rollouts=2)
    notes = RunFolder(tmp_path).timing()
    assert [(note["instance"], note["rollout"]) for note in notes] == [
        (chosen[0].id, 0), (chosen[0].id, 1),
    ]  # fmt: skip
    assert all(note["seconds"] > 0 and note["model_seconds"] == 1.5 for note in notes)
    assert all(len(note["step_seconds"]) == note["steps"] for note in notes)


def test_a_hostile_trace_leaves_a_transcript_that_reads(tmp_path, carry, chosen):
    carry(tmp_path, instances=chosen[:1], policy=f"{FAKES}:Garbler")
    (row,) = read_rows(tmp_path / "results.jsonl")
    assert row["error"] is None
    (step,) = steps_of(tmp_path, chosen[0].id)
    assert step["model"]["messages"][0] == "(10 bytes)"


def test_seconds_of_ecg_are_added_up_with_repeats(tmp_path, carry, chosen):
    carry(tmp_path, policy="rule")
    for row in read_rows(tmp_path / "results.jsonl"):
        measured = [
            step["result"]
            for step in steps_of(tmp_path, row["instance"])
            if step["action"]["name"] == "measure"
        ]
        read = sum(result["t1"] - result["t0"] for result in measured if "error" not in result)
        assert row["read_s"] == pytest.approx(read, abs=1e-3)


@pytest.mark.parametrize(
    "limit", [{"seconds": float("inf")}, {"cost": float("nan")}, {"steps": -1}]
)
def test_a_limit_is_a_finite_number(limit):
    with pytest.raises(ConfigError, match="finite number"):
        Limits(**limit)


def test_a_limit_of_a_run_is_one_too():
    with pytest.raises(ConfigError, match="finite number"):
        RunLimits(cost=float("inf"))


def test_an_account_that_raises_ends_its_episode_alone(tmp_path, carry, chosen):
    summary = carry(tmp_path, policy=f"{FAKES}:Secretive", instances=chosen[:2])
    rows = read_rows(tmp_path / "results.jsonl")
    assert summary["episodes"] == 2
    assert {row["error"] for row in rows} == {"RuntimeError at step 1: nothing is told"}
