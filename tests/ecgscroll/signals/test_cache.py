"""Beats on disk: found again by content, never by anything else, and never believed unchecked."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from signals_fakes import FakeStream, beat_times, fake_ecg

from ecgscroll.signals import cache as cache_module
from ecgscroll.signals import store as store_module
from ecgscroll.signals.beats import ARRAYS
from ecgscroll.signals.cache import CacheFile, made_with, prune
from ecgscroll.signals.codec import decode, encode
from ecgscroll.signals.segment import DETAILS
from ecgscroll.signals.store import FeatureStore

DURATION = 200.0
X = fake_ecg(beat_times(DURATION), DURATION, wide={30, 31, 70, 120})
KEY = bytes(range(32))


class StoredStream(FakeStream):
    """A fake whose samples can be told apart; counts what is hashed."""

    def raw(self, start, stop, step):
        assert stop <= self.elapsed, "hashed past the cursor"
        return [self.x[:, a : min(a + step, stop)].tobytes() for a in range(start, stop, step)]

    def stamp(self):
        return {}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "beats" / "one.beats"


def seen(path, x=X, cursors=(30, 60, 95, 120, 180, DURATION), key=KEY):
    """Bytes of all beats at each cursor, and how many samples were decoded."""
    store, stream = FeatureStore(cache=CacheFile(path, key) if path else None), StoredStream(x)
    stream.leads = ("MLII", "V5")
    found = [encode(store.beats(stream.at(c), 0, c)) for c in cursors]
    return found, sum(b - a for a, b in stream.read_spans)


def test_second_store_computes_nothing_and_says_the_same(path):
    cold, read = seen(path)
    warm, reread = seen(path)
    assert read > 0
    assert cold == warm == seen(None)[0]
    # 95 s lies on no grid of 10 s, so its tail alone is computed again.
    assert reread == round((95 - 47.5) * 250)


def test_another_future_shares_the_past_alone(path):
    seen(path)
    other = X.copy()
    other[:, 100 * 250 :] *= 0.5
    found, read = seen(path, other)
    assert found == seen(None, other)[0]
    assert 0 < read < seen(None, other)[1]


def test_one_bit_of_the_past_is_another_recording(path):
    cursors = (180,)
    seen(path, cursors=cursors)
    other = X.copy()
    other[1, 3] += 1e-6
    assert seen(path, other, cursors)[1] == seen(None, other, cursors)[1]


def test_another_version_finds_nothing_and_replaces_the_file(path):
    _, read = seen(path)
    other = bytes(32)
    assert seen(path, key=other)[1] == read
    assert seen(path, key=other)[1] < read
    assert path.read_bytes()[8:40] == other


@pytest.mark.parametrize("cut", [0, 1, 39, 40, 41, 60, 200, 1000, -1, -7, -100])
def test_a_truncated_file_is_mended(path, cut):
    cold, _ = seen(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    assert seen(path)[0] == cold
    assert len(path.read_bytes()) >= min(len(whole[:cut]), 40)
    assert seen(path)[1] == round((95 - 47.5) * 250)


@pytest.mark.parametrize("seed", range(30))
def test_a_flipped_byte_is_noticed(path, seed):
    cold, _ = seen(path)
    data = bytearray(path.read_bytes())
    rng = np.random.default_rng(seed)
    for at in rng.integers(0, len(data), 1 + seed % 3):
        data[at] ^= int(rng.integers(1, 256))
    path.write_bytes(data)
    assert seen(path)[0] == cold
    assert seen(path)[0] == cold


@pytest.mark.parametrize(
    "junk", [b"", b"\0" * 4096, b"beat" * 999, b"\x80\x04cos\nsystem\n(S'true'\ntR.", b"ecgscrl1"]
)
def test_a_foreign_file_is_replaced(path, junk):
    path.parent.mkdir()
    path.write_bytes(junk)
    assert seen(path)[0] == seen(None)[0]
    assert seen(path)[1] == round((95 - 47.5) * 250)


@pytest.mark.parametrize("length", [0, 1, 8, 0xFFFFFFFF])
def test_a_forged_entry_of_a_wrong_shape_is_not_read(length):
    payload = np.uint64(length).tobytes() + b"\xff" * 64
    assert decode(payload, ("I", "II"), 0.0, 60.0) is None


@pytest.mark.parametrize("noise", [0.0, 0.06, 0.25])
@pytest.mark.parametrize("detail", DETAILS)
def test_every_array_comes_back_byte_for_byte(path, noise, detail):
    x = fake_ecg(beat_times(60), 60, wide={30, 31}, noise=noise)
    for _ in range(2):
        store = FeatureStore(cache=CacheFile(path, KEY))
        cached = store.beats(StoredStream(x).at(60), 0, 60, detail)
        computed = FeatureStore().beats(StoredStream(x).at(60), 0, 60, detail)
        for name in ARRAYS:
            mine, theirs = getattr(cached, name), getattr(computed, name)
            assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
            assert mine.tobytes() == theirs.tobytes()


def test_times_outside_their_segment_are_not_believed(path):
    stream = StoredStream(X).at(60)
    data = encode(FeatureStore().beats(stream, 0, 60))
    assert decode(data, ("MLII", "V5"), 0.0, 60.0) is not None
    assert decode(data, ("MLII", "V5"), 0.0, 30.0) is None
    assert decode(data, ("MLII",), 0.0, 60.0) is None


def test_a_file_cut_while_it_is_open_is_noticed(path):
    cold, _ = seen(path)
    store = FeatureStore(cache=CacheFile(path, KEY))
    stream = StoredStream(X)
    store.beats(stream.at(60), 0, 60)
    os.truncate(path, 50)
    found = [encode(store.beats(stream.at(c), 0, c)) for c in (120, 180)]
    assert found == [cold[3], cold[4]]


def test_a_bad_entry_never_stays(path):
    seen(path)
    data = bytearray(path.read_bytes())
    data[-60] ^= 1  # in the payload of the last entry
    path.write_bytes(data)
    seen(path)
    assert seen(path)[1] == round((95 - 47.5) * 250)


def test_an_unwritable_folder_costs_nothing_but_time(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    assert seen(blocked / "beats" / "x.beats")[0] == seen(None)[0]


def test_a_link_or_folder_in_its_place_is_left_alone(tmp_path, path):
    path.mkdir(parents=True)
    assert seen(path)[0] == seen(None)[0]
    assert path.is_dir()


def test_a_busy_lock_means_no_entry(path):
    fcntl = pytest.importorskip("fcntl")
    seen(path, cursors=(30,))
    size = path.stat().st_size
    with path.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert seen(path)[0] == seen(None)[0]
        assert path.stat().st_size == size


def test_a_file_of_the_wrong_size_begins_anew(path, monkeypatch):
    monkeypatch.setattr(cache_module, "MAX_FILE_BYTES", 20_000)
    for seed in range(4):
        x = fake_ecg(beat_times(DURATION, seed=seed), DURATION)
        assert seen(path, x)[0] == seen(None, x)[0]
        assert path.stat().st_size <= 20_000


def test_a_folder_stays_bounded(tmp_path):
    for i in range(5):
        (tmp_path / f"{i}.beats").write_bytes(b"x" * 100)
        os.utime(tmp_path / f"{i}.beats", (i, i))
    (tmp_path / "note.txt").write_bytes(b"x" * 1000)
    prune(tmp_path, 250)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["3.beats", "4.beats", "note.txt"]


def test_a_file_that_changes_under_way_is_not_kept(path):
    class Changing(StoredStream):
        def stamp(self):
            return {"x": len(self.read_spans)}

    store = FeatureStore(cache=CacheFile(path, KEY))
    store.beats(Changing(X).at(60), 0, 60)
    assert not path.exists()


def test_threads_on_one_store_agree(path):
    expected, _ = seen(None)
    found = []
    threads = [threading.Thread(target=lambda: found.append(seen(path)[0])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one == expected for one in found)


WRITER = """
import sys
sys.path[:0] = {paths!r}
from pathlib import Path
from test_cache import fake_ecg, beat_times, seen, DURATION
for seed in range(5):
    x = fake_ecg(beat_times(DURATION, seed=seed), DURATION)
    assert seen(Path({path!r}), x)[0] == seen(None, x)[0]
    print("done", flush=True)
