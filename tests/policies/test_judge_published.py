"""An oracle in place of the Judge's model gives what the published Judges reach with labels.

So prompt, parsing, merging and scoring together lose nothing of what the labels say.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from policies_fakes import annotations_of

from ecgscroll.evaluation.config import RunConfig, data_digest
from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.evaluation.reading import read_outcomes
from ecgscroll.evaluation.run import evaluate
from ecgscroll.evaluation.selection import select
from ecgscroll.scoring.verifiers import verify

pytestmark = [pytest.mark.real, pytest.mark.slow]

# The published row (papers: Judge, +dx): what must be reached, over so many instances.
PUBLISHED = {
    "episode_detection": (30, 0.52),
    "change_detection": (23, 0.39),
    "ischemia": (30, 0.80),
    "rare_event": (13, 0.85),
}


@pytest.fixture(scope="module")
def annotations(data, tmp_path_factory):
    return annotations_of(data, tmp_path_factory.mktemp("annotations"))


@pytest.fixture(scope="module")
def played(annotations, tmp_path_factory):
    chosen, absent = select(annotations, chosen_set="published", tasks=list(PUBLISHED))
    assert not absent
    config = RunConfig(
        policy="policies.judge:Judge",
        options={"backend": "oracle"},
        dx="reference",
        scoring="published",
        instances=tuple(one.id for one in chosen),
        data=data_digest({one.id: one.truth.digest() for one in chosen}),
    )
    folder = RunFolder(tmp_path_factory.mktemp("judge"))
    return evaluate(config, chosen, annotations, folder), folder


@pytest.mark.parametrize(("task", "n", "least"), [(k, *v) for k, v in PUBLISHED.items()])
def test_the_published_row_is_reached(played, task, n, least):
    found = played[0]["tasks"][task]
    assert (found["instances"], found["errors"]) == (n, 0)
    assert round(found["score"]["mean"], 2) >= least


def test_the_same_ledgers_answer_af_burden(played, annotations):
    truths = {
        one.record: one.truth
        for one in select(annotations, chosen_set="published", tasks=["af_burden"])[0]
    }
    scores = []
    for outcome in read_outcomes(played[1]):
        if outcome.instance.task == "episode_detection":
            truth = truths[outcome.instance.id.split("/")[2]]
            instance = replace(outcome.instance, task="af_burden", truth=truth)
            scores.append(verify(instance, outcome.ledger).value)
    assert len(scores) == 30
    assert round(sum(scores) / 30, 2) >= 0.99
