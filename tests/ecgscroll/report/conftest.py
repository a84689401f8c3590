from __future__ import annotations

import pytest
from report_fakes import IDS, call, talk

from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.synth import RecordPlan, preset, write_database


@pytest.fixture(scope="session")
def recordings(tmp_path_factory):
    """Three short synthetic recordings."""
    data = tmp_path_factory.mktemp("report_data")
    kinds = (("paf", 300.0, 19), ("ectopy", 240.0, 3), ("rare", 240.0, 2))
    plans = [
        RecordPlan(f"{kind}01", preset(kind, seed, length), seed) for kind, length, seed in kinds
    ]
    write_database(data / "synth", plans)
    return data


@pytest.fixture(scope="session")
def run(recordings, tmp_path_factory):
    """A run of three episodes; in the first a hostile model speaks. Only read it."""
    folder = tmp_path_factory.mktemp("report") / "run"
    ids = folder.with_name("ids.txt")
    ids.write_text("\n".join(IDS))
    done = call(
        "run", "--dx", "reference", "--instances", ids, "--data", recordings, "--out", folder
    )
    assert done.exit_code == 0, done.output
    talk(RunFolder(folder).episode_path(IDS[0]))
    return folder


@pytest.fixture(scope="session")
def page(run, recordings):
    """The run's page, at the default size."""
    out = run.with_name("page.html")
    done = call("report", run, "--data", recordings, "--out", out)
    assert done.exit_code == 0, done.output
    return out
