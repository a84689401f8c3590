from dataclasses import replace

import numpy as np
import pytest

from ecgscroll.signals.beats import Beats
from ecgscroll.tools.classifiers import classify_beats, classify_rhythm, flag_ischemia
from ecgscroll.tools.signal import NO_WAVEFORM


def stream_of(beats, elapsed=1e9):
    """Beats as a stream gives them, and the windows it was asked for."""
    asked = []

    def beats_of(t0, t1):
        asked.append((t0, t1))
        return beats.between(t0, min(t1, elapsed))

    beats_of.asked = asked
    return beats_of


def detected(times, leads=("I", "II")):
    return Beats.from_times(times, source="detected", leads=leads)


def af_after(onset, seconds):
    rng = np.random.default_rng(0)
    sinus = np.arange(0, onset, 0.8)
    af = onset + np.cumsum(rng.normal(0.65, 0.14, int(seconds / 0.6)).clip(0.35))
    return np.concatenate([sinus, af[af < onset + seconds]])


def test_rhythm_of_fibrillation_is_af():
    result = classify_rhythm(stream_of(detected(af_after(300, 300))), 400, 430)
    assert (result["dominant_rhythm"], result["af_frac"]) == ("AF", 1.0)
    assert result["source"] == "signal"


def test_rhythm_before_the_onset_is_sinus():
    result = classify_rhythm(stream_of(detected(af_after(300, 300))), 100, 130)
    assert (result["dominant_rhythm"], result["af_frac"]) == ("sinus rhythm", 0.0)


def test_af_frac_is_the_share_of_the_window():
    result = classify_rhythm(stream_of(detected(af_after(300, 300))), 0, 600)
    assert result["af_frac"] == pytest.approx(0.5, abs=0.05)


def test_rhythm_works_on_annotation_times():
    result = classify_rhythm(stream_of(Beats.from_times(af_after(300, 300))), 400, 430)
    assert result["dominant_rhythm"] == "AF"


def test_regular_rhythm_without_p_waves_is_other():
    beats = detected(np.arange(0, 100, 0.8))
    beats = replace(beats, p_present=np.zeros(len(beats), np.float32))
    assert classify_rhythm(stream_of(beats), 40, 70)["dominant_rhythm"] == "other"


@pytest.mark.parametrize("times", [[], [1.0], [1.0, 1.8], np.arange(0, 5, 0.8)])
def test_too_few_beats_name_no_rhythm(times):
    result = classify_rhythm(stream_of(detected(times)), 0, 30)
    assert result["dominant_rhythm"] is None
    assert set(result["reasons"]) == {"dominant_rhythm", "af_frac"}


def test_rhythm_of_a_window_of_lost_signal_is_null():
    times = np.concatenate([np.arange(0, 100, 0.8), np.arange(200, 300, 0.8)])
    assert classify_rhythm(stream_of(detected(times)), 120, 150)["af_frac"] is None


def test_rhythm_asks_for_bounded_history():
    beats_of = stream_of(detected(np.arange(0, 5000, 0.8)))
    classify_rhythm(beats_of, 4000, 4030)
    assert min(t0 for t0, _ in beats_of.asked) > 3800


def test_beats_are_counted_by_type():
    beats = detected(np.arange(0, 8, 0.8))
    beats = replace(beats, ectopic=np.arange(10) == 3)
    result = classify_beats(stream_of(beats), 0, 8)
    assert result["types"] == {"N": 9, "V": 1}
    assert (result["pvc_times"], result["pvc_times_count"]) == ([2.4], 1)


def test_beats_of_an_annotation_only_recording_cannot_be_classified():
    result = classify_beats(stream_of(Beats.from_times(np.arange(10.0))), 0, 8)
    assert result["types"] is None
    assert set(result["reasons"].values()) == {NO_WAVEFORM}


def with_st(start, stop, mv, length=1000.0):
    beats = detected(np.arange(0, length, 1.0))
    level = np.zeros((len(beats), 2), dtype=np.float32)
    edges = [start - 5, start + 15, stop - 15, stop + 5]
    level[:, 1] = np.interp(beats.time, edges, [0, mv, mv, 0]) if mv else 0.0
    return replace(beats, st_mv=level, qrs_amp=np.ones_like(level))


def test_st_episode_is_flagged_and_clipped_to_the_window():
    result = flag_ischemia(stream_of(with_st(700, 800, -0.25)), 750, 780)
    assert (result["ischemic"], result["lead"], result["sign"]) == (True, "II", "depression")
    assert result["st_mv"] == pytest.approx(-0.25)
    assert result["episodes"] == [[750, 780]]


def test_window_outside_the_episode_is_not_flagged():
    result = flag_ischemia(stream_of(with_st(700, 800, -0.25)), 500, 530)
    assert result["ischemic"] is False
    assert set(result["reasons"]) == {"lead", "st_mv", "sign"}


def test_episode_that_has_lasted_ten_seconds_is_not_yet_one():
    assert not flag_ischemia(stream_of(with_st(700, 800, 0.3), 710), 700, 710)["ischemic"]


def test_reference_level_is_bounded_history():
    beats_of = stream_of(with_st(0, 0, 0.0, 9000.0))
    flag_ischemia(beats_of, 8000, 8030)
    assert sum(min(t1, 8060) - t0 for t0, t1 in beats_of.asked) < 2800


def test_st_without_a_level_is_null():
    result = flag_ischemia(stream_of(detected(np.arange(0, 100, 0.8))), 0, 30)
    assert result["ischemic"] is None
    assert set(result["reasons"]) >= {"ischemic", "lead", "st_mv", "sign", "episodes"}


def test_st_of_an_annotation_only_recording_is_null():
    result = flag_ischemia(stream_of(Beats.from_times(np.arange(100.0))), 0, 30)
    assert set(result["reasons"].values()) == {NO_WAVEFORM}


def test_a_window_too_short_for_arithmetic_is_null_with_a_reason():
    result = classify_rhythm(stream_of(detected(np.arange(0.5, 60, 0.8))), 0.0, 5e-324)
    assert result["af_frac"] is None
    assert result["reasons"]["af_frac"]
