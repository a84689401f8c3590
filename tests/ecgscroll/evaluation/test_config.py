from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from ecgscroll.evaluation.config import RunConfig, data_digest, differences, provenance

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
    assert set(found["packages"]) == {"gymnasium", "numpy", "scipy", "wfdb"}
