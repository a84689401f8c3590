"""Lists of a server: read, selected from, and never trusted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecgscroll.download import listing
from ecgscroll.download.disk import is_plain_path, size_text, target_path
from ecgscroll.download.listing import Entry, parse_patients, parse_records
from ecgscroll.errors import ConfigError, DownloadError

A, B = "a" * 64, "b" * 64
URL = "http://host/mitdb/SHA256SUMS.txt"
SUFFIXES = frozenset(("hea", "dat", "atr"))


def read(folder, text):
    path = folder / "SHA256SUMS.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(listing.read_sums(path, URL))


def choose(folder, text, wanted=lambda entry: True):
    read(folder, text)
    return [e.path for e in listing.choose(folder / "SHA256SUMS.txt", URL, SUFFIXES, wanted)]


@pytest.mark.parametrize(
    "line", [f"{A} 100.dat", f"{A}  100.dat", f"{A} *100.dat", f"{A}  ./100.dat"]
)
def test_every_customary_form_of_a_line_is_read(tmp_path, line):
    assert read(tmp_path, line + "\n") == [Entry("100.dat", A)]


def test_capitals_and_windows_line_ends_are_read(tmp_path):
    assert read(tmp_path, f"{A.upper()} 100.dat\r\n\r\n{B} x/1.hea\r\n") == [
        Entry("100.dat", A),
        Entry("x/1.hea", B),
    ]


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd.dat",
        "../100.dat",
        "a/../../100.dat",
        "..",
        "a\\..\\100.dat",
        "C:\\100.dat",
        "~root/100.dat",
        "100.dat\x00",
        "100\x1b[2J.dat",
    ],
)
def test_a_path_that_leads_out_condemns_the_list(tmp_path, path):
    with pytest.raises(DownloadError, match="out of its folder; nothing is fetched"):
        read(tmp_path, f"{B} 100.hea\n{A} {path}\n")


@pytest.mark.parametrize(
    "path",
    [".ssh/x.dat", "a/.hidden.dat", "a//b.dat", "C:x.dat", "a b.dat", "é.dat", "a/" * 9 + "x.dat"],
)
def test_an_odd_path_is_never_chosen(tmp_path, path):
    assert choose(tmp_path, f"{A} {path}\n{B} 100.dat\n") == ["100.dat"]


@pytest.mark.parametrize(
    "text", ["not a list\n", f"{A}\n", f"{A[:-1]} 100.dat\n", f"{A} {'x' * 3000}\n"]
)
def test_what_is_no_list_is_told(tmp_path, text):
    with pytest.raises(DownloadError, match="is no list of checksums"):
        read(tmp_path, text)


def test_a_web_page_in_place_of_the_list_is_told(tmp_path):
    with pytest.raises(DownloadError, match="a web page in place of the file"):
        read(tmp_path, "\n<!DOCTYPE html>\n<html>")


def test_one_path_with_two_checksums_is_refused(tmp_path):
    with pytest.raises(DownloadError, match="with two checksums"):
        choose(tmp_path, f"{A} 100.dat\n{B} 100.dat\n")


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader(tmp_path_factory, text):
    folder = tmp_path_factory.getbasetemp() / "fuzz"
    folder.mkdir(exist_ok=True)
    try:
        entries = read(folder, text)
    except DownloadError:
        return
    assert all(len(entry.digest) == 64 and ".." not in entry.path.split("/") for entry in entries)


@given(st.text(alphabet="./\\ab~:\x00", max_size=12))
def test_no_path_leaves_the_folder(tmp_path_factory, path):
    folder = tmp_path_factory.getbasetemp() / "paths"
    try:
        target = target_path(folder, path)
    except DownloadError:
        assert not is_plain_path(path)
        return
    assert target.resolve().is_relative_to(folder.resolve())


def test_a_folder_that_links_out_is_not_followed(tmp_path):
    (tmp_path / "mitdb").mkdir()
    (tmp_path / "mitdb" / "x").symlink_to(tmp_path)
    with pytest.raises(DownloadError, match="leads through a link out"):
        target_path(tmp_path / "mitdb", "x/100.dat")


def test_a_file_that_is_a_link_is_not_written(tmp_path):
    (tmp_path / "100.dat").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DownloadError, match="leads through a link out"):
        target_path(tmp_path, "100.dat")


def test_the_database_folder_itself_may_be_a_link(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "mitdb").symlink_to(tmp_path / "disk")
    assert target_path(tmp_path / "mitdb", "100.dat") == tmp_path / "mitdb" / "100.dat"


def test_records_keep_other_files_out(tmp_path):
    (tmp_path / "RECORDS").write_text("100\n101\n")
    wanted = listing.in_records(tmp_path / "RECORDS")
    text = f"{A} 100.dat\n{A} x_mitdb/x_108.dat\n{A} 101.hea\n{A} RECORDS\n{A} 102.dat\n"
    assert choose(tmp_path, text, wanted) == ["100.dat", "101.hea"]


def test_records_may_name_folders(tmp_path):
    (tmp_path / "RECORDS").write_text("p00/p00000/\n")
    wanted = listing.in_records(tmp_path / "RECORDS")
    text = f"{A} p00/p00000/p00000_s00.dat\n{A} p00/p00001/p00001_s00.dat\n"
    assert choose(tmp_path, text, wanted) == ["p00/p00000/p00000_s00.dat"]


def test_a_record_is_named_with_or_without_its_folder(tmp_path):
    text = f"{A} p00/p1_s00.dat\n{A} p00/p1_s01.dat\n"
    for name in ("p1_s00", "p00/p1_s00"):
        assert choose(tmp_path, text, listing.by_name((name,))) == ["p00/p1_s00.dat"]


def test_a_name_that_is_a_path_means_that_record_alone():
    entries = [Entry("100.dat", A), Entry("old/100.dat", B), Entry("old/101.dat", B)]
    assert listing.without_namesakes(entries, ("100", "101")) == [entries[0], entries[2]]


def test_an_unknown_record_is_told_with_near_ones():
    known = ["100", "101", "200"]
    assert listing.unknown_records([Entry("100.dat", A)], ("100", "10")) == ["10"]
    sentence = listing.no_such_record("mitdb", "10", known)
    assert sentence == "mitdb has no record '10'; it has 101, 100 ... (3 in all)."


@pytest.mark.parametrize(
    ("text", "numbers"), [("5", (5,)), ("0-2,17", (0, 1, 2, 17)), (" 3 - 4 , 3", (3, 4))]
)
def test_patients_are_numbers_and_ranges(text, numbers):
    assert parse_patients(text) == numbers


@pytest.mark.parametrize("text", ["", "a", "4-2", "-1", "1,,2", "1.5", "0-9999999", "٣"])
def test_other_patients_are_refused(text):
    with pytest.raises(ConfigError, match="--patients takes numbers and ranges"):
        parse_patients(text)


@pytest.mark.parametrize("text", ["", ",", "../100", "/100", "100;rm", "a\\b"])
def test_records_that_are_no_names_are_refused(text):
    with pytest.raises(ConfigError, match="--records takes names"):
        parse_records(text)


@pytest.mark.parametrize(
    ("n_bytes", "text"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1.1e12, "1.1 TB")]
)
def test_sizes_are_told_in_decimal_units(n_bytes, text):
    assert size_text(n_bytes) == text
