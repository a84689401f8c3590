from dataclasses import replace

import numpy as np
import pytest

from ecgscroll.signals.beats import Beats
from ecgscroll.signals.ischemia import bridged, episodes, first_reference, runs, step
from ecgscroll.signals.st_course import believed, qrs_course, reference, st_course

TIME = np.arange(0.0, 1200.0, 1.0)


def beats_with(level, ectopic=None, time=TIME, size=1.0, width=90.0):
    beats = Beats.from_times(time, source="detected", leads=("I", "II"))
    st_mv = np.zeros((len(time), 2), dtype=np.float32)
    st_mv[:, 1] = level
    amplitude = np.ones((len(time), 2), dtype=np.float32)
    amplitude[:, 1] = size
    return replace(
        beats,
        st_mv=st_mv,
        qrs_amp=amplitude,
        qrs_ms=np.broadcast_to(np.float32(width), len(time)),
        ectopic=np.zeros(len(time), bool) if ectopic is None else ectopic,
    )


def pulse(start, stop, mv, time=TIME, base=0.0):
    return np.where((start <= time) & (stop > time), mv, base)


def swell(start, stop, mv, time=TIME):
    """Rises and falls in 20 s, at a quarter of its height at start and stop."""
    return np.interp(time, [start - 5, start + 15, stop - 15, stop + 5], [0, mv, mv, 0])


def spans(found):
    return [(episode.start, episode.stop) for episode in found]


@pytest.mark.parametrize("mv", [0.2, -0.2])
def test_lasting_deviation_is_an_episode_with_lead_sign_and_size(mv):
    (episode,) = episodes(beats_with(swell(200, 260, mv)))
    assert (episode.lead, episode.peak_mv) == ("II", pytest.approx(mv))
    assert (episode.start, episode.stop) == pytest.approx((200, 260), abs=5)


def test_ramp_begins_and_ends_where_it_passes_the_edge():
    level = np.interp(TIME, [300, 400, 500, 600], [0, 0.2, 0.2, 0])
    (episode,) = episodes(beats_with(level))
    assert (episode.start, episode.stop) == pytest.approx((325, 575), abs=6)


def test_ten_seconds_are_no_episode():
    assert episodes(beats_with(pulse(200, 212, 0.3))) == []


def test_small_deviation_is_no_episode():
    assert episodes(beats_with(swell(200, 300, 0.08))) == []


def test_constant_offset_is_the_reference():
    assert episodes(beats_with(np.full(len(TIME), 0.4))) == []


def test_slow_drift_is_followed():
    assert episodes(beats_with(TIME / 1200 * 0.15)) == []


def test_ectopic_beats_do_not_count():
    ectopic = (TIME >= 200) & (TIME < 260)
    assert episodes(beats_with(swell(200, 260, 0.5), ectopic)) == []


def test_small_complexes_are_not_believed():
    size = pulse(200, 260, 0.3, base=1.0)
    beats = beats_with(pulse(200, 260, 0.5), size=size)
    assert not believed(beats, 1)[210]
    assert episodes(beats) == []


def test_a_wave_taken_for_a_beat_shows_in_the_lead_where_it_is_small():
    level, tall, small = pulse(200, 260, 0.5), pulse(200, 260, 1.3, base=1.0), pulse(200, 260, 0.4)
    beats = beats_with(level, size=tall)
    assert believed(beats, 1)[210]
    beats.qrs_amp[:, 0] = np.where(small > 0, small, 1.0)
    assert not believed(beats, 1)[210]
    assert believed(beats, 1)[190]


def test_a_beat_with_another_on_its_st_segment_is_not_believed():
    time = np.sort(np.concatenate([TIME, [300.3]]))
    beats = beats_with(np.zeros(len(time)), time=time)
    assert np.flatnonzero(~believed(beats, 1)).tolist() == [300]


def test_no_level_where_most_beats_are_not_believed():
    ectopic = (TIME >= 200) & (TIME < 260) & (TIME % 3 > 0)
    seen = st_course(beats_with(pulse(200, 260, 0.5), ectopic))
    inside = (seen.time > 210) & (seen.time < 250)
    assert np.isnan(seen.values[1, inside]).all()


def test_lead_without_a_level_has_no_episode():
    assert episodes(beats_with(np.full(len(TIME), np.nan))) == []


@pytest.mark.parametrize("n", [0, 1, 2, 10, 11])
def test_few_beats_have_no_episode(n):
    assert episodes(beats_with(np.zeros(n), time=TIME[:n])) == []


