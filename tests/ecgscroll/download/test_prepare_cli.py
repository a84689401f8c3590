"""``ecgscroll prepare`` as a user meets it: what it says, and what a kill leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import typer
from fake_physionet import Site, corrupt, database, serving
from typer.testing import CliRunner

from ecgscroll.cli.prepare import prepare
from ecgscroll.errors import ConfigError, DownloadError

MITDB = "mitdb/1.0.0"
AFDB = "afdb/1.0.0"
ICENTIA = "icentia11k-continuous-ecg/1.0"
FULL = ("hea", "dat", "atr")
COMMAND = "import typer; from ecgscroll.cli.prepare import prepare; typer.run(prepare)"
app = typer.Typer()
app.command()(prepare)


@pytest.fixture
def site():
    files = database(MITDB, {"100": FULL, "101": FULL})
    files |= database(AFDB, {"04015": (*FULL, "qrs"), "00735": ("hea", "atr", "qrs")})
    files |= database(ICENTIA, {"p00/p00000/p00000_s00": FULL}, listed="p00/p00000/\n")
    with serving(Site(files)) as site:
        yield site


def invoke(site, folder, *arguments):
    """A run; an error of the user's is raised."""
    options = ["--data", str(folder), "--base-url", site.url]
    result = CliRunner().invoke(app, [*arguments, *options])
    if result.exception:
        raise result.exception
    return result


def run(site, folder, *arguments):
    """Standard output of a run."""
    return invoke(site, folder, *arguments).stdout


def names(folder):
    return sorted(p.name for p in folder.rglob("*") if p.is_file() and not p.name.startswith("."))


def test_it_says_what_is_there_and_what_to_do_next(site, tmp_path):
    out = run(site, tmp_path, "mitdb", "afdb")
    assert f"{tmp_path}/mitdb/: 2 records, 6 files," in out
    assert f"{tmp_path}/afdb/: 2 records, 7 files," in out
    command = "ecgscroll run --policy rule --dx none --databases mitdb,afdb --data"
    assert f"Next: {command} {tmp_path} --out runs/rule" in out


def test_annotations_alone_are_run_with_reference_labels(site, tmp_path):
    out = run(site, tmp_path, "mitdb", "--annotations-only")
    assert "--dx reference" in out
    assert not [name for name in names(tmp_path) if name.endswith(".dat")]


def test_a_database_outside_the_core_is_listed_next(site, tmp_path):
    out = run(site, tmp_path, "icentia11k", "--patients", "0")
    assert f"Next: ecgscroll instances --data {tmp_path} --set supplementary" in out
    assert (tmp_path / "icentia11k/p00/p00000/p00000_s00.dat").is_file()


def test_the_size_is_said_before_the_start(site, tmp_path):
    result = invoke(site, tmp_path, "mitdb")
    size = sum(len(v) for k, v in site.files.items() if k.startswith(f"{MITDB}/10"))
    assert f"mitdb 1.0.0: 2 records; fetching 6 files, {size / 1000:.1f} kB" in result.stderr


def test_json_is_all_of_standard_output(site, tmp_path):
    summary = json.loads(run(site, tmp_path, "mitdb", "--records", "101", "--json"))
    assert summary["next"].startswith("ecgscroll run")
    (row,) = summary["databases"]
    assert (row["database"], row["version"], row["records"], row["files"]) == (
        "mitdb",
        "1.0.0",
        1,
        3,
    )
    assert row["fetched"]["files"] == 3


def test_a_second_run_says_that_all_is_there(site, tmp_path):
    run(site, tmp_path, "mitdb")
    said = invoke(site, tmp_path, "mitdb").stderr
    assert "mitdb 1.0.0: 2 records, 6 files already there, nothing to fetch" in said


def test_a_file_that_differs_is_said_to_be_replaced(site, tmp_path):
    run(site, tmp_path, "mitdb")
    (tmp_path / "mitdb" / "100.atr").write_bytes(b"own notes")
    said = invoke(site, tmp_path, "mitdb", "--dry-run").stderr
    assert "5 files already there, 1 file to replace, not matching the checksum" in said
    assert "would fetch 1 file," in said
    assert (tmp_path / "mitdb" / "100.atr").read_bytes() == b"own notes"


def test_a_dry_run_says_what_would_be_fetched(site, tmp_path):
    summary = json.loads(run(site, tmp_path / "data", "mitdb", "--dry-run", "--json"))
    assert summary["databases"][0]["to_fetch"]["files"] == 6
    assert not (tmp_path / "data").exists()


