"""Flat, lost, saturated, disconnected, paced: a value or none, never a confident wrong one.

Every signal tool, classifier and skim cue is asked on a synthetic recording of which the rate, the
ST level and the rhythm are known; a stretch of 60 s is spoilt, and the window lies inside it.
"""

import numpy as np
import pytest
from signals_fakes import FakeStream

from ecgscroll.signals import rhythm
from ecgscroll.signals.cues import profile
from ecgscroll.signals.ischemia import episodes
from ecgscroll.signals.store import FeatureStore
from ecgscroll.synth.config import Noise, SynthConfig
from ecgscroll.synth.recording import synthesize
from ecgscroll.tools.signal import SIGNAL_TOOLS

FS, SECONDS = 250, 240
SPAN, WINDOW = slice(120 * FS, 180 * FS), (125.0, 175.0)
CUES = ("rr_irregularity", "st_deviation", "ectopy")
VALUES = {
    "get_rate_rhythm": ("hr_bpm", "rr_mean_ms", "rr_sd_ms", "rr_irregularity"),
    "get_p_wave": ("p_present_frac", "pr_mean_ms", "p_amp", "pp_regularity"),
    "get_qrs": ("mean_qrs_ms", "wide_beat_frac", "qrs_amp", "ectopic_count", "ectopic_times"),
    "get_st": ("st_mv", "sign"),
    "get_t_wave": ("t_amp", "polarity"),
    "get_qt": ("qt_mean_ms", "qtc_ms"),
}


@pytest.fixture(scope="module")
def recording():
    noise = Noise(bursts_per_h=0.0, motion_per_h=0.0)
    made = synthesize(SynthConfig(duration_s=float(SECONDS), fs=FS, noise=noise), 3)
    return made.read(0, SECONDS * FS), made.plan.sample / FS


def heard(x):
    beats = FeatureStore().beats(FakeStream(x, float(FS)).at(SECONDS), 0.0, SECONDS)
    return beats, {name: tool(beats, *WINDOW) for name, tool in SIGNAL_TOOLS.items()}


def coloured(n, low, high, seed=0):
    """(2, n) noise of unit size between two frequencies (Hz)."""
    spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal((2, n)), axis=1)
    frequency = np.fft.rfftfreq(n, 1 / FS)
    spectrum[:, (frequency < low) | (frequency > high)] = 0
    out = np.fft.irfft(spectrum, n, axis=1)
    return (out / out.std()).astype(np.float32)


def rail(n, chance, seed=0):
    flickers = np.random.default_rng(seed).random((2, n)) < chance
    return np.where(flickers, np.float32(4.995), np.float32(5.0))


def disconnected(kind, n):
    """(2, n) millivolts of two leads without a heart in them."""
    t = np.arange(n) / FS
    rng = np.random.default_rng(0)
    return {
        "flat": lambda: np.zeros((2, n), np.float32),
        "nan": lambda: np.full((2, n), np.nan, np.float32),
        "rail": lambda: rail(n, 0.0),
        "flickering rail": lambda: rail(n, 0.2),
        "idle converter": lambda: (0.005 * rng.integers(-1, 2, (2, n))).astype(np.float32),
        "little noise": lambda: 0.05 * coloured(n, 0.0, 120.0),
        "much noise": lambda: 0.4 * coloured(n, 0.0, 120.0),
        "muscle": lambda: 0.3 * coloured(n, 15.0, 100.0),
        "slow noise": lambda: 0.4 * coloured(n, 0.5, 10.0),
        "wander": lambda: 1.0 * coloured(n, 0.05, 0.7),
        "mains": lambda: np.tile(0.5 * np.sin(2 * np.pi * 50 * t), (2, 1)).astype(np.float32),
    }[kind]()


LOST = (
    *("flat", "nan", "rail", "flickering rail", "idle converter", "little noise", "much noise"),
    *("muscle", "slow noise", "wander", "mains"),
)
"""Slow noise of QRS size (0.5 to 10 Hz) in both leads at once is a known failure."""


