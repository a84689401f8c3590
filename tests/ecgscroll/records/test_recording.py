"""Recordings read by window: every format, causality, damaged and odd files."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import wfdb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wfdb_files import BITS, encode, random_samples, write_record

from ecgscroll.errors import DataError
from ecgscroll.records.recording import Recording

FORMATS = sorted(BITS)
N = 400


def two_leads(folder: Path, fmt: int, rng: np.random.Generator, n: int = N) -> bytes:
    """Write a two-lead record in one format and return the bytes of its signal file."""
    raw = encode(fmt, random_samples(fmt, 2 * n, rng))
    lines = [f"r.dat {fmt} 50(3)/mV 12 3 7 0 0 I", f"r.dat {fmt} 200/mV 12 0 -4 0 0 V5"]
    write_record(folder, "r", lines, n, {"r.dat": raw})
    return raw


@pytest.mark.parametrize("fmt", FORMATS)
def test_whole_record_equals_wfdb(tmp_path, fmt):
    two_leads(tmp_path, fmt, np.random.default_rng(fmt))
    expected = wfdb.rdrecord(str(tmp_path / "r")).p_signal.T.astype(np.float32)
    np.testing.assert_array_equal(Recording.open(tmp_path, "r").read(0, N), expected)


@pytest.mark.parametrize("fmt", FORMATS)
def test_any_window_equals_that_part_of_the_whole(tmp_path, fmt):
    two_leads(tmp_path, fmt, np.random.default_rng(fmt))
    whole = Recording.open(tmp_path, "r").read(0, N)
    for start, stop in [(0, 1), (1, 2), (2, 7), (17, 17), (101, 399), (399, 400), (0, 400)]:
        window = Recording.open(tmp_path, "r").read(start, stop)
        np.testing.assert_array_equal(window, whole[:, start:stop])


@pytest.mark.parametrize("fmt", FORMATS)
def test_window_does_not_depend_on_what_follows_it(tmp_path, fmt):
    rng = np.random.default_rng(fmt)
    raw = two_leads(tmp_path / "true", fmt, rng)
    true = Recording.open(tmp_path / "true", "r")
    for stop in (1, 57, 200, 333):
        past = raw[: _bytes_that_hold(fmt, 2 * stop)]
        noise = rng.integers(0, 256, len(raw) - len(past), dtype=np.uint8).tobytes()
        for future in (b"", noise, b"\0" * len(noise), b"\xff" * len(noise)):
            two_leads(tmp_path / "false", fmt, rng)
            (tmp_path / "false" / "r.dat").write_bytes(past + future)
            window = Recording.open(tmp_path / "false", "r").read(0, stop)
            assert window.tobytes() == true.read(0, stop).tobytes()


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("step", [10, 7, 1])
def test_raw_bytes_fix_the_window_and_do_not_depend_on_what_follows_it(tmp_path, fmt, step):
    rng = np.random.default_rng(fmt)
    raw = two_leads(tmp_path / "true", fmt, rng)
    true = Recording.open(tmp_path / "true", "r")
    two_leads(tmp_path / "false", fmt, rng)
    false = Recording.open(tmp_path / "false", "r")
    for stop in (step, 8 * step, 70):
        past = raw[: _bytes_that_hold(fmt, 2 * stop)]
        for future in (b"", rng.bytes(len(raw) - len(past))):
            (tmp_path / "false" / "r.dat").write_bytes(past + future)
            assert false.raw(0, stop, step) == true.raw(0, stop, step)
    changed = bytearray(raw)
    changed[3] ^= 1
    (tmp_path / "false" / "r.dat").write_bytes(changed)
    assert false.raw(0, 70, step) != true.raw(0, 70, step)
    assert b"".join(true.raw(0, 20 * step, step)) == b"".join(
        piece for at in (0, 10 * step) for piece in true.raw(at, at + 10 * step, step)
    )


def _bytes_that_hold(fmt: int, samples: int) -> int:
    """Bytes up to the last one that a sample has a part in."""
    size, whole, tail = {212: (2, 3, (0, 2)), 310: (3, 4, (0, 2, 4)), 311: (3, 4, (0, 2, 3))}.get(
        fmt, (1, (BITS[fmt] + 7) // 8, (0,))
    )
    return samples // size * whole + tail[samples % size]


def test_format_8_window_far_into_a_long_file_is_right_and_its_sums_are_kept(tmp_path):
    rng = np.random.default_rng(0)
    n = 300_000
    steps = rng.integers(-100, 101, n)
    write_record(tmp_path, "r", ["r.dat 8 1 8 0 5 0 0 I"], n, {"r.dat": encode(8, steps)})
    expected = (5 + np.cumsum(steps)).astype(np.float32)
    recording = Recording.open(tmp_path, "r")
    for start in (250_000, 65_536, 65_535, 131_072, 299_990):
        np.testing.assert_array_equal(recording.read(start, start + 10)[0], expected[start:][:10])


def test_format_8_file_that_grows_is_read_right_once_it_is_whole(tmp_path):
    n = 200_000
    steps = np.random.default_rng(0).integers(-100, 101, n)
    raw = encode(8, steps)
    write_record(tmp_path, "r", ["r.dat 8 1 8 0 5 0 0 I"], n, {"r.dat": raw[: n // 2]})
    recording = Recording.open(tmp_path, "r")
    assert np.isnan(recording.read(n - 10, n)).all()
    (tmp_path / "r.dat").write_bytes(raw)
    expected = (5 + np.cumsum(steps)).astype(np.float32)
    np.testing.assert_array_equal(recording.read(n - 10, n)[0], expected[-10:])


def test_file_shorter_than_its_header_is_nan_after_its_end(tmp_path):
    raw = two_leads(tmp_path, 16, np.random.default_rng(1))
    (tmp_path / "r.dat").write_bytes(raw[: 4 * 100 + 2])
    recording = Recording.open(tmp_path, "r")
    window = recording.read(90, 110)
    assert recording.n_samples == N
    assert np.isnan(window[0, 11:]).all()
    assert np.isnan(window[1, 10:]).all()
    assert np.isfinite(window[0, 10])


def test_empty_signal_file_is_all_nan(tmp_path):
    two_leads(tmp_path, 212, np.random.default_rng(1))
    (tmp_path / "r.dat").write_bytes(b"")
    recording = Recording.open(tmp_path, "r")
    assert recording.has_signal
    assert np.isnan(recording.read(0, N)).all()


def test_header_that_claims_a_year_allocates_only_the_window(tmp_path):
    n = 100 * 86400 * 360
    write_record(tmp_path, "r", ["r.dat 16 200"], n, {"r.dat": encode(16, [1, 2])})
    recording = Recording.open(tmp_path, "r")
    assert np.isnan(recording.read(n - 5, n)).all()
    with pytest.raises(DataError, match="too large"):
        recording.read(0, n)


@pytest.mark.parametrize("fmt", [f for f in FORMATS if f != 8])
def test_invalid_samples_become_nan(tmp_path, fmt):
    invalid = -(1 << (BITS[fmt] - 1))
    raw = encode(fmt, [1, invalid, 2, 3])
    write_record(tmp_path, "r", [f"r.dat {fmt} 1"], 4, {"r.dat": raw})
    values = Recording.open(tmp_path, "r").read(0, 4)[0]
    assert np.isnan(values).tolist() == [False, True, False, False]


def test_channel_of_invalid_samples_alone_is_all_nan(tmp_path):
    raw = encode(16, [5, -32768] * 10)
    write_record(tmp_path, "r", ["r.dat 16 1", "r.dat 16 1"], 10, {"r.dat": raw})
    values = Recording.open(tmp_path, "r").read(0, 10)
    assert np.isfinite(values[0]).all()
    assert np.isnan(values[1]).all()


def test_several_samples_a_frame_are_averaged_and_an_invalid_one_spoils_its_frame(tmp_path):
    raw = encode(16, [10, 20, 1, 30, 50, 2, -32768, 7, 3])
    write_record(tmp_path, "r", ["r.dat 16x2 1", "r.dat 16 1"], 3, {"r.dat": raw})
    values = Recording.open(tmp_path, "r").read(0, 3)
    np.testing.assert_array_equal(values, [[15, 40, np.nan], [1, 2, 3]])


def test_skewed_signal_is_aligned_with_the_others_as_wfdb_does(tmp_path):
    raw = encode(16, np.arange(40))
    write_record(tmp_path, "r", ["r.dat 16:3 1", "r.dat 16 1"], 20, {"r.dat": raw})
    expected = wfdb.rdrecord(str(tmp_path / "r")).p_signal.T
    np.testing.assert_array_equal(Recording.open(tmp_path, "r").read(0, 20), expected)


def test_skewed_signal_reads_nothing_at_or_after_the_window_end(tmp_path):
    lines = ["r.dat 16:3 1", "r.dat 16 1"]
    write_record(tmp_path / "a", "r", lines, 20, {"r.dat": encode(16, np.arange(40))})
    write_record(tmp_path / "b", "r", lines, 20, {"r.dat": encode(16, np.arange(20))})
    whole = Recording.open(tmp_path / "a", "r").read(2, 10)
    assert whole.tobytes() == Recording.open(tmp_path / "b", "r").read(2, 10).tobytes()
    assert np.isnan(whole[0, -3:]).all()
    assert np.isfinite(whole[0, :-3]).all()


def test_byte_offset_is_skipped(tmp_path):
    raw = b"header!!" + encode(16, [4, 5, 6])
    write_record(tmp_path, "r", ["r.dat 16+8 1"], 3, {"r.dat": raw})
    np.testing.assert_array_equal(Recording.open(tmp_path, "r").read(0, 3)[0], [4, 5, 6])


def test_signals_in_two_files_of_two_formats_are_read_together(tmp_path):
    files = {"a.dat": encode(16, [1, 2, 3]), "b.dat": encode(212, [7, 8, 9])}
    write_record(tmp_path, "r", ["a.dat 16 1", "b.dat 212 1"], 3, files)
    values = Recording.open(tmp_path, "r").read(1, 3)
    np.testing.assert_array_equal(values, [[2, 3], [8, 9]])


@pytest.mark.parametrize("gain", ["0", "0/mV", ""])
def test_gain_of_zero_or_none_means_200_per_millivolt(tmp_path, gain):
    write_record(tmp_path, "r", [f"r.dat 16 {gain}"], 1, {"r.dat": encode(16, [100])})
    assert Recording.open(tmp_path, "r").read(0, 1)[0, 0] == 0.5


@pytest.mark.parametrize(("units", "factor"), [("uV", 1e-3), ("V", 1e3), ("mV", 1.0), ("µV", 1e-3)])
def test_ecg_is_in_millivolts_whatever_unit_the_header_gives(tmp_path, units, factor):
    write_record(tmp_path, "r", [f"r.dat 16 2/{units}"], 1, {"r.dat": encode(16, [100])})
    recording = Recording.open(tmp_path, "r")
    assert recording.units == ("mV",)
    assert recording.read(0, 1)[0, 0] == pytest.approx(50 * factor)


def test_channels_that_are_no_ecg_keep_their_unit_and_are_not_listed_as_ecg(tmp_path):
    lines = [
        "r.dat 16 2/NU 12 0 0 0 0 PPG, fingertip",
        "r.dat 16 2/mV 12 0 0 0 0 ECG, lead II",
        "r.dat 16 2/pm 12 0 0 0 0 resp, impedance",
        "r.dat 16 2/mV 12 0 0 0 0 EEG C4-A1",
    ]
    write_record(tmp_path, "r", lines, 1, {"r.dat": encode(16, [1, 2, 3, 4])})
    recording = Recording.open(tmp_path, "r")
    assert recording.ecg == (1,)
    assert recording.units == ("NU", "mV", "pm", "mV")


def test_equal_lead_names_are_numbered(tmp_path):
    lines = [f"r.dat 16 1 12 0 0 0 0 {name}" for name in ("ECG", "ECG", "V1")] + ["r.dat 16 1"]
    write_record(tmp_path, "r", lines, 1, {"r.dat": encode(16, [1, 2, 3, 4])})
    recording = Recording.open(tmp_path, "r")
    assert recording.leads == ("ECG[0]", "ECG[1]", "V1", "lead")
    assert [recording.lead_index(lead) for lead in ("ECG[1]", "V1", 2)] == [1, 2, 2]


def test_made_up_name_that_equals_a_numbered_one_stays_unique(tmp_path):
    lines = [f"r.dat 16 1 12 0 0 0 0 {name}" for name in ("ECG[0]", "ECG", "ECG")]
    write_record(tmp_path, "r", lines, 1, {"r.dat": encode(16, [1, 2, 3])})
    assert len(set(Recording.open(tmp_path, "r").leads)) == 3


@pytest.mark.parametrize("lead", ["ECG", "V9", 7, -1, True, "", None])
def test_lead_that_is_not_there_is_refused_with_the_ones_that_are(tmp_path, lead):
    lines = ["r.dat 16 1 12 0 0 0 0 ECG"] * 2
    write_record(tmp_path, "r", lines, 1, {"r.dat": encode(16, [1, 2])})
    with pytest.raises(DataError, match=r"ECG\[0\], ECG\[1\]"):
        Recording.open(tmp_path, "r").lead_index(lead)


def test_record_without_its_signal_file_opens_as_annotation_only(tmp_path):
    write_record(tmp_path, "r", ["r.dat 16 1"], 500)
    recording = Recording.open(tmp_path, "r")
    assert not recording.has_signal
    assert recording.duration == 5.0
    with pytest.raises(DataError, match="annotations only"):
        recording.read(0, 1)


@pytest.mark.parametrize(("start", "stop"), [(-1, 5), (0, N + 1), (6, 5)])
def test_window_outside_the_recording_is_refused(tmp_path, start, stop):
    two_leads(tmp_path, 16, np.random.default_rng(0))
    with pytest.raises(DataError, match="outside"):
        Recording.open(tmp_path, "r").read(start, stop)


def test_pickled_copy_holds_no_samples_and_reads_the_same(tmp_path):
    two_leads(tmp_path, 8, np.random.default_rng(0))
    recording = Recording.open(tmp_path, "r")
    window = recording.read(100, 200)
    packed = pickle.dumps(recording)
    assert len(packed) < 2000
    copy = pickle.loads(packed)
    assert copy == recording
    np.testing.assert_array_equal(copy.read(100, 200), window)


def segments(folder: Path, layout: str) -> Path:
    """Write two segments, with a gap between them where the layout varies."""
    one = ["a.dat 16 10/mV 12 0 0 0 0 I", "a.dat 16 1/mV 12 0 0 0 0 II"]
    two = ["b.dat 212 100/mV 12 0 0 0 0 II", "b.dat 212 1/mV 12 0 0 0 0 V"]
    write_record(folder, "a", one, 50, {"a.dat": encode(16, np.arange(100))})
    if layout == "fixed":
        two = [two[0].replace("II", "I"), two[1].replace(" V", " II")]
    write_record(folder, "b", two, 30, {"b.dat": encode(212, np.arange(60))})
    body = ["a 50", "b 30"]
    if layout == "variable":
        lines = [f"~ 0 1/mV 12 0 0 0 0 {name}" for name in ("I", "II", "V")]
        write_record(folder, "r_layout", lines, 0)
        body = ["r_layout 0", "a 50", "~ 20", "b 30"]
    n_signals, n = (3, 100) if layout == "variable" else (2, 80)
    text = "\n".join([f"r/{len(body)} {n_signals} 100 {n}", *body])
    (folder / "r.hea").write_text(text + "\n")
    return folder


@pytest.mark.parametrize("layout", ["fixed", "variable"])
def test_multi_segment_record_equals_wfdb_in_every_window(tmp_path, layout):
    segments(tmp_path, layout)
    expected = wfdb.rdrecord(str(tmp_path / "r")).p_signal.T.astype(np.float32)
    recording = Recording.open(tmp_path, "r")
    assert recording.leads == (("I", "II", "V") if layout == "variable" else ("I", "II"))
    n = recording.n_samples
    for start, stop in [(0, n), (40, 80), (49, 51), (50, 70), (69, 71), (n - 1, n), (30, 30)]:
        np.testing.assert_array_equal(recording.read(start, stop), expected[:, start:stop])


@pytest.mark.parametrize("layout", ["fixed", "variable"])
def test_raw_bytes_of_a_multi_segment_record_tell_every_sample(tmp_path, layout):
    segments(tmp_path, layout)
    whole = Recording.open(tmp_path, "r")
    n = whole.n_samples
    before = whole.raw(0, n, 10)
    assert len(before) == -(-n // 10)
    for file in sorted(tmp_path.glob("*.dat")):
        data = bytearray(file.read_bytes())
        data[4] ^= 1
        file.write_bytes(data)
        changed = Recording.open(tmp_path, "r")
        assert sum(a != b for a, b in zip(before, changed.raw(0, n, 10), strict=True)) == 1
        before = changed.raw(0, n, 10)
    assert whole.raw(0, n, 10) == before


def test_a_changed_signal_file_changes_the_stamp(tmp_path):
    two_leads(tmp_path, 16, np.random.default_rng(0))
    recording = Recording.open(tmp_path, "r")
    before = recording.stamp()
    (tmp_path / "r.dat").write_bytes(b"")
    assert recording.stamp() != before
    (tmp_path / "r.dat").unlink()
    assert recording.stamp() == {"r": ((0, 0),)}


def test_missing_segment_is_a_damaged_record(tmp_path):
    segments(tmp_path, "variable")
    (tmp_path / "b.hea").unlink()
    with pytest.raises(DataError, match="segment 'b' is missing"):
        Recording.open(tmp_path, "r")


def test_segment_at_another_rate_is_refused(tmp_path):
    segments(tmp_path, "fixed")
    text = (tmp_path / "b.hea").read_text().replace("b 2 100", "b 2 200")
    (tmp_path / "b.hea").write_text(text)
    with pytest.raises(DataError, match="200"):
        Recording.open(tmp_path, "r").read(60, 70)


def test_gap_in_a_fixed_layout_is_nan(tmp_path):
    segments(tmp_path, "fixed")
    (tmp_path / "r.hea").write_text("r/4 2 100 110\n~ 10\na 50\n~ 20\nb 30\n")
    window = Recording.open(tmp_path, "r").read(9, 81)
    assert np.isnan(window[0]).tolist() == [True] + [False] * 50 + [True] * 20 + [False]


def test_segment_that_holds_segments_is_refused(tmp_path):
    segments(tmp_path, "fixed")
    (tmp_path / "a.hea").write_text("a/1 2 100 50\na 50\n")
    with pytest.raises(DataError, match="holds segments"):
        Recording.open(tmp_path, "r")


@pytest.mark.parametrize("name", ["../a", "/etc/hostname", "a/b", "..", "-", "http://x/a", "a\\b"])
def test_segment_name_that_is_a_path_is_refused(tmp_path, name):
    segments(tmp_path, "fixed")
    text = (tmp_path / "r.hea").read_text().replace("\nb 30", f"\n{name} 30")
    (tmp_path / "r.hea").write_text(text)
    with pytest.raises(DataError):
        Recording.open(tmp_path, "r")


def test_many_segments_do_not_pile_up(tmp_path):
    names = [f"s{i}" for i in range(100)]
    for name in names:
        lines = [f"{name}.dat 16 1 12 0 0 0 0 I"]
        write_record(tmp_path, name, lines, 2, {f"{name}.dat": encode(16, [1, 2])})
    body = [f"{name} 2" for name in names]
    (tmp_path / "r.hea").write_text("\n".join(["r/100 1 100 200", *body]))
    recording = Recording.open(tmp_path, "r")
    np.testing.assert_array_equal(recording.read(0, 200)[0], [1, 2] * 100)
    assert len(recording._open) <= 64


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    fmt=st.sampled_from(FORMATS),
    n=st.integers(1, 60),
    spf=st.integers(1, 3),
    cut=st.integers(0, 400),
    window=st.tuples(st.integers(0, 60), st.integers(0, 60)),
)
def test_any_cut_of_any_file_reads_without_error(tmp_path_factory, fmt, n, spf, cut, window):
    folder = tmp_path_factory.mktemp("cut")
    raw = encode(fmt, random_samples(fmt, (spf + 1) * n, np.random.default_rng(n)))
    lines = [f"r.dat {fmt}x{spf} 10", f"r.dat {fmt} 10"]
    write_record(folder, "r", lines, n, {"r.dat": raw[:cut]})
    start, stop = sorted(min(bound, n) for bound in window)
    recording = Recording.open(folder, "r")
    whole = recording.read(0, n)
    np.testing.assert_array_equal(recording.read(start, stop), whole[:, start:stop])
    (folder / "r.dat").write_bytes(raw)
    full = Recording.open(folder, "r").read(0, n)
    held = np.isfinite(whole)
    np.testing.assert_array_equal(whole[held], full[held])


@pytest.mark.real
@pytest.mark.parametrize(
    "record",
    ["mitdb/100", "mitdb/207", "ltafdb_1h/01", "cpsc2021/data_92_12", "icentia11k/p00000_s00"],
)
def test_real_record_equals_wfdb(data, record):
    recording = Recording.open((data / record).parent, (data / record).name)
    expected = wfdb.rdrecord(str(data / record), sampfrom=3001, sampto=8000).p_signal.T
    np.testing.assert_array_equal(recording.read(3001, 8000), expected.astype(np.float32))


@pytest.mark.real
def test_ltafdb_calls_both_leads_ecg(data):
    recording = Recording.open(data / "ltafdb_1h", "01")
    assert recording.leads == ("ECG[0]", "ECG[1]")
    assert recording.database == "ltafdb_1h"


@pytest.mark.real
def test_bedside_record_opens_with_its_ppg_and_its_ecg_apart(data):
    recording = Recording.open(data / "mimic_perform_af", "mimic_perform_af_001")
    assert recording.ecg == (1,)
    assert recording.units == ("NU", "mV", "pm")


def test_equal_names_in_a_varying_layout_are_paired_in_their_order(tmp_path):
    lines = ["a.dat 16 1/mV 12 0 0 0 0 ECG", "a.dat 16 1/mV 12 0 0 0 0 ECG"]
    write_record(tmp_path, "a", lines, 50, {"a.dat": encode(16, np.arange(100))})
    write_record(tmp_path, "layout", ["~ 0 1/mV 12 0 0 0 0 ECG"] * 2, 0)
    (tmp_path / "r.hea").write_text("r/2 2 100 50\nlayout 0\na 50\n")
    recording = Recording.open(tmp_path, "r")
    assert recording.leads == ("ECG[0]", "ECG[1]")
    assert recording.read(1, 3).tolist() == [[2.0, 4.0], [3.0, 5.0]]


def test_a_single_segment_of_a_varying_layout_is_put_in_its_channel(tmp_path):
    write_record(tmp_path, "a", ["a.dat 16 1/mV 12 0 0 0 0 II"], 5, {"a.dat": encode(16, range(5))})
    lines = [f"~ 0 1/mV 12 0 0 0 0 {name}" for name in ("I", "II")]
    write_record(tmp_path, "layout", lines, 0)
    (tmp_path / "r.hea").write_text("r/2 2 100 5\nlayout 0\na 5\n")
    window = Recording.open(tmp_path, "r").read(1, 3)
    assert np.isnan(window[0]).all()
    assert window[1].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("layout", ["fixed", "variable"])
def test_a_segment_in_another_unit_is_in_millivolts_too(tmp_path, layout):
    segments(tmp_path, layout)
    expected = Recording.open(tmp_path, "r").read(70, 80)
    text = (tmp_path / "b.hea").read_text().replace("100/mV", "0.1/uV").replace("1/mV", "0.001/uV")
    (tmp_path / "b.hea").write_text(text)
    np.testing.assert_allclose(Recording.open(tmp_path, "r").read(70, 80), expected, rtol=1e-6)
