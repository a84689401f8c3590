import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring_fakes import EPISODES, INSTANCES, TASK_EVENT, TOTAL, fake, ledgers, worthless, write

from ecgscroll.errors import ConfigError, DataError
from ecgscroll.scoring.ledger import Ledger
from ecgscroll.scoring.verifiers import Replay, assemble, verify

TASKS = sorted(TASK_EVENT)
SCORINGS = ("committed", "published")


def episodes(value, **more):
    return fake("episode_detection", value, value, **more)


# --- what each task's score is ---


def test_exact_episodes_score_one():
    assert verify(INSTANCES["episode_detection"], [write(*e) for e in EPISODES]).value == 1.0


def test_no_episodes_and_none_written_score_one():
    assert verify(episodes(()), []).value == 1.0


def test_no_episodes_and_one_written_score_zero():
    assert verify(episodes(()), [write(0, 5)]).value == 0.0


def test_episode_at_half_overlap_matches_and_below_does_not():
    assert verify(episodes(((0.0, 15.0),)), [write(0, 30)]).value == 1.0
    assert verify(episodes(((0.0, 14.9),)), [write(0, 30)]).value == 0.0


def test_f1_counts_both_kinds_of_error():
    score = verify(INSTANCES["episode_detection"], [write(30, 90), write(500, 510)])
    assert score.value == pytest.approx(2 * 1 / (2 + 3))
    assert score.metadata["precision"] == pytest.approx(1 / 2)
    assert score.metadata["recall"] == pytest.approx(1 / 3)


def test_an_episode_written_in_touching_chunks_is_one():
    chunks = [write(30, 60, 60), write(60, 90, 90)]
    assert verify(episodes(((30.0, 90.0),)), chunks).answer == ((30.0, 90.0),)


def test_ischemia_asks_for_three_quarters():
    truth = fake("ischemia", ((0.0, 100.0),))
    assert verify(truth, [write(0, 75, type="ischemia")]).value == 1.0
    assert verify(truth, [write(0, 74, type="ischemia")]).value == 0.0
    assert verify(truth, [write(0, 74, type="ischemia")], iou=0.5).value == 1.0


def test_the_fields_own_measures_stand_beside_the_score():
    measures = verify(INSTANCES["episode_detection"], [write(80, 130)]).metadata["ec57"]
    assert measures["rule"] == "overlap"
    assert measures["episode_se"] == pytest.approx(2 / 3)
    assert measures["episode_ppv"] == 1.0
    assert measures["duration_se"] == pytest.approx(20 / 210)
    assert measures["duration_ppv"] == pytest.approx(20 / 50)


def test_the_st_rule_is_content_with_the_deepest_noted_extremum():
    instance = fake("ischemia", ((0.0, 100.0),))
    shallow = SimpleNamespace(peak_time=50.0, peak_mv=0.1)
    deep = SimpleNamespace(peak_time=85.0, peak_mv=-0.4)
    unknown = SimpleNamespace(peak_time=None, peak_mv=None)

    def sensitivity(t0, t1, *details):
        instance.truth.details = details
        ledger = [write(t0, t1, type="ischemia")]
        return verify(instance, ledger).metadata["ec57"]["episode_se"]

    assert sensitivity(80, 90, shallow, deep, unknown) == 1.0
    assert sensitivity(45, 55, shallow, deep, unknown) == 0.0
    assert sensitivity(45, 55, unknown) == 0.0
    assert sensitivity(45, 95, unknown) == 1.0


def test_burden_error_is_relative_to_the_truth():
    truth = fake("af_burden", 0.5)
    assert verify(truth, [write(0, 150)]).value == pytest.approx(0.5)
    assert verify(truth, [write(0, 600)]).value == 0.0


def test_burden_error_is_relative_to_v0_below_it():
    truth = fake("pvc_burden", 0.0)
    score = verify(truth, [write(0, 6, type="pvc")])
    assert score.answer == pytest.approx(0.01)
    assert score.value == pytest.approx(0.5)
    assert verify(truth, [write(0, 6, type="pvc")], v0=0.01).value == pytest.approx(0.0)


