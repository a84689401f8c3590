"""A span of a recording is what files cut at its bounds would be, to the last bit."""

from __future__ import annotations

import hashlib
import json
import pickle
import re
import shutil
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from futures import FUTURES, altered, split
from wfdb_files import annotation_bytes, aux, encode, skip, write_record

import ecgscroll
from ecgscroll.catalogue.opened import open_record
from ecgscroll.catalogue.truths import build_truth
from ecgscroll.causal.sources import open_source
from ecgscroll.causal.stream import Stream
from ecgscroll.environment.episode import Episode
from ecgscroll.errors import ConfigError, DataError
from ecgscroll.records.recording import Recording
from ecgscroll.signals.beats import ARRAYS
from ecgscroll.signals.cache import CacheFile
from ecgscroll.signals.store import FeatureStore
from ecgscroll.tasks import get_task

RHYTHM = struct.pack("<H", 28 << 10)
SPANS = (
    ("episode_detection", "mitdb/203", (611, 1000)),
    ("pvc_burden", "mitdb/118", (600, 1200)),
    ("ischemia", "qtdb/sele0106", (100, 700)),
    ("episode_detection", "cpsc2021/data_21_8", (7, 200)),
    ("episode_detection", "ltafdb_1h/01", (123, 1500)),
    ("episode_detection", "afdb/04015", (3600, 9000)),  # from here on, annotations only
    ("change_detection", "afdb/07910", (0, 3600)),
    ("af_burden", "ltafdb/00", (40_001, 46_000)),
    ("pvc_burden", "ltdb/14046", (5000, 9000)),
    ("ischemia", "edb/e0103", (900, 3000)),  # an episode under way at both bounds
)


def in_force(data: bytes, first: int) -> bytes:
    """Notes that hold before a sample, read without the code under test."""
    text = split(data, first)[0].decode("latin-1")
    notes = re.findall(r"\(AFIB|\(AFL|\(SVTA|\(SBR|\(VT|\([BTNJP](?![A-Z])|\(?A?ST\d[+-]+\)?", text)
    held = [note for note in notes if "ST" not in note][-1:]
    running: dict[str, bool] = {}
    for note in notes:
        match = re.fullmatch(r"(\(?)(ST\d[+-]+)(\)?)", note)
        if match:
            running[match[2]] = bool(match[1])
    held += [f"({note}" for note, runs in running.items() if runs]
    return b"".join(RHYTHM + aux(note) for note in held)


def cut(record: Path, span: tuple[int, int], folder: Path) -> None:
    """Write the files of a stretch of a record."""
    folder.mkdir(parents=True)
    head, *rest = record.with_suffix(".hea").read_text().splitlines()
    fields = head.split()
    first, last = (round(bound * float(fields[2])) for bound in span)
    fields[3] = str(last - first)
    (folder / f"{record.name}.hea").write_text("\n".join([" ".join(fields), *rest]) + "\n")
    fmt = int(rest[0].split()[1])
    if record.with_suffix(".dat").exists():
        frame = {16: 4, 212: 3}[fmt]
        samples = record.with_suffix(".dat").read_bytes()[first * frame : last * frame]
        (folder / f"{record.name}.dat").write_bytes(samples)
    for ending in (".atr", ".qrs"):
        if record.with_suffix(ending).exists():
            data = record.with_suffix(ending).read_bytes()
            (before, at), (upto, _) = split(data, first), split(data, last)
            body = in_force(data, first) + skip(at - first) + upto[len(before) :]
            (folder / f"{record.name}{ending}").write_bytes(body + b"\0\0")


def everything(source, task, dx):
    """All that an agent can be told on the way, and what that is made of."""
    episode = Episode(Stream(source), get_task(task), dx, "costed")
    out = []
    while not episode.stream.ended:
        episode.act({"name": "skim", "arguments": {"duration": 300}})
        out.append(episode.result_text)
        t1 = episode.stream.cursor
        for tool in episode.tools:
            arguments = {"tool": tool, "t0": max(0, t1 - 330), "t1": t1, "per_beat": True}
            episode.act({"name": "measure", "arguments": arguments})
            out.append(episode.result_text)
        out.append(str([episode.stream.annotates(kind) for kind in ("rhythm", "st", "beats")]))
    total = episode.stream.total
    stream = episode.stream
    out.append(repr([stream.af(0, total), stream.rhythms(0, total), stream.st(0, total)]))
    beats = stream.beats(0, total)
    return out + [getattr(beats, name).tobytes() for name in ARRAYS] + [repr(total)]


