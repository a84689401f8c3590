"""A run on a local Ray cluster of two workers, set beside the process pool's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.folder import RunFolder, read_rows
from ecgscroll.evaluation.run import ALONE, Execution, evaluate

pytest.importorskip("ray")
pytestmark = pytest.mark.slow

FAKES = "evaluation_fakes"


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """One local cluster for all tests; its workers find what tests bring with them."""
    import ray

    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    ray.init(
        "local", num_cpus=2, include_dashboard=False, object_store_memory=100 << 20,
        runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(paths)}}, log_to_driver=False,
    )  # fmt: skip
    yield
    ray.shutdown()


@pytest.fixture
def carry(recordings, chosen, configure):
    """Run a policy into a folder in some way; returns the summary."""

    def run(path, how, **changes):
        config = configure(chosen, **changes)
        return evaluate(config, chosen, recordings, RunFolder(path), how)

    return run


def contents(path):
    files = [path / name for name in ("results.jsonl", "summary.json", "config.json")]
    return {file.name: file.read_bytes() for file in [*files, *(path / "episodes").iterdir()]}


def test_a_worker_killed_half_way_costs_nothing(tmp_path, carry, chosen):
    struck = tmp_path / "struck"
    run = {
        "policy": f"{FAKES}:Struck",
        "options": {"at": chosen[3].id, "struck": str(struck)},
        "rollouts": 2,
    }
    carry(tmp_path / "ray", Execution(2, engine="ray"), **run)
    assert struck.exists()
    carry(tmp_path / "pool", Execution(2), **run)
    assert contents(tmp_path / "ray") == contents(tmp_path / "pool")
    assert all(row["error"] is None for row in read_rows(tmp_path / "ray" / "results.jsonl"))


def test_it_goes_on_with_a_run_of_the_pool_several_at_once(tmp_path, carry, finished, chosen):
    carry(tmp_path, ALONE)
    for one in chosen[1:]:
        RunFolder(tmp_path).episode_path(one.id).unlink()
    carry(tmp_path, Execution(2, concurrency=2, engine="ray"))
    assert contents(tmp_path) == contents(finished.path)


def test_an_episode_that_ends_three_workers_is_an_error(tmp_path, carry, chosen):
    how = Execution(2, engine="ray")
    carry(tmp_path, how, policy=f"{FAKES}:Fatal", options={"at": chosen[0].id})
    errors = [row["error"] for row in read_rows(tmp_path / "results.jsonl") if row["error"]]
    assert errors == ["The worker that played this episode ended."]


def test_a_refusal_in_a_worker_is_the_users_mistake(tmp_path, carry):
    with pytest.raises(ConfigError, match="no profile 'strict'"):
        carry(tmp_path, Execution(2, engine="ray"), options={"profile": "strict"})
