import numpy as np
import pytest

from ecgscroll.signals.beats import Beats


def test_between_is_half_open():
    assert Beats.from_times([1.0, 2.0, 3.0]).between(1.0, 3.0).time.tolist() == [1.0, 2.0]


def test_from_times_sorts_and_counts_equal_times_once():
    assert Beats.from_times([2.0, 1.0, 2.0]).time.tolist() == [1.0, 2.0]


def test_reference_beats_have_no_waveform_values():
    beats = Beats.from_times([1.0, 2.0], leads=("I", "II"))
    assert not beats.has_waveform
    assert beats.st_mv.shape == (2, 2)
    assert np.isnan(beats.st_mv).all()
    assert np.isnan(beats.qrs_ms).all()


def test_concatenate_keeps_order_and_leads():
    parts = [Beats.from_times([1.0], leads=("I",)), Beats.from_times([2.0, 3.0], leads=("I",))]
    joined = Beats.concatenate(parts)
    assert joined.time.tolist() == [1.0, 2.0, 3.0]
    assert joined.leads == ("I",)


def test_empty_has_no_beats():
    assert len(Beats.empty(("I",))) == 0


def test_beats_cannot_be_reassigned():
    with pytest.raises(AttributeError):
        Beats.empty().time = np.zeros(1)