@pytest.mark.real
@pytest.mark.parametrize(("task", "name", "span"), SPANS)
def test_a_span_reads_as_files_cut_there(data, tmp_path, task, name, span):
    database, record = name.split("/")
    cut(data / name, span, tmp_path / database)
    whole, own = data / database, tmp_path / database
    for dx in ("reference", None):
        theirs = everything(open_source(own, record, database), task, dx)
        assert everything(open_source(whole, record, database, span=span), task, dx) == theirs
    part = open_record(data, database, record, span=span)
    alone = open_record(tmp_path, database, record)
    assert part.truth(task) == build_truth(task, alone.reference, alone.recording.duration)
    assert part.recording.duration == span[1] - span[0] == alone.recording.duration
    assert part.available == alone.available


@pytest.mark.real
def test_nothing_after_the_cursor_or_outside_the_span_is_read(data, tmp_path, monkeypatch):
    """The samples that a walk through a span asks the file for all lie in the span."""
    source = open_source(data / "mitdb", "118", "mitdb", span=(100, 400))
    asked = []
    segment = source.recording._segment("118")
    read = type(segment).read

    def noted(self, start, stop):
        asked.append((start, stop))
        return read(self, start, stop)

    monkeypatch.setattr(type(segment), "read", noted)
    stream = Stream(source)
    for cursor in range(10, 301, 10):
        stream.advance(10)
        stream.beats(0, cursor)
        assert min(start for start, _ in asked) >= 100 * 360
        assert max(stop for _, stop in asked) <= (100 + cursor) * 360


@pytest.mark.real
@pytest.mark.parametrize("future", FUTURES)
def test_nothing_after_the_cursor_in_a_span_counts(data, tmp_path, future):
    span, cursor = (100, 500), 230
    record, other = data / "mitdb" / "203", data / "mitdb" / "118"
    rng = np.random.default_rng(5)
    altered(record, (span[0] + cursor) * 360, future, tmp_path / "mitdb", other, rng)
    told = []
    for folder in (data / "mitdb", tmp_path / "mitdb"):
        stream = Stream(open_source(folder, "203", "mitdb", span=span))
        stream.advance(cursor)
        beats = stream.beats(0, cursor)
        told.append([getattr(beats, name).tobytes() for name in ARRAYS])
        told[-1] += [stream.rhythms(0, span[1]), stream.beat_labels(0, span[1])[0].tolist()]
    assert told[0] == told[1]


@pytest.mark.real
def test_a_span_has_a_file_of_beats_of_its_own(data, tmp_path, monkeypatch):
    part = open_source(data / "mitdb", "118", "mitdb", span=(100, 500))
    cache = CacheFile(tmp_path / "x.beats", hashlib.sha256(part.recording.facts.encode()).digest())

    def walk():
        source = replace(part, features=FeatureStore(cache=cache))
        return everything(source, "pvc_burden", None)

    computed = walk()
    monkeypatch.setattr("ecgscroll.signals.store.analyse", None)
    assert walk() == computed
    other = open_source(data / "mitdb", "118", "mitdb", span=(101, 501))
    other = replace(other, features=FeatureStore(cache=cache))
    with pytest.raises(TypeError):  # another span finds none of it
        everything(other, "pvc_burden", None)


@pytest.fixture
def own(tmp_path):
    """Three hundred seconds at 100 Hz: AF from 50 s to 220 s, beats each second, a V at 100 s."""
    notes = [(i * 100, "V" if i == 100 else "N", "") for i in range(1, 300)]
    notes += [(10, "+", "(N"), (5000, "+", "(AFIB"), (22_000, "+", "(N")]
    folder = tmp_path / "mine"
    values = np.round(400 * np.sin(np.arange(30_000) / 7)).astype(int)
    write_record(folder, "r", ["r.dat 16 200 16 0 0 0 0 I"], 30_000, {"r.dat": encode(16, values)})
    (folder / "r.atr").write_bytes(annotation_bytes(sorted(notes)))
    return tmp_path


def test_times_count_from_the_spans_start(own):
    one = ecgscroll.get_instance("episode_detection/mine/r@100-200", own)
    assert one.span == (100, 200)
    assert (one.record, one.set, one.patient) == ("r", "supplementary", "mine/r")
    assert (one.duration, one.truth.value) == (100.0, ((0.0, 100.0),))
    assert ecgscroll.get_instance("af_burden/mine/r@0-100", own).truth.value == 0.5
    assert ecgscroll.get_instance("change_detection/mine/r@60-90", own).truth.value == 0.0
    assert ecgscroll.get_instance("change_detection/mine/r@30-90", own).truth.value == 20.0
    assert ecgscroll.get_instance("rare_event/mine/r@90-120", own).truth.value == 10.0


def test_a_bound_belongs_to_the_span_that_begins_there(own):
    first, second = (
        ecgscroll.get_instance(f"pvc_burden/mine/r@{span}", own).truth
        for span in ("50-100", "100-150")
    )
    assert (first.events, second.events) == ((), ((0.0, 0.0),))


