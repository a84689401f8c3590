from __future__ import annotations

import json
import shutil
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ecgscroll.evaluation.config import Limits, RunConfig, Trial, data_digest, differences
from ecgscroll.evaluation.provenance import provenance, recordings_digest

CONFIG = RunConfig(policy="rule", instances=("a/b/c", "a/b/d"), data="0")


def test_a_configuration_survives_json():
    back = RunConfig.from_dict(json.loads(json.dumps(CONFIG.to_dict())))
    assert back == CONFIG
    assert back.digest() == CONFIG.digest()


@given(st.sampled_from(["policy", "dx", "scoring", "seed", "rewind", "budget", "version"]))
def test_every_field_changes_the_digest_and_is_named(field):
    other = RunConfig.from_dict({**CONFIG.to_dict(), field: "other"})
    assert other.digest() != CONFIG.digest()
    (phrase,) = differences(CONFIG.to_dict(), other.to_dict())
    assert phrase.startswith(f"{field} was ")
    assert phrase.endswith('now "other"')


def test_changed_instances_are_counted_and_one_is_named():
    fewer = RunConfig.from_dict({**CONFIG.to_dict(), "instances": ["a/b/c"]})
    (phrase,) = differences(CONFIG.to_dict(), fewer.to_dict())
    assert phrase == "instances were 2, now 1, such as a/b/d"


def test_reordered_instances_are_a_difference():
    turned = RunConfig.from_dict({**CONFIG.to_dict(), "instances": ["a/b/d", "a/b/c"]})
    (phrase,) = differences(CONFIG.to_dict(), turned.to_dict())
    assert phrase == "instances were 2, now 2 in another order"


def test_the_data_digest_depends_on_truths_and_not_on_order():
    assert data_digest({"a": "1", "b": "2"}) == data_digest({"b": "2", "a": "1"})
    assert data_digest({"a": "1", "b": "2"}) != data_digest({"a": "2", "b": "1"})


def test_provenance_names_versions():
    found = provenance(None)
    assert found["data"] is None
    assert set(found["packages"]) >= {"gymnasium", "numba", "numpy", "scipy", "wfdb"}


def test_nested_differences_are_named_by_their_path():
    one = replace(CONFIG, fingerprint={"prompt": "a", "model": {"revision": "1", "name": "m"}})
    two = replace(CONFIG, fingerprint={"prompt": "a", "model": {"revision": "2", "name": "m"}})
    two = replace(two, limits=Limits(tokens=5))
    assert differences(one.to_dict(), two.to_dict()) == [
        'fingerprint.model.revision was "1", now "2"',
        "limits.tokens was null, now 5",
    ]


def test_limits_survive_json_and_change_the_digest():
    limited = replace(CONFIG, limits=Limits(steps=3, cost=0.5))
    assert RunConfig.from_dict(limited.to_dict()) == limited
    assert limited.digest() != CONFIG.digest()


def test_every_episode_has_a_sampling_seed_of_its_own():
    config = replace(CONFIG, rollouts=3)
    seeds = [config.seed_of(trial) for trial in config.trials()]
    assert len(set(seeds)) == 6
    assert seeds == [config.seed_of(trial) for trial in config.trials()]
    assert replace(config, sampling_seed=1).seed_of(Trial("a/b/c")) not in seeds
    assert replace(config, seed=1).seed_of(Trial("a/b/c")) == seeds[0]


def test_the_recordings_digest_sees_files_come_and_go(recordings, chosen, tmp_path):
    shutil.copytree(recordings / "made", tmp_path / "made")
    ours = [replace(one, data=tmp_path) for one in chosen]
    before = recordings_digest(ours)
    assert before == recordings_digest(chosen)
    assert recordings_digest(ours[:1] * 2) == recordings_digest(ours[:1])
    signal = next((tmp_path / "made").glob("*.dat"))
    signal.write_bytes(signal.read_bytes() + b"\0")
    longer = recordings_digest(ours)
    signal.unlink()
    assert len({before, longer, recordings_digest(ours)}) == 3
