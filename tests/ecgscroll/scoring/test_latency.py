import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring_fakes import INSTANCES, TASK_EVENT, TOTAL, fake, ledgers, write

from ecgscroll.scoring.latency import Latency, Quartiles
from ecgscroll.scoring.verifiers import assemble, verify

DEFAULT_IOU = {"episode_detection": 0.5, "ischemia": 0.75}


def iou(a, b):
    shared = max(0.0, min(a[1], b[1]) - max(a[0], b[0]))
    return shared / (a[1] - a[0] + b[1] - b[0] - shared)


def matches(task, answer, written, event, instance):
    """Say by the definition whether an answer, or what is written, matches one event."""
    if task in DEFAULT_IOU:
        return any(iou(span, event) >= DEFAULT_IOU[task] - 1e-9 for span in answer)
    if "burden" in task:
        return any(
            min(t1, event[1]) > max(t0, event[0]) or (event[0] == event[1] and t0 <= event[0] <= t1)
            for t0, t1 in written
        )
    tolerance = 10.0 if task == "change_detection" else 15.0
    return answer is not None and abs(answer - instance.truth.value) <= tolerance


def brute_stamps(task, instance, ledger):
    """Assemble the whole answer anew after every entry, and ask every event."""
    ordered = sorted(ledger, key=lambda entry: entry["cursor"])
    stamps = [None] * len(instance.truth.events)
    for n in range(1, len(ordered) + 1):
        answer = assemble(task, ordered[:n], TOTAL)
        written = [(entry["t0"], entry["t1"]) for entry in ordered[:n]]
        for i, event in enumerate(instance.truth.events):
            if stamps[i] is None and matches(task, answer, written, event, instance):
                stamps[i] = ordered[n - 1]["cursor"]
    return tuple(stamps)


@pytest.mark.parametrize("task", sorted(TASK_EVENT))
@given(data=st.data())
@settings(max_examples=80, deadline=None)
def test_stamps_are_those_of_a_replay_by_brute_force(task, data):
    ledger = data.draw(st.permutations(data.draw(ledgers(task, max_size=14))))
    got = verify(INSTANCES[task], ledger).latency
    assert got.stamps == brute_stamps(task, INSTANCES[task], ledger)


def test_an_episode_written_in_pieces_is_timed_when_they_first_match():
    instance = fake("episode_detection", ((0.0, 100.0),), [(0.0, 100.0)])
    pieces = [write(0, 30, 30), write(30, 45, 70), write(45, 60, 80), write(60, 100, 100)]
    assert verify(instance, pieces).latency.stamps == (80.0,)


def test_an_event_once_detected_stays_so_though_later_writes_spoil_the_match():
    instance = fake("episode_detection", ((0.0, 10.0),), [(0.0, 10.0)])
    score = verify(instance, [write(0, 10, 20), write(5, 60, 60)])
    assert score.value == 0.0
    assert score.latency.stamps == (20.0,)


def test_the_earliest_moment_is_the_onset_and_the_share_a_match_needs():
    latency = verify(INSTANCES["episode_detection"], [write(30, 90, 100)]).latency
    assert latency.onset_delays() == [70.0, None, None]
    assert latency.earliest_delays() == [40.0, None, None]
    strict = verify(INSTANCES["ischemia"], [write(30, 90, 100, type="ischemia")]).latency
    assert strict.earliest_delays() == [25.0, None, None]


@pytest.mark.parametrize("task", ["af_burden", "change_detection", "pvc_burden", "rare_event"])
def test_where_a_match_needs_no_share_the_onset_is_the_earliest_moment(task):
    entry = write(25, 35, 40, type=TASK_EVENT[task])
    latency = verify(INSTANCES[task], [entry]).latency
    assert latency.stamps[0] == 40.0
    assert latency.earliest_delays() == latency.onset_delays()


def test_a_causal_agent_cannot_beat_the_earliest_moment():
    entries = [write(30, t, t) for t in range(31, 91)]
    assert verify(INSTANCES["episode_detection"], entries).latency.earliest_delays()[0] == 0.0


def test_misses_are_counted_and_never_averaged_in():
    latency = verify(INSTANCES["episode_detection"], [write(30, 90, 100)]).latency
    summary = latency.to_dict()
    assert (summary["events"], summary["missed"]) == (3, 2)
    assert summary["missed_share"] == pytest.approx(2 / 3)
    assert summary["from_onset"] == {"q1": 70.0, "median": 70.0, "q3": 70.0}


def test_no_events_and_no_detections_have_no_quartiles():
    assert verify(fake("episode_detection", ()), []).latency.to_dict()["missed_share"] is None
    nothing = verify(INSTANCES["episode_detection"], []).latency.to_dict()
    assert (nothing["missed_share"], nothing["from_onset"]) == (1.0, None)


def test_an_answer_of_zero_seconds_that_nobody_wrote_detects_nothing():
    instance = fake("change_detection", 0.0, [(0.0, 5.0)])
    score = verify(instance, [], scoring="published")
    assert score.value == 1.0
    assert score.latency.stamps == (None,)


def test_per_event_delays_are_there_when_asked_for():
    latency = Latency((0.0, 10.0), (4.0, 20.0), (5.0, None), tau=0.5)
    assert "onset_s" not in latency.to_dict()
    assert latency.to_dict(per_event=True)["earliest_s"] == [3.0, None]


def test_quartiles_of_four():
    assert Quartiles.of([4, 1, 3, 2]) == Quartiles(1.75, 2.5, 3.25)
    assert Quartiles.of([]) is None


def test_time_grows_no_faster_than_chunks_and_episodes(growth):
    def replayed(share):
        spans = tuple((k * 80.0, k * 80.0 + 15.8) for k in range(1080 // share))
        chunks = [write(k * 30.0, k * 30.0 + 30.0, k * 30.0 + 30.0) for k in range(2880 // share)]
        instance = fake("episode_detection", spans, spans, duration=86400.0)
        return lambda: verify(instance, chunks)

    assert growth(replayed(12), replayed(1)) < 60  # 12 if linear, 144 if quadratic


def test_events_may_overlap_each_other():
    events = [(0.0, 500.0), (30.0, 60.0), (100.0, 110.0)]
    latency = verify(fake("af_burden", 0.5, events), [write(40, 50, 55)]).latency
    assert latency.stamps == (55.0, 55.0, None)