def test_the_environment_moves_host_and_data(site, tmp_path, monkeypatch):
    monkeypatch.setenv("ECGSCROLL_BASE_URL", site.url)
    monkeypatch.setenv("ECGSCROLL_DATA", str(tmp_path))
    result = CliRunner().invoke(app, ["mitdb", "--records", "100"])
    assert result.exit_code == 0
    assert (tmp_path / "mitdb" / "100.dat").is_file()


def test_a_terabyte_is_refused_before_the_server_is_asked(site, tmp_path):
    with pytest.raises(DownloadError, match=r"about 1\.1 TB"):
        run(site, tmp_path, "icentia11k")
    assert site.log == []


def test_an_unknown_database_is_told_before_the_server_is_asked(site, tmp_path):
    with pytest.raises(ConfigError, match="cannot fetch 'nosuchdb'"):
        run(site, tmp_path, "mitdb", "nosuchdb")
    assert site.log == []


def test_records_of_two_databases_are_ambiguous(site, tmp_path):
    with pytest.raises(ConfigError, match="one database at a time"):
        run(site, tmp_path, "mitdb", "afdb", "--records", "100")


def test_files_that_could_not_be_had_are_named_at_the_end(site, tmp_path):
    site.always[f"{MITDB}/100.dat"] = corrupt
    with pytest.raises(
        DownloadError, match=r"(?s)100\.dat differs from its checksum.*1 file could"
    ):
        run(site, tmp_path, "mitdb")
    assert "101.dat" in names(tmp_path)


def start(site, folder):
    arguments = ["mitdb", "--data", str(folder), "--base-url", site.url, "--connections", "2"]
    environment = os.environ | {"NO_PROXY": "127.0.0.1"}
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def kill(site, process):
    process.send_signal(signal.SIGKILL)
    process.communicate()
    site.settle()


def wait_for(process, condition):
    while not condition() and process.poll() is None:
        time.sleep(0.001)
    assert process.poll() is None, process.communicate()[0]


def slow_site():
    records = {str(name): FULL for name in range(100, 104)}
    return Site(database(MITDB, records, size=100_000), pause=0.003, piece=4096)


def test_killed_at_any_point_it_ends_as_a_clean_run(tmp_path):
    with serving(slow_site()) as site:
        size = sum(map(len, site.files.values()))
        for share in (0.0001, 0.05, 0.3, 0.6, 0.85):
            process = start(site, tmp_path)
            wait_for(process, lambda share=share: site.total >= share * size)
            kill(site, process)
            complete = {f"{MITDB}/{name}" for name in names(tmp_path) if name[-3:] in FULL}
            site.log.clear()
        process = start(site, tmp_path)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, out
    expected = {k.removeprefix(f"{MITDB}/"): v for k, v in site.files.items() if "htm" not in k}
    assert {name: (tmp_path / "mitdb" / name).read_bytes() for name in names(tmp_path)} == expected
    asked = [request.path for request in site.bodies()]
    assert complete
    assert not complete & set(asked)
    assert len(asked) == len(set(asked))


def test_what_had_come_before_a_kill_is_not_asked_for_again(tmp_path):
    part = tmp_path / "mitdb" / "100.dat.part"
    with serving(slow_site()) as site:
        process = start(site, tmp_path)
        wait_for(process, lambda: part.exists() and part.stat().st_size > 20_000)
        kill(site, process)
        held = part.stat().st_size
        site.log.clear()
        start(site, tmp_path).communicate(timeout=60)
    (request,) = site.bodies(f"{MITDB}/100.dat")
    assert request.range == f"bytes={held}-"
    assert request.sent == len(site.files[f"{MITDB}/100.dat"]) - held


def test_an_interrupt_ends_it_at_once_and_it_resumes(tmp_path):
    with serving(slow_site()) as site:
        process = start(site, tmp_path)
        wait_for(process, lambda: site.total > 20_000)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=10)
        assert process.returncode == 130, out
        assert "Traceback" not in out
        run(site, tmp_path, "mitdb")
    assert len([name for name in names(tmp_path) if name.endswith(FULL)]) == 12


def test_two_at_once_do_not_spoil_one_another(tmp_path):
    with serving(slow_site()) as site:
        process = start(site, tmp_path)
        wait_for(process, lambda: site.total > 20_000)
        with pytest.raises(DownloadError, match="Another `ecgscroll prepare` is fetching mitdb"):
            run(site, tmp_path, "mitdb")
        process.communicate(timeout=60)
    assert process.returncode == 0
    asked = [request.path for request in site.bodies()]
    assert len(asked) == len(set(asked))
