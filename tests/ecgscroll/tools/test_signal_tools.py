from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecgscroll.signals.beats import Beats
from ecgscroll.tools.signal import (
    NO_BEATS,
    NO_WAVEFORM,
    SIGNAL_TOOLS,
    get_p_wave,
    get_qrs,
    get_qt,
    get_rate_rhythm,
    get_st,
    get_t_wave,
)

FIELDS = {
    "get_rate_rhythm": (
        "hr_bpm rr_mean_ms rr_sd_ms rr_irregularity rr_entropy rr_min_ms rr_max_ms"
    ),
    "get_p_wave": "p_present_frac pr_mean_ms p_amp pp_regularity",
    "get_qrs": "mean_qrs_ms wide_beat_frac qrs_amp ectopic_count ectopic_times",
    "get_st": "st_mv sign",
    "get_t_wave": "t_amp polarity",
    "get_qt": "qt_mean_ms qtc_ms",
}
PER_BEAT = {
    "get_rate_rhythm": "rr_intervals_ms",
    "get_p_wave": "pr_intervals_ms",
    "get_qrs": "qrs_widths_ms",
    "get_st": "st_samples_mv",
    "get_t_wave": "t_amplitudes_mv",
    "get_qt": "qt_intervals_ms",
}


def make(n=20, rr=0.8):
    """Beats with every value known; beat 5 is ectopic."""
    beats = Beats.from_times(np.arange(n) * rr, source="detected", leads=("I", "II"))
    full = {name: np.full(n, v, np.float32) for name, v in VALUES.items()}
    leads = {name: np.tile(np.float32(v), (n, 1)) for name, v in LEADS.items()}
    ectopic = np.arange(n) == 5
    full["qrs_ms"][5] = 160
    return replace(beats, **full, **leads, ectopic=ectopic)


VALUES = {"qrs_ms": 90, "pr_ms": 150, "p_ms": -160, "p_amp": 0.12, "p_present": 1, "qt_ms": 400}
LEADS = {"qrs_amp": [1.5, 1.0], "st_mv": [0.12, -0.07], "t_amp": [0.3, -0.2]}
BEATS = make()


@pytest.mark.parametrize("name", FIELDS)
def test_fields_are_those_of_the_specification(name):
    result = SIGNAL_TOOLS[name](BEATS, 0, 16)
    head = {"tool", "t0", "t1", "beats", "n_beats"}
    beside = {"rr_excluded", "pauses", "pauses_count", "ectopic_times_count"}
    assert set(result) - head - beside == set(FIELDS[name].split())
    assert result["tool"] == name


@pytest.mark.parametrize("name", FIELDS)
def test_per_beat_adds_one_list_and_its_count(name):
    result = SIGNAL_TOOLS[name](BEATS, 0, 16, True)
    assert {PER_BEAT[name], f"{PER_BEAT[name]}_count"} <= set(result)


@pytest.mark.parametrize("name", FIELDS)
def test_every_null_has_a_reason_in_an_empty_window(name):
    result = SIGNAL_TOOLS[name](BEATS, 100, 110, True)
    for field in FIELDS[name].split():
        assert result[field] is None
        assert result["reasons"][field] == NO_BEATS


@pytest.mark.parametrize("name", ["get_p_wave", "get_st", "get_t_wave", "get_qt"])
def test_tools_that_need_a_waveform_say_so(name):
    result = SIGNAL_TOOLS[name](Beats.from_times(np.arange(10) * 0.8, leads=("I",)), 0, 10)
    assert result["beats"] == "reference"
    assert set(result["reasons"].values()) == {NO_WAVEFORM}


def test_rate_and_rhythm_work_on_annotation_times():
    result = get_rate_rhythm(Beats.from_times(np.arange(10) * 0.8), 0, 10)
    assert (result["hr_bpm"], result["rr_mean_ms"], result["beats"]) == (75.0, 800, "reference")
    assert "reasons" not in result


def test_annotation_times_show_early_beats_as_ectopic():
    times = np.array([0, 0.8, 1.6, 2.4, 2.9, 4.0, 4.8])
    assert get_qrs(Beats.from_times(times), 0, 10)["ectopic_times"] == [2.9]


def test_rate_agrees_with_the_mean_interval_shown():
    result = get_rate_rhythm(make(rr=0.4567), 0, 16)
    assert result["hr_bpm"] == round(60000 / result["rr_mean_ms"], 1)


