import numpy as np
import pytest
from signals_fakes import beat_times, fake_ecg

from ecgscroll.signals.artefacts import clipped, stimulus_before, without_spikes
from ecgscroll.signals.segment import analyse


@pytest.mark.parametrize("fs", [250.0, 360.0, 500.0, 1000.0])
def test_spikes_are_cut_out(fs):
    x = fake_ecg(beat_times(20), 20, fs)
    spiked = x.copy()
    width = max(1, round(0.002 * fs))
    at = np.arange(100, x.shape[1] - 50, round(0.83 * fs))
    for i in range(width):
        spiked[:, at + i] += 5.0
    assert np.abs(without_spikes(spiked, fs) - x).max() < 0.6


@pytest.mark.parametrize("fs", [128.0, 250.0, 360.0])
def test_narrow_complexes_stay(fs):
    x = fake_ecg(beat_times(20), 20, fs) * 2
    assert without_spikes(x, fs) is x


def test_spikes_beside_a_hole_leave_it_alone():
    x = fake_ecg(beat_times(10), 10)
    x[:, 500:700] = np.nan
    x[:, 900] += 5.0
    out = without_spikes(x, 250.0)
    assert np.array_equal(np.isnan(out), np.isnan(x))


def test_cut_off_complexes_are_told_and_whole_ones_are_not():
    x = fake_ecg(beat_times(20), 20)
    assert clipped(x) is None
    cut = np.minimum(x, np.float32(0.5))
    assert clipped(cut)[0].any()
    assert (cut[clipped(cut)] == 0.5).all()


def test_a_flat_or_lost_lead_is_not_clipped():
    x = np.zeros((2, 1000), dtype=np.float32)
    x[1] = np.nan
    assert clipped(x) is None


def test_a_paced_beat_is_timed_by_its_spike_and_its_marks_with_it():
    fs, r = 360.0, beat_times(30)
    x = fake_ecg(r, 30, fs)
    plain = analyse(x, fs, ("I", "II"), 0)
    spikes = np.rint((r - 0.06) * fs).astype(int)
    spiked = x.copy()
    spiked[:, spikes] += 4.0
    paced = analyse(spiked, fs, ("I", "II"), 0)
    assert len(paced.time) == len(plain.time)
    assert np.abs(paced.time - plain.time + 0.06).max() < 0.01
    onset = paced.time * 1000 + paced.qrs_on_ms
    assert np.nanmedian(np.abs(onset - plain.time * 1000 - plain.qrs_on_ms)) < 12
    assert np.isfinite(plain.st_mv).all(axis=1).sum() > 30
    assert np.isnan(paced.st_mv).all()
    assert not paced.ectopic.any()


def test_only_spikes_that_beats_follow_time_them():
    beats = np.arange(200.0, 4000.0, 300.0)
    every = (beats - 20).astype(int)
    assert stimulus_before(beats, [every[:4], every[4:]], 360.0).tolist() == every.tolist()
    atrial = [np.concatenate([every - 60, every])]
    assert stimulus_before(beats, atrial, 360.0).tolist() == every.tolist()
    half = stimulus_before(beats, [every[::2]], 360.0)
    assert half.tolist() == np.where(np.arange(len(beats)) % 2, beats, every).tolist()
    for loose in (every[:4], np.arange(100, 4000, 37), every - 60):
        assert stimulus_before(beats, [loose], 360.0) is beats
    assert stimulus_before(beats, [], 360.0) is beats
