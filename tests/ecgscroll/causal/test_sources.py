"""Opened recordings are shared in a process, by file; a changed file is another recording."""

from __future__ import annotations

import os
import pickle
import shutil
import tracemalloc

import pytest

import ecgscroll
from ecgscroll.causal import sources
from ecgscroll.causal.sources import MAX_OPEN, open_source

AF = "episode_detection/synth/paf01"


def copy_of(synth_data, folder):
    folder.mkdir()
    for file in (synth_data / "synth").glob("paf01.*"):
        shutil.copy(file, folder)
    return folder


def test_one_recording_is_opened_once(synth_data):
    folder = synth_data / "synth"
    assert open_source(folder, "paf01", "synth") is open_source(folder, "paf01", "synth")


def test_other_af_labels_are_another_source(synth_data):
    folder = synth_data / "synth"
    other = open_source(folder, "paf01", "synth", ("AFIB",))
    assert other is not open_source(folder, "paf01", "synth")


def test_a_changed_file_is_opened_anew(synth_data, tmp_path):
    folder = copy_of(synth_data, tmp_path / "mine")
    first = open_source(folder, "paf01", "mine")
    os.utime(folder / "paf01.dat", ns=(1, 1))
    assert open_source(folder, "paf01", "mine") is not first


def test_only_a_few_stay_open(synth_data, tmp_path):
    for number in range(MAX_OPEN + 3):
        open_source(copy_of(synth_data, tmp_path / f"m{number}"), "paf01", f"m{number}")
    assert len(sources._open) == MAX_OPEN


def test_a_pickle_is_small_and_shares_what_its_process_has(synth_data):
    source = open_source(synth_data / "synth", "paf01", "synth")
    data = pickle.dumps(source)
    assert len(data) < 1000
    assert pickle.loads(data) is source


@pytest.mark.real
def test_another_environment_on_a_recording_costs_under_5_mb(data):
    def walk():
        env = ecgscroll.make("af_burden/ltafdb_1h/01", data=data, dx="signal")
        env.reset()
        env.step({"name": "skim", "arguments": {"duration": 1800}})
        window = {"tool": "classify_rhythm", "t0": 0, "t1": 1800}
        env.step({"name": "measure", "arguments": window})
        return env

    first = walk()
    tracemalloc.start()
    second = [walk() for _ in range(3)]
    held = tracemalloc.get_traced_memory()[0] / len(second)
    tracemalloc.stop()
    assert first.total == second[0].total
    assert held < 5e6
