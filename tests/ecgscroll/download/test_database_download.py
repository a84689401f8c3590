"""A database: whole, by record or by patient; resumed, locked, verified."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest
from fake_physionet import Site, corrupt, database, html, html_as_text, serving, status, sums

from ecgscroll.download import disk, sizes
from ecgscroll.download.database import prepare_database
from ecgscroll.download.disk import database_lock
from ecgscroll.download.http import Server, Settings
from ecgscroll.download.listing import Selection
from ecgscroll.download.upstream import (
    Upstream,
    find_upstream,
    known_databases,
    require_consent,
    require_one,
)
from ecgscroll.errors import ConfigError, DownloadError

MITDB = "mitdb/1.0.0"
ICENTIA = "icentia11k-continuous-ecg/1.0"
FULL = ("hea", "dat", "atr")
FAST = Settings(connections=3, timeout=2.0, attempts=3, backoff=0.001)


def mitdb(names="100 101 102", listed=None):
    records = dict.fromkeys(names.split(), FULL) | {"x_mitdb/x_108": FULL}
    listed = listed or "".join(f"{name}\n" for name in names.split())
    return database(MITDB, records, listed=listed)


def icentia():
    names = [f"p0{n // 1000}/p{n:05d}/p{n:05d}_s0{k}" for n in (0, 1, 2, 1000) for k in (0, 1)]
    folders = sorted({name.rpartition("/")[0] + "/" for name in names})
    return database(ICENTIA, dict.fromkeys(names, FULL), listed="".join(f"{f}\n" for f in folders))


@contextmanager
def site_of(files, **options):
    with serving(Site(files, **options)) as site:
        yield site


def prepare(site, data, selection=None, path=MITDB, n_patients=0, settings=FAST, **options):
    upstream = Upstream(
        path.partition("/")[0].partition("-")[0],
        path.rpartition("/")[2],
        f"{site.url}/{path}/",
        ("atr", "qrs"),
        n_patients=n_patients,
    )
    with Server(settings) as server:
        return prepare_database(server, upstream, data, selection or Selection(), **options)


def lying(folder):
    """Record files under a folder, by path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in (".hea", ".dat", ".atr", ".qrs", ".part")
    }


def served(site, path, *stems, suffixes=FULL):
    return {f"{s}.{x}": site.files[f"{path}/{s}.{x}"] for s in stems for x in suffixes}


def fetched(site):
    """Paths of record files whose bodies were asked for."""
    lists = ("SHA256SUMS.txt", "RECORDS")
    return sorted(r.path for r in site.bodies() if not r.path.endswith(lists))


def test_a_whole_database_is_what_its_records_list(tmp_path):
    with site_of(mitdb()) as site:
        report = prepare(site, tmp_path)
    assert lying(tmp_path / "mitdb") == served(site, MITDB, "100", "101", "102")
    summary = report.to_dict()
    assert (summary["records"], summary["files"], summary["failed"]) == (3, 9, [])
    assert summary["bytes"] == sum(map(len, lying(tmp_path / "mitdb").values()))


def test_a_record_without_signals_is_taken_with_what_it_has(tmp_path):
    with site_of(database(MITDB, {"04015": FULL, "00735": ("hea", "atr", "qrs")})) as site:
        prepare(site, tmp_path)
    assert {"00735.hea", "00735.atr", "00735.qrs", "04015.dat"} <= set(lying(tmp_path / "mitdb"))


def test_without_a_records_file_every_listed_record_is_taken(tmp_path):
    files = {"100.hea": b"header", "100.dat": b"signal", "notes.txt": b"text"}
    files |= {"SHA256SUMS.txt": sums(files)}
    with site_of({f"{MITDB}/{name}": body for name, body in files.items()}) as site:
        prepare(site, tmp_path)
    assert set(lying(tmp_path / "mitdb")) == {"100.hea", "100.dat"}


def test_records_by_name(tmp_path):
    with site_of(mitdb()) as site:
        prepare(site, tmp_path, Selection(records=("101",)))
    assert lying(tmp_path / "mitdb") == served(site, MITDB, "101")


