from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecgscroll.errors import ConfigError, DataError
from ecgscroll.evaluation.config import RunConfig, digest_of
from ecgscroll.evaluation.folder import RunFolder, read_rows, write_rows

ONE = "af_burden/d/1"
CONFIG = RunConfig(policy="rule", instances=(ONE, "af_burden/d/2"), data="0")


ROW = {
    "task": "af_burden", "database": "d", "patient": "p", "duration_s": 9.0, "cursor_s": 9.0,
    "ended": "finish", "error": None, "truth": 0.5, "score": 0.5, "answer": None,
    **dict.fromkeys(("steps", "skims", "measures", "writes", "rewinds", "errors"), 0),
}  # fmt: skip


def start(name, config=CONFIG):
    return json.dumps({"instance": name, "config": config.digest()}) + "\n"


def end(name, **row):
    row = ROW | {"instance": name} | row
    return json.dumps({"row": row, "ledger": [], "latency": None, "events": []})


@pytest.fixture
def folder(tmp_path):
    """A run's folder that has begun."""
    begun = RunFolder(tmp_path)
    begun.begin(CONFIG, {})
    begun.episodes.mkdir()
    return begun


def test_an_episode_is_read_from_its_last_line(folder):
    text = start(ONE) + "{}\n" * 3 + end(ONE, score=0.5) + "\n"
    folder.episode_path(ONE).write_text(text)
    assert folder.row(ONE)["score"] == 0.5


def test_a_last_line_longer_than_a_block_is_read_whole(folder):
    long = "x" * 300_000
    text = start(ONE) + end(ONE, answer=long) + "\n"
    folder.episode_path(ONE).write_text(text)
    assert folder.row(ONE)["answer"] == long


@pytest.mark.parametrize(
    "text",
    [
        "", "\n", "{", '{"row": {}}\n', end("af_burden/d/2"), "[1]\n", "null", "[" * 100_000,
        '{"row": {"instance": "af_burden/d/1", "error": null}}',
        end(ONE).replace("ledger", "leger"), end(ONE)[:-30],
    ],
)  # fmt: skip
def test_what_is_no_end_of_this_episode_counts_as_not_played(folder, text):
    folder.episode_path(ONE).write_text(start(ONE) + text)
    assert folder.row(ONE) is None


def test_a_transcript_of_another_configuration_counts_as_not_played(folder):
    other = RunConfig(policy="other", instances=CONFIG.instances, data="0")
    folder.episode_path(ONE).write_text(start(ONE, other) + end(ONE))
    assert folder.row(ONE) is None


def test_an_episode_that_is_not_there_counts_as_not_played(folder):
    assert folder.row(ONE) is None


def test_an_edited_configuration_is_damaged(folder):
    target = folder.path / "config.json"
    target.write_text(target.read_text().replace('"seed": 0', '"seed": 1'))
    with pytest.raises(DataError, match="edited since the run began"):
        folder.config()


@given(st.lists(st.lists(st.text(min_size=1, max_size=8), min_size=3, max_size=3), max_size=5))
def test_no_two_instances_share_a_file(tmp_path_factory, parts):
    names = {"/".join(p.replace("/", "") or "x" for p in triple) for triple in parts}
    folder = RunFolder(tmp_path_factory.getbasetemp())
    files = {folder.episode_path(name) for name in names}
    assert len(files) == len(names)
    assert all(file.parent == folder.episodes for file in files)


def test_a_folder_in_use_is_refused(tmp_path):
    def enter():
        with RunFolder(tmp_path).locked():
            return True

    with RunFolder(tmp_path).locked(), pytest.raises(ConfigError, match="Another run is under way"):
        enter()
    assert enter()


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be used"), RunFolder(tmp_path / "file").locked():
        pass


def test_another_configuration_is_refused_and_the_difference_named(tmp_path):
    folder = RunFolder(tmp_path)
    folder.begin(CONFIG, {})
    folder.begin(CONFIG, {"commit": "another"})
    other = RunConfig(policy="rule", instances=CONFIG.instances, data="0", dx="signal", seed=4)
    with pytest.raises(ConfigError, match=r'dx was null, now "signal"; seed was 0, now 4'):
        folder.begin(other, {})
    assert folder.config() == CONFIG


@pytest.mark.parametrize("text", ["", "{}", '{"config": {"policy": "rule"}}', "[]", "\x00"])
def test_a_damaged_configuration_is_a_sentence(tmp_path, text):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(DataError, match="damaged"):
        RunFolder(tmp_path).config()


@pytest.mark.parametrize(
    "changes",
    [
        {"instances": [1]}, {"instances": ["one"]}, {"policy": None}, {"rollouts": "2"},
        {"rollouts": 0}, {"options": [1]}, {"fingerprint": 3}, {"bootstrap_seed": "x"},
    ],
)  # fmt: skip
def test_a_configuration_of_other_types_is_damaged(tmp_path, changes):
    config = {**CONFIG.to_dict(), **changes}
    stored = {"config": config, "digest": digest_of(config), "provenance": {}}
    (tmp_path / "config.json").write_text(json.dumps(stored))
    with pytest.raises(DataError, match="damaged"):
        RunFolder(tmp_path).config()


def test_a_run_of_another_version_is_named_not_damaged(tmp_path):
    config = {**CONFIG.to_dict(), "version": "9.1.0", "mood": "calm"}
    stored = {"config": config, "digest": digest_of(config), "provenance": {}}
    (tmp_path / "config.json").write_text(json.dumps(stored))
    with pytest.raises(DataError, match=r"holds a run of ecgscroll 9\.1\.0, which this version"):
        RunFolder(tmp_path).begin(CONFIG, {})


def test_a_note_cut_short_does_not_swallow_the_next(folder):
    (folder.path / "timing.jsonl").write_text('{"seconds": 1}\n{"seco')
    folder.sweep()
    folder.append_timing({"seconds": 2})
    assert folder.timing() == [{"seconds": 1}, {"seconds": 2}]


def test_a_folder_without_a_run_says_so(tmp_path):
    with pytest.raises(DataError, match="holds no run"):
        RunFolder(tmp_path).config()


def test_rows_come_back(tmp_path):
    rows = [{"instance": "a", "score": 0.1}, {"instance": "b", "score": None}]
    write_rows(tmp_path / "rows.jsonl", rows)
    assert read_rows(tmp_path / "rows.jsonl") == rows
    (tmp_path / "rows.jsonl").write_text("{")
    with pytest.raises(DataError, match="cannot be read"):
        read_rows(tmp_path / "rows.jsonl")


def test_half_written_files_are_swept(folder, tmp_path):
    left = folder.episodes / ".t+d+1.jsonl.abc.part"
    left.write_text("half")
    others = tmp_path / "another" / "episodes" / ".t+d+1.jsonl.abc.part"
    others.parent.mkdir(parents=True)
    others.write_text("under way")
    folder.sweep()
    assert not left.exists()
    assert others.exists()
