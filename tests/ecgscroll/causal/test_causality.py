"""What an action returns at cursor k depends on the header and on what lies before k alone."""

from __future__ import annotations

import json
import math
import shutil
import warnings

import numpy as np
import pytest
from futures import FUTURES, altered
from wfdb_files import annotation_bytes, write_record

import ecgscroll
from ecgscroll.catalogue.instances import UnscoredWarning
from ecgscroll.causal.sources import open_source
from ecgscroll.causal.stream import Stream
from ecgscroll.environment.episode import Episode
from ecgscroll.errors import CausalityError
from ecgscroll.signals.beats import ARRAYS
from ecgscroll.tasks import get_task

RECORDS = (
    ("mitdb/118", "mitdb/203"),
    ("mitdb/207", "mitdb/118"),
    ("mitdb/203", "mitdb/207"),
    ("mitdb/104", "mitdb/203"),
    ("cpsc2021/data_21_8", "cpsc2021/data_92_4"),
    ("cpsc2021/data_92_4", "cpsc2021/data_21_8"),
    ("ltafdb_1h/01", "ltafdb_1h/10"),
    ("ltafdb_1h/10", "ltafdb_1h/01"),
    ("qtdb/sele0104", "qtdb/sele0106"),
    ("qtdb/sele0106", "qtdb/sele0104"),
    ("qtdb/sele0129", "qtdb/sele0106"),
)
CURSORS_EACH = 19  # 209 in all
LATEST_S = 200.0
EPISODES = (
    ("episode_detection", "signal"),
    ("pvc_burden", "reference"),
    ("ischemia", "reference"),
    ("bbb_burden", None),
    ("pause_detection", "reference"),
)


def episodes(folder, name, database):
    source = open_source(folder, name, database)
    return [Episode(Stream(source), get_task(task), dx, "costed") for task, dx in EPISODES]


def seen(folder, name, database, at, last_skim):
    """All that every action and tool says after a skim of ``last_skim`` s that begins at ``at``."""
    out = []
    for episode in episodes(folder, name, database):
        episode.stream.advance(at)
        episode.act({"name": "skim", "arguments": {"duration": last_skim}})
        out.append(episode.result_text)
        cursor = episode.stream.cursor
        for tool in episode.tools:
            for t0, t1 in ((cursor - 20, cursor + 50), (cursor - 75, cursor - 12)):
                arguments = {"tool": tool, "t0": t0, "t1": t1, "per_beat": t1 > cursor}
                out.append(json.dumps(episode.act({"name": "measure", "arguments": arguments})))
        for action in (
            {"name": "measure", "arguments": {"tool": "get_qrs", "t0": cursor, "t1": cursor + 9}},
            {"name": "write", "arguments": {"t0": cursor - 3, "t1": cursor + 9}},
            {"name": "finish"},
        ):
            out.append(json.dumps(episode.act(action)))
    return [*out, *unrounded(episode.stream)]


def unrounded(stream):
    """What the tools are made from, to the last bit."""
    cursor = stream.cursor
    beats = stream.beats(cursor - 60, cursor)
    window = (cursor - 120, cursor + 120)
    labels = [stream.af(*window), stream.rhythms(*window), stream.st(*window)]
    labels.append(stream.pauses(*window))
    out = [repr(labels), *(getattr(beats, name).tobytes().hex() for name in ARRAYS)]
    if stream.source.recording.has_signal:
        out.append(stream.read(max(0, stream.elapsed - 50), stream.elapsed).tobytes().hex())
    return out


def passed(record, cursor):
    """Samples that have passed, counted without the code under test."""
    fs = float(record.with_suffix(".hea").read_text().split()[2])
    return math.floor(cursor * fs + 1e-6)


def random_cursor(record, rng):
    """Return where the last skim begins and its length; two in three end by an annotation."""
    length = float(rng.integers(5, 60))
    end = float(rng.uniform(length, LATEST_S))
    source = open_source(record.parent, record.name, record.parent.name)
    near = [source.reference.beat_times, boundaries(source.reference), np.array([end])]
    near = [times[times >= length] for times in near]
    chosen = near[int(rng.integers(3))]
    if len(chosen):
        end = float(rng.choice(chosen)) + rng.choice([0, 0.3, 1, 1.3]) / source.recording.fs
    return min(end, source.recording.duration) - length, length


def boundaries(reference):
    """Times (s) at which an episode begins, turns or ends."""
    spans = (*reference.af, *reference.rhythm, *reference.st, *reference.pauses)
    turns = [time for episode in reference.st for time, _ in episode.extrema]
    return np.array([time for span in spans for time in (span.start, span.stop)] + turns)


@pytest.mark.real
@pytest.mark.parametrize(("name", "other"), RECORDS, ids=[name for name, _ in RECORDS])
def test_no_future_changes_what_is_seen(data, tmp_path, name, other):
    record, stranger = data / name, data / other
    rng = np.random.default_rng(list(name.encode()))
    for number in range(CURSORS_EACH):
        at, length = random_cursor(record, rng)
        truth = seen(record.parent, record.name, record.parent.name, at, length)
        past = passed(record, at + length)
        for future in FUTURES:
            folder = tmp_path / f"{number}{future}" / record.parent.name
            altered(record, past, future, folder, stranger, rng)
            assert seen(folder, record.name, record.parent.name, at, length) == truth, future
            shutil.rmtree(folder)