def test_annotations_only_leaves_signals_out(tmp_path):
    with site_of(mitdb()) as site:
        prepare(site, tmp_path, Selection(annotations_only=True))
    expected = served(site, MITDB, "100", "101", "102", suffixes=("hea", "atr"))
    assert lying(tmp_path / "mitdb") == expected


def test_signals_can_follow_annotations(tmp_path):
    with site_of(mitdb()) as site:
        prepare(site, tmp_path, Selection(annotations_only=True))
        site.log.clear()
        prepare(site, tmp_path)
    assert fetched(site) == [f"{MITDB}/{n}.dat" for n in (100, 101, 102)]


def test_patients_by_number_keep_their_upstream_paths(tmp_path):
    with site_of(icentia()) as site:
        prepare(site, tmp_path, Selection(patients=(1, 1000)), ICENTIA, n_patients=11000)
    stems = [f"{p}_s0{k}" for p in ("p00/p00001/p00001", "p01/p01000/p01000") for k in (0, 1)]
    assert lying(tmp_path / "icentia11k") == served(site, ICENTIA, *stems)


def test_a_whole_database_of_patient_folders(tmp_path):
    with site_of(icentia()) as site:
        report = prepare(site, tmp_path, None, ICENTIA)
    assert report.plan.records == 8


def test_an_unknown_record_is_told_and_nothing_fetched(tmp_path):
    with (
        site_of(mitdb()) as site,
        pytest.raises(ConfigError, match=r"mitdb has no record '10O'; it has 10[012]"),
    ):
        prepare(site, tmp_path, Selection(records=("100", "10O")))
    assert fetched(site) == []


def test_an_unknown_patient_is_told(tmp_path):
    with site_of(icentia()) as site, pytest.raises(ConfigError, match="has no patient 7, 8"):
        prepare(site, tmp_path, Selection(patients=(0, 7, 8)), ICENTIA, n_patients=11000)


@pytest.mark.parametrize("etag", ["strong", "weak", "none"])
def test_a_second_run_fetches_no_record_again(tmp_path, etag):
    with site_of(mitdb(), etag=etag) as site:
        prepare(site, tmp_path)
        site.log.clear()
        report = prepare(site, tmp_path)
    assert fetched(site) == []
    assert report.to_dict()["fetched"] == {"files": 0, "bytes": 0}
    assert report.to_dict()["files"] == 9


def test_an_unchanged_list_of_checksums_is_not_fetched_again(tmp_path):
    with site_of(mitdb()) as site:
        prepare(site, tmp_path)
        site.log.clear()
        prepare(site, tmp_path)
    assert site.bodies() == []


def test_a_changed_database_is_fetched_where_it_changed(tmp_path):
    with site_of(mitdb()) as site:
        prepare(site, tmp_path)
        plain = {k.removeprefix(f"{MITDB}/"): v for k, v in site.files.items()}
        plain |= {"101.atr": b"corrected"}
        plain["SHA256SUMS.txt"] = sums({k: v for k, v in plain.items() if k != "SHA256SUMS.txt"})
        site.files = {f"{MITDB}/{name}": body for name, body in plain.items()}
        site.log.clear()
        report = prepare(site, tmp_path)
    assert fetched(site) == [f"{MITDB}/101.atr"]
    assert report.plan.replaced == 1
    assert (tmp_path / "mitdb" / "101.atr").read_bytes() == b"corrected"


def test_a_damaged_list_on_the_disk_is_noticed(tmp_path):
    with site_of(mitdb()) as site:
        prepare(site, tmp_path)
        path = tmp_path / "mitdb" / "SHA256SUMS.txt"
        path.write_text(path.read_text().replace("a", "b"))
        site.log.clear()
        prepare(site, tmp_path)
    assert fetched(site) == []
    assert path.read_bytes() == site.files[f"{MITDB}/SHA256SUMS.txt"]


def test_a_file_damaged_on_the_disk_is_fetched_again(tmp_path):
    with site_of(mitdb()) as site:
        prepare(site, tmp_path)
        (tmp_path / "mitdb" / "100.dat").write_bytes(b"damaged")
        site.log.clear()
        prepare(site, tmp_path)
    assert fetched(site) == [f"{MITDB}/100.dat"]
    assert lying(tmp_path / "mitdb") == served(site, MITDB, "100", "101", "102")


