import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signals_fakes import FakeStream, beat_times, fake_ecg, matched

from ecgscroll.causal.sources import open_source
from ecgscroll.causal.stream import Stream
from ecgscroll.signals import store as store_module
from ecgscroll.signals.beats import ARRAYS, Beats
from ecgscroll.signals.cues import CUE_DETAIL, profile
from ecgscroll.signals.segment import analyse
from ecgscroll.signals.store import MAX_TAILS, BlockScheme, FeatureStore
from ecgscroll.tools import registry

TIMES_ONLY = ["time", "after_gap"]
COMPLEXES = [*TIMES_ONLY, "qrs_ms", "qrs_on_ms", "qrs_off_ms", "qrs_amp", "st_mv", "ectopic"]

DURATION = 200.0
TIMES = beat_times(DURATION)
X = fake_ecg(TIMES, DURATION, wide={30, 31, 70, 120})


def same(a, b):
    return pickle.dumps(a) == pickle.dumps(b)


def test_every_beat_comes_out_of_the_blocks():
    beats = FeatureStore().beats(FakeStream(X).at(DURATION), 0, DURATION)
    assert matched(beats.time, TIMES) == (len(TIMES), 0)


def test_blocks_give_what_the_whole_recording_gives():
    blockwise = FeatureStore().beats(FakeStream(X).at(DURATION), 0, DURATION)
    whole = analyse(X, 250.0, ("MLII", "V5"), 0)
    assert np.allclose(blockwise.time, whole.time, atol=0.005)
    assert (blockwise.ectopic == whole.ectopic).all()


def test_beat_on_a_joint_is_neither_lost_nor_doubled():
    times = np.arange(0.6, 199.5, 0.6)  # a beat lies on 60, 120 and 180 s
    beats = FeatureStore().beats(FakeStream(fake_ecg(times, DURATION)).at(DURATION), 0, DURATION)
    assert matched(beats.time, times) == (len(times), 0)


def test_windows_cut_across_a_joint_agree_with_each_other():
    store, stream = FeatureStore(), FakeStream(X).at(DURATION)
    parts = [store.beats(stream, a, a + 7.0).time for a in np.arange(0, 196, 7.0)]
    assert np.array_equal(np.concatenate(parts), store.beats(stream, 0, 196).time)


@settings(max_examples=15, deadline=None)
@given(cursor=st.floats(1, DURATION), start=st.floats(0, DURATION), seed=st.integers(0, 99))
def test_the_future_changes_nothing(cursor, start, seed):
    stream = FakeStream(X).at(cursor)
    other = X.copy()
    noise = np.random.default_rng(seed).standard_normal(X.shape) * 3
    other[:, stream.elapsed :] = noise[:, stream.elapsed :]
    start = min(start, cursor)
    expected = FeatureStore().beats(stream, start, cursor)
    assert same(expected, FeatureStore().beats(FakeStream(other).at(cursor), start, cursor))
    other[:, stream.elapsed :] = np.nan
    assert same(expected, FeatureStore().beats(FakeStream(other).at(cursor), start, cursor))


@settings(max_examples=10, deadline=None)
@given(path=st.lists(st.floats(0.5, DURATION), max_size=5), cursor=st.floats(1, DURATION))
def test_the_path_of_the_cursor_changes_nothing(path, cursor):
    store, stream = FeatureStore(), FakeStream(X)
    for stop in sorted(p for p in path if p < cursor):
        store.beats(stream.at(stop), max(0.0, stop - 50), stop)
    fresh = FeatureStore().beats(FakeStream(X).at(cursor), 0, cursor)
    assert same(store.beats(stream.at(cursor), 0, cursor), fresh)


def test_one_store_serves_cursors_at_different_times():
    store = FeatureStore()
    late, early = FakeStream(X).at(190), FakeStream(X).at(45)
    store.beats(late, 0, 190)
    assert same(store.beats(early, 0, 45), FeatureStore().beats(FakeStream(X).at(45), 0, 45))


def test_block_is_read_once():
    store, stream = FeatureStore(), FakeStream(X).at(DURATION)
    store.beats(stream, 0, DURATION)
    stream.read_spans.clear()
    store.beats(stream, 10, 150)
    assert stream.read_spans == []


def test_tail_is_read_once_for_each_of_two_cursors():
    store, one, other = FeatureStore(), FakeStream(X).at(45), FakeStream(X).at(100)
    for stream in (one, other, one, other):
        store.beats(stream, 30, 45)
    assert len(one.read_spans) == 1
    assert len(other.read_spans) == 1


def test_tails_do_not_pile_up():
    store, stream = FeatureStore(), FakeStream(X)
    for cursor in range(1, 60):
        store.beats(stream.at(cursor), 0, cursor)
    assert len(store._tails) <= MAX_TAILS


def test_reading_does_not_grow_with_what_lies_before_the_window():
    store, stream = FeatureStore(), FakeStream(X).at(DURATION)
    store.beats(stream, 185, DURATION)
    assert sum(stop - start for start, stop in stream.read_spans) <= 80 * 250


def test_nothing_elapsed_has_no_beats():
    assert len(FeatureStore().beats(FakeStream(X).at(0), 0, 30)) == 0


def test_window_in_the_future_or_reversed_has_no_beats():
    store, stream = FeatureStore(), FakeStream(X).at(100)
    assert len(store.beats(stream, 120, 150)) == 0
    assert len(store.beats(stream, 50, 40)) == 0


def test_recording_without_an_ecg_channel_has_no_beats():
    class Ppg(FakeStream):
        ecg = ()

    assert len(FeatureStore().beats(Ppg(X).at(100), 0, 100)) == 0


