"""Nobody trains and tests."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from ecgscroll.catalogue import splits
from ecgscroll.catalogue.core_set import core_rows
from ecgscroll.catalogue.instances import list_instances
from ecgscroll.catalogue.splits import split_of
from ecgscroll.errors import ConfigError
from ecgscroll.records.databases import CARDS, patient_of

DS1 = "101 106 108 109 112 114 115 116 118 119 122 124 203 205 207 208 209 215 220 223 230"
PACED = "102 104 107 217"


def everything() -> list[tuple[str, str]]:
    known = [(name, record) for name, card in CARDS.items() for record in card.records]
    fragments = [("cpsc2021", f"data_{patient}_{n}") for patient in range(105) for n in (1, 2)]
    return known + fragments + [("icentia11k", f"p{patient:05d}_s00") for patient in range(50)]


def test_no_patient_is_on_both_sides():
    sides: dict[str, set[str]] = {}
    for database, record in everything():
        side = split_of(database, record)
        if side is not None:
            sides.setdefault(patient_of(database, record), set()).add(side)
    assert [patient for patient, both in sides.items() if len(both) > 1] == []


def test_no_patient_fits_both_lists():
    """Whichever list is looked at first."""
    patients = {
        patient_of(database, record).partition("/")[::2] for database, record in everything()
    }
    read = splits._splits()
    for source, patient in patients:
        sides = read.__pydantic_extra__.get(source)
        if sides is not None:
            fits = [
                any(fnmatchcase(patient, p) for p in part) for part in (sides.train, sides.test)
            ]
            assert sum(fits) <= 1, (source, patient)


def test_201_and_202_are_one_patient_who_tests():
    assert patient_of("mitdb", "201") == patient_of("mitdb", "202")
    assert [split_of("mitdb", record) for record in ("201", "202")] == [None, "test"]


def test_every_record_but_201_has_a_side():
    assert [pair for pair in everything() if split_of(*pair) is None] == [("mitdb", "201")]


def test_ds1_less_201_trains_and_the_rest_of_mitdb_tests():
    trains = {record for record in CARDS["mitdb"].records if split_of("mitdb", record) == "train"}
    assert trains == set(DS1.split())
    assert all(split_of("mitdb", record) == "test" for record in PACED.split())


def test_afdb_tests():
    assert {split_of("afdb", record) for record in CARDS["afdb"].records} == {"test"}


@pytest.mark.parametrize("database", ["ltafdb", "edb"])
def test_large_databases_are_on_both_sides(database):
    records = CARDS[database].records
    share = sum(split_of(database, record) == "train" for record in records) / len(records)
    assert 0.5 < share < 0.8


@pytest.mark.parametrize(
    ("excerpt", "parent"),
    [
        (("qtdb", "sel100"), ("mitdb", "100")),
        (("qtdb", "sel114"), ("mitdb", "114")),
        (("qtdb", "sele0104"), ("edb", "e0104")),
        (("qtdb", "sele0606"), ("edb", "e0606")),
        (("qtdb", "sel14046"), ("ltdb", "14046")),
        (("ltafdb_1h", "01"), ("ltafdb", "01")),
        (("ltafdb_1h", "10"), ("ltafdb", "10")),
    ],
)
def test_excerpt_is_on_its_parents_side(excerpt, parent):
    assert split_of(*excerpt) == split_of(*parent) is not None


def test_neighbouring_records_of_edb_are_on_one_side():
    series: dict[str, set[str | None]] = {}
    for record in CARDS["edb"].records:
        series.setdefault(record[:3], set()).add(split_of("edb", record))
    assert all(len(sides) == 1 for sides in series.values())


def test_folder_without_a_rule_trains():
    assert split_of("svdb", "800") == "train"


def test_every_core_task_can_be_tested():
    names = [name.split("/") for name in core_rows()]
    tested = {task for task, *recording in names if split_of(*recording) == "test"}
    assert tested == {task for task, *_ in names}


@pytest.mark.parametrize("text", [None, "[", "left_out: []", "mitdb: [100]"])
def test_malformed_splits_are_said(tmp_path, monkeypatch, text):
    monkeypatch.setattr(splits, "datasets_dir", lambda: tmp_path)
    if text is not None:
        (tmp_path / "splits.yaml").write_text(text)
    with pytest.raises(ConfigError, match="patient splits"):
        splits._splits.__wrapped__()


@pytest.mark.real
def test_real_af_recordings_with_signals_are_on_both_sides(data):
    found = list_instances(data, set="supplementary", tasks=["af_burden"])
    with_af = [one for one in found if one.truth and one.truth.events]
    assert {split_of(one.database, one.record) for one in with_af} >= {"train", "test"}
