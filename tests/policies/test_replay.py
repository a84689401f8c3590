"""A recorded run played again, and a list of calls played as written."""

from __future__ import annotations

import json

import pytest
from policies_fakes import play

import ecgscroll
from ecgscroll.errors import ConfigError, DataError
from ecgscroll.evaluation.config import RunConfig, data_digest
from ecgscroll.evaluation.folder import RunFolder, read_rows
from ecgscroll.evaluation.run import evaluate
from ecgscroll.evaluation.selection import select
from ecgscroll.policy import fingerprint
from policies.replay import Replay, Script

VARYING = {"policy", "usage"}


def run(data, out, policy, rollouts=1, **options):
    chosen = select(data, chosen_set="supplementary")[0]
    config = RunConfig(
        policy=policy,
        options=options,
        rollouts=rollouts,
        dx="reference",
        instances=tuple(one.id for one in chosen),
        data=data_digest({one.id: one.truth.digest() for one in chosen}),
    )
    evaluate(config, chosen, data, RunFolder(out))
    rows = read_rows(RunFolder(out).results)
    return [{key: row[key] for key in row.keys() - VARYING} for row in rows]


def test_a_run_replays_to_the_same_rows(synth_data, tmp_path):
    first = run(synth_data, tmp_path / "first", "policies.judge:Judge", backend="oracle", batch=8)
    again = run(
        synth_data, tmp_path / "again", "policies.replay:Replay", run=str(tmp_path / "first")
    )
    assert again == first
    assert any(row["score"] for row in first)


def test_a_replay_of_another_run_has_another_fingerprint(synth_data, tmp_path):
    run(synth_data, tmp_path / "a", "policies.rule:Rule")
    run(synth_data, tmp_path / "b", "policies.judge:Judge", backend="oracle")
    prints = [fingerprint("policies.replay:Replay", {"run": str(tmp_path / name)}) for name in "ab"]
    assert prints[0] != prints[1]


def test_what_is_no_run_or_was_not_played_is_a_sentence(synth_data, tmp_path):
    with pytest.raises(DataError, match="holds no run"):
        Replay(str(tmp_path))
    run(synth_data, tmp_path / "a", "policies.rule:Rule")
    replay = Replay(str(tmp_path / "a"))
    with pytest.raises(DataError, match="not played there"):
        replay.reset({"instance": "af_burden/else/where"})
    path = RunFolder(tmp_path / "a").episode_path("af_burden/synth/paf01")
    path.write_text("{}\nno json\n{}\n")
    with pytest.raises(DataError, match="cannot be read"):
        replay.reset({"instance": "af_burden/synth/paf01"})


WRITTEN = ["skim 600", {"measure": ["get_qrs", 0, 60]}, {"write": {"t0": 10, "t1": 40}}]


def test_a_list_of_calls_is_played_in_every_episode(synth_data, tmp_path):
    (tmp_path / "calls.yaml").write_text(json.dumps([*WRITTEN, {"name": "finish"}]))
    policy = Script(str(tmp_path / "calls.yaml"))
    for instance in ("af_burden/synth/paf01", "ischemia/synth/ischemia01"):
        calls, infos, finished = play(ecgscroll.make(instance, data=synth_data), policy)
        assert [call["name"] for call in calls] == ["skim", "measure", "write", "finish"]
        assert (finished, infos[-1]["counts"]["errors"]) == (True, 0)


def test_a_list_that_ends_is_finished(synth_data):
    env = ecgscroll.make("af_burden/synth/paf01", data=synth_data)
    calls, _, finished = play(env, Script(WRITTEN))
    assert (finished, len(calls)) == (True, 4)


@pytest.mark.parametrize("calls", ["nowhere.yaml", [3], [{"sleep": 5}], [""], 7, [["skim"]]])
def test_what_is_no_list_of_calls_is_a_sentence(calls):
    with pytest.raises(ConfigError):
        Script(calls)


def test_the_fingerprint_follows_the_calls():
    one, two = (Script.fingerprint(calls)["calls"] for calls in (["skim 5"], ["skim 6"]))
    assert one != two


def test_each_rollout_replays_its_own_transcript(synth_data, tmp_path):
    first = run(synth_data, tmp_path / "a", "policies_fakes:Seeded", rollouts=3)
    again = run(
        synth_data, tmp_path / "b", "policies.replay:Replay", rollouts=3, run=str(tmp_path / "a")
    )
    assert again == first
    assert len({row["cursor_s"] for row in first[:3]}) > 1