def test_one_absent_and_one_damaged_file_do_not_keep_the_others(tmp_path):
    with site_of(mitdb()) as site:
        del site.files[f"{MITDB}/100.dat"]
        site.always[f"{MITDB}/101.atr"] = corrupt
        report = prepare(site, tmp_path)
    failed = report.to_dict()["failed"]
    assert [f["path"] for f in failed] == ["100.dat", "101.atr"]
    assert "not on the server (404)" in failed[0]["error"]
    assert "differs from its checksum" in failed[1]["error"]
    assert len(lying(tmp_path / "mitdb")) == 7


def test_a_server_that_fails_for_good_stops_the_rest(tmp_path):
    with site_of(mitdb(" ".join(map(str, range(100, 140))))) as site:
        for name in range(100, 140):
            site.always[f"{MITDB}/{name}.hea"] = status(403)
        with pytest.raises(DownloadError, match=r"refuses \(403\)"):
            prepare(site, tmp_path)
    assert len(fetched(site)) < 40


@pytest.mark.parametrize("page", [html, html_as_text])
def test_a_portal_in_place_of_the_server_is_told(tmp_path, page):
    with (
        site_of(mitdb(), everywhere=page) as site,
        pytest.raises(DownloadError, match="a web page in place of the file"),
    ):
        prepare(site, tmp_path)
    assert lying(tmp_path / "mitdb") == {}
    assert not (tmp_path / "mitdb" / "SHA256SUMS.txt").exists()


def test_a_portal_once_does_not_spoil_the_next_run(tmp_path):
    with site_of(mitdb(), everywhere=html_as_text) as site:
        with pytest.raises(DownloadError):
            prepare(site, tmp_path)
        site.everywhere = None
        prepare(site, tmp_path)
    assert lying(tmp_path / "mitdb") == served(site, MITDB, "100", "101", "102")


def test_a_host_without_the_database_is_told(tmp_path):
    with site_of({}) as site, pytest.raises(DownloadError, match=r"no such database.*--base-url"):
        prepare(site, tmp_path)


def test_a_server_without_head_serves_too(tmp_path):
    with site_of(mitdb(), head=False) as site:
        report = prepare(site, tmp_path)
    assert lying(tmp_path / "mitdb") == served(site, MITDB, "100", "101", "102")
    assert report.to_dict()["to_fetch"]["bytes"] is None


@pytest.mark.parametrize("path", ["../../evil.dat", "/tmp/evil.dat", "x/../../../evil.dat"])
def test_a_hostile_list_fetches_nothing(tmp_path, path):
    with site_of(mitdb()) as site:
        site.files[f"{MITDB}/SHA256SUMS.txt"] += b"0" * 64 + f" {path}\n".encode()
        with pytest.raises(DownloadError, match="out of its folder"):
            prepare(site, tmp_path)
    assert fetched(site) == []


def test_nothing_is_written_through_a_link_out_of_the_folder(tmp_path):
    (tmp_path / "victim").mkdir()
    (tmp_path / "icentia11k").mkdir()
    (tmp_path / "icentia11k" / "p00").symlink_to(tmp_path / "victim")
    with site_of(icentia()) as site, pytest.raises(DownloadError, match="through a link out"):
        prepare(site, tmp_path, Selection(patients=(0,)), ICENTIA, n_patients=11000)
    assert list((tmp_path / "victim").rglob("*.dat")) == []


def test_the_plan_tells_the_size_before_anything_is_fetched(tmp_path):
    told = []

    def on_plan(plan):
        told.append((plan.size.n_bytes, plan.size.exact, fetched(site)))
        return lambda n_bytes: None

    with site_of(mitdb()) as site:
        prepare(site, tmp_path, on_plan=on_plan)
    size = sum(map(len, served(site, MITDB, "100", "101", "102").values()))
    assert told == [(size, True, [])]


