"""Samples: what was annotated is there, where it was annotated, and it looks like an ECG."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecgscroll.synth import (
    Fibrillation,
    Noise,
    SynthConfig,
    preset,
    synthesize,
)
from ecgscroll.synth.notes import annotate

FS = 250
# J + 80 ms and the PR baseline against the R peak, samples.
J80, PR = round(0.126 * FS), round(-0.060 * FS)


@pytest.fixture(scope="module")
def ectopic():
    recording = synthesize(preset("ectopy", 4, 900.0), 4)
    return recording, recording.read(0, recording.config.n_samples, clean=True)


def test_r_peaks_lie_at_the_extremum_of_the_first_lead(ectopic):
    recording, signal = ectopic
    assert (recording.plan.kind == 2).sum() > 20
    for sample in recording.plan.sample[2:-2]:
        around = signal[0, sample - 10 : sample + 11]
        assert abs(int(np.argmax(np.abs(around))) - 10) <= 2


def width_ms(beat, limit):
    """Time during which a beat's slope exceeds a fraction of its largest, ms."""
    slope = np.abs(np.gradient(beat))
    steep = np.flatnonzero(slope > limit * slope.max())
    return 1000 * (steep[-1] - steep[0]) / FS


def test_ectopic_beats_are_wide_and_conducted_ones_narrow(ectopic):
    recording, signal = ectopic
    widths = {0: [], 2: []}
    for sample, kind in zip(recording.plan.sample[2:-2], recording.plan.kind[2:-2], strict=True):
        widths[int(kind)].append(width_ms(signal[0, sample - 25 : sample + 28], 0.05))
    assert 60 < np.median(widths[0]) < 110
    assert 120 < np.median(widths[2]) < 190


def test_ectopic_beats_have_an_opposite_t_and_no_p(ectopic):
    recording, signal = ectopic
    plan = recording.plan
    lone = [
        plan.sample[i]
        for i in range(2, plan.sample.size - 2)
        if plan.kind[i] == 2 and plan.kind[i - 1] == plan.kind[i + 1] == 0
    ]
    for sample in lone:
        t_wave = signal[0, sample + round(0.225 * FS)]
        assert np.sign(t_wave) == -np.sign(signal[0, sample])


def test_conducted_beats_have_a_p_wave_before_and_a_t_wave_after():
    recording = synthesize(preset("sinus", 1, 120.0), 1)
    signal = recording.read(0, recording.config.n_samples, clean=True)[0]
    for sample in recording.plan.sample[2:-2]:
        p = signal[sample - 50 : sample - 20].max() - signal[sample - 65]
        t = signal[sample + 40 : sample + 90].max()
        assert 0.05 < p < 0.3
        assert 0.1 < t < 0.8


def test_fibrillation_has_f_waves_of_4_to_9_hz_and_sinus_rhythm_none():
    config = SynthConfig(duration_s=120.0, fibrillation=Fibrillation(burden=1.0))
    fibrillating = synthesize(config, 2)
    quiet = synthesize(replace(config, fibrillation=Fibrillation(burden=1.0, wave_mv=0.0)), 2)
    waves = fibrillating.read(0, 30000, clean=True) - quiet.read(0, 30000, clean=True)
    frequency = np.fft.rfftfreq(30000, 1 / FS)
    peak = frequency[np.argmax(np.abs(np.fft.rfft(waves[0])))]
    assert 4.0 <= peak <= 9.0
    assert 0.03 < waves[0].std() < 0.15
    assert waves[1].std() < waves[0].std()
    sinus = synthesize(replace(config, fibrillation=Fibrillation(burden=0.0)), 2)
    silent = replace(config, fibrillation=Fibrillation(burden=0.0, wave_mv=0.0))
    assert (sinus.read(0, 30000) == synthesize(silent, 2).read(0, 30000)).all()


def test_st_level_reaches_what_is_annotated():
    for seed in (0, 1, 3):
        recording = synthesize(preset("ischemia", seed, 1800.0), seed)
        signal = recording.read(0, recording.config.n_samples, clean=True)
        for episode in recording.plan.st:
            lead = signal[episode.lead]
            level = lead[episode.peak + J80] - lead[episode.peak + PR]
            assert level == pytest.approx(episode.peak_mv, abs=0.05)


