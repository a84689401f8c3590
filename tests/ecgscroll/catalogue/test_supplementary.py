"""Truths of the supplementary tasks, and where they are listed."""

from __future__ import annotations

import pytest
from wfdb_files import annotation_bytes, write_record

from ecgscroll.catalogue.core_set import core_rows
from ecgscroll.catalogue.instances import get_instance, list_instances
from ecgscroll.catalogue.truths import build_truth
from ecgscroll.errors import DataError
from ecgscroll.records.annotations import parse_annotations
from ecgscroll.records.reference import build_reference
from ecgscroll.scoring.exploits import find_breaches
from ecgscroll.scoring.floors import oracle_ledger
from ecgscroll.scoring.verifiers import verify
from ecgscroll.tasks import TASKS

T = 100.0
EXTRA = [name for name, task in TASKS.items() if task.supplementary]
RHYTHMS = [(0, "+", "(N"), (1000, "+", "(AFL"), (2000, "+", "(AFIB"), (3000, "+", "(BII"),
           (4000, "+", "(VT"), (4200, "+", "(B"), (5000, "+", "(N")]  # fmt: skip


def truth(task, notes):
    parsed = parse_annotations(annotation_bytes(notes), "r.atr", 100.0)
    return build_truth(task, build_reference(parsed, None, T), T)


@pytest.mark.parametrize(
    ("task", "spans"),
    [
        ("flutter_detection", ((10, 20),)),
        ("av_block", ((30, 40),)),
        ("vt_detection", ((40, 42),)),
        ("bigeminy", ((42, 50),)),
    ],
)
def test_a_rhythm_lasts_from_its_note_to_the_next(task, spans):
    assert truth(task, RHYTHMS).value == truth(task, RHYTHMS).events == spans


def test_bbb_burden_is_a_share_of_beats_and_its_events_are_runs():
    beats = [(100, "N"), (200, "L"), (300, "L"), (400, "V"), (500, "R"), (550, "~"), (600, "/")]
    found = truth("bbb_burden", [(at, symbol, "") for at, symbol in beats])
    assert found.value == 0.5
    assert found.events == ((2, 3), (5, 5))


def pauses(*between, gap=200):
    notes = [(100, "N", ""), *between, (100 + gap, "N", ""), (400 + gap, "V", "")]
    return truth("pause_detection", notes).value


def test_a_pause_is_two_seconds_from_beat_to_beat_and_touching_ones_are_one():
    assert pauses(gap=199) == ((2.99, 5.99),)
    assert pauses(gap=200) == ((1, 6),)


@pytest.mark.parametrize(
    "mark", [(150, "~", ""), (150, "[", ""), (150, "!", ""), (150, '"', "MISSB"), (150, '"', "MB")]
)
def test_no_pause_where_a_beat_may_be_hidden(mark):
    assert pauses(mark) == ((3, 6),)


@pytest.mark.parametrize("mark", [(150, '"', "PSE"), (150, "x", ""), (150, "+", "(SBR")])
def test_other_notes_do_not_break_a_pause(mark):
    assert pauses(mark) == ((1, 6),)


def test_an_interval_over_ten_seconds_is_no_pause():
    assert pauses(gap=1001) == ((11.01, 14.01),)


def test_a_kind_that_is_not_annotated_cannot_answer():
    with pytest.raises(DataError, match="carry no"):
        truth("flutter_detection", [(100, "N", "")])
    with pytest.raises(DataError, match="carry no"):
        truth("pause_detection", [(100, "+", "(N")])


def test_any_folder_lists_a_supplementary_task_where_its_event_occurs(tmp_path):
    for name, notes in (("a", RHYTHMS), ("b", RHYTHMS[:1])):
        lines = [f"{name}.dat 16"]
        folder = write_record(
            tmp_path / "mine", name, lines, 10_000, {f"{name}.dat": bytes(20_000)}
        )
        (folder / f"{name}.atr").write_bytes(annotation_bytes(notes))
    for read in (True, False):
        found = list_instances(tmp_path, "supplementary", EXTRA, truth=read)
        assert [one.id for one in found] == [
            f"{task}/mine/a" for task in EXTRA if TASKS[task].kind == "rhythm"
        ]
    assert get_instance("flutter_detection/mine/b", tmp_path).truth.value == ()


def test_the_core_has_none():
    assert len(core_rows()) == 390
    assert not {name.partition("/")[0] for name in core_rows()} & set(EXTRA)


@pytest.mark.real
def test_the_real_annotations_hold_these_events(data):
    found = list_instances(data, "supplementary", EXTRA)
    counts = {
        task: (len(own), sum(len(one.truth.events) for one in own))
        for task in EXTRA
        for own in [[one for one in found if one.task == task]]
    }
    assert counts == {
        "flutter_detection": (11, 59),
        "av_block": (1, 5),
        "vt_detection": (49, 892),
        "bigeminy": (35, 2919),
        "bbb_burden": (10, 915),
        "pause_detection": (55, 5738),
    }
    for task in EXTRA:
        one = next(one for one in found if one.task == task)
        assert not list(find_breaches(one))
        assert TASKS[task].answer == "burden" or verify(one, oracle_ledger(one)).value == 1
