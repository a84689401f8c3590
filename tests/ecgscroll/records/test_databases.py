"""Cards, patients, and where a record lies."""

from __future__ import annotations

import pytest
import yaml

from ecgscroll.errors import ConfigError, DataError
from ecgscroll.records import databases
from ecgscroll.records.databases import CARDS, get_card, locate, patient_of
from ecgscroll.tasks import TASKS

UPSTREAM = {"mitdb": 48, "afdb": 25, "ltafdb": 84, "edb": 90, "ltdb": 7, "qtdb": 105}


@pytest.mark.parametrize("name", CARDS)
def test_card_is_complete(name):
    card = CARDS[name]
    assert card.name == name
    assert all((card.title, card.citation, card.licence, card.about))
    assert set(card.supplementary) <= set(TASKS)
    assert len(set(card.records)) == len(card.records) <= card.record_count
    assert card.annotator in card.extensions
    assert card.beats_annotator in card.extensions


@pytest.mark.parametrize("name", [*UPSTREAM, "icentia11k", "cpsc2021"])
def test_card_of_an_upstream_database_says_where_it_is(name):
    card = CARDS[name]
    assert card.url.startswith("https://physionet.org/files/")
    assert card.url.endswith(f"/{card.version}/")
    assert card.doi.startswith("10.13026/")


@pytest.mark.parametrize(("name", "count"), UPSTREAM.items())
def test_card_lists_every_record_upstream(name, count):
    assert len(CARDS[name].records) == CARDS[name].record_count == count


@pytest.mark.real
@pytest.mark.parametrize("name", ["mitdb", "afdb", "ltafdb", "edb", "ltdb", "qtdb", "ltafdb_1h"])
def test_card_knows_every_real_record_and_its_rate(data, name):
    headers = sorted((data / name).glob("*.hea"))
    assert {header.stem for header in headers} <= set(CARDS[name].records)
    rates = {header.read_text().split()[2].partition("/")[0] for header in headers}
    assert rates == {f"{CARDS[name].fs:g}"}


def test_folder_without_a_card_has_none():
    assert get_card("svdb") is None
    assert patient_of("svdb", "800") == "svdb/800"


@pytest.mark.parametrize(
    ("database", "record", "patient"),
    [
        ("mitdb", "100", "mitdb/100"),
        ("mitdb", "201", "mitdb/202"),
        ("mitdb", "202", "mitdb/202"),
        ("ltafdb_1h", "10", "ltafdb/10"),
        ("qtdb", "sel100", "mitdb/100"),
        ("qtdb", "sele0104", "edb/e0104"),
        ("qtdb", "sel14046", "ltdb/14046"),
        ("qtdb", "sel16265", "nsrdb/16265"),
        ("qtdb", "sel302", "stdb/302"),
        ("qtdb", "sel30", "sddb/30"),
        ("cpsc2021", "data_21_7", "cpsc2021/21"),
        ("cpsc2021", "Training_set_I/data_21_8", "cpsc2021/21"),
        ("icentia11k", "p00000_s00", "icentia11k/p00000"),
        ("icentia11k", "p00/p00000/p00000_s49", "icentia11k/p00000"),
    ],
)
def test_patient_of_a_record(database, record, patient):
    assert patient_of(database, record) == patient


def test_record_is_found_in_subfolders(tmp_path):
    folder, name = locate(tmp_path, "icentia11k", "p00/p00000/p00000_s00")
    assert folder == tmp_path / "icentia11k" / "p00" / "p00000"
    assert name == "p00000_s00"


@pytest.mark.parametrize(
    ("database", "record"),
    [
        ("..", "100"),
        ("mitdb", "../100"),
        ("mitdb", "a/../../100"),
        ("mitdb", "/etc/passwd"),
        ("/", "100"),
        ("mitdb", ""),
        ("mitdb", "a//b"),
        ("mitdb", "a\\b"),
        ("mitdb", "~"),
        ("mitdb", "100\n"),
        ("mitdb", "a\0"),
        ("mitdb", "x" * 101),
        ("s3:", "bucket/100"),
    ],
)
def test_name_that_could_leave_the_data_directory_is_refused(tmp_path, database, record):
    with pytest.raises(DataError):
        locate(tmp_path, database, record)


def test_subfolder_that_is_a_link_out_is_refused(tmp_path):
    (tmp_path / "data" / "db").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "data" / "db" / "sub").symlink_to(tmp_path / "outside")
    with pytest.raises(DataError, match="link out"):
        locate(tmp_path / "data", "db", "sub/r")


def test_kind_of_label_follows_the_patterns_of_the_card():
    card = CARDS["qtdb"]
    assert card.annotates("st", "sele0104") is True
    assert card.annotates("st", "sel100") is False
    assert card.annotates("rhythm", "sel100") is None


@pytest.mark.parametrize("text", ["name: x", "[", "name: x\nsurprise: 1"])
def test_malformed_card_is_said(tmp_path, text):
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"x\.yaml is malformed"):
        databases._load(tmp_path / "x.yaml")


def test_cards_are_plain_yaml():
    for file in (databases.datasets_dir() / "cards").glob("*.yaml"):
        assert yaml.safe_load(file.read_text())["name"] == file.stem


def test_a_record_under_endless_folders_is_refused(tmp_path):
    with pytest.raises(DataError, match="folders"):
        locate(tmp_path, "mitdb", "/".join(["a" * 100] * 60))
