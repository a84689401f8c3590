"""Labels in seconds: the traps of real annotation files, and what a prefix of them reveals."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wfdb_files import END, annotation_bytes, write_record

from ecgscroll.errors import DataError
from ecgscroll.records.annotations import parse_annotations
from ecgscroll.records.databases import get_card
from ecgscroll.records.recording import Recording
from ecgscroll.records.reference import Reference, build_reference, load_reference

FS, T = 100.0, 100.0


def labels(notes: list[tuple[int, str, str]], base: int = 0, **options) -> Reference:
    parsed = parse_annotations(annotation_bytes(notes), "r.atr", FS)
    return build_reference(parsed, None, T, base, **options)


def spans(found) -> list[tuple[float, float]]:
    return [(span.start, span.stop) for span in found]


def test_rhythm_lasts_to_the_next_rhythm_note_or_the_end():
    found = labels([(100, "+", "(N"), (2000, "+", "(AFIB"), (3000, "+", "(N")])
    assert [(s.label, s.start, s.stop) for s in found.rhythm] == [
        ("N", 1, 20),
        ("AFIB", 20, 30),
        ("N", 30, 100),
    ]
    assert spans(found.af) == [(20, 30)]


def test_trailing_nulls_do_not_hide_af():
    found = labels([(100, "+", "(AFIB\0"), (200, "+", "(N\0\0")])
    assert spans(found.af) == [(1, 2)]


def test_fibrillation_and_flutter_that_touch_are_one_episode():
    notes = [(100, "+", "(AFIB"), (200, "+", "(AFL"), (300, "+", "(AFIB"), (400, "+", "(N")]
    assert spans(labels(notes).af) == [(1, 4)]


def test_fibrillation_alone_may_count_as_af():
    notes = [(100, "+", "(AFIB"), (200, "+", "(AFL"), (300, "+", "(AFIB"), (400, "+", "(N")]
    assert spans(labels(notes, af_labels=("AFIB",)).af) == [(1, 2), (3, 4)]


@pytest.mark.parametrize("note", ["MB", "MISSB", "PSE", "Aux", "\x01 Aux", "TS", ""])
@pytest.mark.parametrize("symbol", ["+", '"', "N"])
def test_note_that_is_no_rhythm_does_not_end_one(note, symbol):
    found = labels([(100, "+", "(AFIB"), (200, symbol, note), (300, "+", "(N")])
    assert spans(found.af) == [(1, 3)]


def test_closing_bracket_ends_a_rhythm_as_in_icentia11k():
    found = labels([(100, "+", "(AFIB"), (200, "+", ")"), (300, "+", "(N"), (400, "+", ")")])
    assert [(s.label, s.start, s.stop) for s in found.rhythm] == [("AFIB", 1, 2), ("N", 3, 4)]


def test_two_rhythm_notes_at_one_sample_leave_the_last():
    found = labels([(100, "+", "(AFIB"), (100, "+", "(N")])
    assert [span.label for span in found.rhythm] == ["N"]
    assert found.af == ()


def test_note_at_or_past_the_end_is_dropped():
    notes = [(9999, "V", ""), (10_000, "V", ""), (10_000, "+", "(AFIB"), (12_000, "V", "")]
    found = labels(notes)
    assert found.beat_times.tolist() == [99.99]
    assert found.rhythm == ()


def test_note_before_the_start_is_dropped():
    parsed = parse_annotations(b"\0\xec\xff\xff\xf0\xff\0\x14" + END, "r.atr", FS)
    assert parsed.sample.tolist() == [-16]
    assert build_reference(parsed, None, T).beat_times.size == 0


def test_marks_that_are_no_beats_are_left_out():
    found = labels([(10, "N", ""), (20, "~", ""), (30, "|", ""), (40, "!", ""), (50, "E", "")])
    assert found.beat_times.tolist() == [0.1, 0.5]
    assert found.beat_symbols.tolist() == ["N", "E"]
    assert found.pvc_times().tolist() == [0.5]


def test_unsorted_annotations_are_put_in_order():
    from wfdb_files import skip, word

    data = word(1, 500) + skip(-300) + word(5, 0) + END
    found = build_reference(parse_annotations(data, "r.atr", FS), None, T)
    assert found.beat_times.tolist() == [2, 5]
    assert found.pvc_times().tolist() == [2]


def test_beats_of_another_file_have_no_types_and_end_where_it_does():
    notes = parse_annotations(annotation_bytes([(100, "+", "(AFIB")]), "r.atr", FS)
    beats = parse_annotations(annotation_bytes([(50, "N", ""), (150, "N", "")]), "r.qrs", FS)
    found = build_reference(notes, beats, T)
    assert found.beat_times.tolist() == [0.5, 1.5]
    assert found.beat_symbols is None
    assert found.pvc_times().size == 0
    assert found.beats_end == 1.5
    assert (found.has_beats, found.has_beat_labels, found.has_rhythm) == (True, False, True)


def st_of(notes: list[tuple[int, str]], base: int = 0):
    found = labels([(at, "s", text) for at, text in notes], base)
    return [(e.lead, e.start, e.stop, e.known_from, e.matched) for e in found.st]


def test_st_episode_runs_from_its_opening_to_its_closing():
    notes = [(100, "(ST0+"), (200, "AST0+150"), (300, "ST0+)")]
    assert st_of(notes) == [(0, 1, 3, 1, True)]
    episode = labels([(at, "s", text) for at, text in notes]).st[0]
    assert (episode.peak_time, episode.peak_mv) == (2.0, 0.15)


def test_st_extremum_in_microvolts_keeps_its_sign_and_the_largest_counts():
    notes = [(100, "(ST1-"), (150, "AST1-100"), (200, "AST1-250"), (250, "AST1-90"), (300, "ST1-)")]
    episode = labels([(at, "s", text) for at, text in notes]).st[0]
    assert (episode.peak_time, episode.peak_mv) == (2.0, -0.25)


def test_st_digit_is_counted_from_the_base_of_the_database():
    assert st_of([(100, "(ST1+"), (300, "ST1+)")], base=1) == [(0, 1, 3, 1, True)]
    assert st_of([(100, "(ST0+"), (300, "ST0+)")], base=1) == []


def test_st_episodes_of_two_leads_overlap():
    notes = [(100, "(ST0+"), (200, "(ST1-"), (300, "ST0+)"), (400, "ST1-)")]
    assert st_of(notes) == [(0, 1, 3, 1, True), (1, 2, 4, 2, True)]


def test_st_episode_under_way_at_the_start_is_revealed_by_its_extremum():
    assert st_of([(500, "AST0+100"), (900, "ST0+)")]) == [(0, 0, 9, 5, False)]


def test_st_episode_under_way_at_the_start_is_revealed_by_its_closing():
    assert st_of([(900, "ST0+)")]) == [(0, 0, 9, 9, False)]


def test_st_episode_without_closing_ends_with_the_recording():
    assert st_of([(900, "(ST0+")]) == [(0, 9, T, 9, False)]


def test_st_extremum_alone_is_an_episode_of_the_whole_excerpt():
    assert st_of([(900, "AST0-100")]) == [(0, 0, T, 9, False)]


def test_st_extremum_within_a_stronger_change_reveals_no_other_episode():
    notes = [(100, "(ST0++"), (200, "AST0+400"), (300, "ST0++)")]
    assert st_of(notes) == [(0, 1, 3, 1, True)]


def test_second_closing_of_an_st_episode_reveals_nothing():
    assert st_of([(100, "(ST0+"), (200, "ST0+)"), (900, "ST0+)")]) == [(0, 1, 2, 1, True)]


def test_second_opening_of_an_st_episode_changes_nothing():
    assert st_of([(100, "(ST0+"), (200, "(ST0+"), (300, "ST0+)")]) == [(0, 1, 3, 1, True)]


@pytest.mark.parametrize(
    "note",
    ["(T0+", "AT0+150", "T0+)", "(T0++", "(SAB", "(SA0+", "(rST0+", "ST", "(ST", "AST0", "(STx+"],
)
def test_t_wave_and_axis_shift_notes_are_no_ischemia(note):
    assert st_of([(100, note)]) == []


def test_st_note_on_a_rhythm_mark_is_no_rhythm():
    found = labels([(100, "+", "(AFIB"), (200, "+", "(ST0+"), (300, "+", "ST0+)")])
    assert spans(found.af) == [(1, T)]
    assert spans(found.st) == [(2, 3)]


def test_what_the_card_says_is_annotated_overrules_what_the_file_holds():
    annotated = {"rhythm": True, "beat_labels": False}
    found = labels([(10, "N", "")], annotated=annotated)
    assert (found.has_rhythm, found.has_beat_labels, found.has_beats) == (True, False, True)
    assert (labels([(10, "N", "")]).has_rhythm, labels([(10, "N", "")]).has_st) == (False, False)


NOTES = (
    "(N (AFIB (AFL (SAB ) MISSB (ST0+ ST0+) AST0+100 AST0+300 (ST0++ ST0++) (ST0- ST0-) (ST1+ "
    "ST1+) AST1-200 (T0+ T0+)"
)
streams = st.lists(
    st.tuples(
        st.integers(0, 1500),
        st.sampled_from(["+", "s", '"', "N", "V", "~"]),
        st.sampled_from(["", *NOTES.split()]),
    ),
    max_size=40,
)


def known_at(found: Reference, k: float):
    def clip(items):
        return [
            (s.label, s.start, min(s.stop, k)) for s in items if s.known_from < k and s.start < k
        ]

    st_known = [
        (e.lead, e.start, min(e.stop, k), [x for x in e.extrema if x[0] < k])
        for e in found.st
        if e.known_from < k
    ]
    beats = found.beat_times < k
    return (
        clip(found.rhythm),
        clip(found.af),
        st_known,
        found.beat_times[beats].tolist(),
        found.pvc_times()[found.pvc_times() < k].tolist(),
    )


@settings(max_examples=400, deadline=None)
@given(streams, st.floats(0.01, T))
def test_what_is_known_at_a_cursor_is_what_annotations_before_it_give(steps, k):
    samples = np.cumsum([step for step, _, _ in steps]).tolist()
    notes = [(int(at), sym, text) for at, (_, sym, text) in zip(samples, steps, strict=True)]
    seen = [note for note in notes if note[0] / FS < k]
    assert known_at(labels(notes), k) == known_at(labels(seen), k)


@settings(max_examples=200, deadline=None)
@given(streams)
def test_spans_are_in_order_within_the_recording_and_do_not_overlap(steps):
    samples = np.cumsum([step for step, _, _ in steps]).tolist()
    found = labels([(int(a), y, x) for a, (_, y, x) in zip(samples, steps, strict=True)])
    for group in (found.rhythm, found.af):
        assert all(0 <= span.start < span.stop <= T for span in group)
        assert all(a.stop <= b.start for a, b in pairwise(group))
    assert all(0 <= e.start <= e.stop <= T and e.start <= e.known_from for e in found.st)


def annotated_record(folder: Path, notes: bytes) -> Recording:
    write_record(folder, "r", ["r.dat 16"], 10_000)
    (folder / "r.atr").write_bytes(notes)
    return Recording.open(folder, "r")


def test_recording_without_annotations_has_no_reference(tmp_path):
    write_record(tmp_path, "r", ["r.dat 16"], 10_000)
    assert load_reference(Recording.open(tmp_path, "r"), None) is None


def test_changed_annotation_file_is_read_again(tmp_path):
    recording = annotated_record(tmp_path, annotation_bytes([(10, "N", "")]))
    assert load_reference(recording, None).beat_times.tolist() == [0.1]
    (tmp_path / "r.atr").write_bytes(annotation_bytes([(10, "N", ""), (20, "V", "")]))
    assert load_reference(recording, None).beat_times.tolist() == [0.1, 0.2]


def test_damaged_annotation_file_is_one_sentence(tmp_path):
    recording = annotated_record(tmp_path, b"\1\2\3")
    with pytest.raises(DataError, match="cut short"):
        load_reference(recording, None)


def real_reference(data: Path, database: str, record: str) -> Reference:
    found = load_reference(Recording.open(data / database, record), get_card(database))
    assert found is not None
    return found


@pytest.mark.real
def test_afdb_beats_come_from_qrs_and_end_before_the_recording(data):
    found = real_reference(data, "afdb", "04015")
    assert found.has_beats
    assert not found.has_beat_labels
    assert len(found.beat_times) > 40_000
    assert found.beats_end < 36_823.04
    assert found.beats_end == found.beat_times[-1]


@pytest.mark.real
def test_ltafdb_30_has_a_note_past_its_end_which_is_dropped(data):
    recording = Recording.open(data / "ltafdb", "30")
    found = real_reference(data, "ltafdb", "30")
    assert found.beat_times[-1] < recording.duration
    assert found.rhythm[-1].stop == recording.duration


@pytest.mark.real
def test_flutter_waves_of_mitdb_207_are_no_beats(data):
    assert set(real_reference(data, "mitdb", "207").beat_symbols) == set("LRVAE")


@pytest.mark.real
def test_qtdb_st_notes_count_signals_from_one_and_may_lack_an_end(data):
    cut = real_reference(data, "qtdb", "sele0112").st
    assert [(e.lead, e.start, e.stop, e.peak_mv) for e in cut] == [(0, 159979 / 250, 900.0, 0.1)]
    under_way = real_reference(data, "qtdb", "sele0203").st
    assert [(e.lead, e.start, e.known_from) for e in under_way] == [
        (0, 0, 81944 / 250),
        (1, 0, 36212 / 250),
    ]


@pytest.mark.real
def test_sab_in_an_excerpt_is_a_rhythm(data):
    found = real_reference(data, "qtdb", "sele0203")
    assert {span.label for span in found.rhythm} == {"SAB", "N"}


@pytest.mark.real
def test_excerpts_with_no_st_note_are_annotated_all_the_same(data):
    found = real_reference(data, "qtdb", "sele0107")
    assert found.has_st
    assert found.st == ()
    assert not real_reference(data, "qtdb", "sel100").has_st
