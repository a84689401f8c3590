"""One file: resumed, verified, renamed whole, whatever the server does."""

from __future__ import annotations

import errno
import hashlib
import random
import time
from contextlib import contextmanager

import pytest
from fake_physionet import (
    HTML,
    Site,
    claims_length,
    corrupt,
    cut_after,
    html,
    serving,
    stall,
    status,
)

from ecgscroll.download import transfer
from ecgscroll.download.http import FileError, Server, Settings
from ecgscroll.download.transfer import Job, fetch
from ecgscroll.errors import DownloadError

BODY = random.Random(1).randbytes(200_000)
DIGEST = hashlib.sha256(BODY).hexdigest()
NAME = "mitdb/1.0.0/100.dat"
FAST = Settings(connections=2, timeout=2.0, attempts=4, backoff=0.001)


@contextmanager
def one_file(folder, settings=FAST, digest=DIGEST, **options):
    """A site with one file, and a function that fetches it into ``folder``."""
    advanced = []
    with serving(Site({NAME: BODY}, **options)) as site, Server(settings) as server:
        job = Job(f"{site.url}/{NAME}", folder / "100.dat", digest)
        yield site, lambda: fetch(server, job, advanced.append)
    site.advanced = sum(advanced)


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def leave_part(folder, body, validator=None):
    (folder / "100.dat.part").write_bytes(body)
    if validator:
        (folder / "100.dat.validator.part").write_text(validator)


def strong(body):
    return f'"{hashlib.md5(body).hexdigest()[:12]}"'


def test_a_file_arrives_whole_and_leaves_no_parts(tmp_path):
    with one_file(tmp_path) as (site, run):
        run()
    assert (tmp_path / "100.dat").read_bytes() == BODY
    assert left(tmp_path) == ["100.dat"]
    assert site.advanced == len(BODY)


@pytest.mark.parametrize("etag", ["strong", "weak", "none"])
def test_a_cut_connection_resumes_where_it_was_cut(tmp_path, etag):
    with one_file(tmp_path, etag=etag) as (site, run):
        site.faults[NAME] = [cut_after(70_000), cut_after(60_000)]
        run()
    assert (tmp_path / "100.dat").read_bytes() == BODY
    assert [r.range for r in site.bodies()] == [None, "bytes=70000-", "bytes=130000-"]
    assert site.advanced == len(BODY)


def test_a_cut_on_a_server_without_ranges_starts_the_file_anew(tmp_path):
    with one_file(tmp_path, ranges=False) as (site, run):
        site.faults[NAME] = [cut_after(70_000)]
        run()
    assert (tmp_path / "100.dat").read_bytes() == BODY
    assert [r.sent for r in site.bodies()] == [70_000, len(BODY)]
    assert site.advanced == len(BODY)


def test_a_part_of_an_earlier_run_is_continued(tmp_path):
    leave_part(tmp_path, BODY[:150_000], strong(BODY))
    with one_file(tmp_path) as (site, run):
        run()
    assert (tmp_path / "100.dat").read_bytes() == BODY
    assert [r.sent for r in site.bodies()] == [50_000]


def test_a_part_of_another_version_is_not_continued(tmp_path):
    leave_part(tmp_path, b"x" * 150_000, '"another"')
    with one_file(tmp_path) as (site, run):
        run()
    assert (tmp_path / "100.dat").read_bytes() == BODY
    assert [(r.status, r.sent) for r in site.bodies()] == [(200, len(BODY))]


def test_a_complete_part_is_only_renamed(tmp_path):
    leave_part(tmp_path, BODY, strong(BODY))
    with one_file(tmp_path) as (site, run):
        run()
    assert left(tmp_path) == ["100.dat"]
    assert site.log == []


@pytest.mark.parametrize("part", [BODY + b"more", b"x" * 150_000, b"x" * len(BODY)])
def test_a_damaged_part_is_fetched_anew(tmp_path, part):
    leave_part(tmp_path, part)
    with one_file(tmp_path) as (_, run):
        run()
    assert (tmp_path / "100.dat").read_bytes() == BODY
    assert left(tmp_path) == ["100.dat"]


def test_a_file_corrupted_once_is_fetched_again(tmp_path):
    with one_file(tmp_path) as (site, run):
        site.faults[NAME] = [corrupt]
        run()
    assert (tmp_path / "100.dat").read_bytes() == BODY
    assert len(site.bodies()) == 2
    assert site.advanced == len(BODY)


def test_a_file_corrupted_always_is_reported_and_not_left(tmp_path):
    with one_file(tmp_path) as (site, run):
        site.always[NAME] = corrupt
        with pytest.raises(FileError, match=r"100\.dat differs from its checksum"):
            run()
    assert left(tmp_path) == []
    assert len(site.bodies()) == 3
    assert site.advanced == 0


