"""A configuration that makes no sense is refused in one sentence."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecgscroll.errors import ConfigError
from ecgscroll.synth import (
    PRESETS,
    Ectopy,
    Fibrillation,
    Ischemia,
    Noise,
    Sinus,
    SynthConfig,
    preset,
    synthesize,
)


@pytest.mark.parametrize(
    ("part", "arguments", "named"),
    [
        (SynthConfig, {"duration_s": 0.0}, "duration_s"),
        (SynthConfig, {"duration_s": float("nan")}, "duration_s"),
        (SynthConfig, {"fs": 250.5}, "fs"),
        (SynthConfig, {"fs": True}, "fs"),
        (SynthConfig, {"leads": ("MLII", "aVX")}, "leads"),
        (SynthConfig, {"leads": ("V5", "V5")}, "leads"),
        (SynthConfig, {"leads": ()}, "leads"),
        (SynthConfig, {"leads": "V5"}, "leads"),
        (Sinus, {"hr_bpm": "70"}, "hr_bpm"),
        (Fibrillation, {"burden": 1.5}, "burden"),
        (Ectopy, {"count": 2.5}, "count"),
        (Ectopy, {"foci": 4}, "foci"),
        (Ischemia, {"peak_mv": (0.4, 0.2)}, "peak_mv"),
        (Noise, {"mains_hz": float("inf")}, "mains_hz"),
    ],
)
def test_a_value_out_of_its_limits_is_refused_by_name(part, arguments, named):
    with pytest.raises(ConfigError, match=named):
        part(**arguments)


@pytest.mark.parametrize("seed", [-1, 1.0, True, "1"])
def test_a_seed_that_is_no_count_is_refused(seed):
    with pytest.raises(ConfigError, match="seed"):
        synthesize(SynthConfig(duration_s=10), seed)


def test_an_unknown_preset_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match="holter"):
        preset("stress", 0)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_makes_a_recording_of_its_length(name):
    config = preset(name, seed=4, duration_s=61.0, fs=128)
    shape = synthesize(config, 4).read(0, config.n_samples).shape
    assert shape == (2, 61 * 128)


def test_seeds_are_different_patients():
    assert preset("sinus", 1).sinus != preset("sinus", 2).sinus


@pytest.mark.parametrize("fs", [100, 128, 360, 1000])
def test_sampling_frequency_changes_the_grid_and_not_the_heart(fs):
    config = preset("sinus", 3, 120.0)
    at_250 = synthesize(config, 3).plan.sample / 250
    other = synthesize(replace(config, fs=fs), 3).plan.sample / fs
    assert other == pytest.approx(at_250, abs=0.5 / fs + 0.5 / 250)


def test_the_shortest_recording_has_beats():
    assert synthesize(SynthConfig(duration_s=10.0), 0).plan.sample.size >= 5


def within(part, *names):
    """Any values of a part's numbers within their limits."""
    numbers = {}
    for name in names:
        low, high = part.limits[name]
        whole = isinstance(low, int)
        numbers[name] = st.integers(low, min(high, 500)) if whole else st.floats(low, high)
    return st.builds(part, **numbers)


configs = st.builds(
    SynthConfig,
    duration_s=st.floats(10.0, 150.0),
    fs=st.integers(100, 400),
    leads=st.permutations(["MLII", "V5", "V1"]).flatmap(
        lambda leads: st.integers(1, 3).map(lambda n: tuple(leads[:n]))
    ),
    qtc_ms=st.floats(330.0, 550.0),
    sinus=within(Sinus, *Sinus.limits),
    fibrillation=within(Fibrillation, *Fibrillation.limits),
    ectopy=st.one_of(
        within(Ectopy, *Ectopy.limits), within(Ectopy, *(set(Ectopy.limits) - {"count"}))
    ),
    ischemia=within(Ischemia, *(set(Ischemia.limits) - {"peak_mv"})),
    noise=within(Noise, *Noise.limits),
)


@settings(max_examples=60, deadline=None)
@given(config=configs, seed=st.integers(0, 2**40))
def test_any_configuration_within_its_limits_makes_a_sound_recording(config, seed):
    recording = synthesize(config, seed)
    plan = recording.plan
    signal = recording.read(0, config.n_samples, clean=True)
    assert signal.shape == (len(config.leads), config.n_samples)
    assert np.isfinite(signal).all()
    assert (np.diff(plan.sample) > 0).all()
    assert 0 <= plan.sample[0] <= plan.sample[-1] < config.n_samples
    starts = [sample for sample, _ in plan.rhythm]
    assert starts[0] == 0
    assert (np.diff(starts) > 0).all()
    for episode in plan.st:
        assert 0 <= episode.start <= episode.peak <= episode.stop < config.n_samples
    noisy = recording.read(0, config.n_samples)
    assert np.abs(noisy[np.isfinite(noisy)]).max(initial=0.0) < 200.0