def test_many_files_are_sized_by_some_of_them(tmp_path, monkeypatch):
    monkeypatch.setattr(sizes, "MAX_QUESTIONS", 6)
    with site_of(mitdb()) as site:
        report = prepare(site, tmp_path, dry_run=True)
    size = sum(map(len, served(site, MITDB, "100", "101", "102").values()))
    assert not report.plan.size.exact
    assert report.plan.size.n_bytes == pytest.approx(size, rel=0.05)


def test_a_dry_run_writes_and_fetches_nothing(tmp_path):
    with site_of(mitdb()) as site:
        report = prepare(site, tmp_path / "data", dry_run=True)
    assert not (tmp_path / "data").exists()
    assert fetched(site) == []
    assert report.to_dict()["to_fetch"]["files"] == 9


def test_a_disk_too_small_is_told_before_anything_is_fetched(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda path: usage)
    with (
        site_of(mitdb()) as site,
        pytest.raises(DownloadError, match=r"mitdb needs \d.* kB and only 1\.0 kB are free"),
    ):
        prepare(site, tmp_path)
    assert fetched(site) == []


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "data").write_text("a file")
    with site_of(mitdb()) as site, pytest.raises(DownloadError, match="something else stands"):
        prepare(site, tmp_path / "data")


def test_a_folder_without_permission_is_told(tmp_path, monkeypatch):
    def refuse(self, *args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(DownloadError, match="No permission to write"), database_lock(tmp_path, "x"):
        pass


def test_a_second_process_is_told_to_wait(tmp_path):
    with (
        site_of(mitdb()) as site,
        database_lock(tmp_path / "mitdb", "mitdb"),
        pytest.raises(DownloadError, match="Another `ecgscroll prepare` is fetching mitdb"),
    ):
        prepare(site, tmp_path)
    assert site.log == []


def test_the_lock_is_let_go(tmp_path):
    for _ in range(2):
        with database_lock(tmp_path / "mitdb", "mitdb"):
            pass


def upstream_of(n_bytes=1_100_000_000_000, name="icentia11k", n_patients=11000):
    return Upstream(name, "1.0", "", ("atr",), n_bytes, n_patients)


@pytest.mark.parametrize("patients", [(), tuple(range(5000))])
def test_a_terabyte_is_not_taken_without_a_yes(patients):
    with pytest.raises(
        DownloadError, match=r"about (1\.1 TB|500\.0 GB), .*--patients 0-4,17.*--yes"
    ):
        require_consent(upstream_of(), Selection(patients=patients), yes=False)


@pytest.mark.parametrize("patients", [(0,), tuple(range(400))])
def test_some_patients_are_taken_without_a_yes(patients):
    require_consent(upstream_of(), Selection(patients=patients), yes=False)


def test_a_yes_takes_a_terabyte():
    require_consent(upstream_of(), Selection(), yes=True)


@pytest.mark.parametrize(
    ("upstreams", "selection", "sentence"),
    [
        ([upstream_of(), upstream_of()], Selection(records=("1",)), "one database at a time"),
        ([upstream_of()], Selection(records=("1",), patients=(1,)), "either"),
        ([upstream_of(n_patients=0)], Selection(patients=(1,)), "no patients by number"),
    ],
)
def test_an_ambiguous_selection_is_refused(upstreams, selection, sentence):
    with pytest.raises(ConfigError, match=sentence):
        require_one(upstreams, selection)


def test_an_unknown_database_is_told_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"cannot fetch 'mitbd'.*mitdb"):
        find_upstream("mitbd", "https://host")


def test_the_six_databases_are_known():
    assert {"mitdb", "afdb", "ltafdb", "edb", "ltdb", "icentia11k"} <= set(known_databases())


@pytest.mark.parametrize("base", ["ftp://host", "host", "https://", "http://h?q=1", "file:///x"])
def test_a_base_address_that_is_not_http_is_refused(base):
    with pytest.raises(ConfigError, match="--base-url is an http or https address"):
        find_upstream("mitdb", base)


@pytest.mark.parametrize("base", ["http://host/files", "http://host/files/"])
def test_a_mirror_has_the_layout_of_physionet(base):
    assert find_upstream("mitdb", base).url == "http://host/files/mitdb/1.0.0/"