def test_missed_beat_is_excluded_and_counted():
    times = np.delete(np.arange(20) * 0.8, 9)
    result = get_rate_rhythm(Beats.from_times(times), 0, 16)
    assert (result["rr_max_ms"], result["rr_excluded"]) == (800, 1)


def test_two_beats_have_a_rate_and_no_irregularity():
    result = get_rate_rhythm(Beats.from_times([0.0, 0.8]), 0, 2)
    assert result["hr_bpm"] == 75.0
    assert set(result["reasons"]) == {"rr_sd_ms", "rr_irregularity", "rr_entropy"}


def test_one_beat_has_no_rate():
    assert "hr_bpm" in get_rate_rhythm(Beats.from_times([0.5]), 0, 2)["reasons"]


def test_qrs():
    result = get_qrs(BEATS, 0, 16)
    assert result["mean_qrs_ms"] == round((19 * 90 + 160) / 20)
    assert (result["wide_beat_frac"], result["qrs_amp"]) == (0.05, 1.5)
    assert (result["ectopic_count"], result["ectopic_times"]) == (1, [4.0])


def test_st_and_sign_per_lead():
    result = get_st(BEATS, 0, 16)
    assert result["st_mv"] == {"I": 0.12, "II": -0.07}
    assert result["sign"] == {"I": "elevation", "II": "depression"}


def test_st_of_ectopic_beats_does_not_count():
    level = BEATS.st_mv.copy()
    level[5] = 5.0
    result = get_st(replace(BEATS, st_mv=level), 3.9, 4.9, True)
    assert result["st_mv"] == {"I": 0.12, "II": -0.07}
    assert result["st_samples_mv"] == {"I": [0.12], "II": [-0.07]}


def test_lead_that_cannot_be_measured_is_null_with_its_reason():
    level = BEATS.st_mv.copy()
    level[:, 1] = np.nan
    result = get_st(replace(BEATS, st_mv=level), 0, 16)
    assert result["st_mv"] == {"I": 0.12, "II": None}
    assert set(result["reasons"]) == {"st_mv.II", "sign.II"}


def test_t_wave_polarity_per_lead():
    result = get_t_wave(BEATS, 0, 16)
    assert result["t_amp"] == {"I": 0.3, "II": -0.2}
    assert result["polarity"] == {"I": "positive", "II": "negative"}


def test_qtc_by_bazett():
    result = get_qt(BEATS, 0, 16)
    assert (result["qt_mean_ms"], result["qtc_ms"]) == (400, round(400 / 0.8**0.5))


def test_p_wave():
    result = get_p_wave(BEATS, 0, 16)
    assert result["p_present_frac"] == 1.0
    assert (result["pr_mean_ms"], result["p_amp"], result["pp_regularity"]) == (150, 0.12, 0.0)


def test_no_p_wave_is_a_measurement_and_its_size_is_null():
    none = np.full(len(BEATS), np.nan, np.float32)
    absent = np.zeros(len(BEATS), np.float32)
    beats = replace(BEATS, p_present=absent, p_ms=none, p_amp=none, pr_ms=none)
    result = get_p_wave(beats, 0, 16)
    assert result["p_present_frac"] == 0.0
    assert set(result["reasons"]) == {"pr_mean_ms", "p_amp", "pp_regularity"}


def test_long_lists_are_capped_at_sixty_beside_the_true_count():
    result = get_rate_rhythm(make(n=100), 0, 100, True)
    assert (len(result["rr_intervals_ms"]), result["rr_intervals_ms_count"]) == (60, 99)


@given(
    st.lists(st.floats(0, 100), max_size=40),
    st.lists(st.booleans(), min_size=40, max_size=40),
    st.sampled_from([np.nan, 0.0, 1e-3, -0.5, 1e6]),
    st.booleans(),
)
def test_any_beats_give_numbers_or_reasons(times, flags, value, per_beat):
    beats = Beats.from_times(times, source="detected", leads=("I", "II"))
    n = len(beats)
    flag = np.array(flags[:n], dtype=bool)
    value_n, value_l = np.full(n, value, np.float32), np.full((n, 2), value, np.float32)
    value_n[flag] = np.nan
    waves = {"qrs_ms", "pr_ms", "p_ms", "p_amp", "qt_ms", "p_present"}
    beats = replace(
        beats,
        **dict.fromkeys(waves, value_n),
        **dict.fromkeys(LEADS, value_l),
        ectopic=flag,
        after_gap=flag,
    )
    for name, tool in SIGNAL_TOOLS.items():
        result = tool(beats, 0, 100, per_beat)
        for field in FIELDS[name].split():
            assert result[field] is not None or field in result["reasons"]
