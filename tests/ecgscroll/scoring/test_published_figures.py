"""Figures of the published benchmark that the verifiers must give on the real annotations."""

import pytest

from ecgscroll.catalogue.instances import get_instance, list_instances
from ecgscroll.records.recording import Recording
from ecgscroll.scoring.floors import floor_ledgers, oracle_ledger
from ecgscroll.scoring.ischemia_leads import lead_intervals, verify_ischemia_leads
from ecgscroll.scoring.ledger import Ledger
from ecgscroll.scoring.verifiers import verify

pytestmark = pytest.mark.real

# Starts in seconds of the 2 s writes of the two published PVC trajectories.
WRITES = {
    "118": (29.7, 223.6, 460.0, 493.1, 742.9, 1357.9, 1585.8),
    "202": (475.6, 569.6, 735.6, 870.0, 989.3),
}


@pytest.mark.parametrize(
    ("record", "answer", "truth", "score"),
    [("118", 0.0078, 0.0070, 0.96), ("202", 0.0055, 0.0089, 0.83)],
)
def test_a_published_trajectory_scores_what_was_published(data, record, answer, truth, score):
    instance = get_instance(f"pvc_burden/mitdb/{record}", data)
    ledger = Ledger({"type": "pvc", "t0": t0, "t1": t0 + 2.0} for t0 in WRITES[record])
    got = verify(instance, ledger)
    assert round(got.answer, 4) == answer
    assert round(instance.truth.value, 4) == truth
    assert round(got.value, 2) == score


@pytest.fixture(scope="module")
def empty_scores(data):
    """Scores of the empty ledger by (set, task, scoring), one per instance."""
    scores = {}
    for chosen in ("core", "published"):
        for instance in list_instances(data, set=chosen):
            for scoring in ("committed", "published"):
                key = (chosen, instance.task, scoring)
                scores.setdefault(key, []).append(verify(instance, (), scoring=scoring).value)
    return scores


@pytest.mark.parametrize(
    ("chosen", "task", "mean", "digits", "n"),
    [
        ("core", "af_burden", 0.105, 3, 107),
        ("published", "af_burden", 0.168, 3, 30),
        ("core", "pvc_burden", 0.43, 2, 55),
        ("published", "pvc_burden", 0.50, 2, 30),
        ("published", "episode_detection", 0.033, 3, 30),
        ("published", "ischemia", 0.0, 3, 30),
    ],
)
@pytest.mark.parametrize("scoring", ["committed", "published"])
def test_what_an_empty_ledger_earns(empty_scores, chosen, task, scoring, mean, digits, n):
    values = empty_scores[chosen, task, scoring]
    assert len(values) == n
    assert round(sum(values) / n, digits) == mean


@pytest.mark.parametrize(
    ("task", "hits", "n"), [("change_detection", 4, 23), ("rare_event", 1, 13)]
)
def test_an_empty_ledger_hits_only_in_published_scoring(empty_scores, task, hits, n):
    published = empty_scores["core", task, "published"]
    assert (sum(published), len(published)) == (hits, n)
    assert sum(empty_scores["core", task, "committed"]) == 0


def test_the_truth_written_out_scores_one_on_every_episode_and_time(data):
    tasks = ("episode_detection", "ischemia", "change_detection", "rare_event")
    scores = {
        one.id: verify(one, oracle_ledger(one)).value
        for one in list_instances(data, set="published", tasks=tasks)
    }
    assert len(scores) == 30 + 30 + 23 + 13
    assert [name for name, value in scores.items() if value != 1.0] == []


def test_no_floor_is_ignored_on_a_real_recording(data):
    instance = get_instance("pvc_burden/mitdb/118", data)
    for ledger in floor_ledgers(instance).values():
        assert verify(instance, ledger).metadata["ignored"] == {}


def test_ischemia_lead_by_lead_on_a_real_excerpt(data):
    instance = get_instance("ischemia/qtdb/sele0106", data)
    leads = Recording.open(data / "qtdb", "sele0106", "qtdb").leads
    reference = lead_intervals(instance.truth.details, leads)
    entries = [
        {"type": "ischemia", "lead": e.lead, "t0": e.start, "t1": e.stop, "value": e.peak_mv}
        for e in reference
    ]
    assert reference
    assert verify_ischemia_leads(reference, entries, instance.duration).value == 1.0
    swapped = [entry | {"lead": "another"} for entry in entries]
    assert verify_ischemia_leads(reference, swapped, instance.duration).value < 0.7
