"""What a model reads: short, under its cap, with the ledger or without."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from policies_fakes import quarter

from ecgscroll.environment.observation import LedgerText, compose
from policies.text import chunk_line, fit, without_ledger


def observation(entries=3, result="{}", notes=("Reminder: write it.",)):
    ledger = LedgerText()
    for n in range(entries):
        ledger.append({
            "type": "af", "lead": None, "t0": 10.0 * n, "t1": 10.0 * n + 5, "value": None,
            "confidence": 0.5, "cursor": 10.0 * n + 9,
        })  # fmt: skip
    return compose("af_burden: cursor 90.000 s of 900.000 s", ledger, result, notes, 4000)


def test_without_the_ledger_the_rest_is_whole():
    shown = without_ledger(observation())
    assert shown.split("\n") == [
        "af_burden: cursor 90.000 s of 900.000 s", "Result: {}", "Reminder: write it.",
    ]  # fmt: skip


@given(st.integers(0, 20), st.text(max_size=3000), st.integers(0, 1200))
def test_the_cap_of_tokens_holds_for_any_observation(entries, result, cap):
    assert quarter(fit(observation(entries, result), cap, quarter)) <= cap


def test_what_fits_is_left_alone():
    text = observation()
    assert fit(text, quarter(text), quarter) == text


def test_the_ledgers_lines_go_before_the_result():
    text = observation(20, result="x" * 100)
    shorter = fit(text, quarter(text) - 30, quarter)
    assert "x" * 100 in shorter
    assert "20 entries" in shorter
    assert "#20" in shorter
    assert "#1 " not in shorter


def test_a_chunks_line_names_units_and_leads():
    results = [
        {
            "tool": "get_rate_rhythm",
            "hr_bpm": 72.1,
            "rr_sd_ms": 40,
            "rr_max_ms": 900,
            "rr_irregularity": None,
        },
        {"tool": "get_st", "st_mv": {"MLII": -0.1, "V5": None}},
    ]
    assert chunk_line(0, 0.0, 29.5, results) == (
        "0: 0-29.5 s hr_bpm=72.1 rr_sd_ms=40 rr_max_ms=900 rr_irregularity=null "
        "st_mv=MLII:-0.1,V5:null"
    )


def test_a_rhythms_name_is_one_word_and_a_failed_measure_says_so():
    found = {"tool": "classify_rhythm", "dominant_rhythm": "sinus rhythm", "af_frac": 0.0}
    assert "dominant_rhythm=sinus_rhythm" in chunk_line(1, 30.0, 60.0, [found])
    assert chunk_line(2, 60.0, 90.0, [{"error": "no"}]) == "2: 60-90 s not measured"