def test_st_is_level_outside_episodes():
    recording = synthesize(preset("ischemia", 1, 900.0), 1)
    signal = recording.read(0, recording.config.n_samples, clean=True)
    plan = recording.plan
    calm = plan.sample[(plan.st_mv == 0).all(axis=1)][2:-2]
    level = signal[:, calm + J80] - signal[:, calm + PR]
    assert np.abs(level).max() < 0.06


@settings(max_examples=20, deadline=None)
@given(start=st.integers(0, 45_000), length=st.integers(1, 40_000))
def test_any_window_is_a_part_of_the_whole(whole, start, length):
    recording, signal = whole
    stop = min(start + length, signal.shape[1])
    assert np.array_equal(recording.read(start, stop), signal[:, start:stop], equal_nan=True)


@pytest.fixture(scope="module")
def whole():
    config = replace(preset("holter", 3, 187.3), noise=Noise(lead_off_per_h=100, lead_off_s=3))
    recording = synthesize(config, 3)
    return recording, recording.read(0, config.n_samples)


@pytest.mark.parametrize("chunk_s", [0.5, 7.0, 60.0, 1000.0])
def test_chunk_size_changes_no_sample(whole, chunk_s):
    recording, signal = whole
    joined = np.concatenate(list(recording.chunks(chunk_s)), axis=1)
    assert np.array_equal(joined, signal, equal_nan=True)


def test_lead_off_is_flat_or_invalid_where_planned_and_nowhere_else(whole):
    recording, signal = whole
    invalid = np.zeros(signal.shape, dtype=bool)
    assert {off.flat for off in recording.plan.lead_off} == {True, False}
    for off in recording.plan.lead_off:
        part = signal[list(off.leads), off.start : off.stop]
        assert np.isnan(part).all() if not off.flat else (part == part[0, 0]).all()
        if not off.flat:
            invalid[list(off.leads), off.start : off.stop] = True
    assert (np.isnan(signal) == invalid).all()


def test_beats_that_no_lead_recorded_are_not_annotated(whole):
    recording, _ = whole
    notes = annotate(recording.config, recording.plan)
    beats = notes.sample[np.isin(notes.symbol, ["N", "V"])]
    gone = [off for off in recording.plan.lead_off if len(off.leads) == 2]
    assert gone
    for off in gone:
        assert not ((beats >= off.start) & (beats < off.stop)).any()
    assert np.isin(beats, recording.plan.sample).all()


def test_noise_is_there_and_of_the_size_that_was_asked_for():
    noise = Noise(wander_mv=0.0, muscle_mv=0.02, mains_mv=0.0, bursts_per_h=0.0, motion_per_h=0.0)
    recording = synthesize(SynthConfig(duration_s=120.0, noise=noise), 8)
    rest = recording.read(0, 30000) - recording.read(0, 30000, clean=True)
    assert rest.std() == pytest.approx(0.02, rel=0.03)


@pytest.mark.parametrize("name", ["sinus", "paf", "ectopy", "holter"])
def test_a_detector_does_on_them_as_on_real_recordings(name):
    import sleepecg

    found = annotated = detected = 0
    for seed in (1, 2, 3):
        recording = synthesize(preset(name, seed, 1800.0), seed)
        signal = np.nan_to_num(recording.read(0, recording.config.n_samples)[0])
        peaks = np.asarray(sleepecg.detect_heartbeats(signal.astype(np.float64), FS)) / FS
        notes = annotate(recording.config, recording.plan)
        beats = notes.sample[np.isin(notes.symbol, ["N", "V"])] / FS
        near = np.abs(
            peaks[np.searchsorted(peaks, beats[:, None] - 0.15).clip(max=peaks.size - 1)]
            - beats[:, None]
        )
        found += int((near <= 0.15).sum())
        annotated += beats.size
        detected += peaks.size
    assert 0.97 < found / annotated < 1.0
    assert 0.97 < found / detected < 1.0
