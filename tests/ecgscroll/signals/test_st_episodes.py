from dataclasses import replace

import numpy as np
import pytest

from ecgscroll.signals.beats import Beats
from ecgscroll.signals.ischemia import episodes, references

TIME = np.arange(0.0, 600.0, 1.0)


def beats_with(level, ectopic=None):
    beats = Beats.from_times(TIME, source="detected", leads=("I", "II"))
    st_mv = np.zeros((len(TIME), 2), dtype=np.float32)
    st_mv[:, 1] = level
    return replace(
        beats, st_mv=st_mv, ectopic=np.zeros(len(TIME), bool) if ectopic is None else ectopic
    )


def pulse(start, stop, mv):
    return np.where((start <= TIME) & (stop > TIME), mv, 0.0)


def found(beats):
    return episodes(beats, references(beats, beats))


@pytest.mark.parametrize("mv", [0.2, -0.2])
def test_lasting_deviation_is_an_episode_with_lead_sign_and_size(mv):
    (episode,) = found(beats_with(pulse(200, 260, mv)))
    assert (episode.lead, episode.peak_mv) == ("II", pytest.approx(mv))
    assert (episode.start, episode.stop) == pytest.approx((200, 259), abs=2)


def test_twenty_seconds_are_no_episode():
    assert found(beats_with(pulse(200, 220, 0.3))) == []


def test_small_deviation_is_no_episode():
    assert found(beats_with(pulse(200, 300, 0.08))) == []


def test_constant_offset_is_the_reference():
    assert found(beats_with(np.full(len(TIME), 0.4))) == []


def test_ectopic_beats_do_not_count():
    ectopic = (TIME >= 200) & (TIME < 260)
    assert found(beats_with(pulse(200, 260, 0.5), ectopic)) == []


def test_lead_without_a_level_has_no_episode():
    beats = beats_with(np.full(len(TIME), np.nan))
    assert np.isnan(references(beats, beats)[1])
    assert found(beats) == []
