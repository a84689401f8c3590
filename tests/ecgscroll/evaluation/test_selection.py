from __future__ import annotations

import pytest

from ecgscroll.errors import ConfigError, DataError
from ecgscroll.evaluation.selection import find_data, read_ids, select


def test_tasks_and_databases_narrow_the_choice(recordings, chosen):
    found, absent = select(recordings, chosen_set="supplementary", tasks=["rare_event"])
    assert [one.id for one in found] == [one.id for one in chosen if one.task == "rare_event"]
    assert not absent
    with pytest.raises(ConfigError, match="No instance fits"):
        select(recordings, chosen_set="supplementary", databases=["elsewhere"])


def test_a_limit_keeps_the_first(recordings, chosen):
    assert select(recordings, chosen_set="supplementary", limit=2)[0] == chosen[:2]


def test_ids_are_played_in_their_own_order(recordings, chosen):
    ids = [chosen[2].id, chosen[0].id]
    assert [one.id for one in select(recordings, ids=ids)[0]] == ids
    narrowed = select(recordings, ids=ids, tasks=[chosen[2].task])[0]
    assert chosen[2].id in [one.id for one in narrowed]


def test_an_id_that_is_not_there_is_named(recordings):
    with pytest.raises(DataError, match="made/none"):
        select(recordings, ids=["af_burden/made/none"])


def test_recordings_that_are_not_there_name_their_databases(recordings):
    with pytest.raises(ConfigError, match=r"ecgscroll prepare .*mitdb"):
        select(recordings, chosen_set="core")


def test_ids_are_read_from_text_and_from_json_lines(tmp_path):
    source = tmp_path / "list"
    source.write_text('# some\naf_burden/a/1\n\n{"id": "ischemia/b/2", "set": "core"}\n')
    assert read_ids(source) == ["af_burden/a/1", "ischemia/b/2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a/b/c\na/b/c\n", "more than once"),
        ("{broken\n", "without an instance id"),
        ('{"name": 1}\n', "without an instance id"),
        ('{"id": 4}\n', "without an instance id"),
        ("\n", "names no instance"),
    ],
)
def test_a_list_with_a_mistake_says_which(tmp_path, text, message):
    (tmp_path / "list").write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_ids(tmp_path / "list")


def test_a_list_from_another_system_is_read(tmp_path):
    text = "\ufeff# mine\r\n\r\nt/d/1\r\n  # two\r\n t/d/2 \r\n"
    (tmp_path / "list").write_bytes(text.encode())
    assert read_ids(tmp_path / "list") == ["t/d/1", "t/d/2"]


def test_a_list_that_cannot_be_read_says_so(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_ids(tmp_path / "none")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_ids(tmp_path / "bytes")


def test_data_are_found_where_they_are_named_or_usual(tmp_path, monkeypatch):
    monkeypatch.delenv("ECGSCROLL_DATA", raising=False)
    (tmp_path / "work" / "data").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    assert find_data(tmp_path) == (tmp_path, False)
    found, synthetic = find_data(None)
    assert (found.resolve(), synthetic) == (tmp_path / "work" / "data", False)


def test_without_data_synthetic_recordings_are_made_in_the_cache(tmp_path, monkeypatch):
    made = []
    monkeypatch.delenv("ECGSCROLL_DATA", raising=False)
    monkeypatch.setenv("ECGSCROLL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    monkeypatch.setattr("ecgscroll.synth.default_data", made.append)
    folder, synthetic = find_data(None)
    assert synthetic
    assert made == [folder]
    assert folder.is_relative_to(tmp_path / "cache")