@pytest.mark.real
@pytest.mark.parametrize(("name", "other"), RECORDS[:2] + RECORDS[8:9])
def test_no_future_annotation_changes_what_is_seen_without_a_waveform(data, tmp_path, name, other):
    record, rng = data / name, np.random.default_rng(1)
    for number in range(5):
        at, length = random_cursor(record, rng)
        whole = tmp_path / f"{number}" / record.parent.name
        whole.mkdir(parents=True)
        for ending in (".hea", ".atr"):
            shutil.copy(record.with_suffix(ending), whole)
        truth = seen(whole, record.name, record.parent.name, at, length)
        past = passed(record, at + length)
        for future in ("noise", "cut"):
            folder = tmp_path / f"{number}{future}" / record.parent.name
            altered(record, past, future, folder, data / other, rng)
            (folder / f"{record.name}.dat").unlink()
            assert seen(folder, record.name, record.parent.name, at, length) == truth, future


def played(folder, name, end):
    """Transcript of a whole environment up to ``end`` s, start-up checks and text included."""
    out = []
    for dx in ("signal", "reference"):
        env = ecgscroll.make(f"af_burden/{name}", data=folder, dx=dx)
        obs, info = env.reset(seed=0)
        while float(obs["cursor"]) < end:
            for action in (
                {"name": "skim", "arguments": {"duration": 25}},
                {"name": "measure", "arguments": {"tool": "classify_rhythm", "t0": 0, "t1": 9e9}},
                {"name": "measure", "arguments": {"tool": "get_rate_rhythm", "t0": 0, "t1": 9e9}},
            ):
                obs, _, _, _, info = env.step(action)
                out.append(obs["text"] + json.dumps(info))
    return out


@pytest.mark.real
@pytest.mark.parametrize("name", ["mitdb/203", "cpsc2021/data_92_4"])
def test_a_whole_environment_sees_no_future(data, tmp_path, name):
    record, end = data / name, 75.0
    rng, truth = np.random.default_rng(2), played(data, name, end)
    for future in FUTURES:
        folder = tmp_path / future
        past = passed(record, end)
        altered(record, past, future, folder / record.parent.name, record, rng)
        assert played(folder, name, end) == truth, future


def test_a_folder_without_a_card_reveals_no_kind_of_label_before_its_first(synth_data, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    for ending in ("hea", "dat", "atr"):
        shutil.copy(synth_data / "synth" / f"ischemia01.{ending}", folder)
    source = open_source(folder, "ischemia01", "mine")
    first = source.reference.st[0].start
    stream = Stream(source)
    stream.advance(first - 1)
    assert not stream.annotates("st")
    stream.advance(2)
    assert stream.annotates("st")


def test_reading_past_the_cursor_is_refused(synth_data):
    stream = Stream(open_source(synth_data / "synth", "paf01", "synth"))
    stream.advance(10)
    assert stream.read(0, stream.elapsed).shape == (2, 2500)
    with pytest.raises(CausalityError, match="has not elapsed"):
        stream.read(0, stream.elapsed + 1)


def test_time_never_goes_back(synth_data):
    stream = Stream(open_source(synth_data / "synth", "paf01", "synth"))
    for duration in (-1, float("nan")):
        with pytest.raises(CausalityError, match="only moves forward"):
            stream.advance(duration)


@pytest.mark.parametrize("task", ["rare_event", "change_detection", "pvc_burden", "af_burden"])
def test_an_environment_starts_whether_or_not_the_event_is_still_to_come(tmp_path, task):
    events = [(6000, "V", ""), (7000, "+", "(AFIB"), (8000, "+", "(N")]
    past, texts = [(10, "+", "(N"), (100, "N", ""), (200, "N", "")], []
    for name, future in (("whole", events), ("cut", []), ("busy", events[:1] * 40)):
        lines = ["r.dat 16 200 16 0 0 0 0 I"]
        folder = write_record(tmp_path / name / "mine", "r", lines, 9000, {"r.dat": bytes(18000)})
        (folder / "r.atr").write_bytes(annotation_bytes(past + future))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnscoredWarning)
            env = ecgscroll.make(f"{task}/mine/r", data=tmp_path / name)
        env.reset()
        texts.append(env.step({"name": "skim", "arguments": {"duration": 30}})[0]["text"])
    assert texts[0] == texts[1] == texts[2]


def test_an_episode_that_nothing_can_score_is_said(tmp_path):
    lines = ["r.dat 16 200 16 0 0 0 0 I"]
    folder = write_record(tmp_path / "mine", "r", lines, 9000, {"r.dat": bytes(18000)})
    (folder / "r.atr").write_bytes(annotation_bytes([(100, "N", "")]))
    with pytest.warns(UnscoredWarning, match="no rare event"):
        env = ecgscroll.make("rare_event/mine/r", data=tmp_path)
    env.reset()
    score = env.step({"name": "finish"})[4]["score"]
    assert math.isnan(score.value)
    assert "cannot be scored" in score.explanation
