"""Records on disk: WFDB reads them whole, the same seed writes the same bytes."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import wfdb

from ecgscroll.catalogue.instances import list_instances
from ecgscroll.errors import ConfigError, DataError
from ecgscroll.records.recording import Recording
from ecgscroll.records.reference import load_reference
from ecgscroll.synth import (
    RecordPlan,
    default_data,
    default_records,
    preset,
    synthesize,
    write_database,
    write_record,
)
from ecgscroll.tasks import TASKS

SUFFIXES = ("dat", "atr", "hea")


def content(folder, name):
    return [(folder / f"{name}.{suffix}").read_bytes() for suffix in SUFFIXES]


@pytest.fixture(scope="module")
def config():
    mixed = preset("holter", 3, 900.0)
    return replace(mixed, noise=replace(mixed.noise, lead_off_per_h=20.0))


@pytest.fixture(scope="module")
def folder(tmp_path_factory, config):
    path = tmp_path_factory.mktemp("db")
    write_record(path, "r1", config, 3)
    return path


def test_the_same_seed_writes_the_same_bytes_at_any_chunk_size(folder, config, tmp_path):
    write_record(tmp_path, "r1", config, 3, chunk_s=13.7)
    assert content(tmp_path, "r1") == content(folder, "r1")


def test_another_seed_writes_other_bytes(folder, config, tmp_path):
    write_record(tmp_path, "r1", config, 4)
    assert all(a != b for a, b in zip(content(tmp_path, "r1"), content(folder, "r1"), strict=True))


def test_wfdb_reads_the_samples_to_half_a_step(folder, config):
    record = wfdb.rdrecord(str(folder / "r1"))
    signal = synthesize(config, 3).read(0, config.n_samples).T
    assert record.sig_name == ["MLII", "V5"]
    assert record.units == ["mV", "mV"]
    assert (record.fs, record.sig_len) == (250, 900 * 250)
    assert (np.isnan(record.p_signal) == np.isnan(signal)).all()
    assert np.isnan(signal).any()
    assert np.nanmax(np.abs(record.p_signal - signal)) < 0.0026


def test_the_header_carries_the_right_checksums(folder):
    record = wfdb.rdrecord(str(folder / "r1"), physical=False)
    sums = record.d_signal.astype(np.int64).sum(axis=0) % 65536
    assert [value % 65536 for value in record.checksum] == sums.tolist()
    assert record.init_value == record.d_signal[0].tolist()


def test_the_header_says_that_it_is_synthetic_and_from_which_seed(folder):
    comments = " ".join(wfdb.rdheader(str(folder / "r1")).comments)
    assert "synthetic" in comments
    assert "seed 3" in comments


def test_the_annotations_are_the_plan(folder, config):
    notes = wfdb.rdann(str(folder / "r1"), "atr")
    plan = synthesize(config, 3).plan
    rhythm = [
        (int(sample), aux)
        for sample, symbol, aux in zip(notes.sample, notes.symbol, notes.aux_note, strict=True)
        if symbol == "+"
    ]
    assert rhythm == list(plan.rhythm)
    symbol = np.array(notes.symbol)
    assert set(notes.sample[symbol == "V"]) <= set(plan.sample[plan.kind == 2])
    assert (np.diff(notes.sample) >= 0).all()
    quality = notes.subtype[symbol == "~"]
    assert quality.size >= 2
    assert set(quality.tolist()) <= {0, 0x11, 0x22, 0x33}


def test_the_package_reads_its_own_recordings(folder, config):
    recording = Recording.open(folder, "r1")
    plan = synthesize(config, 3).plan
    reference = load_reference(recording, None)
    assert [(span.start, span.stop) for span in reference.af] == [
        (start / 250, stop / 250) for start, stop in plan.af
    ]
    spans = sorted((e.start, e.stop, e.lead) for e in reference.st)
    assert spans == sorted((e.start / 250, e.stop / 250, e.lead) for e in plan.st)
    assert spans


@pytest.mark.parametrize("name", ["", "../r", "a/b", "a b", "x" * 21])
def test_a_record_name_that_is_no_name_is_refused(tmp_path, config, name):
    with pytest.raises(ConfigError, match="record name"):
        write_record(tmp_path, name, config, 0)


def test_a_folder_that_cannot_be_written_is_said_so(tmp_path, config):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="Cannot write"):
        write_record(tmp_path / "file", "r1", config, 0)


def plans(duration=60.0):
    return [RecordPlan(f"r{seed}", preset("rare", seed, duration), seed) for seed in (1, 2)]


def test_a_complete_database_is_left_alone(tmp_path):
    assert write_database(tmp_path, plans()) == ["r1", "r2"]
    assert write_database(tmp_path, plans()) == []


@pytest.mark.parametrize("damage", ["cut", "gone", "changed"])
def test_a_damaged_record_is_written_again_and_the_others_kept(tmp_path, damage):
    write_database(tmp_path, plans())
    before, file = content(tmp_path, "r2"), tmp_path / "r2.dat"
    data = file.read_bytes()
    file.write_bytes(data[:100] if damage == "cut" else data[:-2] + b"\x01\x02")
    if damage == "gone":
        file.unlink()
    assert write_database(tmp_path, plans()) == ["r2"]
    assert content(tmp_path, "r2") == before


def test_a_folder_of_something_else_is_refused_and_untouched(tmp_path):
    (tmp_path / "100.hea").write_text("100 2 360 650000\n")
    with pytest.raises(DataError, match="other files"):
        write_database(tmp_path, plans())
    assert [path.name for path in tmp_path.iterdir()] == ["100.hea"]


def test_another_request_is_refused_unless_it_may_renew(tmp_path):
    write_database(tmp_path, plans())
    with pytest.raises(DataError, match="other files"):
        write_database(tmp_path, plans(61.0)[:1])
    assert write_database(tmp_path, plans(61.0)[:1], renew=True) == ["r1"]
    assert not (tmp_path / "r2.hea").exists()


@pytest.mark.parametrize(
    "manifest", ["", "[]", "{}", '{"files": 3, "records": "x"}', '{"files": {}, "records": 1}']
)
def test_a_broken_manifest_is_not_taken_for_ours(tmp_path, manifest):
    (tmp_path / "synth.json").write_text(manifest)
    with pytest.raises(DataError, match="other files"):
        write_database(tmp_path, plans(), renew=True)


def test_a_manifest_cannot_make_us_delete_outside_the_folder(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("keep")
    folder = tmp_path / "db"
    folder.mkdir()
    files = {"../victim": "0"}
    (folder / "synth.json").write_text(json.dumps({"files": files, "records": "x"}))
    with pytest.raises(DataError):
        write_database(folder, plans(), renew=True)
    assert victim.read_text() == "keep"


@pytest.fixture(scope="module")
def default(tmp_path_factory):
    return default_data(tmp_path_factory.mktemp("default"))


def test_default_data_is_an_hour_in_a_few_megabytes(default):
    files = list((default / "synth").iterdir())
    assert sum(file.stat().st_size for file in files) < 8_000_000
    seconds = sum(plan.config.duration_s for plan in default_records())
    assert 300 <= seconds <= 3600


def test_default_data_carry_every_task(default):
    references = {
        name: load_reference(Recording.open(default / "synth", name), None)
        for name in ("paf01", "paf02", "ectopy01", "rare01", "ischemia01")
    }
    for name in ("paf01", "paf02"):
        assert len(references[name].af) >= 3
        assert references[name].af[0].start > 10
    assert references["ectopy01"].pvc_times().size > 30
    assert 1 <= references["rare01"].pvc_times().size <= 30
    assert {e.lead for e in references["ischemia01"].st} == {0, 1}


def test_default_data_are_reused(default):
    times = {path: path.stat().st_mtime_ns for path in (default / "synth").iterdir()}
    default_data(default)
    assert {path: path.stat().st_mtime_ns for path in (default / "synth").iterdir()} == times


def test_default_data_are_written_once_by_processes_that_start_together(default, tmp_path):
    code = "import sys, ecgscroll.synth as s; s.default_data(sys.argv[1])"
    together = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(3)]
    assert [process.wait() for process in together] == [0, 0, 0]
    names = {path.name for path in (tmp_path / "synth").iterdir()}
    assert names == {path.name for path in (default / "synth").iterdir()}
    for name in names:
        assert (tmp_path / "synth" / name).read_bytes() == (default / "synth" / name).read_bytes()


def test_what_a_killed_process_left_is_cleared_away(tmp_path):
    write_database(tmp_path, plans())
    (tmp_path / "r2.dat").unlink()
    (tmp_path / ".r2.abc").mkdir()
    (tmp_path / ".r2.abc" / "r2.dat").write_bytes(b"half")
    (tmp_path / ".r2.hea.xyz.part").write_bytes(b"half")
    write_database(tmp_path, plans())
    assert not list(tmp_path.glob(".*"))


def test_default_data_give_instances_of_every_core_task(default):
    listed = list_instances(default, set="supplementary")
    tasks = {instance.task for instance in listed}
    assert tasks >= {name for name, task in TASKS.items() if not task.supplementary}
    assert {instance.set for instance in listed} == {"supplementary"}
    assert "episode_detection/synth/paf01" in {instance.id for instance in listed}
    assert {instance.available for instance in listed} == {"signal"}


def test_default_data_killed_half_way_are_completed(default, tmp_path):
    code = (
        "import os, sys\n"
        "import ecgscroll.synth.database as database\n"
        "write = database.write_record\n"
        "def killed(folder, name, *rest, **more):\n"
        "    write(folder, name, *rest, **more)\n"
        "    if name == 'paf02':\n"
        "        os._exit(9)\n"
        "database.write_record = killed\n"
        "database.default_data(sys.argv[1])\n"
    )
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=environment, check=False)
    assert done.returncode == 9
    assert not (tmp_path / "synth" / "rare01.hea").exists()
    default_data(tmp_path)
    for file in (default / "synth").iterdir():
        assert (tmp_path / "synth" / file.name).read_bytes() == file.read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads its memory in /proc")
def test_a_day_is_written_within_bounded_memory(tmp_path):
    # Not getrusage: its maximum is inherited from the process that started this one.
    code = (
        "import sys\n"
        "from ecgscroll.synth import preset, write_record\n"
        "write_record(sys.argv[1], 'day', preset('holter', 5, 86400.0), 5)\n"
        "status = open('/proc/self/status').read()\n"
        "print(status.split('VmHWM:')[1].split()[0])\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    kilobytes = int(subprocess.run(command, capture_output=True, check=True).stdout)
    assert kilobytes < 330_000
    assert (tmp_path / "day.dat").stat().st_size == 2 * 2 * 250 * 86400
    assert Recording.open(tmp_path, "day").duration == 86400.0
