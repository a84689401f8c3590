from __future__ import annotations

from ecgscroll.report.moments import moments, spread, windows
from ecgscroll.report.story import Story


def story(**values):
    return Story("episode_detection/db/1", "played", **values)


def test_missed_events_and_false_writes_come_first():
    one = story(
        events=((10.0, 20.0), (500.0, 520.0)),
        delays=(4.0, None),
        ledger=({"t0": 9.0, "t1": 21.0}, {"t0": 300.0, "t1": 340.0}),
    )
    assert moments([one])[:3] == [500.0, 320.0, 10.0]


def test_bad_calls_are_moments():
    one = story(steps=({"action": "?", "result": {"error": "no"}, "cursor": 77.0},))
    assert moments([one]) == [77.0]


def test_an_episode_without_anything_shows_its_beginning():
    assert moments([story()]) == [0.0]


def test_hostile_entries_are_no_moments():
    assert moments([story(ledger=({"t0": "x", "t1": None}, {}))]) == [0.0]


def test_the_first_few_of_many_times_cover_them_all():
    times = [float(time) for time in range(100)]
    order = spread(times)
    assert sorted(order) == times
    assert max(b - a for a, b in zip(sorted(order[:8]), sorted(order[:8])[1:], strict=False)) <= 20


def test_windows_are_clipped_and_joined():
    assert windows([1.0, 12.0, 40.0, 99.0], 6.0, 100.0) == [
        (0.0, 18.0),
        (34.0, 46.0),
        (93.0, 100.0),
    ]
