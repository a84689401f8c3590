from __future__ import annotations

import pytest

from ecgscroll.evaluation.config import RunConfig, data_digest
from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.evaluation.run import Execution, evaluate
from ecgscroll.evaluation.selection import select
from ecgscroll.synth import RecordPlan, preset, write_database


@pytest.fixture(scope="session")
def recordings(tmp_path_factory):
    """Two short synthetic records that carry all six tasks between them."""
    data = tmp_path_factory.mktemp("recordings")
    plans = [
        ("mixed1", "holter", 240.0, 3),
        ("rare1", "rare", 240.0, 2),
        ("paf1", "paf", 300.0, 19),
    ]
    records = [
        RecordPlan(name, preset(kind, seed, length), seed) for name, kind, length, seed in plans
    ]
    write_database(data / "made", records)
    return data


@pytest.fixture(scope="session")
def chosen(recordings):
    """Every instance of the synthetic records."""
    return select(recordings, chosen_set="supplementary")[0]


@pytest.fixture(scope="session")
def configure(chosen):
    """Make a configuration over the synthetic instances."""

    def make(instances=chosen, **changes):
        values = {"policy": "rule", "dx": "reference", **changes}
        truths = {one.id: one.truth.digest() for one in instances}
        ids = tuple(one.id for one in instances)
        return RunConfig(instances=ids, data=data_digest(truths), **values)

    return make


@pytest.fixture
def play(recordings, chosen, configure):
    """Run a configuration into a folder; returns its summary."""

    def run(path, workers=1, instances=chosen, **changes):
        config = configure(instances, **changes)
        return evaluate(config, instances, recordings, RunFolder(path), Execution(workers))

    return run


@pytest.fixture(scope="session")
def finished(tmp_path_factory, recordings, chosen, configure):
    """A whole run of the Rule agent in one process; only read it."""
    folder = RunFolder(tmp_path_factory.mktemp("finished"))
    evaluate(configure(), chosen, recordings, folder)
    return folder
