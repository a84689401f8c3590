"""Under every shipped reward nothing trivial earns the most, and no exploit pays."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import ecgscroll
from ecgscroll.catalogue.instances import get_instance
from ecgscroll.scoring.floors import floor_ledgers, oracle_ledger
from ecgscroll.scoring.rewards import RewardConfig
from policies.expert import Expert
from training.config import GRPORun, load
from training.reward_table import Row, best_trivial, exploit_gain, grid, ledger_terms, table
from training.rollout import Desk

CONFIGS = sorted((Path(__file__).resolve().parents[2] / "configs").glob("*-grpo.yaml"))
NAMES = [
    "episode_detection/synth/paf01",
    "af_burden/synth/paf01",
    "change_detection/synth/paf01",
    "ischemia/synth/ischemia01",
    "pvc_burden/synth/ectopy01",
    "rare_event/synth/rare01",
]


@pytest.fixture(scope="module")
def instances(synth_data):
    return [get_instance(name, synth_data) for name in NAMES]


def shipped():
    """Weights of the shipped configurations, each once."""
    found = {load(path, GRPORun).weights(): path.stem for path in CONFIGS}
    return [pytest.param(weights, id=name) for weights, name in found.items()]


@pytest.mark.parametrize("weights", shipped())
def test_no_exploit_pays_under_a_shipped_reward(weights, instances):
    for one in instances:
        gain, name = exploit_gain(weights, one)
        assert gain <= 1e-9, (one.id, name)


@pytest.mark.parametrize("weights", shipped())
def test_nothing_trivial_earns_more_than_the_expert(weights, instances, synth_data):
    desk = Desk(synth_data, weights)
    for task, rows in table(weights, instances, {"expert": (Expert(), "reference")}, desk).items():
        expert = next(row for row in rows if row.agent == "expert")
        assert expert.reward > best_trivial(rows).reward, (task, best_trivial(rows).agent)


def test_a_reward_that_pays_for_speed_alone_is_found_out(instances):
    weights = RewardConfig(score=0.0, latency=1.0)
    (one,) = [one for one in instances if one.task == "af_burden"]
    earned = {
        name: math.fsum(ledger_terms(weights, one, ledger.entries()).values())
        for name, ledger in floor_ledgers(one).items()
    }
    assert earned["every_chunk"] > earned["empty"]


def test_a_ledger_earns_what_writing_it_in_the_environment_does(instances, synth_data):
    weights = RewardConfig(progress=0.5, latency=0.2, step=0.001)
    (one,) = [one for one in instances if one.task == "af_burden"]
    entries = oracle_ledger(one, stamp=one.duration).entries()
    env = ecgscroll.make(one.id, data=synth_data, reward=weights)
    env.reset(seed=0)
    total = env.step({"name": "skim", "arguments": {"duration": 1800}})[1]
    for entry in entries:
        window = {"t0": entry["t0"], "t1": entry["t1"]}
        total += env.step({"name": "write", "arguments": window})[1]
    total += env.step({"name": "finish"})[1]
    assert math.fsum(ledger_terms(weights, one, entries).values()) == pytest.approx(total)


def test_the_table_puts_the_best_first():
    terms = dict.fromkeys(("score", "progress", "latency", "rewind", "invalid", "step"), 0.0)
    rows = [Row("low", terms, True), Row("high", terms | {"score": 1.0}, False)]
    assert [row[0] for row in grid("t", rows).rows] == ["high", "low"]
    assert best_trivial(rows).agent == "low"