@pytest.mark.parametrize("fs", [60.0, 128.0, 1000.0, 2000.0])
def test_any_sampling_rate_is_served(fs):
    times = beat_times(70)
    stream = FakeStream(fake_ecg(times, 70, fs), fs=fs).at(70)
    beats = FeatureStore().beats(stream, 0, 70)
    assert matched(beats.time, times) == (len(times), 0)
    assert np.nanmedian(beats.qrs_ms) < 130


def test_short_blocks_serve_as_well():
    scheme = BlockScheme(block_s=20, context_s=8, guard_s=2.5)
    beats = FeatureStore(scheme).beats(FakeStream(X).at(DURATION), 0, DURATION)
    assert matched(beats.time, TIMES) == (len(TIMES), 0)


def test_a_day_stays_small():
    store = FeatureStore()
    beats = store.beats(FakeStream(X).at(DURATION), 0, DURATION)
    per_beat = sum(getattr(beats, name).nbytes for name in ARRAYS) / len(beats)
    assert per_beat * 110_000 < 8e6


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(0, 4000),
    cursor=st.floats(0, 20),
    fs=st.sampled_from([60.0, 250.0, 2000.0]),
    bad=st.sampled_from([np.nan, np.inf, 0.0, 5.0, 1e30]),
    seed=st.integers(0, 1000),
)
def test_no_signal_breaks_it(n, cursor, fs, bad, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((2, n)).astype(np.float32)
    x[:, rng.integers(0, n + 1) :] = bad
    beats = FeatureStore().beats(FakeStream(x, fs=fs).at(cursor), 0, 20)
    assert (np.diff(beats.time) > 0).all()
    assert not np.isinf(beats.st_mv).any()


@pytest.mark.real
def test_blocks_of_a_real_record_agree_with_the_whole(data):
    import wfdb

    x = wfdb.rdrecord(str(data / "mitdb" / "119"), sampto=216000).p_signal.T.astype(np.float32)
    blockwise = FeatureStore().beats(FakeStream(x, fs=360.0).at(600), 0, 600)
    whole = analyse(x, 360.0, ("MLII", "V5"), 0)
    hits, extra = matched(blockwise.time, whole.time, 0.02)
    assert len(whole) - hits + extra <= 2


def test_windows_of_a_rate_that_is_no_whole_number_lose_no_beat(monkeypatch):
    fs, duration = 124.945 / 50, 7200.0  # 150 samples are 60.03 s: the blocks drift by 3.6 s
    marks = np.zeros((1, int(duration * fs)), np.float32)

    def every_sample(signal, fs, leads, origin, detail):
        return Beats.from_times((origin + np.arange(signal.shape[1])) / fs, leads=leads)

    monkeypatch.setattr(store_module, "analyse", every_sample)
    stream, store = FakeStream(marks, fs=fs, leads=("I",)).at(duration), FeatureStore()
    expected = np.arange(marks.shape[1]) / fs
    for start in np.arange(6600.0, 6720.0, 0.7):
        found = store.beats(stream, start, start + 5).time
        assert np.array_equal(found, expected[(expected >= start) & (expected < start + 5)])


@pytest.mark.parametrize("noise", [0.0, 0.06, 0.25])
def test_less_detail_changes_nothing_that_it_includes(noise):
    x = fake_ecg(TIMES, DURATION, wide={30, 31, 70, 120}, noise=noise)
    for path in (("times", "complexes", "waves"), ("waves", "complexes", "times")):
        store, stream = FeatureStore(), FakeStream(x).at(170)
        full = FeatureStore().beats(FakeStream(x).at(170), 0, 170)
        for detail in path:
            found = store.beats(stream, 0, 170, detail)
            names = {"times": TIMES_ONLY, "waves": ARRAYS}.get(detail, COMPLEXES)
            for name in names:
                assert getattr(found, name).dtype == getattr(full, name).dtype
                assert getattr(found, name).tobytes() == getattr(full, name).tobytes()


def test_complexes_come_without_p_and_t():
    beats = FeatureStore().beats(FakeStream(X).at(170), 0, 170, "complexes")
    for name in set(ARRAYS) - set(COMPLEXES):
        assert np.isnan(getattr(beats, name)).all(), name


@pytest.mark.real
def test_tools_and_cues_read_no_more_than_they_ask_for(data):
    source = open_source(data / "mitdb", "208", "mitdb")
    stream, rich = (Stream(replace(source, features=FeatureStore())) for _ in range(2))
    for _ in range(4):
        t0, t1 = stream.advance(47)
        rich.advance(47)
        for cue, detail in CUE_DETAIL.items():
            beats = stream.beats(t0, t1, detail)
            assert profile(cue, beats, t0, t1) == profile(cue, rich.beats(t0, t1), t0, t1)
        for name, detail in registry.DETAIL.items():
            if name in registry.SIGNAL_TOOLS:
                tool = registry.signal.SIGNAL_TOOLS[name]
                poor, full = stream.beats(t0, t1, detail), rich.beats(t0, t1)
                assert tool(poor, t0, t1, True) == tool(full, t0, t1, True)
            else:
                tool = getattr(registry.classifiers, name)
                assert tool(partial(stream.beats, detail=detail), t0, t1) == tool(
                    rich.beats, t0, t1
                )


@pytest.mark.parametrize("first", np.arange(1.4, 1.7, 0.02).round(2).tolist())
def test_a_beat_on_a_joint_where_pacing_begins_is_told_once(first):
    times = np.arange(first, 235.0, 0.8)
    x = fake_ecg(times, 240)
    x[:, np.rint((times[times > 116.9] - 0.1) * 250).astype(int)] += np.float32(3.0)
    found = FeatureStore().beats(FakeStream(x).at(240), 0, 240).time
    assert len(found) == len(times)
    assert np.diff(found) == pytest.approx(0.8, abs=0.11)