def test_burden_score_is_never_negative():
    assert verify(fake("af_burden", 0.01), [write(0, 600)]).value == 0.0


def test_change_is_the_earliest_start_whenever_it_was_written():
    truth = fake("change_detection", 100.0)
    late_first = [write(300, 310, 310), write(95, 99, 320)]
    assert verify(truth, late_first).answer == 95.0
    assert verify(truth, late_first).value == 1.0


@pytest.mark.parametrize(("start", "value"), [(90, 1.0), (110, 1.0), (89.9, 0.0), (110.1, 0.0)])
def test_change_hits_within_ten_seconds_ends_included(start, value):
    assert verify(fake("change_detection", 100.0), [write(start, 200)]).value == value


def test_rare_event_is_the_midpoint_of_the_most_confident():
    entries = [
        write(10, 12, type="pvc", confidence=0.4),
        write(100, 104, type="pvc", confidence=0.9),
        write(200, 204, type="pvc"),
    ]
    assert verify(fake("rare_event", 102.0), entries).answer == 102.0


@pytest.mark.parametrize("order", [1, -1])
def test_rare_event_ties_go_to_the_earliest_in_time(order):
    entries = [write(10, 12, type="pvc"), write(100, 104, type="pvc")][::order]
    assert verify(fake("rare_event", 11.0), entries).answer == 11.0


@pytest.mark.parametrize("confidence", [math.nan, math.inf, "1", True, None, [1]])
def test_unusable_confidence_counts_as_none_given(confidence):
    entries = [
        write(10, 12, type="pvc", confidence=confidence),
        write(100, 104, type="pvc", confidence=0.1),
    ]
    assert verify(fake("rare_event", 102.0), entries).answer == 102.0


@pytest.mark.parametrize(("middle", "value"), [(115, 1.0), (85, 1.0), (115.1, 0.0)])
def test_rare_event_hits_within_fifteen_seconds(middle, value):
    entry = write(middle - 1, middle + 1, type="pvc")
    assert verify(fake("rare_event", 100.0), [entry]).value == value


# --- the two scorings ---


@pytest.mark.parametrize("task", ["change_detection", "rare_event"])
@pytest.mark.parametrize(("scoring", "value"), [("committed", 0.0), ("published", 1.0)])
def test_nothing_committed_pays_only_in_published_scoring(task, scoring, value):
    assert verify(fake(task, 0.0), [], scoring=scoring).value == value


def test_published_scoring_answers_zero_seconds():
    assert verify(fake("rare_event", 60.0), [], scoring="published").answer == 0.0
    assert verify(fake("rare_event", 60.0), []).answer is None


@pytest.mark.parametrize("task", TASKS)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_the_scorings_differ_on_an_empty_ledger_alone(task, data):
    ledger = data.draw(ledgers(task).filter(bool))
    assert len({verify(INSTANCES[task], ledger, scoring=s).value for s in SCORINGS}) == 1


# --- what must never pay ---


@pytest.mark.parametrize("task", TASKS)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_worthless_entries_change_no_score_answer_or_latency(task, data):
    ledger = data.draw(ledgers(task))
    junk = data.draw(st.lists(worthless(TASK_EVENT[task]), min_size=1, max_size=4))
    mixed = data.draw(st.permutations(ledger + junk))
    order = {id(entry): i for i, entry in enumerate(ledger)}
    mixed = [e for e in mixed if id(e) not in order] + ledger
    for scoring in SCORINGS:
        want = verify(INSTANCES[task], ledger, scoring=scoring)
        got = verify(INSTANCES[task], mixed, scoring=scoring)
        assert (got.value, got.answer, got.latency) == (want.value, want.answer, want.latency)
        assert sum(got.metadata["ignored"].values()) == len(junk)


@pytest.mark.parametrize("task", TASKS)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_repeating_or_reordering_entries_changes_no_score(task, data):
    ledger = data.draw(ledgers(task).filter(bool))
    again = ledger + data.draw(st.lists(st.sampled_from(ledger), max_size=6))
    want = verify(INSTANCES[task], ledger)
    repeated = verify(INSTANCES[task], again)
    shuffled = verify(INSTANCES[task], data.draw(st.permutations(again)))
    assert (repeated.value, repeated.answer) == (want.value, want.answer)
    assert (shuffled.value, shuffled.answer) == (want.value, want.answer)
    assert repeated.latency == want.latency