def test_a_corrupted_file_does_not_replace_a_good_one(tmp_path):
    (tmp_path / "100.dat").write_bytes(b"what was there")
    with one_file(tmp_path) as (site, run):
        site.always[NAME] = corrupt
        with pytest.raises(FileError):
            run()
    assert (tmp_path / "100.dat").read_bytes() == b"what was there"


@pytest.mark.parametrize("code", [429, 500, 502, 503])
def test_a_busy_server_is_asked_again(tmp_path, code):
    with one_file(tmp_path) as (site, run):
        site.faults[NAME] = [status(code), status(code)]
        run()
    assert [r.status for r in site.bodies()] == [code, code, 200]


def test_retry_after_is_waited_for(tmp_path):
    with one_file(tmp_path) as (site, run):
        site.faults[NAME] = [status(429, Retry_After="0.3")]
        start = time.monotonic()
        run()
    assert time.monotonic() - start >= 0.3


def test_a_server_that_stays_busy_is_given_up(tmp_path):
    with one_file(tmp_path) as (site, run):
        site.always[NAME] = status(503)
        with pytest.raises(DownloadError, match=r"answers 503, 4 times in a row.*it resumes"):
            run()
    assert len(site.bodies()) == 4


def test_a_stalled_connection_is_dropped_and_asked_again(tmp_path):
    with one_file(tmp_path, Settings(2, timeout=0.2, backoff=0.001)) as (site, run):
        site.faults[NAME] = [stall(0.5)]
        run()
    assert (tmp_path / "100.dat").read_bytes() == BODY


def test_progress_between_cuts_outlives_the_number_of_tries(tmp_path):
    body = BODY * 8
    digest = hashlib.sha256(body).hexdigest()
    with one_file(tmp_path, digest=digest) as (site, run):
        site.files[NAME] = body
        site.faults[NAME] = [cut_after(270_000)] * 5  # more cuts than tries
        run()
    assert (tmp_path / "100.dat").read_bytes() == body


def test_a_length_that_is_too_large_does_not_lose_the_file(tmp_path):
    with one_file(tmp_path) as (site, run):
        site.faults[NAME] = [claims_length(len(BODY) + 10)]
        run()
    assert (tmp_path / "100.dat").read_bytes() == BODY


def test_a_length_that_is_too_small_is_noticed_by_the_checksum(tmp_path):
    with one_file(tmp_path) as (site, run):
        site.faults[NAME] = [claims_length(len(BODY) - 10)]
        run()
    assert (tmp_path / "100.dat").read_bytes() == BODY


def test_an_absurd_length_is_refused_before_a_byte_is_written(tmp_path):
    with one_file(tmp_path) as (site, run):
        site.always[NAME] = claims_length(10**13)
        with pytest.raises(FileError, match=r"10\.0 TB or more, over the limit of 8\.6 GB"):
            run()
    assert not (tmp_path / "100.dat").exists()


def test_a_body_without_end_is_stopped_at_the_limit(tmp_path):
    def endless(handler, body):
        handler.send_response(200)
        handler.end_headers()
        handler.close_connection = True
        for _ in range(2000):
            handler.wfile.write(b"x" * 1000)
        return True

    with serving(Site({NAME: BODY})) as site, Server(FAST) as server:
        site.always[NAME] = endless
        job = Job(f"{site.url}/{NAME}", tmp_path / "100.dat", "0" * 64, limit=100_000)
        with pytest.raises(FileError, match=r"over the limit of 100\.0 kB"):
            fetch(server, job, lambda n: None)
    assert left(tmp_path) == []


def test_another_part_than_asked_for_starts_the_file_anew(tmp_path):
    def wrong_part(handler, body):
        handler.reply(206, body[5:], {"Content-Range": f"bytes 5-{len(body) - 1}/{len(body)}"})
        return True

    leave_part(tmp_path, BODY[:1000], strong(BODY))
    with one_file(tmp_path) as (site, run):
        site.faults[NAME] = [wrong_part]
        run()
    assert (tmp_path / "100.dat").read_bytes() == BODY


def test_an_absent_file_is_named(tmp_path):
    with one_file(tmp_path) as (site, run):
        del site.files[NAME]
        with pytest.raises(
            FileError, match=r"/mitdb/1\.0\.0/100\.dat is not on the server \(404\)"
        ):
            run()
    assert not (tmp_path / "100.dat").exists()


