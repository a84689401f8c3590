"""Who is trained on: the curriculum, and that it never holds a test patient."""

from __future__ import annotations

import subprocess
import sys

import pytest
from wfdb_files import annotation_bytes, write_record

from ecgscroll.catalogue.splits import split_of
from ecgscroll.errors import ConfigError
from ecgscroll.loaders import (
    check_side,
    curriculum,
    synthetic_instances,
    training_instances,
)
from ecgscroll.records.databases import patient_of
from ecgscroll.tasks import CORE_TASKS

HOUR = 3600 * 100

# The recordings here are called like core ones, so that the splits know them.
pytestmark = pytest.mark.filterwarnings("ignore::ecgscroll.catalogue.instances.TruthDiffersWarning")


@pytest.fixture
def own(tmp_path):
    """Mitdb and afdb by name, annotations only, and a folder of nobody's patients: an hour each."""
    notes = [(i * 100, "V" if i % 900 == 7 else "N", "") for i in range(1, 3600)]
    rhythm = [(50, "+", "(N"), (HOUR // 3, "+", "(AFIB"), (HOUR // 3 + 9000, "+", "(N")]
    encoded = annotation_bytes(sorted(notes + rhythm))
    quiet = annotation_bytes([(50, "+", "(N")] + [(i * 100, "N", "") for i in range(1, 3600)])
    for database, records in {
        "mitdb": ("100", "101", "106", "200", "201", "202"),
        "afdb": ("04015",),
        "mine": ("a", "b"),
    }.items():
        for record in records:
            folder = write_record(tmp_path / database, record, ["x 16", "y 16"], HOUR)
            (folder / f"{record}.atr").write_bytes(quiet if record == "b" else encoded)
            (folder / f"{record}.qrs").write_bytes(quiet)
    return tmp_path


def test_no_training_instance_is_of_a_test_patient_nor_of_201(own):
    found = training_instances(own, minutes=(5, 30, None), per_stage=50)
    assert {one.task for one in found} == set(CORE_TASKS) - {"ischemia"}
    assert {one.patient for one in found} <= {"mitdb/101", "mitdb/106", "mine/a", "mine/b"}
    assert all(split_of(one.database, one.record) == "train" for one in found)
    assert {one.span is None for one in found} == {True, False}


def test_the_test_side_is_asked_for_by_name(own):
    found = training_instances(own, ["pvc_burden"], side="test", minutes=(5,), per_stage=30)
    assert {one.patient for one in found} == {"mitdb/100", "mitdb/200", "mitdb/202"}
    with pytest.raises(ConfigError, match="side is 'train' or 'test', not 'both'"):
        training_instances(own, side="both")


@pytest.mark.parametrize("task", ["episode_detection", "pvc_burden"])
def test_half_of_the_spans_hold_events(own, task):
    (stage,) = curriculum(own, [task], minutes=(3,), per_stage=20, databases=["mine", "mitdb"])
    with_events = [one for one in stage.instances if one.truth.events]
    assert (len(with_events), len(stage.instances)) == (10, 20)
    assert len({one.id for one in stage.instances}) == 20
    assert all(one.duration == 180 for one in stage.instances)


def test_a_change_and_a_rare_event_are_in_every_span(own):
    for task in ("change_detection", "rare_event"):
        found = training_instances(own, [task], minutes=(4,), per_stage=12)
        assert len(found) == 12
        assert all(one.truth.events for one in found)


def test_a_longer_list_begins_with_the_shorter_one_and_tasks_are_independent(own):
    few = training_instances(own, ["pvc_burden"], minutes=(5,), per_stage=5, seed=3)
    more = training_instances(own, ["af_burden", "pvc_burden"], minutes=(5,), per_stage=9, seed=3)
    assert [one for one in more if one.task == "pvc_burden"][:5] == few
    assert training_instances(own, ["pvc_burden"], minutes=(5,), per_stage=5, seed=4) != few


def test_stages_go_from_minutes_to_whole_recordings(own):
    stages = curriculum(own, ["af_burden"], minutes=(2, 50, 600, None), per_stage=3)
    lengths = [{one.duration for one in stage.instances} for stage in stages]
    assert lengths == [{120.0}, {3000.0}, set(), {3600.0}]


def test_nothing_to_draw_from_is_one_sentence(own, tmp_path):
    with pytest.raises(ConfigError, match="No train patient's recording of these tasks"):
        training_instances(own, ["ischemia"])
    with pytest.raises(ConfigError, match="No train patient's recording"):
        training_instances(own, ["pvc_burden"], signal=True)


@pytest.mark.parametrize(
    "wrong",
    [{"minutes": ()}, {"minutes": (0,)}, {"minutes": (0.001,)}, {"per_stage": 0},
     {"with_events": 1.5}, {"minutes": (float("nan"),)}, {"tasks": ["dance"]}],
)  # fmt: skip
def test_values_out_of_range_are_one_sentence(own, wrong):
    with pytest.raises(ConfigError):
        training_instances(own, **wrong)


def test_a_side_is_checked_by_patient(own):
    with pytest.raises(ConfigError, match="pvc_burden/mitdb/200@0-60 is on the test side"):
        check_side([_instance(own, "pvc_burden/mitdb/200@0-60")], "train")
    with pytest.raises(ConfigError, match="mitdb/201 is left out of both sides"):
        check_side([_instance(own, "pvc_burden/mitdb/201")], "test")
    check_side([_instance(own, "pvc_burden/mitdb/101@5-60")], "train")


def _instance(data, name):
    from ecgscroll.catalogue.instances import _row

    return _row(name)


def test_a_span_is_on_its_recordings_side():
    for database, record in (
        ("mitdb", "200"),
        ("mitdb", "101"),
        ("mitdb", "201"),
        ("edb", "e0103"),
    ):
        assert split_of(database, f"{record}@60-120") == split_of(database, record)
    assert patient_of("mitdb", "201") == patient_of("mitdb", "202")


def test_synthetic_instances_are_made_once_and_train(tmp_path):
    tasks = ["af_burden", "rare_event"]
    found = synthetic_instances(tmp_path, tasks, count=2, minutes=2, seed=5)
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.dat")}
    assert len(written) == 4
    assert {one.task for one in found} == set(tasks)
    assert synthetic_instances(tmp_path, tasks, count=2, minutes=2, seed=5) == found
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.dat")} == written
    check_side(found, "train")
    with pytest.raises(ConfigError, match="No synthetic recordings are made for vt_detection"):
        synthetic_instances(tmp_path, ["vt_detection"])


@pytest.mark.real
def test_no_patient_is_in_training_and_test_instances_of_the_real_recordings(data):
    """Of every task, whole recordings and spans."""
    tasks = ("episode_detection", "pvc_burden", "ischemia")
    people = [
        {one.patient for one in training_instances(data, tasks, side=side, minutes=(10, None))}
        for side in ("train", "test")
    ]
    assert all(people)
    assert people[0].isdisjoint(people[1])


def test_instances_are_drawn_without_torch():
    script = "import sys; from ecgscroll.loaders import curriculum; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
