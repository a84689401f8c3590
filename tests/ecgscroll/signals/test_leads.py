import numpy as np
import pytest
from signals_fakes import beat_times, fake_ecg, matched

from ecgscroll.signals.detector import detect, read_lead
from ecgscroll.signals.leads import best_apart, contrast, nearest, spread, together
from ecgscroll.signals.quality import valid_samples

FS = 250.0


def run(x):
    return detect(x, valid_samples(x, FS), FS).sample / FS


@pytest.fixture
def times():
    return beat_times(100)


def noise(shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("lead", [0, 1])
def test_a_lead_that_turns_to_noise_is_not_heard_while_it_does(times, lead):
    x = fake_ecg(times, 100)
    x[lead, 10000:15000] += 1.0 * noise(5000)
    hits, extra = matched(run(x), times)
    assert hits >= len(times) - 1
    assert extra <= 1


@pytest.mark.parametrize("lead", [0, 1])
def test_an_artefact_in_one_lead_is_mostly_no_beat(times, lead):
    x = fake_ecg(times, 100)
    for at in (times[10:90:10] + 0.45) * FS:
        x[lead, int(at) : int(at) + 12] += 1.5
    hits, extra = matched(run(x), times)
    assert hits >= len(times) - 1
    assert extra <= 3  # of nine


def test_a_change_of_lead_is_no_change_of_rhythm():
    times = beat_times(60, jitter=0.0)
    x = fake_ecg(times, 60)
    x[1] = np.roll(x[1], 10)
    x[0, 5000:10000] = np.nan
    assert np.ptp(np.diff(run(x))) <= 0.012


def test_where_no_lead_shows_complexes_there_is_no_beat(times):
    x = fake_ecg(times, 100)
    x[:, 7500:17500] = 0.3 * noise((2, 10000))
    found = detect(x, valid_samples(x, FS), FS)
    at = found.sample / FS
    assert not ((at > 32) & (at < 68)).any()
    assert found.after_gap.sum() == 1


def test_one_lead_alone_decides_by_itself(times):
    x = fake_ecg(times, 100)[0]
    lead = read_lead(x, np.ones(len(x), dtype=bool), FS)
    assert np.array_equal(together([lead], FS), lead.sample)
    assert len(together([], FS)) == 0


def test_the_better_of_two_events_too_near_stays():
    sample, score = np.array([10, 40, 100, 300]), np.array([1.0, 2.0, -1.0, 0.5])
    assert best_apart(sample, score, 50).tolist() == [40, 300]


def test_nearest_of_none_is_infinitely_far():
    assert nearest(np.empty(0, np.int64), np.array([3]))[1][0] > 10**9


def test_noise_does_not_stand_out_and_beats_do():
    energy = np.abs(noise(6000)).astype(np.float64)
    energy = np.convolve(energy, np.ones(15) / 15, mode="same")
    assert not spread(contrast(energy, 120.0), np.log(3.3), 6000, 120.0).any()
    energy[::120] = 20.0
    assert spread(contrast(energy, 120.0), np.log(3.3), 6000, 120.0).all()
