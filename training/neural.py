"""``python -m training.neural CONFIG``: the neural policy, by cloning, then by policy gradient.

The expert's plan is a function of what a policy sees, so it can say what it would do wherever the
network gets to: after the first round of cloning the network plays, and learns the expert's answer
at its own places (DAgger; Ross, Gordon and Bagnell, 2011).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint, RichProgressBar
from lightning.pytorch.loggers import TensorBoardLogger
from rich.console import Console

from ecgscroll.catalogue.instances import Instance
from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.run import Execution
from ecgscroll.files import write_atomic
from policies.neural.checkpoint import CONFIGURATION, Shape, save_network
from policies.neural.network import Network
from training.adapter import tier_of
from training.callbacks import Samples
from training.checkpoints import RECORD, training_record
from training.config import NeuralRun
from training.data import Parts, digests, divide, named, playable, spread
from training.evaluate import evaluate_checkpoint, mean_scores
from training.neural_data import Coverage, Labelled, demonstrated
from training.neural_modules import Cloning, PolicyGradient
from training.rollout import Desk
from training.setup import claim, command, is_main

Game = tuple[str, str | None]


def train(run: NeuralRun) -> dict[str, float]:
    """Train, or go on with a run that was stopped; return the mean scores on held-out instances."""
    claim(run)
    lightning.seed_everything(run.seed, verbose=False)
    parts = divide(run.data, run.seed)
    network = clone(run, parts)
    if run.gradient.steps:
        network = improve(run, parts, network)
    scores = evaluate(run, parts, network)
    if is_main():
        more = {"evaluation": {"scores": scores}, "coverage": coverage_of(run)}
        record = training_record(run, "neural", parts.digests(), **more)
        model = run.output / "model"
        write_atomic(model / RECORD, json.dumps(record, indent=1) + "\n")
        save_network(network.arrays(), network.shape, model, {"kind": "neural"})
    return scores


def clone(run: NeuralRun, parts: Parts) -> Network:
    """Learn the expert's calls on its own episodes, then on the network's."""
    folders = [run.output / f"cloning-{number}" for number in range(run.cloning.rounds)]
    if (folders[-1] / CONFIGURATION).is_file():
        return Network.load(folders[-1]).train()
    network = Network(Shape(run.network.hidden, run.network.layers))
    held_out = Labelled(demonstrated(run, parts.held_out, parts.folder, None))
    shown: list[Any] = []
    coverage = Coverage()
    for number, folder in enumerate(folders):
        player = network if number else None
        shown += demonstrated(run, parts.train, parts.folder, player, number, coverage)
        if not shown:
            raise ConfigError("There is nothing to imitate; look at data.tasks and data.dx.")
        if (folder / CONFIGURATION).is_file():
            network = Network.load(folder).train()
            continue
        module = Cloning(network, Labelled(shown), held_out, run.cloning, run.seed + number)
        trainer = _trainer(run, f"cloning-{number}", run.cloning.epochs)
        trainer.fit(module, ckpt_path=_last(trainer), weights_only=True)
        if trainer.is_global_zero:
            save_network(network.arrays(), network.shape, folder, {"coverage": coverage.shares()})
    if is_main() and (warning := coverage.warning()) is not None:
        Console(stderr=True, soft_wrap=True).print(warning, style="yellow")
    return network


def coverage_of(run: NeuralRun) -> dict[str, float]:
    """Return which shares of the expert's calls were candidates, as the cloning found."""
    path = run.output / f"cloning-{run.cloning.rounds - 1}" / CONFIGURATION
    shares: dict[str, float] = json.loads(path.read_text(encoding="utf-8")).get("coverage", {})
    return shares


def improve(run: NeuralRun, parts: Parts, network: Network) -> Network:
    """Go up the gradient of the verifier's reward."""
    desk = Desk(parts.folder, run.weights(), run.budget, rewind=run.rewind)
    samples = Samples(run.output / "samples", run.gradient.save_steps) if is_main() else None
    module = PolicyGradient(
        network, games(run, parts.train), desk, run.gradient, run.seed, watch=samples
    )
    trainer = _trainer(run, "gradient", module.epochs)
    trainer.fit(module, ckpt_path=_last(trainer), weights_only=True)
    return network


def games(run: NeuralRun, instances: Sequence[Instance]) -> list[Game]:
    """Return ids and tiers to play."""
    tiers = [tier_of(name) for name in run.data.dx]
    return [(one.id, dx) for dx in tiers for one in instances if playable(one, dx)]


def evaluate(run: NeuralRun, parts: Parts, network: Network) -> dict[str, float]:
    """Play held-out instances greedily in every tier; return mean scores by tier and task."""
    given = run.evaluation.instances
    chosen = parts.held_out if given is None else named(parts.folder, given)
    scores: dict[str, float] = {}
    if not is_main() or not run.evaluation.at_end:
        return scores
    folder = run.output / "evaluations"
    save_network(network.arrays(), network.shape, folder / "model", {})
    for tier in run.data.dx:
        dx = tier_of(tier)
        seen = [one for one in spread(chosen, run.evaluation.limit) if playable(one, dx)]
        if seen:
            summary = evaluate_checkpoint(
                folder / "model",
                seen,
                parts.folder,
                folder / tier,
                dx=dx,
                execution=Execution(),
                max_steps=run.evaluation.max_steps,
            )
            scores |= {f"{tier}/{name}": value for name, value in mean_scores(summary).items()}
    digest = {"scores": scores, **digests(chosen)}
    (folder / "scores.json").write_text(json.dumps(digest, indent=1) + "\n", encoding="utf-8")
    return scores


def _trainer(run: NeuralRun, stage: str, epochs: int) -> lightning.Trainer:
    """Return Lightning's trainer of a stage, with what the configuration says."""
    about: dict[str, Any] = {"accelerator": "cpu", "devices": 1} | run.trainer
    if not torch.cuda.is_available():
        about["accelerator"] = "cpu"
    checkpoints = ModelCheckpoint(run.output / "checkpoints" / stage, save_last=True)
    bar = [RichProgressBar()] if sys.stderr.isatty() else []
    try:
        return lightning.Trainer(
            max_epochs=epochs,
            logger=TensorBoardLogger(run.output / "tensorboard", name=stage),
            callbacks=[checkpoints, *bar],
            enable_progress_bar=bool(bar),
            enable_model_summary=False,
            log_every_n_steps=10,
            **about,
        )
    except TypeError as error:
        raise ConfigError(f"trainer: {' '.join(str(error).split())[:300]}") from None


def _last(trainer: lightning.Trainer) -> str | None:
    """Return where a stage that was stopped goes on."""
    checkpoint: Any = trainer.checkpoint_callback
    path = Path(checkpoint.dirpath) / "last.ckpt"
    return str(path) if path.is_file() else None


if __name__ == "__main__":
    sys.exit(command(NeuralRun, train, sys.argv[1:]))
