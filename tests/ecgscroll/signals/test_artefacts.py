import numpy as np
import pytest
from signals_fakes import beat_times, fake_ecg

from ecgscroll.signals.artefacts import clipped, without_spikes


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
