"""Listing and opening instances: what is there, what is not, and what differs."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from wfdb_files import annotation_bytes, write_record

from ecgscroll.catalogue import core_set
from ecgscroll.catalogue.core_set import core_rows, freeze, published_ids
from ecgscroll.catalogue.instances import (
    TruthDiffersWarning,
    availability,
    get_instance,
    list_instances,
)
from ecgscroll.errors import ConfigError, DataError, EcgScrollError
from ecgscroll.tasks import get_task

BEATS = annotation_bytes([(100, "N", ""), (200, "V", ""), (300, "N", ""), (400, "N", "")])


def user_record(data: Path, database: str, record: str, notes: bytes | None = BEATS) -> None:
    folder = data.joinpath(database, *record.split("/")[:-1])
    name = record.split("/")[-1]
    write_record(folder, name, [f"{name}.dat 16"], 10_000, {f"{name}.dat": b"\0" * 20_000})
    if notes is not None:
        (folder / f"{name}.atr").write_bytes(notes)


def ids(found) -> list[str]:
    return [one.id for one in found]


def test_core_is_listed_without_any_data_as_not_available(monkeypatch):
    monkeypatch.delenv("ECGSCROLL_DATA", raising=False)
    found = list_instances()
    assert len(found) == 390
    assert {one.available for one in found} == {"none"}
    assert {one.truth for one in found} == {None}
    assert all(one.duration > 0 for one in found)


def test_core_is_listed_from_an_empty_folder_as_not_available(tmp_path):
    assert {one.available for one in list_instances(tmp_path)} == {"none"}


def test_published_subset_is_30_of_four_tasks_and_all_of_two():
    tasks = [name.split("/")[0] for name in published_ids()]
    assert [tasks.count(task) for task in dict.fromkeys(tasks)] == [30, 30, 23, 30, 30, 13]
    records = [name for name in published_ids() if name.startswith("pvc_burden")]
    assert records == [name for name in core_rows() if name.startswith("pvc_burden/mitdb")][:30]


def test_published_takes_every_third_of_107():
    af = [name for name in core_rows() if name.startswith("af_burden")]
    assert [name for name in published_ids() if name.startswith("af_burden")] == af[::3][:30]


def test_published_instances_say_so():
    assert {one.set for one in list_instances(set="published")} == {"published"}


def test_any_wfdb_folder_is_a_database(tmp_path):
    user_record(tmp_path, "svdb", "800")
    found = list_instances(tmp_path, set="supplementary")
    assert ids(found) == ["pvc_burden/svdb/800", "rare_event/svdb/800"]
    assert found[0].truth.value == 0.25
    assert found[0].available == "signal"
    assert found[0].set == "supplementary"
    assert found[0].duration == 100.0
    assert get_instance("pvc_burden/svdb/800", tmp_path) == found[0]


def test_all_is_core_and_supplementary(tmp_path):
    user_record(tmp_path, "svdb", "800")
    assert len(list_instances(tmp_path, set="all")) == 392


def test_listing_offers_the_same_instances_without_truths(tmp_path):
    user_record(tmp_path, "svdb", "800")
    user_record(tmp_path, "svdb", "801", annotation_bytes([(5, "+", "(AFIB"), (50, "+", "(N")]))
    with_truth = list_instances(tmp_path, set="supplementary")
    without = list_instances(tmp_path, set="supplementary", truth=False)
    assert ids(with_truth) == ids(without)
    assert {one.truth for one in without} == {None}


def test_record_in_subfolders_is_found(tmp_path):
    user_record(tmp_path, "icentia11k", "p00/p00000/p00000_s00")
    found = list_instances(tmp_path, set="supplementary", tasks=["pvc_burden"])
    assert ids(found) == ["pvc_burden/icentia11k/p00/p00000/p00000_s00"]
    assert found[0].patient == "icentia11k/p00000"
    assert get_instance(found[0].id, tmp_path).truth.value == 0.25


def test_recording_without_annotations_opens_but_is_not_listed(tmp_path):
    user_record(tmp_path, "mine", "r", notes=None)
    assert list_instances(tmp_path, set="supplementary") == []
    assert get_instance("pvc_burden/mine/r", tmp_path).truth is None


def test_annotation_only_record_is_available_as_annotations(tmp_path):
    user_record(tmp_path, "mine", "r")
    (tmp_path / "mine" / "r.dat").unlink()
    assert availability(tmp_path, "mine", "r") == "annotations"
    (tmp_path / "mine" / "r.atr").unlink()
    assert availability(tmp_path, "mine", "r") == "none"


@pytest.mark.parametrize(("database", "record"), [("mine", "x"), ("..", "r"), ("mine", "../r")])
def test_what_is_not_there_or_unsafe_is_not_available(tmp_path, database, record):
    assert availability(tmp_path, database, record) == "none"
    assert availability(None, "mine", "r") == "none"


def test_damaged_records_do_not_stop_the_listing(tmp_path):
    user_record(tmp_path, "mine", "good")
    user_record(tmp_path, "mine", "cut", BEATS[:-3])
    user_record(tmp_path, "mine", "liar")
    (tmp_path / "mine" / "liar.hea").write_bytes(b"liar 1 nan -5\n../../x 16\n")
    user_record(tmp_path, "mitdb", "100", BEATS[:-3])
    assert ids(list_instances(tmp_path, set="supplementary", tasks=["pvc_burden"])) == [
        "pvc_burden/mine/good"
    ]
    assert len(list_instances(tmp_path)) == 390


def test_core_record_with_a_damaged_annotation_file_has_no_truth_in_a_list_and_is_said(tmp_path):
    user_record(tmp_path, "mitdb", "100", BEATS[:-3])
    listed = {one.id: one for one in list_instances(tmp_path)}["pvc_burden/mitdb/100"]
    assert (listed.available, listed.truth) == ("none", None)
    with pytest.raises(DataError, match=r"100\.atr is cut short"):
        get_instance("pvc_burden/mitdb/100", tmp_path)


def test_core_record_whose_annotations_differ_is_told_and_still_played(tmp_path):
    user_record(tmp_path, "mitdb", "100")
    with pytest.warns(TruthDiffersWarning, match="prepare mitdb"):
        one = get_instance("pvc_burden/mitdb/100", tmp_path)
    assert one.differs
    assert one.truth.value == 0.25
    with pytest.warns(TruthDiffersWarning, match=r"2 core instance\(s\)"):
        listed = list_instances(tmp_path)
    assert [row.id for row in listed if row.differs] == [
        "pvc_burden/mitdb/100",
        "rare_event/mitdb/100",
    ]


def test_absent_recording_says_how_to_get_it(tmp_path):
    with pytest.raises(DataError, match="ecgscroll prepare mitdb"):
        get_instance("pvc_burden/mitdb/100", tmp_path)
    with pytest.raises(DataError, match="folder 'mine'"):
        get_instance("pvc_burden/mine/r", tmp_path)


def test_instance_without_a_data_directory_is_said(monkeypatch):
    monkeypatch.delenv("ECGSCROLL_DATA", raising=False)
    with pytest.raises(ConfigError, match="data directory"):
        get_instance("pvc_burden/mitdb/100")


def test_data_directory_may_come_from_the_environment(tmp_path, monkeypatch):
    user_record(tmp_path, "mine", "r")
    monkeypatch.setenv("ECGSCROLL_DATA", str(tmp_path))
    assert get_instance("pvc_burden/mine/r").data == tmp_path


def test_task_that_the_annotations_cannot_answer_is_said(tmp_path):
    user_record(tmp_path, "mine", "r")
    with pytest.raises(DataError, match="carry no rhythm"):
        get_instance("af_burden/mine/r", tmp_path)


@pytest.mark.parametrize(
    "name",
    ["", "x", "pvc_burden", "pvc_burden/mine", "pvc_burden//r", "/mine/r", "nothing/mine/r",
     "pvc_burden/../r", "pvc_burden/mine/../../r", "pvc_burden/mine/r\0", "pvc_burden/mine//etc"],
)  # fmt: skip
def test_malformed_id_is_one_sentence(tmp_path, name):
    user_record(tmp_path, "mine", "r")
    with pytest.raises(EcgScrollError):
        get_instance(name, tmp_path)


def test_unknown_set_or_task_is_said(tmp_path):
    with pytest.raises(ConfigError, match="no set"):
        list_instances(tmp_path, set="extra")
    with pytest.raises(ConfigError, match="no task"):
        list_instances(tmp_path, tasks=["pvc"])


def test_tasks_and_databases_narrow_the_list():
    found = list_instances(tasks=["af_burden"], databases=["afdb"])
    assert len(found) == 23
    assert {(one.task, one.database) for one in found} == {("af_burden", "afdb")}


def test_instance_is_picklable(tmp_path):
    user_record(tmp_path, "mine", "r")
    one = get_instance("pvc_burden/mine/r", tmp_path)
    assert pickle.loads(pickle.dumps(one)) == one


def test_listing_without_truths_reads_no_annotations(data, monkeypatch):
    monkeypatch.setattr("ecgscroll.catalogue.opened.load_reference", lambda *_: pytest.fail("read"))
    assert len(list_instances(data, truth=False)) == 390


@pytest.mark.real
def test_listing_without_truths_reads_no_annotation(data, monkeypatch):
    def refuse(*_):
        raise AssertionError("an annotation file was read")

    monkeypatch.setattr("ecgscroll.records.reference.read_annotations", refuse)
    assert {one.available for one in list_instances(data, truth=False)} == {"signal", "annotations"}


@pytest.mark.real
def test_supplementary_instances_of_the_real_recordings(data):
    found = list_instances(data, set="supplementary")
    names = ids(found)
    assert sum(name.startswith("ischemia/qtdb/sele") for name in names) == 33
    assert sum(name.startswith("episode_detection/cpsc2021") for name in names) == 12
    assert {"af_burden/ltafdb_1h/01", "episode_detection/mitdb/202"} <= set(names)
    assert not any(name.startswith("rare_event/icentia11k") for name in names)
    assert not set(names) & set(core_rows())
    assert all(one.truth is not None for one in found)
    core_tasks = [one for one in found if not get_task(one.task).supplementary]
    assert all(one.available == "signal" for one in core_tasks)


@pytest.mark.real
def test_unfinished_excerpts_are_bounded_by_the_recording(data):
    truth = get_instance("ischemia/qtdb/sele0112", data).truth
    assert truth.value == ((639.916, 900.0),)
    assert get_instance("ischemia/qtdb/sele0609", data).truth.value == ((0.0, 95.564),)


@pytest.mark.real
def test_frozen_list_is_what_the_real_annotations_give(data):
    assert freeze(data) == list(core_rows().values())


def test_freezing_without_annotations_is_said(tmp_path):
    user_record(tmp_path, "afdb", "04015", notes=None)
    with pytest.raises(DataError, match="no annotations"):
        freeze(tmp_path)


def test_frozen_list_is_written_and_read_again(tmp_path, monkeypatch):
    user_record(tmp_path / "data", "mitdb", "100")
    monkeypatch.setattr(core_set, "_list_file", lambda: tmp_path / "core.jsonl")
    core_set.main(tmp_path / "data")
    rows = core_set.core_rows.__wrapped__()
    assert list(rows) == ["pvc_burden/mitdb/100", "rare_event/mitdb/100"]
    assert rows["pvc_burden/mitdb/100"].duration_s == 100.0


@pytest.mark.parametrize("text", [None, "{", '{"id": "x"}'])
def test_malformed_frozen_list_is_said(tmp_path, monkeypatch, text):
    monkeypatch.setattr(core_set, "_list_file", lambda: tmp_path / "core.jsonl")
    if text is not None:
        (tmp_path / "core.jsonl").write_text(text)
    with pytest.raises(ConfigError, match="reinstall"):
        core_set.core_rows.__wrapped__()


def test_frozen_list_holds_four_fields_a_line():
    from ecgscroll.files import datasets_dir

    lines = (datasets_dir() / "instances" / "core.jsonl").read_text().splitlines()
    assert all(set(json.loads(x)) == {"id", "patient", "duration_s", "truth"} for x in lines)