@pytest.mark.parametrize("kind", [kind for kind in LOST if kind != "slow noise"])
def test_both_leads_lost_give_no_value_but_reasons(recording, kind):
    x = recording[0].copy()
    x[:, SPAN] = disconnected(kind, SPAN.stop - SPAN.start)
    beats, results = heard(x)
    for name, result in results.items():
        for field in VALUES[name]:
            assert result[field] is None, (name, field)
            assert result["reasons"][field]
    assert [profile(cue, beats, *WINDOW)["peak"] for cue in CUES] == [None] * 3
    assert rhythm.judge(beats).seconds(*WINDOW)[0] == 0.0
    assert episodes(beats) == []


@pytest.mark.parametrize("lead", [0, 1])
@pytest.mark.parametrize("kind", LOST)
def test_one_lead_lost_leaves_the_other_and_is_not_measured(recording, kind, lead):
    x, true = recording[0].copy(), heard(recording[0])[1]
    x[lead, SPAN] = disconnected(kind, SPAN.stop - SPAN.start)[lead]
    beats, results = heard(x)
    lost, good = beats.leads[lead], beats.leads[1 - lead]
    assert results["get_rate_rhythm"]["hr_bpm"] == pytest.approx(
        true["get_rate_rhythm"]["hr_bpm"], abs=0.3
    )
    for tool, field in (("get_st", "st_mv"), ("get_t_wave", "t_amp")):
        assert results[tool][field][lost] is None, tool
        assert results[tool]["reasons"][f"{field}.{lost}"]
        assert results[tool][field][good] == pytest.approx(true[tool][field][good], abs=0.03)
    assert results["get_qrs"]["wide_beat_frac"] == pytest.approx(0.0, abs=0.05)
    assert results["get_qrs"]["ectopic_count"] == 0
    assert profile("ectopy", beats, *WINDOW)["peak"] == 0.0
    assert profile("st_deviation", beats, *WINDOW)["peak"] < 0.05
    assert rhythm.judge(beats).seconds(*WINDOW)[0] == 0.0
    assert episodes(beats) == []


def spiked(x, at, size=6.0):
    out = x.copy()
    out[:, np.asarray(at, dtype=np.int64)] += np.float32(size)
    return out


@pytest.mark.parametrize("when", ["before each beat", "at their own rate"])
def test_pacing_spikes_change_nothing(recording, when):
    x, times = recording
    own = np.arange(100, x.shape[1] - 5, round(0.85 * FS))
    captured = ((times[1:-1] - 0.045) * FS).astype(int)
    true = heard(x)[1]
    beats, results = heard(spiked(x, captured if when == "before each beat" else own))
    assert results["get_rate_rhythm"] == true["get_rate_rhythm"]
    for tool, field, most in (
        ("get_qrs", "mean_qrs_ms", 5),
        ("get_qrs", "qrs_amp", 0.05),
        ("get_qrs", "wide_beat_frac", 0.02),
        ("get_qrs", "ectopic_count", 0),
        ("get_qt", "qt_mean_ms", 10),
        ("get_p_wave", "p_present_frac", 0.05),
    ):
        assert results[tool][field] == pytest.approx(true[tool][field], abs=most), field
    assert profile("ectopy", beats, *WINDOW)["peak"] == 0.0


def test_spikes_without_capture_are_no_heart_beats(recording):
    x = recording[0].copy()
    x[:, SPAN] = 0.01 * coloured(SPAN.stop - SPAN.start, 0.0, 120.0)
    at = np.arange(SPAN.start + 100, SPAN.stop - 5, round(0.85 * FS))
    results = heard(spiked(x, at))[1]
    assert results["get_rate_rhythm"]["hr_bpm"] is None


def test_amplitude_of_a_cut_off_complex_is_unknown(recording):
    size = np.quantile(recording[0], [0.001, 0.999], axis=1)[..., None]
    x = np.clip(recording[0], *(0.4 * size)).astype(np.float32)
    results = heard(x)[1]
    assert results["get_qrs"]["qrs_amp"] is None
    assert results["get_qrs"]["reasons"]["qrs_amp"]
    assert results["get_rate_rhythm"]["hr_bpm"] == pytest.approx(
        heard(recording[0])[1]["get_rate_rhythm"]["hr_bpm"], abs=0.3
    )


