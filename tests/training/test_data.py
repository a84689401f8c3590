"""Who is trained on and who is held out; nobody of the test side, and no patient on both."""

from __future__ import annotations

import pytest

from ecgscroll.catalogue.splits import split_of
from ecgscroll.errors import ConfigError
from training.config import Data
from training.data import divide


def about(folder, **more):
    return Data.model_validate({"folder": str(folder), **more})


@pytest.mark.real
def test_no_patient_is_on_both_sides_and_none_is_of_the_test_side(data):
    parts = divide(about(data, tasks=["pvc_burden", "rare_event"], held_out=0.3), seed=0)
    for one in (*parts.train, *parts.held_out):
        assert split_of(one.database, one.record) == "train"
    assert parts.held_out
    train, away = ({one.patient for one in part} for part in parts[:2])
    assert not train & away
    again = divide(about(data, tasks=["pvc_burden"], held_out=0.3), seed=0)
    assert {one.patient for one in again.held_out} <= away | {one.patient for one in again.train}


@pytest.mark.real
def test_a_test_patient_that_is_named_is_refused(data):
    named = ["pvc_burden/mitdb/119", "pvc_burden/mitdb/100"]
    with pytest.raises(ConfigError, match="pvc_burden/mitdb/100 is not of a training patient"):
        divide(about(data, instances=named), seed=0)


@pytest.mark.real
def test_the_patient_that_is_in_both_halves_of_mitdb_is_refused(data):
    for record in ("201", "202"):
        with pytest.raises(ConfigError, match="not of a training patient"):
            divide(about(data, instances=[f"pvc_burden/mitdb/{record}"]), seed=0)


def test_a_seed_gives_the_same_parts_and_another_others(synth_data):
    drawn = {
        tuple(one.id for one in divide(about(synth_data, held_out=0.5), seed).held_out)
        for seed in (0, 0, 1, 2, 3, 4)
    }
    assert 1 < len(drawn) < 6


def test_nothing_left_is_said(synth_data):
    with pytest.raises(ConfigError, match="No training instance is left"):
        divide(about(synth_data, instances=["af_burden/synth/paf01"], held_out=0.9), seed=0)


def test_digests_change_with_what_is_trained_on(synth_data):
    one = divide(about(synth_data, tasks=["af_burden"], held_out=0), seed=0).digests()
    other = divide(about(synth_data, tasks=["ischemia"], held_out=0), seed=0).digests()
    assert one["train"]["truths"] != other["train"]["truths"]
    assert one["held_out"] == other["held_out"]