@pytest.mark.parametrize("task", ["episode_detection", "af_burden", "ischemia", "pvc_burden"])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_overlapping_spam_inside_the_answer_changes_nothing(task, data):
    ledger = data.draw(ledgers(task).filter(bool))
    spam = [entry | {"t0": entry["t0"] + 1, "t1": entry["t1"] - 1} for entry in ledger] * 3
    want, got = verify(INSTANCES[task], ledger), verify(INSTANCES[task], ledger + spam)
    assert (got.value, got.answer) == (want.value, want.answer)


@pytest.mark.parametrize("task", ["pvc_burden", "rare_event"])
def test_an_entry_wider_than_a_beat_task_allows_is_ignored(task):
    instance = INSTANCES[task]
    score = verify(instance, [write(0, 31, type="pvc")])
    assert score.metadata["ignored"] == {"wide": 1}
    assert verify(instance, [write(0, 30.0005, type="pvc")]).metadata["used"] == 1


def test_a_wide_entry_cannot_hide_behind_clipping():
    assert verify(INSTANCES["pvc_burden"], [write(0, 500, 5, type="pvc")]).metadata["used"] == 0


def test_bounds_are_clipped_to_the_stamp_and_to_the_recording():
    assert assemble("episode_detection", [write(-5, 90, 60.0)], TOTAL) == ((0.0, 60.0),)
    assert assemble("episode_detection", [write(590, 700)], TOTAL) == ((590.0, 600.0),)
    assert assemble("episode_detection", [write(590, 700, 9e9)], TOTAL) == ((590.0, 600.0),)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (write(math.nan, 5), "bounds"),
        (write(0, math.inf), "bounds"),
        (write(0, True), "bounds"),
        (write(5, 5), "reversed"),
        (write(9, 5), "reversed"),
        (write(60, 70, 60.0), "future"),
        (write(700, 710), "future"),
        (write(-9, -5), "past"),
        (write(0, 5, math.nan), "stamp"),
        (write(0, 5, -1.0), "stamp"),
        (write(0, 5, type="AF"), "type"),
        ("af", "not_an_object"),
    ],
)
def test_what_is_ignored_is_counted_by_reason(entry, reason):
    metadata = verify(INSTANCES["episode_detection"], [entry, write(30, 90)]).metadata
    assert metadata["ignored"] == {reason: 1}
    assert (metadata["entries"], metadata["used"]) == (2, 1)


def test_numpy_numbers_are_numbers():
    entry = write(np.float32(30), np.int64(90), np.float64(90))
    assert verify(episodes(((30.0, 90.0),)), [entry]).value == 1.0


# --- purity, parameters, form ---


def test_verifying_leaves_the_ledger_and_the_instance_alone():
    ledger = [write(30, 90, 95)]
    before = json.dumps(ledger)
    first = verify(INSTANCES["episode_detection"], ledger)
    assert json.dumps(ledger) == before
    assert verify(INSTANCES["episode_detection"], ledger) == first


def test_a_ledger_and_its_plain_entries_score_alike():
    entries = [write(30, 90, 95), write(120, 149, 160)]
    ledger = Ledger(entries)
    assert verify(INSTANCES["ischemia"], ledger) == verify(INSTANCES["ischemia"], entries)


def test_all_parameters_are_recorded():
    given_ = {
        "scoring": "published",
        "iou": 0.6,
        "v0": 0.05,
        "tolerance_s": 3.0,
        "max_write_s": 9.0,
        "join_s": 0.5,
    }
    recorded = verify(INSTANCES["rare_event"], [], **given_).metadata["parameters"]
    assert {key: recorded[key] for key in given_} == given_