def test_a_span_is_scored_pickled_cloned_and_replayed(own):
    env = ecgscroll.make("episode_detection/mine/r@100-290", data=own, dx="reference")
    env.reset(seed=0)
    env.step({"name": "skim", "arguments": {"duration": 150}})
    copies = [env.clone(), pickle.loads(pickle.dumps(env))]
    ends = []
    for each in (env, *copies):
        each.step({"name": "write", "arguments": {"t0": 0, "t1": 120}})
        info = each.step({"name": "finish"})[4]
        ends.append((info["score"].value, info["instance"], info["ledger"]))
    assert ends[0][0] == 1.0
    assert ends == [ends[0]] * 3
    assert copies[1]._source is env._source


def test_spans_share_nothing_but_the_files(own):
    whole = open_source(own / "mine", "r", "mine")
    part = open_source(own / "mine", "r", "mine", span=(10, 20))
    assert part is open_source(own / "mine", "r", "mine", span=(10, 20))
    assert part.features is not whole.features
    assert part.recording.facts != whole.recording.facts


@pytest.mark.parametrize(
    "span", ["", "5", "5-", "-5", "9-5", "5-5", "1.5-7", "01-7", "1-2@3-4", "١-٢"]
)
def test_what_is_no_span_is_one_sentence(own, span):
    with pytest.raises(ConfigError, match=r"names no span; write record@t0-t1 in whole seconds"):
        ecgscroll.get_instance(f"af_burden/mine/r@{span}", own)


def test_a_span_past_the_end_is_one_sentence(own):
    with pytest.raises(DataError, match=r"mine/r lasts 300.000 s, so it has no span 200-301."):
        ecgscroll.make("af_burden/mine/r@200-301", data=own)


def test_bytes_of_differences_tell_what_came_before(tmp_path):
    """Equal differences after another past are other samples, so they have another key."""
    found = []
    for step in (0, 1):
        steps = np.zeros(1000, dtype=int)
        steps[10] = step
        folder = tmp_path / str(step)
        write_record(folder, "r", ["r.dat 8 200 8 0 0 0 0 I"], 1000, {"r.dat": encode(8, steps)})
        part = Recording.open(folder, "r").part((5, 9))
        found.append((part.read(0, 400).tobytes(), part.raw(0, 400, 100)))
    assert found[0][0] != found[1][0]
    assert found[0][1] != found[1][1]
    assert found[0][1][1:] == found[1][1][1:]


def test_a_run_and_its_page_tell_spans_apart(own, tmp_path):
    from report_fakes import call

    ids = tmp_path / "ids.txt"
    names = ["episode_detection/mine/r", "episode_detection/mine/r@100-290"]
    ids.write_text("\n".join(names))
    run = tmp_path / "run"
    options = ("--dx", "reference", "--data", own, "--instances", ids)
    assert call("run", *options, "--out", run).exit_code == 0
    rows = [json.loads(line) for line in (run / "results.jsonl").read_text().splitlines()]
    assert [row["instance"] for row in rows] == names
    assert [row["duration_s"] for row in rows] == [300.0, 190.0]
    assert [row["truth"] for row in rows] == [[[50.0, 220.0]], [[0.0, 120.0]]]
    assert call("rescore", run, "--out", tmp_path / "again", "--iou", "0.9").exit_code == 0
    done = call("report", run, "--data", own, "--out", tmp_path / "page.html")
    assert done.exit_code == 0, done.output
    listed = call("instances", "--data", own, "--instances", ids, "--json", "--truth")
    assert [json.loads(line)["id"] for line in listed.stdout.splitlines()] == names
    assert json.loads(listed.stdout.splitlines()[1])["span"] == [100, 290]


def test_a_changed_file_is_another_span(own):
    before = ecgscroll.get_instance("af_burden/mine/r@100-200", own).truth.value
    shutil.copy(own / "mine" / "r.hea", own / "mine" / "copy.hea")
    notes = [(10, "+", "(N"), (15_000, "+", "(AFIB"), (18_000, "+", "(N"), (19_000, "N", "")]
    (own / "mine" / "r.atr").write_bytes(annotation_bytes(notes))
    after = ecgscroll.get_instance("af_burden/mine/r@100-200", own).truth.value
    assert (before, after) == (1.0, 0.3)


def test_a_rhythm_that_was_ended_is_not_carried_on(tmp_path):
    lines = ["r.dat 16 200 16 0 0 0 0 I"]
    folder = write_record(tmp_path / "mine", "r", lines, 30_000, {"r.dat": bytes(60_000)})
    notes = [(10, "+", "(AFIB"), (5000, "+", ")"), (9000, "+", "(ST0+"), (9900, "N", "")]
    (folder / "r.atr").write_bytes(annotation_bytes(notes))
    reference = open_record(tmp_path, "mine", "r", span=(95, 200)).reference
    assert reference.rhythm == ()
    assert [(one.start, one.stop, one.lead) for one in reference.st] == [(0.0, 105.0, 0)]
