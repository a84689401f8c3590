"""Transcripts that somebody has edited: told in one sentence, and played again by the same run."""

from __future__ import annotations

import json
import math
import shutil

import pytest

from ecgscroll.errors import DataError
from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.evaluation.loading import load_runs
from ecgscroll.evaluation.rescoring import rescore
from ecgscroll.evaluation.spending import RunLimits, Spending

EDITS = {
    "a score in words": ("score", "good"),
    "a score that is none": ("score", math.nan),
    "a task that is none": ("task", "nope"),
    "a length in words": ("duration_s", "long"),
    "a length of ages": ("duration_s", 1e12),
    "no cursor": ("cursor_s", None),
    "steps in words": ("steps", "many"),
    "an end that is none": ("ended", []),
    "no patient": ("patient", None),
    "an account in words": ("usage", "much"),
    "a truth in words": ("truth", "zz"),
}
PARTS = {"ledger": 5, "events": "abc", "latency": [1]}


@pytest.fixture
def edited(finished, tmp_path):
    """Copy the finished run with the last line of its first transcript edited."""

    def edit(**changes):
        copy = RunFolder(tmp_path / "edited")
        shutil.copytree(finished.path, copy.path)
        transcript = copy.episode_path(copy.config().instances[0])
        *lines, last = transcript.read_text().splitlines()
        end = json.loads(last)
        end["row"] |= changes.pop("row", {})
        transcript.write_text("\n".join([*lines, json.dumps({**end, **changes})]) + "\n")
        return copy

    return edit


def assert_told_and_mended(folder, finished, play, tmp_path):
    for read in (lambda: rescore(folder, tmp_path / "new"), lambda: load_runs([folder.path])):
        with pytest.raises(DataError, match=r"cannot be read.*; run it again to mend it"):
            read()
    play(folder.path)
    assert folder.results.read_bytes() == finished.results.read_bytes()
    load_runs([folder.path])


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_row_is_told_and_mended(name, edited, finished, play, tmp_path):
    field, value = EDITS[name]
    assert_told_and_mended(edited(row={field: value}), finished, play, tmp_path)


@pytest.mark.parametrize("name", PARTS)
def test_an_edited_end_is_told_and_mended(name, edited, finished, play, tmp_path):
    assert_told_and_mended(edited(**{name: PARTS[name]}), finished, play, tmp_path)


def test_a_ledger_of_what_is_no_entry_is_told(edited, finished, play, tmp_path):
    assert_told_and_mended(edited(ledger=[1]), finished, play, tmp_path)


@pytest.mark.parametrize(
    "line",
    ['{"usage": "abc"}', '{"usage": {"prompt_tokens": "x"}}', '{"usage": {"cost": NaN}}', "[]", ""],
)
def test_a_damaged_line_of_timing_is_left_out(line, tmp_path):
    good = {"usage": {"requests": 1, "prompt_tokens": 3, "cost": None}}
    (tmp_path / "timing.jsonl").write_text(f"{line}\n{json.dumps(good)}\n")
    notes = RunFolder(tmp_path).timing()
    assert notes == [good]
    spending = Spending(RunLimits(tokens=3))
    for note in notes:
        spending.add(note)
    assert not spending.go_on()
