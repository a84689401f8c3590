"""Annotation files: what they hold, what real ones hide, and what hostile ones try."""

from __future__ import annotations

import numpy as np
import pytest
import wfdb
from hypothesis import given, settings
from hypothesis import strategies as st
from wfdb_files import CODES, END, annotation_bytes, aux, skip, word

from ecgscroll.errors import DataError
from ecgscroll.records.annotations import MAX_ANNOTATION_BYTES, parse_annotations, read_annotations


def parse(data: bytes):
    return parse_annotations(data, "r.atr", 100.0)


def test_times_symbols_and_notes_are_read_in_order():
    notes = parse(annotation_bytes([(5, "N", ""), (800, "+", "(AFIB"), (90_000, "V", "")]))
    assert notes.sample.tolist() == [5, 800, 90_000]
    assert notes.symbol.tolist() == ["N", "+", "V"]
    assert notes.aux.tolist() == ["", "(AFIB", ""]
    assert notes.seconds.tolist() == [0.05, 8.0, 900.0]


def test_file_with_the_end_mark_alone_has_no_annotations():
    notes = parse(END)
    assert len(notes.sample) == len(notes.symbol) == len(notes.aux) == len(notes.chan) == 0


@pytest.mark.parametrize("note", [b"(AFIB\0", b"(AFIB\0\0", b"(AFIB ", b"\x01(AFIB", b"(AF\x7fIB"])
def test_padding_and_control_bytes_are_dropped_from_a_note(note):
    assert parse(word(28, 1) + aux(note) + END).aux[0] == "(AFIB"


def test_note_of_latin_1_bytes_is_text():
    assert parse(word(22, 1) + aux(b"d\xe9riv\xe9") + END).aux[0] == "dérivé"


def test_note_whose_bytes_look_like_annotations_is_only_a_note():
    payload = word(5, 7) + word(59, 0) + word(63, 9) + b"\0\0"
    notes = parse(word(22, 1) + aux(payload) + word(1, 2) + END)
    assert notes.symbol.tolist() == ['"', "N"]
    assert notes.sample.tolist() == [1, 3]


def test_jumps_may_be_long_and_backwards():
    notes = parse(skip(1 << 30) + word(1, 0) + skip(-5) + word(5, 2) + END)
    assert notes.sample.tolist() == [1 << 30, (1 << 30) - 3]


def test_two_jumps_add_up():
    assert parse(skip(5000) + skip(7) + word(1, 1) + END).sample.tolist() == [5008]


def test_channel_and_number_hold_until_changed():
    data = word(1, 1) + word(62, 1) + word(1, 1) + word(1, 1) + word(62, 0) + word(60, 255) + END
    notes = parse(data)
    assert notes.chan.tolist() == [1, 1, 0]
    assert notes.num.tolist() == [0, 0, -1]


def test_step_without_annotation_moves_time_only():
    notes = parse(word(0, 100) + word(1, 5) + END)
    assert notes.sample.tolist() == [105]


def test_fields_before_any_annotation_belong_to_none():
    notes = parse(word(62, 3) + aux("lost") + word(1, 5) + END)
    assert notes.aux.tolist() == [""]
    assert notes.chan.tolist() == [0]


def test_what_follows_the_end_mark_is_not_read():
    assert parse(word(1, 5) + END + word(5, 5) + END).symbol.tolist() == ["N"]


def test_time_resolution_of_the_file_is_used_and_its_definition_is_no_annotation():
    data = word(22, 0) + aux("## time resolution: 250") + word(1, 125) + END
    notes = parse(data)
    assert notes.symbol.tolist() == ["N"]
    assert notes.seconds.tolist() == [0.5]


def test_definitions_that_hang_wfdb_are_read():
    definition = word(22, 0) + aux("## time resolution: 250")
    assert parse(definition * 3 + word(1, 250) + END).seconds.tolist() == [1.0]


def test_resolution_of_zero_is_ignored():
    data = word(22, 0) + aux("## time resolution: 0") + word(1, 50) + END
    assert parse(data).seconds.tolist() == [0.5]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\1",
        word(1, 5),
        word(1, 5) + word(63, 200) + b"(AFI",
        word(59, 0) + b"\0",
        word(59, 0) + b"\0\0",
        annotation_bytes([(5, "N", ""), (800, "+", "(AFIB")])[:-6],
        b"\xff" * 1000,
    ],
)
def test_file_that_is_cut_short_or_is_none_is_one_sentence(data):
    with pytest.raises(DataError, match=r"r\.atr is cut short"):
        parse(data)


