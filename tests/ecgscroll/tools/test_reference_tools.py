"""Label tools: the reference annotations, as far as they have elapsed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from ecgscroll.causal.labels import Labels
from ecgscroll.causal.stream import Stream
from ecgscroll.records.reference import Reference, Span, StEpisode
from ecgscroll.tools import reference as tools

ALL = dict.fromkeys(("beats", "beat_labels", "rhythm", "st"), True)


def span(label, start, stop):
    return Span(label, start, stop, start)


RHYTHM = (span("N", 10, 100), span("AFIB", 100, 160), span("AFL", 160, 200), span("SBR", 200, 300))
ST = (
    StEpisode("ST", 0.0, 50.0, 30.0, 0, ((30.0, -0.25),), False),
    StEpisode("ST", 40.0, 90.0, 40.0, 1, ((60.0, 0.1), (70.0, 0.3)), True),
)


def stream(cursor, annotated=ALL):
    """A stream at 10 Hz over 300 s whose labels are those above."""
    known = Reference(
        beat_times=np.array([1.0, 2.0, 3.04, 4.05]),
        beat_symbols=np.array(["N", "V", "E", "A"]),
        rhythm=RHYTHM,
        af=(span("AF", 100, 200),),
        st=ST,
        has_beats=True,
        has_beat_labels=True,
        has_rhythm=True,
        has_st=True,
        beats_end=300.0,
        pauses=(Span("pause", 4.05, 7.04, 7.04),),
    )
    recording = SimpleNamespace(
        fs=10.0, n_samples=3000, duration=300.0, leads=("V1", "V5"), ecg=(0, 1), has_signal=False
    )
    source = SimpleNamespace(
        recording=recording,
        reference=known,
        labels=Labels(known, ("V1", "V5"), annotated),
        af_labels=("AFIB", "AFL"),
    )
    made = Stream(source)
    made.advance(cursor)
    return made


@pytest.mark.parametrize(
    ("cursor", "t0", "t1", "name", "af_frac"),
    [
        (300, 20, 80, "sinus rhythm", 0.0),
        (300, 60, 140, "AF", 0.5),
        (300, 50, 140, "sinus rhythm", 0.444),
        (300, 130, 190, "AF", 1.0),
        (300, 190, 300, "sinus bradycardia", 0.091),
        (150, 130, 150, "AF", 1.0),
    ],
)
def test_rhythm_is_af_from_half_of_the_window_on(cursor, t0, t1, name, af_frac):
    result = tools.classify_rhythm(stream(cursor), t0, t1)
    assert (result["dominant_rhythm"], result["af_frac"]) == (name, af_frac)
    assert result["source"] == "reference"


def test_the_share_of_each_rhythm_tells_flutter_from_fibrillation():
    result = tools.classify_rhythm(stream(300), 140, 220)
    assert result["dominant_rhythm"] == "AF"
    assert result["rhythms"] == {
        "atrial fibrillation": 0.25, "atrial flutter": 0.5, "sinus bradycardia": 0.25,
    }  # fmt: skip


def test_a_pause_is_known_whole_once_its_closing_beat_has_elapsed():
    assert tools.classify_beats(stream(7.0), 0, 7)["pauses"] == []
    assert tools.classify_beats(stream(7.1), 0, 7.1)["pauses"] == [[4.0, 7.0]]
    assert tools.classify_beats(stream(300), 6, 10)["pauses"] == [[4.0, 7.0]]
    assert tools.classify_beats(stream(300), 0, 6)["pauses"] == []


def test_rhythm_before_the_first_note_is_null_with_a_reason():
    result = tools.classify_rhythm(stream(300), 0, 10)
    assert result["dominant_rhythm"] is None
    assert "no rhythm annotation" in result["reasons"]["af_frac"]


def test_a_rhythm_note_is_not_known_before_its_sample_has_elapsed():
    assert tools.classify_rhythm(stream(100.05), 100, 100.05)["af_frac"] == 0.0
    assert tools.classify_rhythm(stream(100.1), 100, 100.1)["af_frac"] == 1.0


def test_beats_are_counted_by_symbol_and_ectopic_times_listed():
    result = tools.classify_beats(stream(300), 0, 10)
    assert result["types"] == {"A": 1, "E": 1, "N": 1, "V": 1}
    assert (result["pvc_times"], result["pvc_times_count"]) == ([2.0, 3.0], 2)


def test_beat_times_round_to_hundredths_before_tenths():
    # 1383.0472 s is printed as 1383.1 s in the published trajectory.
    assert tools._published_tenths(497897 / 360) == 1383.1


def test_an_unlabelled_database_says_so():
    result = tools.classify_beats(stream(300, ALL | {"beat_labels": False}), 0, 10)
    assert result["pvc_times"] is None
    assert "not labelled" in result["reasons"]["pvc_times"]


def test_an_episode_under_way_at_the_start_is_known_from_its_first_note():
    assert tools.flag_ischemia(stream(30.0), 0, 30)["ischemic"] is False
    result = tools.flag_ischemia(stream(30.1), 0, 30.1)
    assert (result["ischemic"], result["lead"], result["st_mv"]) == (True, "V1", -0.25)
    assert (result["sign"], result["episodes"]) == ("depression", [[0.0, 30.1]])


@pytest.mark.parametrize(
    ("cursor", "st_mv", "sign"), [(55, None, None), (65, 0.1, "elevation"), (80, 0.3, "elevation")]
)
def test_a_peak_is_null_until_it_is_reached(cursor, st_mv, sign):
    result = tools.flag_ischemia(stream(cursor), 51, cursor)
    assert (result["lead"], result["st_mv"], result["sign"]) == ("V5", st_mv, sign)
    assert ("st_mv" in result.get("reasons", {})) == (st_mv is None)


def test_no_episode_in_the_window_is_no_ischemia():
    result = tools.flag_ischemia(stream(300), 100, 200)
    assert (result["ischemic"], result["episodes"], result["lead"]) == (False, [], None)


@pytest.mark.real
def test_the_published_pvc_times_of_mitdb_118(data):
    import ecgscroll

    env = ecgscroll.make("pvc_burden/mitdb/118", data=data, dx="reference")
    env.reset()
    env.step({"name": "skim", "arguments": {"duration": 1800}})
    published = {
        (0, 120): [30.7, 106.9],
        (120, 240): [224.6],
        (360, 480): [461.0],
        (480, 600): [494.1, 500.8, 567.8],
        (600, 720): [],
        (720, 840): [743.9],
        (1320, 1440): [1358.9, 1383.1],
        (1560, 1680): [1586.8, 1588.7],
    }
    found = {}
    for t0, t1 in published:
        arguments = {"tool": "classify_beats", "t0": t0, "t1": t1}
        info = env.step({"name": "measure", "arguments": arguments})[4]
        found[t0, t1] = info["result"]["pvc_times"]
    assert found == published
