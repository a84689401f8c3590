import pytest
from scoring_fakes import INSTANCES, TASK_EVENT, TOTAL, fake

from ecgscroll.scoring.floors import STRATEGIES, floor_ledgers, oracle_ledger
from ecgscroll.scoring.verifiers import verify

TASKS = sorted(TASK_EVENT)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("duration", [TOTAL, 601.5, 12.0, 0.5])
def test_every_floor_is_a_valid_causal_ledger(task, duration):
    instance = fake(task, 0.0 if "burden" in task else (), duration=duration)
    for ledger in floor_ledgers(instance, beats=[0.01, 0.2, 5.0]).values():
        for entry in ledger:
            assert 0 <= entry["t0"] < entry["t1"] <= entry["cursor"] <= duration
            assert entry["type"] == TASK_EVENT[task]


@pytest.mark.parametrize("task", TASKS)
def test_no_floor_holds_an_entry_that_is_ignored(task):
    for ledger in floor_ledgers(INSTANCES[task], beats=[5.0]).values():
        assert verify(INSTANCES[task], ledger).metadata["ignored"] == {}


def test_floors_look_at_no_truth():
    blind = fake("af_burden", 0.0)
    blind.truth = None
    assert floor_ledgers(blind) == floor_ledgers(INSTANCES["af_burden"])


def test_the_whole_recording_is_one_interval_or_tiles_where_writes_are_narrow():
    wide = floor_ledgers(INSTANCES["af_burden"])["whole"]
    tiled = floor_ledgers(INSTANCES["pvc_burden"])["whole"]
    assert (len(wide), len(tiled)) == (1, 20)
    assert verify(INSTANCES["pvc_burden"], tiled).answer == 1.0


def test_alternate_chunks_cover_half():
    ledger = floor_ledgers(INSTANCES["af_burden"])["alternate_chunks"]
    assert verify(INSTANCES["af_burden"], ledger).answer == pytest.approx(0.5)


def test_every_beat_is_a_floor_of_pvc_tasks_where_beats_are_known():
    assert len(floor_ledgers(INSTANCES["pvc_burden"], [5.0, 6.0, 7.0])["every_beat"]) == 3
    assert set(floor_ledgers(INSTANCES["pvc_burden"])) == set(STRATEGIES)
    assert set(floor_ledgers(INSTANCES["af_burden"], [5.0])) == set(STRATEGIES)


@pytest.mark.parametrize("task", sorted(set(TASKS) - {"pvc_burden", "af_burden"}))
def test_the_truth_written_out_scores_one(task):
    assert verify(INSTANCES[task], oracle_ledger(INSTANCES[task])).value == 1.0


def test_the_truth_written_out_is_never_stamped_before_it_ended():
    latency = verify(INSTANCES["ischemia"], oracle_ledger(INSTANCES["ischemia"])).latency
    assert latency.stamps == latency.offsets