def test_file_beyond_any_real_size_is_refused(tmp_path):
    with (tmp_path / "r.atr").open("wb") as file:
        file.truncate(MAX_ANNOTATION_BYTES + 1)
    with pytest.raises(DataError, match="larger than"):
        read_annotations(tmp_path, "r", "atr", 100.0)


@pytest.mark.parametrize("name", ["../r", "/etc/passwd", "a/r", ""])
def test_annotation_file_outside_the_folder_is_refused(tmp_path, name):
    (tmp_path / "r.atr").write_bytes(END)
    (tmp_path / "db").mkdir()
    with pytest.raises(DataError):
        read_annotations(tmp_path / "db", name, "atr", 100.0)


def test_absent_file_is_one_sentence(tmp_path):
    with pytest.raises(DataError, match="no file"):
        read_annotations(tmp_path, "r", "atr", 100.0)


def test_time_grows_no_faster_than_the_number_of_notes(growth):
    few, many = ((word(28, 1) + aux("(AFIB")) * n + END for n in (10_000, 200_000))
    assert len(parse(many).sample) == 200_000
    assert growth(lambda: parse(few), lambda: parse(many)) < 100  # 20 if linear, 400 if quadratic


@settings(max_examples=500, deadline=None)
@given(st.binary(max_size=400).map(lambda data: data + END))
def test_any_bytes_are_annotations_or_one_sentence(data):
    try:
        notes = parse(data)
    except DataError:
        return
    assert len(notes.sample) == len(notes.symbol) == len(notes.aux) == len(notes.chan)
    assert all(text.isprintable() for text in notes.aux)


words = st.tuples(st.sampled_from([1, 5, 22, 28, 59, 60, 61, 62, 63]), st.integers(0, 1023))


@settings(max_examples=300, deadline=None)
@given(st.lists(words.map(lambda pair: word(*pair)), max_size=60).map(b"".join))
def test_any_sequence_of_words_is_annotations_or_one_sentence(data):
    refusal = ""
    try:
        parse(data + END * 300)
    except DataError as error:
        refusal = str(error)
    assert len(refusal) < 200


real = st.lists(
    st.tuples(
        st.integers(1, 5000), st.sampled_from(sorted(CODES)), st.sampled_from(["", "(N", "x"])
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(real)
def test_written_annotations_equal_what_wfdb_reads(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("ann")
    samples = np.cumsum([step for step, _, _ in steps]).tolist()
    notes = [(at, symbol, text) for at, (_, symbol, text) in zip(samples, steps, strict=True)]
    (folder / "r.atr").write_bytes(annotation_bytes(notes))
    ours, theirs = read_annotations(folder, "r", "atr", 100.0), wfdb.rdann(str(folder / "r"), "atr")
    assert ours.sample.tolist() == theirs.sample.tolist() == samples
    assert ours.symbol.tolist() == theirs.symbol
    assert ours.aux.tolist() == [text.rstrip("\0") for text in theirs.aux_note]


@pytest.mark.real
@pytest.mark.parametrize(
    "file",
    [
        "mitdb/207.atr",
        "afdb/07162.qrs",
        "qtdb/sele0203.atr",
        "qtdb/sel100.pu",
        "cpsc2021/data_8_2.atr",
        "icentia11k/p00000_s00.atr",
        "ltafdb_1h/01.atr",
    ],
)
def test_real_file_equals_what_wfdb_reads(data, file):
    path, _, extension = str(data / file).rpartition(".")
    ours = read_annotations((data / file).parent, (data / file).stem, extension, 1.0)
    theirs = wfdb.rdann(path, extension)
    np.testing.assert_array_equal(ours.sample, theirs.sample)
    assert ours.symbol.tolist() == theirs.symbol
    np.testing.assert_array_equal(ours.chan, theirs.chan)
    np.testing.assert_array_equal(ours.num, theirs.num)
    assert ours.aux.tolist() == [text.rstrip("\0") for text in theirs.aux_note]


@pytest.mark.real
def test_ltafdb_notes_that_are_no_rhythm_lose_their_control_byte(data):
    notes = read_annotations(data / "ltafdb", "00", "atr", 128.0)
    assert "Aux" in notes.aux.tolist()
    assert all(str(text).isprintable() for text in notes.aux)