"""


def writer(path):
    here = os.path.dirname(__file__)  # noqa: PTH120
    code = WRITER.format(paths=[here, *sys.path], path=str(path))
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)


@pytest.mark.slow
def test_two_processes_write_one_file(path):
    processes = [writer(path) for _ in range(2)]
    assert [process.wait(120) for process in processes] == [0, 0]
    for seed in range(5):
        x = fake_ecg(beat_times(DURATION, seed=seed), DURATION)
        assert seen(path, x)[0] == seen(None, x)[0]


@pytest.mark.slow
def test_a_kill_at_any_point_harms_nothing(path):
    process = writer(path)
    process.stdout.readline()
    process.kill()
    process.wait(60)
    assert seen(path)[0] == seen(None)[0]
    assert seen(path)[1] == round((95 - 47.5) * 250)


def test_the_version_covers_every_source_that_beats_come_from(monkeypatch, tmp_path):
    package = tmp_path / "ecgscroll"
    for folder in ("signals", "records"):
        (package / folder).mkdir(parents=True)
    read = ("signals/qrs.py", "records/recording.py", "records/wfdb_segment.py")
    for name in ("signals/cache.py", *read):
        (package / name).write_text("a")
    monkeypatch.setattr(cache_module, "__file__", str(package / "signals" / "cache.py"))
    versions = {made_with.__wrapped__()}
    for name in read:
        (package / name).write_text("b")
        versions.add(made_with.__wrapped__())
    assert len(versions) == 4


def test_tails_on_the_grid_are_kept_on_disk(path):
    cursors = tuple(range(10, 200, 10))
    seen(path, cursors=cursors)
    assert seen(path, cursors=cursors)[1] == 0
    assert store_module.PIECES == 6
