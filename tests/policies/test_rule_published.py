"""The Rule agent on reference labels gives the published row, on the published subset."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policies_fakes import annotations_of

from ecgscroll.evaluation.config import RunConfig, data_digest
from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.evaluation.reading import read_outcomes
from ecgscroll.evaluation.run import Execution, evaluate
from ecgscroll.evaluation.selection import select
from ecgscroll.scoring.verifiers import verify

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(1200)]

# Counted apart from this code; the published row says 0.52, 9/23, 0.80, 0.25 and 11/13.
EXPECTED = {
    "episode_detection": (30, 0.521),
    "change_detection": (23, 9 / 23),
    "ischemia": (30, 0.800),
    "pvc_burden": (30, 0.253),
    "rare_event": (13, 11 / 13),
}


@pytest.fixture(scope="module")
def annotations(data, tmp_path_factory):
    return annotations_of(data, tmp_path_factory.mktemp("annotations"))


@pytest.fixture(scope="module")
def played(annotations, tmp_path_factory):
    """The published subset played in two processes; AF burden shares episode detection's."""
    chosen, absent = select(annotations, chosen_set="published", tasks=list(EXPECTED))
    assert not absent
    config = RunConfig(
        policy="rule",
        dx="reference",
        scoring="published",
        instances=tuple(one.id for one in chosen),
        data=data_digest({one.id: one.truth.digest() for one in chosen}),
    )
    folder = RunFolder(tmp_path_factory.mktemp("run"))
    return evaluate(config, chosen, annotations, folder, Execution(2)), folder


@pytest.mark.parametrize(("task", "n", "mean"), [(k, *v) for k, v in EXPECTED.items()])
def test_the_published_row_comes_out(played, task, n, mean):
    found = played[0]["tasks"][task]
    assert (found["instances"], found["errors"]) == (n, 0)
    assert found["score"]["mean"] == pytest.approx(mean, abs=0.001)


def test_the_same_ledgers_answer_af_burden(played, annotations):
    truths = {
        one.record: one
        for one in select(annotations, chosen_set="published", tasks=["af_burden"])[0]
    }
    found = [one for one in read_outcomes(played[1]) if one.instance.task == "episode_detection"]
    scores = []
    for outcome in found:
        record = outcome.instance.id.split("/")[2]
        instance = replace(outcome.instance, task="af_burden", truth=truths[record].truth)
        scores.append(verify(instance, outcome.ledger).value)
    assert len(scores) == 30
    assert sum(scores) / 30 == pytest.approx(0.991, abs=0.001)
