"""Headers that lie, hide paths or are no headers: one sentence, no other error, nothing opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from wfdb_files import encode, write_record

from ecgscroll.errors import DataError
from ecgscroll.records.recording import Recording
from ecgscroll.records.wfdb_header import parse_header

HOSTILE = {
    "empty": b"",
    "comments only": b"# nothing\n#\n",
    "no signal count": b"r\n",
    "no length": b"r 1 100\nr.dat 16\n",
    "length of zero": b"r 0 100 0\n",
    "negative length": b"r 1 100 -5\nr.dat 16\n",
    "absurd length": b"r 1 100 99999999999999999999999\nr.dat 16\n",
    "length beyond a year": b"r 1 100 999999999999\nr.dat 16\n",
    "fractional length": b"r 1 100 1.5\nr.dat 16\n",
    "negative signal count": b"r -1 100 10\n",
    "absurd signal count": b"r 99999999 100 10\n",
    "fewer signals than it says": b"r 2 100 10\nr.dat 16\n",
    "rate of zero": b"r 1 0 10\nr.dat 16\n",
    "negative rate": b"r 1 -100 10\nr.dat 16\n",
    "rate that is no number": b"r 1 nan 10\nr.dat 16\n",
    "infinite rate": b"r 1 inf 10\nr.dat 16\n",
    "word for a rate": b"r 1 fast 10\nr.dat 16\n",
    "no format": b"r 1 100 10\nr.dat\n",
    "unknown format": b"r 1 100 10\nr.dat 17\n",
    "word for a format": b"r 1 100 10\nr.dat PCM\n",
    "compressed format": b"r 1 100 10\nr.dat 516\n",
    "two formats in one file": b"r 2 100 10\nr.dat 16\nr.dat 212\n",
    "absurd samples a frame": b"r 1 100 10\nr.dat 16x999999999\n",
    "absurd skew": b"r 1 100 10\nr.dat 16:999999999\n",
    "gain that is no number": b"r 1 100 10\nr.dat 16 nan\n",
    "infinite gain": b"r 1 100 10\nr.dat 16 1e999\n",
    "vanishing gain": b"r 1 100 10\nr.dat 16 1e-300\n",
    "word for a gain": b"r 1 100 10\nr.dat 16 much\n",
    "open bracket in a gain": b"r 1 100 10\nr.dat 16 200(\n",
    "word for an ADC zero": b"r 1 100 10\nr.dat 16 200 12 zero\n",
    "absurd ADC zero": b"r 1 100 10\nr.dat 16 200 12 99999999999999999\n",
    "path in the record name": b"../r 1 100 10\nr.dat 16\n",
    "NUL bytes": b"\0" * 100,
    "binary": bytes(range(256)) * 4,
    "word for a segment count": b"r/x 1 100 10\na 10\n",
    "no segments": b"r/0 1 100 10\n",
    "absurd segment count": b"r/99999999999 1 100 10\na 10\n",
    "fewer segments than it says": b"r/3 1 100 10\na 10\n",
    "segment without a length": b"r/1 1 100 10\na\n",
    "negative segment length": b"r/2 1 100 10\na 20\nb -10\n",
    "segments that do not add up": b"r/2 1 100 10\na 3\nb 3\n",
    "segments that are all empty": b"r/1 1 100 10\n~ 10\n",
    "record that is its own segment": b"r/1 1 100 10\nr 10\n",
}
PATHS = [
    "../secret.dat",
    "/etc/hostname",
    "..",
    ".",
    "sub/r.dat",
    "sub\\r.dat",
    "C:r.dat",
    "http://127.0.0.1:9/r.dat",
    "s3://bucket/r.dat",
    "file:///etc/hostname",
    "zip://r.dat::http://127.0.0.1:9/x.zip",
    "-",
    ".hidden",
    "x" * 300,
    "\x1b[31mr.dat",
]


@pytest.mark.parametrize("header", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_header_is_one_sentence(tmp_path, header):
    (tmp_path / "r.hea").write_bytes(header)
    (tmp_path / "r.dat").write_bytes(b"\1\2" * 10)
    with pytest.raises(DataError) as raised:
        Recording.open(tmp_path, "r")
    message = str(raised.value)
    assert message.endswith(".")
    assert len(message) < 300
    assert "\n" not in message


@pytest.mark.parametrize("path", PATHS)
def test_signal_file_that_is_a_path_is_refused(tmp_path, path):
    folder = write_record(tmp_path / "db", "r", [f"{path} 16 200"], 2)
    (tmp_path / "secret.dat").write_bytes(encode(16, [1, 2]))
    with pytest.raises(DataError):
        Recording.open(folder, "r")


@pytest.mark.parametrize("name", [*PATHS[:5], "", "r\0", "r\n", "~/r"])
def test_record_name_that_is_a_path_is_refused(tmp_path, name):
    write_record(tmp_path / "db", "r", ["r.dat 16"], 2, {"r.dat": encode(16, [1, 2])})
    with pytest.raises(DataError):
        Recording.open(tmp_path / "db", name)


@pytest.mark.parametrize("suffix", [".dat", ".hea"])
def test_link_out_of_the_folder_is_refused(tmp_path, suffix):
    lines, files = ["r.dat 16"], {"r.dat": encode(16, [1, 2])}
    folder = write_record(tmp_path / "db", "r", lines, 2, files)
    outside = tmp_path / f"outside{suffix}"
    (folder / f"r{suffix}").rename(outside)
    (folder / f"r{suffix}").symlink_to(outside)
    with pytest.raises(DataError, match="link out"):
        Recording.open(folder, "r")


def test_link_within_the_folder_is_followed(tmp_path):
    folder = write_record(tmp_path, "r", ["r.dat 16 1"], 2, {"x.dat": encode(16, [1, 2])})
    (folder / "r.dat").symlink_to(folder / "x.dat")
    assert Recording.open(folder, "r").read(0, 2).tolist() == [[1, 2]]


def test_link_to_itself_is_refused(tmp_path):
    folder = write_record(tmp_path, "r", ["r.dat 16 1"], 2)
    (folder / "r.dat").symlink_to(folder / "r.dat")
    with pytest.raises(DataError):
        Recording.open(folder, "r")


@pytest.mark.parametrize("suffix", [".dat", ".hea"])
def test_pipe_that_would_hang_the_reader_is_refused(tmp_path, suffix):
    folder = write_record(tmp_path, "r", ["r.dat 16 1"], 2)
    (folder / f"r{suffix}").unlink(missing_ok=True)
    os.mkfifo(folder / f"r{suffix}")
    with pytest.raises(DataError, match="regular file"):
        Recording.open(folder, "r")


def test_folder_in_place_of_a_file_is_refused(tmp_path):
    folder = write_record(tmp_path, "r", ["r.dat 16 1"], 2)
    (folder / "r.dat").mkdir()
    with pytest.raises(DataError, match="regular file"):
        Recording.open(folder, "r")


def test_header_that_is_absent_says_where_it_was_looked_for(tmp_path):
    with pytest.raises(DataError, match="no file"):
        Recording.open(tmp_path, "r")


def test_header_of_ten_megabytes_is_refused(tmp_path):
    (tmp_path / "r.hea").write_bytes(b"r 1 100 10\nr.dat 16 " + b"1" * 10_000_000)
    with pytest.raises(DataError, match="larger than"):
        Recording.open(tmp_path, "r")


def test_time_grows_no_faster_than_a_line_of_digits(tmp_path, growth):
    def refused(digits):
        (tmp_path / "r.hea").write_bytes(b"r 1 100 10\nr.dat 16 " + b"1" * digits)
        with pytest.raises(DataError):
            Recording.open(tmp_path, "r")

    assert growth(lambda: refused(50_000), lambda: refused(1_000_000)) < 100


def test_record_line_may_hold_counter_time_and_date_and_end_in_carriage_return():
    header = parse_header(b"r 1 250/360(7.5) 100 9:30:00 31/01/2003\r\nr.dat 16\r\n", "r")
    assert (header.fs, header.n_samples) == (250.0, 100)


def test_rate_may_be_left_out_only_with_the_length_and_then_nothing_is_known():
    with pytest.raises(DataError, match="no length"):
        parse_header(b"r 1\nr.dat 16\n", "r")


def test_latin_1_bytes_in_comments_and_names_are_read():
    header = parse_header(b"# d\xe9riv\xe9\nr 1 100 10\nr.dat 16 2/\xb5V 12 0 0 0 0 D\xe9r\n", "r")
    assert header.signals[0].units == "µV"
    assert header.signals[0].name == "Dér"


def test_control_characters_are_dropped_from_a_lead_name():
    header = parse_header(b"r 1 100 10\nr.dat 16 2 12 0 0 0 0 V\x1b[31m1\n", "r")
    assert header.signals[0].name == "V[31m1"


def test_baseline_defaults_to_adc_zero():
    header = parse_header(b"r 2 100 10\nr.dat 16 2 12 7\nr.dat 16 2(-3) 12 7\n", "r")
    assert [signal.baseline for signal in header.signals] == [7, -3]


WORDS = (
    "r r/1 r/2 1 2 100 360/1(2) 10 -1 0 16 212 8x2:3+4 ~ r.dat r.hea nan inf 1e9 200(0)/mV ../x "
    "/etc/passwd # \0 é 9:00:00"
)
tokens = st.one_of(
    st.sampled_from(WORDS.split()),
    st.text(max_size=8),
    st.integers().map(str),
    st.floats().map(str),
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(tokens, max_size=9).map(" ".join), max_size=6).map("\n".join))
@example("r 1 100 10\nr.dat 16x2:3+4 200(0)/mV")
def test_any_text_is_a_header_or_one_sentence(text):
    header, refusal = None, ""
    try:
        header = parse_header(text.encode("utf-8", "surrogatepass"), "r")
    except DataError as error:
        refusal = str(error)
    assert len(refusal) < 300
    assert header is None or header.n_samples > 0


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_damaged_real_header_opens_or_is_one_sentence(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damaged")
    lines = ["r.dat 212 200 11 1024 995 -22131 0 MLII", "r.dat 212 200 11 1024 1011 20052 0 V5"]
    write_record(folder, "r", lines, 20, {"r.dat": b"\1\2\3" * 20}, fs=360)
    raw = bytearray((folder / "r.hea").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    (folder / "r.hea").write_bytes(bytes(raw[: data.draw(st.integers(0, len(raw)))]))
    opened: Recording | None = None
    try:
        opened = Recording.open(Path(folder), "r")
    except DataError:
        return
    if opened.has_signal:
        stop = min(opened.n_samples, 50)
        assert opened.read(0, stop).shape == (len(opened.leads), stop)
