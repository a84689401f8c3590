"""Truths of the six tasks, and their digests."""

from __future__ import annotations

import pytest
from wfdb_files import annotation_bytes

from ecgscroll.catalogue.truths import Truth, build_truth
from ecgscroll.errors import ConfigError, DataError
from ecgscroll.records.annotations import parse_annotations
from ecgscroll.records.reference import build_reference

T = 100.0


def truth(task: str, notes: list[tuple[int, str, str]], **options) -> Truth:
    parsed = parse_annotations(annotation_bytes(notes), "r.atr", 100.0)
    return build_truth(task, build_reference(parsed, None, T), T, **options)


AF = [(100, "+", "(N"), (2000, "+", "(AFIB"), (3000, "+", "(N"), (9000, "+", "(AFL")]


def test_af_tasks():
    assert truth("episode_detection", AF).value == ((20, 30), (90, 100))
    assert truth("af_burden", AF).value == pytest.approx(0.2)
    assert truth("af_burden", AF).events == ((20, 30), (90, 100))
    assert truth("change_detection", AF) == Truth(20.0, ((20.0, 20.0),))


@pytest.mark.parametrize(("first", "onset"), [(0, 0), (70, 0), (200, 0), (201, 2.01), (3000, 30)])
def test_recording_starts_in_af_if_its_first_beats_are_marked_so(first, onset):
    assert truth("change_detection", [(first, "+", "(AFIB"), (5000, "+", "(N")]).value == onset


def test_recording_without_af_has_no_change_but_an_empty_list_of_episodes():
    notes = [(100, "+", "(N")]
    assert truth("episode_detection", notes).value == ()
    assert truth("af_burden", notes).value == 0
    with pytest.raises(DataError, match="no AF episode"):
        truth("change_detection", notes)


def test_pvc_burden_is_a_share_of_beats_alone():
    notes = [(1, "N", ""), (2, "~", ""), (3, "V", ""), (4, "|", ""), (5, "E", ""), (6, "N", "")]
    found = truth("pvc_burden", notes)
    assert found.value == 0.5
    assert found.events == ((0.03, 0.03), (0.05, 0.05))


@pytest.mark.parametrize("count", [1, 30])
def test_rare_event_is_the_first_of_1_to_30(count):
    notes = [(1, "N", "")] + [(10 + i, "V", "") for i in range(count)]
    assert truth("rare_event", notes) == Truth(0.1, ((0.1, 0.1),))


@pytest.mark.parametrize("count", [0, 31])
def test_none_or_more_than_30_are_no_rare_event(count):
    with pytest.raises(DataError, match=f"{count} ventricular"):
        truth("rare_event", [(1, "N", "")] + [(10 + i, "V", "") for i in range(count)])


ST = [
    (100, "s", "(ST0+"),
    (200, "s", "(ST1-"),
    (300, "s", "ST0+)"),
    (400, "s", "ST1-)"),
    (800, "s", "(ST0+"),
]


def test_ischemia_is_the_union_over_leads_with_the_episodes_of_each_beside():
    found = truth("ischemia", ST)
    assert found.value == found.events == ((1, 4), (8, 100))
    assert [(e.lead, e.start, e.stop) for e in found.details] == [(0, 1, 3), (1, 2, 4), (0, 8, 100)]


def test_only_an_excerpt_has_unfinished_episodes():
    assert truth("ischemia", ST, excerpt=False).value == ((1, 4),)


@pytest.mark.parametrize(
    ("task", "notes"),
    [("af_burden", [(1, "N", "")]), ("pvc_burden", AF), ("ischemia", AF), ("rare_event", AF)],
)
def test_annotations_of_another_kind_cannot_answer(task, notes):
    with pytest.raises(DataError, match="carry no"):
        truth(task, notes)


def test_unknown_task_is_said():
    with pytest.raises(ConfigError, match="no task"):
        truth("flutter", AF)


def test_digest_sees_10_ms_and_nothing_finer():
    one = Truth(((1.0, 2.0),), ((1.0, 2.0),))
    assert one.digest() == Truth(((1.003, 2.0),), ((1.0, 2.0),)).digest()
    assert one.digest() != Truth(((1.01, 2.0),), ((1.0, 2.0),)).digest()
    assert Truth(0.5, ()).digest() != Truth(0.500001, ()).digest()


def test_digest_does_not_change_from_one_version_to_the_next():
    found = Truth(((1.0, 2.5),), ((1.0, 2.5),)).digest()
    assert found.startswith("a4f4d2e2")
