"""The neural policy's training: it learns, goes on where it was stopped, and shares its work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

pytest.importorskip("lightning")

import torch
from lightning.pytorch.callbacks import Callback

from policies.expert.view import View
from policies.neural.checkpoint import Shape
from policies.neural.features import CANDIDATE, STATE
from policies.neural.network import Network
from training import neural, neural_data
from training.checkpoints import read_record
from training.config import Gradient, NeuralRun, load
from training.data import divide
from training.evaluate import agent_of
from training.neural_data import Batch, Coverage, demonstrated, padded
from training.neural_modules import PolicyGradient, advantages
from training.rollout import Desk

ROOT = Path(__file__).parents[2]


def values(data: Path, output: Path, **more: Any) -> dict[str, Any]:
    given = {
        "output": str(output),
        "threads": 1,
        "data": {
            "folder": str(data),
            "dx": ["none", "reference"],
            "instances": ["episode_detection/synth/paf01", "rare_event/synth/rare01"],
            "held_out": 0,
        },
        "network": {"hidden": 32},
        "cloning": {"rounds": 2, "epochs": 25, "batch_size": 8, "learning_rate": 5e-3},
        "gradient": {"steps": 2, "games": 1, "group": 3, "most_steps": 40, "save_steps": 1},
        "evaluation": {"instances": ["episode_detection/synth/paf01"], "at_end": True},
    }
    return given | more


def tensors(folder: Path) -> dict[str, Any]:
    return dict(Network.load(folder).state_dict())


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


@pytest.fixture(scope="module")
def trained(synth_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("neural")
    neural.train(NeuralRun.model_validate(values(synth_data, output)))
    return output


def test_it_learns_to_play_and_leaves_a_record(trained: Path) -> None:
    assert json.loads((trained / "model" / "neural.json").read_text())["kind"] == "neural"
    record = read_record(trained / "model")
    assert record["kind"] == "neural"
    assert record["configuration"]["gradient"]["steps"] == 2
    assert set(record["coverage"]) == {
        "none/episode_detection", "none/rare_event",
        "reference/episode_detection", "reference/rare_event",
    }  # fmt: skip
    assert min(record["coverage"].values()) > 0.99
    assert record["data"]["train"]["truths"]
    assert record["evaluation"]["scores"]["reference/episode_detection"] > 0.6
    policy, options = agent_of(trained / "model")
    assert policy == "policies.neural:Neural"
    assert options == {"checkpoint": str(trained / "model")}


def test_a_seed_gives_the_same_weights(trained: Path, synth_data: Path, tmp_path: Path) -> None:
    neural.train(NeuralRun.model_validate(values(synth_data, tmp_path)))
    assert same(tensors(trained / "model"), tensors(tmp_path / "model"))


class Stop(Callback):
    """Ends a run when its second epoch begins."""

    def on_train_epoch_start(self, trainer: Any, module: Any) -> None:
        if trainer.current_epoch == 1:
            raise ZeroDivisionError


@pytest.mark.parametrize("stopped", ["cloning-1", "gradient"])
def test_a_stopped_run_goes_on_to_the_same_weights(
    trained: Path,
    synth_data: Path,
    tmp_path: Path,
    stopped: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, made = NeuralRun.model_validate(values(synth_data, tmp_path)), neural._trainer

    def cut(run: Any, stage: str, epochs: int) -> Any:
        trainer = made(run, stage, epochs)
        if stage == stopped:
            trainer.callbacks.append(Stop())
        return trainer

    with monkeypatch.context() as patch:
        patch.setattr(neural, "_trainer", cut)
        with pytest.raises(ZeroDivisionError):
            neural.train(run)
    assert list((tmp_path / "checkpoints" / stopped).glob("last.ckpt"))
    neural.train(run)
    assert same(tensors(trained / "model"), tensors(tmp_path / "model"))


def test_groups_of_equal_rewards_are_told_early(synth_data: Path, trained: Path) -> None:
    said: list[str] = []
    run = NeuralRun.model_validate(values(synth_data, trained))
    network = Network.load(trained / "model")
    games: Any = [("episode_detection/synth/paf01", "reference")]
    module = PolicyGradient(
        network, games, Desk(synth_data, run.weights()), run.gradient, 0, say=said.append
    )
    for _ in range(6):
        module._tell_equal(1.0)
    assert len(said) == 1
    assert "nothing is learnt" in said[0]


def test_episodes_are_shown_as_they_were_played(trained: Path) -> None:
    first, *later = sorted((trained / "samples").iterdir())
    assert first.name == "step-000000.txt"
    assert len(later) == 1
    head, call, result, *_ = first.read_text().splitlines()
    assert ": reward " in head
    assert call.split()[0] == ">"
    assert result.strip().startswith("{")


def test_what_is_no_candidate_is_counted_and_told() -> None:
    coverage = Coverage()
    view = View("rare_event", 0.0, 60.0, ())
    for covered in (True, True, True, False):
        coverage.count(view, None, covered)
    coverage.count(view, "reference", True)
    assert coverage.shares() == {"none/rare_event": 0.75, "reference/rare_event": 1.0}
    warning = coverage.warning()
    assert warning is not None
    assert "none/rare_event 75.0%" in warning
    assert "reference" not in warning


def test_a_call_that_is_no_candidate_is_dropped_and_counted(
    synth_data: Path, trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = NeuralRun.model_validate(values(synth_data, trained))
    parts = divide(run.data, run.seed)
    offered = neural_data.candidates
    monkeypatch.setattr(
        neural_data,
        "candidates",
        lambda view, dx: [one for one in offered(view, dx) if one.call["name"] != "write"],
    )
    coverage = Coverage()
    samples = demonstrated(run, parts.train, parts.folder, None, coverage=coverage)
    assert samples
    assert 0 < coverage.shares()["reference/episode_detection"] < 1


def test_the_price_of_steps_weighs_no_more_than_it_costs() -> None:
    """Where all episodes score the same, to finish at once must not look like a success."""
    steps = np.array([1, 40, 50, 60])
    assert np.abs(advantages(0.5 - 1e-4 * steps)).max() < 0.01
    rewards = np.array([1.0, 0.2, 0.4])
    others = [np.delete(rewards, one).mean() for one in range(3)]
    assert advantages(rewards) == pytest.approx(rewards - others)


def test_the_gradient_is_of_the_policy_that_played() -> None:
    torch.manual_seed(0)
    network = Network(Shape(hidden=8))
    state, found = torch.randn(3, STATE), torch.randn(3, 4, CANDIDATE)
    mask = torch.tensor([[True] * 4, [True] * 4, [True, True, False, False]])
    batch = Batch(state, found, mask, torch.tensor([0, 3, 1]))
    worth = torch.tensor([1.0, -2.0, 0.5])
    about = Gradient(temperature=2.0, entropy=0.0)
    module = PolicyGradient(
        network, [], Desk(None, NeuralRun(output=Path("x")).weights()), about, 0
    )
    chances = torch.softmax(network(state, found, mask) / 2.0, dim=1)
    expected = -(worth * chances[torch.arange(3), batch.taken].log()).mean()
    assert module._loss(batch, worth).item() == pytest.approx(expected.item(), rel=1e-5)


def test_samples_are_padded_to_the_most_candidates(synth_data: Path, trained: Path) -> None:
    run = NeuralRun.model_validate(values(synth_data, trained))
    parts = divide(run.data, run.seed)
    samples = demonstrated(run, parts.train, parts.folder, None)
    batch = padded(samples[:9])
    assert batch.mask.sum(dim=1).tolist() == [len(one.found) for one in samples[:9]]
    assert batch.mask.gather(1, batch.taken[:, None]).all()


def test_two_processes_share_the_work(synth_data: Path, tmp_path: Path) -> None:
    given = values(synth_data, tmp_path / "run", trainer={"strategy": "ddp", "devices": 2})
    config = tmp_path / "ddp.yaml"
    config.write_text(yaml.safe_dump(given))
    done = subprocess.run(
        [sys.executable, "-m", "training.neural", str(config)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "MEMBER: 2/2" in done.stderr or "GLOBAL_RANK: 1" in done.stderr
    record = read_record(tmp_path / "run" / "model")
    assert record["evaluation"]["scores"]["reference/episode_detection"] > 0.5


@pytest.mark.parametrize(("steps", "save", "epoch"), [(60, 50, 30), (7, 3, 1), (2, 50, 2)])
def test_epochs_of_the_gradient_come_to_its_steps(
    steps: int, save: int, epoch: int, synth_data: Path, tmp_path: Path
) -> None:
    given = values(synth_data, tmp_path, gradient={"steps": steps, "save_steps": save})
    run = NeuralRun.model_validate(given)
    desk, shape = Desk(synth_data, run.weights()), Shape(hidden=8)
    module = PolicyGradient(Network(shape), [("x", None)], desk, run.gradient, 0)
    assert (module.per_epoch, module.epochs) == (epoch, steps // epoch)


def test_the_shipped_configuration_is_sound() -> None:
    assert load(ROOT / "configs" / "neural.yaml", NeuralRun).cloning.rounds > 1