@pytest.mark.parametrize("task", TASKS)
def test_a_score_survives_strict_json(task):
    score = verify(INSTANCES[task], [write(30, 59, 60, type=TASK_EVENT[task])])
    for per_event in (False, True):
        text = json.dumps(score.to_dict(per_event), allow_nan=False)
        assert json.loads(text)["value"] == score.value


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("count", [0, 1])
def test_the_explanation_is_one_sentence(task, count):
    ledger = [write(30, 59, 60, type=TASK_EVENT[task])] * count
    sentence = verify(INSTANCES[task], ledger).explanation
    assert sentence.endswith(".")
    assert ". " not in sentence


@pytest.mark.parametrize(
    "bad",
    [
        {"scoring": "kind"},
        {"iou": 0.0},
        {"iou": 1.5},
        {"iou": math.nan},
        {"v0": 0.0},
        {"v0": math.nan},
        {"tolerance_s": -1.0},
        {"join_s": math.nan},
    ],
)
def test_a_parameter_out_of_range_is_one_sentence(bad):
    with pytest.raises(ConfigError, match=r"\.$"):
        verify(INSTANCES["episode_detection"], [], **bad)


def test_an_unknown_task_is_named():
    with pytest.raises(ConfigError, match="'naps'"):
        verify(fake("naps", 0.0), [])


@pytest.mark.parametrize("task", ["af_burden", "change_detection", "rare_event"])
def test_a_truth_of_the_wrong_kind_is_said_so(task):
    with pytest.raises(DataError, match="one number"):
        verify(fake(task, EPISODES), [write(30, 59, type=TASK_EVENT[task])])


def test_a_number_is_no_truth_for_intervals():
    with pytest.raises(DataError, match="intervals"):
        verify(fake("ischemia", 0.5), [])


def test_intervals_as_json_gives_them_are_a_truth():
    as_json = fake("ischemia", [list(e) for e in EPISODES], [list(e) for e in EPISODES])
    ledger = [write(30, 90, type="ischemia")]
    assert verify(as_json, ledger) == verify(INSTANCES["ischemia"], ledger)


def test_no_truth_is_said_so():
    instance = INSTANCES["af_burden"].__class__(task="af_burden", duration=60.0, truth=None)
    with pytest.raises(DataError, match="no reference annotations"):
        verify(instance, [])


@pytest.mark.parametrize("duration", [0.0, -1.0, math.nan, math.inf])
def test_a_recording_without_a_length_is_refused(duration):
    with pytest.raises(DataError, match="cannot be scored"):
        verify(fake("af_burden", 0.1, duration=duration), [])


@pytest.mark.parametrize("task", TASKS)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_one_write_at_a_time_ends_where_the_whole_ledger_does(task, data):
    ledger = data.draw(ledgers(task))
    replay = Replay(INSTANCES[task])
    for entry in ledger:
        replay.add(entry)
        assert 0.0 <= replay.value() <= 1.0
    assert replay.score() == verify(INSTANCES[task], ledger)
    assert replay.score().answer == assemble(task, ledger, TOTAL)


@pytest.mark.parametrize("task", TASKS)
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_a_copied_replay_and_its_source_go_on_alone(task, data):
    ledger, more = data.draw(ledgers(task)), data.draw(ledgers(task))
    source = Replay(INSTANCES[task])
    source.add_all(ledger)
    twin = source.copy()
    for entry in more:
        twin.add(entry | {"cursor": TOTAL})
    assert source.score() == verify(INSTANCES[task], ledger)
    both = ledger + [entry | {"cursor": TOTAL} for entry in more]
    assert twin.score() == verify(INSTANCES[task], both)


@pytest.mark.parametrize("hundredths", range(0, 3000, 7))
def test_a_time_exactly_at_the_tolerance_is_a_hit_whatever_its_rounding(hundredths):
    truth, change, point = hundredths / 100, (hundredths + 1000) / 100, hundredths + 1500
    late = [write(change, change + 1)]
    assert verify(fake("change_detection", truth), late).value == 1.0
    late = [write((point - 100) / 100, (point + 100) / 100, type="pvc")]
    assert verify(fake("rare_event", truth), late).value == 1.0


def test_a_time_just_past_the_tolerance_is_a_miss():
    assert verify(fake("change_detection", 5.0), [write(15.001, 20)]).value == 0.0