@pytest.mark.parametrize(("hole", "every"), [(0.05, 0.5), (0.05, 1.1), (0.1, 0.9)])
def test_a_beat_lost_in_a_short_hole_makes_no_long_interval(recording, hole, every):
    x, true = recording[0].copy(), heard(recording[0])[1]["get_rate_rhythm"]
    x[:, (np.arange(x.shape[1]) / FS) % every < hole] = np.nan
    found = heard(x)[1]["get_rate_rhythm"]
    assert found["pauses"] == []
    assert found["rr_max_ms"] <= true["rr_max_ms"] + 10
    assert found["hr_bpm"] == pytest.approx(true["hr_bpm"], abs=1.5)


@pytest.mark.parametrize("kind", ["muscle", "much noise"])
@pytest.mark.parametrize("seconds", [2.5, 3.0, 4.0])
def test_noise_that_hides_beats_is_no_pause(recording, kind, seconds):
    x = recording[0].copy()
    for start in (130, 145, 160):
        span = slice(start * FS, start * FS + round(seconds * FS))
        x[:, span] = disconnected(kind, span.stop - span.start)
    assert heard(x)[1]["get_rate_rhythm"]["pauses"] == []


def test_a_pause_is_told(recording):
    x, times = recording[0].copy(), recording[1]
    quiet = times[times > 140][0] + 0.5
    still = slice(round(quiet * FS), round((quiet + 3.0) * FS))
    x[:, still] = x[:, [still.start]] + 0.05 * coloured(still.stop - still.start, 0.2, 2.0)
    (pause,) = heard(x)[1]["get_rate_rhythm"]["pauses"]
    assert pause[1] - pause[0] == pytest.approx(3.8, abs=0.8)


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("leads", [slice(0, 2), slice(0, 1)])
@pytest.mark.parametrize(("hole", "every"), [(0.05, 0.5), (0.1, 0.9), (0.3, 3.1), (0.9, 5.0)])
def test_zeros_or_held_values_in_every_lead_are_lost_signal(recording, leads, hole, every, held):
    x, true = recording[0][leads].copy(), heard(recording[0])[1]["get_rate_rhythm"]
    for start in np.arange(every, SECONDS - 1, every):
        span = slice(round(start * FS), round((start + hole) * FS))
        x[:, span] = x[:, [span.start - 1]] if held else 0.0
    found = heard(x)[1]["get_rate_rhythm"]
    assert found["pauses"] == []
    assert found["rr_max_ms"] <= true["rr_max_ms"] + 40
    assert found["hr_bpm"] == pytest.approx(true["hr_bpm"], abs=2.0)


def test_a_coarse_converter_loses_nothing(recording):
    x, true = recording[0], heard(recording[0])[1]["get_rate_rhythm"]
    coarse = heard(np.round(x / 0.1).astype(np.float32) * np.float32(0.1))[1]["get_rate_rhythm"]
    assert coarse["n_beats"] == true["n_beats"]
    assert coarse["rr_excluded"] == 0


@pytest.mark.parametrize("gain", [0.05, 0.1, 0.3])
def test_p_waves_of_low_complexes_are_unknown_not_absent(recording, gain):
    found = heard(gain * recording[0])[1]["get_p_wave"]
    assert found["p_present_frac"] is None
    assert "cannot be judged" in found["reasons"]["p_present_frac"]
    assert found["reasons"]["pr_mean_ms"] == found["reasons"]["p_present_frac"]


@pytest.mark.parametrize("gain", [50.0, 1000.0])
def test_levels_that_no_heart_gives_are_not_told(recording, gain):
    true, found = heard(recording[0])[1], heard(gain * recording[0])[1]
    for tool, field in (
        ("get_p_wave", "p_amp"),
        ("get_qrs", "qrs_amp"),
        ("get_st", "st_mv"),
        ("get_t_wave", "t_amp"),
    ):
        assert found[tool][field] is None
        assert "gain" in found[tool]["reasons"][field]
    assert found["get_rate_rhythm"] == true["get_rate_rhythm"]
    assert found["get_qrs"]["mean_qrs_ms"] == true["get_qrs"]["mean_qrs_ms"]
