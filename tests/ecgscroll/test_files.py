"""Atomic writes, and where data, caches and cards are found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ecgscroll import files
from ecgscroll.errors import ConfigError, DataError
from ecgscroll.files import data_dir


def test_write_atomic_creates_the_folder_and_replaces_the_file(tmp_path):
    target = tmp_path / "new" / "file.txt"
    files.write_atomic(target, "first")
    files.write_atomic(target, b"second \xff")
    assert target.read_bytes() == b"second \xff"
    assert list(target.parent.iterdir()) == [target]


def test_write_atomic_leaves_the_old_file_when_it_fails(tmp_path, monkeypatch):
    target = tmp_path / "file.txt"
    files.write_atomic(target, "old")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "disk full")))
    with pytest.raises(OSError, match="disk full"):
        files.write_atomic(target, "new")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_written_file_has_the_usual_permissions(tmp_path):
    files.write_atomic(tmp_path / "a", "x")
    (tmp_path / "b").write_text("x")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_data_dir_is_the_explicit_one_then_the_variable_then_none(tmp_path, monkeypatch):
    monkeypatch.delenv("ECGSCROLL_DATA", raising=False)
    assert files.data_dir() is None
    monkeypatch.setenv("ECGSCROLL_DATA", str(tmp_path))
    assert files.data_dir() == tmp_path
    (tmp_path / "other").mkdir()
    assert files.data_dir(tmp_path / "other") == tmp_path / "other"


def test_data_dir_that_does_not_exist_is_said(tmp_path):
    with pytest.raises(ConfigError, match="not a folder"):
        files.data_dir(tmp_path / "absent")


def test_cache_dir_follows_its_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("ECGSCROLL_CACHE", str(tmp_path / "cache"))
    assert files.cache_dir() == tmp_path / "cache"
    monkeypatch.delenv("ECGSCROLL_CACHE")
    assert files.cache_dir().name == "ecgscroll"


def test_datasets_are_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (files.datasets_dir() / "cards" / "mitdb.yaml").is_file()


def test_missing_datasets_are_said(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "__file__", str(tmp_path / "ecgscroll" / "files.py"))
    with pytest.raises(ConfigError, match="reinstall"):
        files.datasets_dir()


def test_file_over_the_limit_is_refused_and_at_the_limit_read(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    assert files.read_inside(tmp_path, "a", 5) == b"12345"
    with pytest.raises(DataError, match="larger than 4"):
        files.read_inside(tmp_path, "a", 4)


def test_folder_that_is_itself_a_link_may_be_read(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert files.read_inside(tmp_path / "link", "a", 9) == b"x"


def test_inside_refuses_what_is_no_bare_name(tmp_path):
    for name in ("", "..", "a/b", "\0", "a" * 201):
        with pytest.raises(DataError):
            files.inside(tmp_path, name)
    assert files.inside(tmp_path, "a.dat") == Path(tmp_path).resolve() / "a.dat"


@pytest.mark.parametrize("wrong", [5, b"/tmp", "/x" * 5000, "~nobody_of_this_name/x", "a\0b"])
def test_data_dir_that_can_be_no_folder_is_said(wrong):
    with pytest.raises(ConfigError, match="data directory"):
        data_dir(wrong)