def test_episode_going_on_at_the_end_reaches_the_end():
    (episode,) = episodes(beats_with(swell(1100, 1300, 0.2)))
    assert episode.stop >= TIME[-1]


def test_a_gap_does_not_end_an_episode():
    time = np.concatenate([np.arange(0.0, 230.0), np.arange(300.0, 1200.0)])
    (episode,) = episodes(beats_with(swell(200, 360, 0.2, time), time=time))
    assert (episode.start, episode.stop) == pytest.approx((200, 360), abs=5)


@pytest.mark.parametrize(("size", "width"), [(1.5, 90.0), (1.0, 130.0)])
def test_step_of_st_and_qrs_together_is_a_shift(size, width):
    shifted = beats_with(
        pulse(200, 300, 0.2),
        size=pulse(200, 300, size, base=1.0),
        width=pulse(200, 300, width, base=90.0),
    )
    assert episodes(shifted) == []


@pytest.mark.parametrize(("rise", "called"), [(0.0, False), (5.0, False), (20.0, True)])
def test_what_jumps_within_ten_seconds_is_a_shift_whatever_the_qrs_does(rise, called):
    level = np.interp(TIME, [300, 300 + rise + 0.1, 500, 540], [0, 0.2, 0.2, 0])
    assert len(episodes(beats_with(level))) == called


def test_ramp_with_a_change_of_qrs_is_an_episode():
    level = np.interp(TIME, [300, 400, 500, 600], [0, 0.2, 0.2, 0])
    assert len(episodes(beats_with(level, size=1.0 + 3 * level))) == 1


def test_episode_longer_than_the_slow_median_is_kept_out_of_it():
    time = np.arange(0.0, 2400.0)
    (episode,) = episodes(beats_with(swell(600, 1500, 0.2, time), time=time))
    assert (episode.start, episode.stop) == pytest.approx((600, 1500), abs=5)


def test_the_recordings_start_tells_which_level_is_usual():
    start = beats_with(np.zeros(300), time=TIME[:300])
    time = np.arange(600.0, 3000.0)
    beats = beats_with(swell(1300, 2900, 0.2, time), time=time)
    assert spans(episodes(beats)) != spans(episodes(beats, start))
    (episode,) = episodes(beats, start)
    assert (episode.start, episode.stop) == pytest.approx((1300, 2900), abs=5)


def test_first_reference_is_the_median_without_an_origin():
    time = np.arange(0.0, 2400.0, 5.0)
    level = np.where(time < 1500, 0.3, 0.0)
    assert first_reference(time, level, np.nan) == 0.3
    assert first_reference(time, level, 0.05) == 0.0


def test_reference_passes_over_what_is_not_counted():
    time = np.arange(0.0, 1200.0, 5.0)
    counted = (time < 300) | (time > 700)
    level = np.where(counted, 0.1, 0.9)
    assert reference(time, level, counted) == pytest.approx(0.1)
    assert np.isnan(reference(time, level, np.zeros(len(time), bool))).all()
    assert reference(time[:6], level[:6], counted[:6]) == pytest.approx(0.1)


def test_levels_stand_on_multiples_of_five_seconds_wherever_the_history_begins():
    whole = st_course(beats_with(pulse(200, 260, 0.2)))
    late = st_course(beats_with(pulse(200, 260, 0.2)).between(103.0, 900.0))
    assert set(late.time) <= set(whole.time)


def test_qrs_course_has_a_row_for_each_lead_and_one_for_the_width():
    assert qrs_course(beats_with(np.zeros(len(TIME)))).values[:, 50] == pytest.approx([0, 0, 90])


def test_step_is_the_change_over_twenty_seconds():
    values = np.array([0.0, 0, 0, 0, 1, 1, 1, 1, 1])
    assert np.nanmax(step(values)) == 1
    assert np.isnan(step(values)[[0, 1, -2, -1]]).all()
    assert np.isnan(step(values[:3])).all()


def test_long_unknown_stretch_stays_unknown():
    time = np.arange(0.0, 500.0, 5.0)
    values = np.where((time > 100) & (time < 400), np.nan, 0.2)
    assert np.isnan(bridged(time, values)[30])
    short = np.where((time > 100) & (time < 200), np.nan, 0.2)
    assert bridged(time, short) == pytest.approx(0.2)


def test_short_break_is_joined():
    time = np.arange(0.0, 100.0, 5.0)
    mask = np.ones(20, dtype=bool)
    mask[[8, 9]] = False
    assert runs(time, mask) == [(0.0, 100.0)]
    mask[[10, 11]] = False
    assert runs(time, mask) == [(0.0, 37.5), (57.5, 100.0)]