def test_a_refusal_is_not_asked_again(tmp_path):
    with one_file(tmp_path) as (site, run):
        site.always[NAME] = status(403)
        with pytest.raises(DownloadError, match=r"refuses \(403\)"):
            run()
    assert len(site.bodies()) == 1


def test_a_web_page_in_place_of_a_file_is_told(tmp_path):
    with one_file(tmp_path) as (site, run):
        site.everywhere = html
        with pytest.raises(DownloadError, match="a web page in place of the file: log in"):
            run()
    assert not (tmp_path / "100.dat").exists()


def test_a_compressed_copy_is_told(tmp_path):
    def compressed(handler, body):
        handler.reply(200, body, {"Content-Encoding": "gzip"})
        return True

    with one_file(tmp_path) as (site, run):
        site.always[NAME] = compressed
        with pytest.raises(DownloadError, match="comes compressed"):
            run()


def test_a_redirect_to_the_file_is_followed(tmp_path):
    with one_file(tmp_path) as (site, run):
        site.files["moved/100.dat"] = BODY
        site.always[NAME] = status(302, Location="/files/moved/100.dat")
        run()
    assert (tmp_path / "100.dat").read_bytes() == BODY


def test_a_redirect_to_a_login_page_is_told_with_its_address(tmp_path):
    with one_file(tmp_path) as (site, run):
        site.files["login"] = HTML
        site.always["login"] = html
        site.always[NAME] = status(302, Location="/files/login")
        with pytest.raises(DownloadError, match=r"redirected to http://127.*/files/login"):
            run()


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x"])
def test_a_redirect_to_something_else_than_http_is_refused(tmp_path, location):
    with one_file(tmp_path) as (site, run):
        site.always[NAME] = status(302, Location=location)
        with pytest.raises(DownloadError, match="which is not followed"):
            run()


def test_a_redirect_without_end_is_refused(tmp_path):
    with one_file(tmp_path) as (site, run):
        site.always[NAME] = status(302, Location=f"/files/{NAME}")
        with pytest.raises(DownloadError, match="redirects without end"):
            run()
    assert len(site.bodies()) == 6


def test_no_network_is_told_soon(tmp_path):
    with serving(Site({})) as site:
        url = f"{site.url}/{NAME}"
    with Server(Settings(backoff=0.001)) as server:
        job = Job(url, tmp_path / "100.dat", "0" * 64)
        with pytest.raises(DownloadError, match=r"host cannot be reached .*3 times in a row"):
            fetch(server, job, lambda n: None)


def test_an_address_that_is_not_http_is_refused(tmp_path):
    with Server(FAST) as server:
        job = Job("ftp://127.0.0.1/x", tmp_path / "100.dat", "0" * 64)
        with pytest.raises(DownloadError, match="no http or https address"):
            fetch(server, job, lambda n: None)


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "The disk is full.*it resumes"),
        (errno.EACCES, "No permission to write .*--data"),
        (errno.EROFS, "No permission to write .*--data"),
        (errno.EIO, "cannot be read or written"),
    ],
)
def test_what_the_disk_refuses_is_told_in_a_sentence(tmp_path, monkeypatch, number, sentence):
    def refuse(self, chunk):
        raise OSError(number, "refused")

    with one_file(tmp_path) as (_, run):
        monkeypatch.setattr(transfer.Part, "append", refuse)
        with pytest.raises(DownloadError, match=sentence):
            run()
    assert not (tmp_path / "100.dat").exists()


def test_after_a_full_disk_the_same_file_goes_on(tmp_path, monkeypatch):
    append = transfer.Part.append

    def full_at_half(self, chunk):
        if self.size > 100_000:
            raise OSError(errno.ENOSPC, "full")
        append(self, chunk)

    with one_file(tmp_path) as (site, run):
        with monkeypatch.context() as patch:
            patch.setattr(transfer.Part, "append", full_at_half)
            with pytest.raises(DownloadError):
                run()
        held = (tmp_path / "100.dat.part").stat().st_size
        run()
    assert site.bodies()[1].range == f"bytes={held}-"
    assert (tmp_path / "100.dat").read_bytes() == BODY


def test_a_part_that_is_a_link_is_not_written_through(tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    folder = tmp_path / "mitdb"
    folder.mkdir()
    (folder / "100.dat.part").symlink_to(victim)
    with one_file(folder) as (_, run), pytest.raises(DownloadError, match="something else stands"):
        run()
    assert victim.read_bytes() == b"mine"


def test_a_folder_under_the_final_name_is_told(tmp_path):
    (tmp_path / "100.dat").mkdir()
    with one_file(tmp_path) as (_, run), pytest.raises(DownloadError, match="something else"):
        run()
