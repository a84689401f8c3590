"""Who is trained on and who is held out; nobody of the test side, and no patient on both."""

from __future__ import annotations

import pytest

from ecgscroll.catalogue.instances import Instance
from ecgscroll.catalogue.splits import split_of
from ecgscroll.errors import ConfigError
from training.config import Data
from training.data import divide, playable


def about(folder, **more):
    return Data.model_validate({"folder": str(folder), **more})


@pytest.mark.real
def test_no_patient_is_on_both_sides_and_none_is_of_the_test_side(data):
    given = {"databases": ["mitdb", "edb"], "per_stage": 40, "minutes": [10, None]}
    tasks = ["pvc_burden", "rare_event", "ischemia"]
    parts = divide(about(data, tasks=tasks, held_out=0.3, **given), seed=0)
    for one in (*parts.train, *parts.held_out):
        assert split_of(one.database, one.record) == "train"
    assert parts.held_out
    train, away = ({one.patient for one in part} for part in parts[:2])
    assert not train & away
    again = divide(about(data, tasks=["pvc_burden"], held_out=0.3, **given), seed=0)
    assert {one.patient for one in again.held_out} <= away
    assert not {one.patient for one in again.train} & away


@pytest.mark.real
def test_a_test_patient_that_is_named_is_refused(data):
    named = ["pvc_burden/mitdb/119", "pvc_burden/mitdb/100"]
    with pytest.raises(ConfigError, match="pvc_burden/mitdb/100 is on the test side"):
        divide(about(data, instances=named), seed=0)


@pytest.mark.real
def test_the_patient_that_is_in_both_halves_of_mitdb_is_refused(data):
    for record in ("201", "202"):
        with pytest.raises(ConfigError, match="of the splits; here only train patients go"):
            divide(about(data, instances=[f"pvc_burden/mitdb/{record}"]), seed=0)


def drawn(folder, seed, **more):
    given = {"tasks": ["af_burden", "ischemia"], "minutes": [5, None], "per_stage": 8, **more}
    return divide(about(folder, **given), seed)


def test_a_seed_gives_the_same_parts_and_another_others(synth_data):
    found = [drawn(synth_data, seed, held_out=0.5)[:2] for seed in (0, 0, 4)]
    ids = [[[one.id for one in part] for part in parts] for parts in found]
    assert ids[0] == ids[1] != ids[2]


def test_spans_and_whole_recordings_are_drawn(synth_data):
    ids = [one.id for one in drawn(synth_data, 0, held_out=0).train]
    assert any("@" in one for one in ids)
    assert any("@" not in one for one in ids)


def test_nothing_left_is_said(synth_data):
    with pytest.raises(ConfigError, match="No training instance is left"):
        divide(about(synth_data, instances=["af_burden/synth/paf01"], held_out=0.999), seed=0)


def test_digests_change_with_what_is_trained_on(synth_data):
    one = drawn(synth_data, 0, tasks=["af_burden"], held_out=0).digests()
    other = drawn(synth_data, 0, tasks=["ischemia"], held_out=0).digests()
    assert one["train"]["truths"] != other["train"]["truths"]
    assert one["held_out"] == other["held_out"]


@pytest.mark.parametrize(
    ("task", "available", "tiers"),
    [
        ("ischemia", "signal", {None, "signal", "reference"}),
        ("ischemia", "annotations", {"reference"}),
        ("pvc_burden", "annotations", {"reference"}),
        ("af_burden", "annotations", {None, "signal", "reference"}),
    ],
)
def test_a_tier_plays_what_it_can_see(task, available, tiers):
    one = Instance("x", "core", task, "d", "r", "d/r", 60.0, available=available)
    assert {dx for dx in (None, "signal", "reference") if playable(one, dx)} == tiers
