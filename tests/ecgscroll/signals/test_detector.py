import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signals_fakes import beat_times, fake_ecg, matched

from ecgscroll.signals.detector import detect, lead_order
from ecgscroll.signals.quality import valid_samples


def run(x, fs=250.0):
    return detect(x, valid_samples(x, fs), fs)


@pytest.mark.parametrize("fs", [60.0, 100.0, 128.0, 250.0, 360.0, 500.0])
def test_every_beat_is_found_at_any_sampling_rate(fs):
    times = beat_times(60)
    hits, extra = matched(run(fake_ecg(times, 60, fs), fs).sample / fs, times)
    assert (hits, extra) == (len(times), 0)


def test_r_peaks_sit_on_the_extremum():
    times = beat_times(30)
    found = run(fake_ecg(times, 30)).sample / 250
    assert np.abs(found - times).max() <= 0.008


def test_inverted_lead_has_the_same_beats():
    x = fake_ecg(beat_times(30), 30)
    assert np.array_equal(run(x).sample, run(-x).sample)


@pytest.mark.parametrize("gain", [0.2, 5.0])
def test_amplitude_does_not_matter(gain):
    times = beat_times(30)
    assert matched(run(gain * fake_ecg(times, 30)).sample / 250, times) == (len(times), 0)


def test_tall_t_wave_is_no_beat():
    times = beat_times(60)
    x = fake_ecg(times, 60, t_mv=0.9)
    assert matched(run(x).sample / 250, times) == (len(times), 0)


def test_one_huge_artefact_hides_no_beat():
    times = beat_times(60)
    x = fake_ecg(times, 60)
    x[:, 5000:5010] += 20.0
    hits, _ = matched(run(x).sample / 250, times)
    assert hits >= len(times) - 1


def test_small_beats_after_large_ones_are_found():
    times = beat_times(60)
    x = fake_ecg(times, 60)
    x[:, 7500:] *= 0.4
    hits, _ = matched(run(x).sample / 250, times)
    assert hits >= len(times) - 3


def test_pause_is_no_reason_to_invent_beats():
    times = beat_times(60)
    times = times[(times < 20) | (times > 25)]
    found = run(fake_ecg(times, 60, p_mv=0.0)).sample / 250
    assert matched(found, times) == (len(times), 0)


@pytest.mark.parametrize("value", [0.0, 3.0, np.nan])
def test_idle_signal_has_no_beats(value):
    assert len(run(np.full((2, 5000), value, dtype=np.float32)).sample) == 0


@pytest.mark.parametrize("n", [0, 1, 2, 10, 60, 124])
def test_segment_shorter_than_half_a_second_has_no_beats(n):
    assert len(run(fake_ecg([0.2], 1.0)[:, :n]).sample) == 0


def test_no_beat_is_reported_in_a_hole_and_the_next_one_says_so():
    times = beat_times(60)
    x = fake_ecg(times, 60)
    x[:, 5000:7500] = np.nan
    found = run(x)
    at = found.sample / 250
    assert not ((at > 20) & (at < 30)).any()
    assert at[found.after_gap].tolist() == [at[at >= 30][0]]


def test_flat_stretch_counts_as_a_hole():
    x = fake_ecg(beat_times(60), 60)
    x[:, 5000:7500] = 1.5
    assert run(x).after_gap.sum() == 1


def test_hole_too_short_for_a_beat_breaks_nothing():
    times = beat_times(60)
    x = fake_ecg(times, 60)
    middle = int((times[20] + 0.45) * 250)
    x[:, middle : middle + 10] = np.nan
    found = run(x)
    assert not found.after_gap.any()
    assert matched(found.sample / 250, times) == (len(times), 0)


def test_dead_first_lead_hands_over_to_the_second():
    times = beat_times(60)
    x = fake_ecg(times, 60)
    x[0] = np.nan
    assert matched(run(x).sample / 250, times) == (len(times), 0)


def test_second_lead_stands_in_where_the_first_has_a_hole():
    times = beat_times(100)
    x = fake_ecg(times, 100)
    x[0, 5000:6000] = np.nan
    found = run(x)
    assert matched(found.sample / 250, times)[0] >= len(times) - 1
    assert not found.after_gap.any()


@pytest.mark.parametrize("kind", ["noise", "mains"])
def test_first_lead_that_carries_no_ecg_hands_over_to_the_second(kind):
    times = beat_times(60)
    x = fake_ecg(times, 60)
    x[0] = not_ecg(kind, x.shape[1])
    assert matched(run(x).sample / 250, times) == (len(times), 0)


@pytest.mark.parametrize("kind", ["noise", "mains"])
def test_signal_that_is_no_ecg_has_no_beats(kind):
    x = np.tile(not_ecg(kind, 15000), (2, 1))
    assert len(run(x).sample) == 0


def not_ecg(kind, n):
    noise = np.random.default_rng(0).standard_normal(n).astype(np.float32)
    mains = np.sin(2 * np.pi * 50 * np.arange(n) / 250).astype(np.float32)
    return 0.5 * noise if kind == "noise" else mains + 0.01 * noise


@pytest.mark.parametrize("rr", [0.27, 0.4, 2.5])
def test_slow_and_fast_hearts(rr):
    times = beat_times(60, rr, 0.003)
    x = fake_ecg(times, 60, p_mv=0.0, t_mv=0.1)
    assert matched(run(x).sample / 250, times) == (len(times), 0)


def test_leads_are_asked_best_first():
    valid = np.ones((3, 10), dtype=bool)
    valid[0, :5] = False
    valid[2] = False
    assert lead_order(valid) == [1, 0]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(0, 3000),
    fs=st.sampled_from([60.0, 128.0, 360.0, 1000.0]),
    kind=st.sampled_from(["noise", "steps", "holes", "spikes", "huge", "inf"]),
)
def test_any_signal_gives_increasing_peaks_inside_it(seed, n, fs, kind):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((2, n)).astype(np.float32)
    if kind == "steps":
        x = np.cumsum(x > 2.5, axis=1).astype(np.float32)
    elif kind == "holes":
        x[rng.random(x.shape) < 0.5] = np.nan
    elif kind == "spikes":
        x = (x > 2.5).astype(np.float32) * 1000
    elif kind == "huge":
        x *= np.float32(1e30)
    elif kind == "inf":
        x[rng.random(x.shape) < 0.1] = np.inf
    sample = run(x, fs).sample
    assert (np.diff(sample) >= 0.2 * fs - 1).all()
    assert ((sample >= 0) & (sample < max(n, 1))).all()
