"""Every core truth against a count made from the annotation files by wfdb alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import wfdb

from ecgscroll.catalogue.instances import Instance, list_instances

pytestmark = [pytest.mark.real, pytest.mark.slow]
BEATS = set("NLRBAaJSVrFejnE/fQ?")
COUNTS = {
    "episode_detection": 107,
    "af_burden": 107,
    "change_detection": 23,
    "ischemia": 85,
    "pvc_burden": 55,
    "rare_event": 13,
}
RARE = ["100", "102", "104", "108", "111", "118", "121", "123", "202", "209", "230", "231", "234"]


@pytest.fixture(scope="module")
def core(data) -> list[Instance]:
    return list_instances(data)


def test_core_set_is_whole_and_there(core):
    assert {task: sum(one.task == task for one in core) for task in COUNTS} == COUNTS
    assert len({(one.database, one.record) for one in core}) == 247
    assert all(one.available != "none" and one.truth is not None for one in core)
    assert not any(one.differs for one in core)


def test_core_set_lasts_2536_hours(core):
    lengths = {(one.database, one.record): one.duration for one in core}
    assert round(sum(lengths.values()) / 3600) == 2536


@pytest.mark.parametrize(
    ("task", "hours"),
    [("episode_detection", 20.5), ("change_detection", 10.2), ("ischemia", 2.0),
     ("pvc_burden", 3.1), ("rare_event", 0.5)],
)  # fmt: skip
def test_mean_length_of_a_task(core, task, hours):
    lengths = [one.duration for one in core if one.task == task]
    assert round(float(np.mean(lengths)) / 3600, 1) == hours


def test_af_episodes_are_7643_with_a_median_of_15_8_seconds(core):
    episodes = [e for one in core if one.task == "episode_detection" for e in one.truth.events]
    assert len(episodes) == 7643
    assert round(float(np.median([stop - start for start, stop in episodes])), 1) == 15.8


def test_fibrillation_alone_gives_7649_episodes(data):
    found = list_instances(data, tasks=["episode_detection"], af_labels=("AFIB",))
    assert sum(len(one.truth.events) for one in found) == 7649
    assert not any(one.differs for one in found)


def test_af_burden_is_u_shaped(core):
    burdens = [one.truth.value for one in core if one.task == "af_burden"]
    counts, _ = np.histogram(burdens, bins=5, range=(0, 1))
    assert counts[0] > 2 * counts[1:4].max()
    assert counts[4] > 2 * counts[1:4].max()


def test_four_recordings_of_afdb_start_in_af(core):
    onsets = [one.truth.value for one in core if one.task == "change_detection"]
    assert sum(onset == 0 for onset in onsets) == 4


def test_rare_events_are_in_13_records_of_mitdb(core):
    found = [one for one in core if one.task == "rare_event"]
    assert [one.record for one in found] == RARE
    assert {one.database for one in found} == {"mitdb"}


def empty_ledger(burden: float) -> float:
    return max(0.0, 1 - burden / max(burden, 0.02))


@pytest.mark.parametrize(
    ("chosen", "task", "mean"),
    [
        ("core", "af_burden", 0.105),
        ("published", "af_burden", 0.168),
        ("core", "pvc_burden", 0.43),
        ("published", "pvc_burden", 0.50),
    ],
)
def test_answering_nothing_earns_the_floor_that_was_published(data, chosen, task, mean):
    found = list_instances(data, set=chosen, tasks=[task])
    scores = [empty_ledger(one.truth.value) for one in found]
    assert float(np.mean(scores)) == pytest.approx(mean, abs=0.005)


def test_a_recording_without_af_is_in_the_published_subset(data):
    found = list_instances(data, set="published", tasks=["episode_detection"])
    assert [one.truth.value for one in found].count(()) / len(found) == pytest.approx(1 / 30)


def notes_of(path: Path) -> tuple[float, list[tuple[float, str, str]]]:
    """Length in seconds, and (time, symbol, note) within it, by wfdb."""
    header = wfdb.rdheader(str(path))
    found = wfdb.rdann(str(path), "atr")
    times = found.sample / header.fs
    aux = [text.rstrip("\0").strip() for text in found.aux_note]
    length = header.sig_len / header.fs
    rows = zip(times.tolist(), found.symbol, aux, strict=True)
    return length, [row for row in rows if row[0] < length]


def af_of(length: float, notes: list[tuple[float, str, str]]) -> tuple[bool, list[list[float]]]:
    """Whether the first rhythm is AF, and the AF episodes."""
    changes = [(t, text) for t, symbol, text in notes if symbol == "+" and text.startswith("(")]
    ends = [t for t, _ in changes[1:]] + [length]
    episodes: list[list[float]] = []
    for (start, text), stop in zip(changes, ends, strict=True):
        if text not in ("(AFIB", "(AFL"):
            continue
        if episodes and episodes[-1][1] == start:
            episodes[-1][1] = stop
        else:
            episodes.append([start, stop])
    return changes[0][1] in ("(AFIB", "(AFL"), episodes


def st_of(notes: list[tuple[float, str, str]]) -> list[list[float]]:
    opened: dict[str, float] = {}
    episodes = []
    for t, _, text in notes:
        if text.startswith("(ST"):
            opened[text[3:]] = t
        elif text.startswith("ST") and text.endswith(")"):
            episodes.append([opened.pop(text[2:-1]), t])
    return sorted(episodes)


def expected(path: Path) -> dict[str, object]:
    """What the truth of each task should be."""
    length, notes = notes_of(path)
    beats = [(t, symbol) for t, symbol, _ in notes if symbol in BEATS]
    pvcs = [t for t, symbol in beats if symbol in "VE"]
    truths: dict[str, object] = {
        "pvc_burden": len(pvcs) / max(1, len(beats)),
        "rare_event": pvcs[0] if pvcs else None,
        "ischemia": st_of(notes),
    }
    if path.parent.name in ("afdb", "ltafdb"):
        starts_in_af, episodes = af_of(length, notes)
        truths["episode_detection"] = episodes
        truths["af_burden"] = sum(stop - start for start, stop in episodes) / length
        truths["change_detection"] = 0.0 if starts_in_af else (episodes or [[None]])[0][0]
    return truths


@pytest.mark.parametrize("database", ["afdb", "ltafdb", "edb", "mitdb", "ltdb"])
def test_truths_of_a_database_equal_an_independent_count(core, data, database):
    records = sorted({one.record for one in core if one.database == database})
    counted = {record: expected(data / database / record) for record in records}
    for one in (one for one in core if one.database == database):
        value = one.truth.value
        ours = [list(pair) for pair in value] if isinstance(value, tuple) else value
        theirs = counted[one.record][one.task]
        assert ours == (pytest.approx(theirs) if isinstance(theirs, float) else theirs), one.id


def test_edb_truth_equals_the_published_one(core, data):
    published = data.parent / "papers" / "edb_truth.json"
    if not published.is_file():
        pytest.skip("no published ST episodes here")
    records = json.loads(published.read_text())["records"]
    found = {one.record: one.truth.value for one in core if one.task == "ischemia"}
    rounded = {
        record: [[round(start, 2), round(stop, 2)] for start, stop in value]
        for record, value in found.items()
    }
    assert rounded == records
