"""``python -m training.sft CONFIG``: a model learns to make the calls of a policy.

The episodes are played once and divided into samples of about equal length; batches are of samples
of a length, and the loss is on the agent's calls alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from datasets import Dataset
from rich.progress import track
from trl import SFTConfig, SFTTrainer

from ecgscroll.catalogue.instances import Instance
from ecgscroll.errors import ConfigError
from training.adapter import tier_of
from training.checkpoints import training_record
from training.config import SFTRun, trainer_arguments
from training.data import Parts, divide, playable, spread
from training.demonstrations import Conversation, demonstrate
from training.order import OrderedByEpoch
from training.samples import Sampler
from training.session import Session
from training.setup import begin, command, open_model, open_tokenizer, with_adapter
from training.tiny import make_model, make_tokenizer

OURS: dict[str, Any] = {
    "learning_rate": 1e-3,
    "per_device_train_batch_size": 8,
    "per_device_eval_batch_size": 8,
    "num_train_epochs": 1,
    "train_sampling_strategy": "group_by_length",
    "gradient_checkpointing": False,
    "logging_steps": 10,
    "save_steps": 200,
    "save_total_limit": 2,
    "report_to": ["tensorboard"],
}


class PlanningSFT(OrderedByEpoch, SFTTrainer):  # type: ignore[misc]
    """TRL's trainer, in an order that a resumed run repeats."""


@dataclass(frozen=True)
class Material:
    """Conversations to learn from, and those to validate on."""

    train: list[Conversation]
    held_out: list[Conversation]

    def texts(self) -> Iterator[str]:
        """Yield all that the training part's agents read and said."""
        return (text for one in self.train for text in one.texts())


def play(run: SFTRun, parts: Parts) -> Material:
    """Let the demonstrator play both parts."""
    about, given = run.demonstrations, [tier_of(name) for name in run.data.dx]

    def played(instances: Sequence[Instance], name: str) -> list[Conversation]:
        tiers = [(tier, [one for one in instances if playable(one, tier)]) for tier in given]
        episodes = (
            episode
            for tier, seen in tiers
            if seen
            for episode in demonstrate(
                about.policy,
                seen,
                tier,
                options=about.options,
                seed=run.seed,
                workers=about.workers,
            )
        )
        total = sum(len(seen) for _, seen in tiers)
        told = f"{about.policy}, {name}"
        found = list(track(episodes, told, total, transient=True))
        found.sort(key=lambda one: (one.dx or "", one.instance))  # whatever the workers
        return [one for one in found if (one.score or 0.0) >= about.least_score]

    return Material(played(parts.train, "training"), played(parts.held_out, "held out"))


def prepare(run: SFTRun, material: Material) -> tuple[Any, Any]:
    """Return the model and its tokenizer: named ones, or new ones made for these texts."""
    scratch = run.model.from_scratch
    if scratch is None:
        return open_model(run.model), open_tokenizer(run.model)
    tokenizer = make_tokenizer(material.texts(), scratch.vocabulary, run.data.dx)
    return with_adapter(make_model(scratch, tokenizer), run.model), tokenizer


def dataset(
    sampler: Sampler, conversations: Sequence[Conversation], most: int | None, seed: int
) -> Dataset:
    """Return ``input_ids`` and ``labels`` of all samples, or of ``most`` of each episode."""
    rows = [
        row
        for number, one in enumerate(conversations)
        for row in sampler.samples(one, most, [seed, number])
    ]
    return Dataset.from_list(rows)


def train(run: SFTRun) -> dict[str, float]:
    """Train, or go on with a run that was stopped; return the last metrics."""
    begin(run)
    arguments = trainer_arguments(run, SFTConfig, **_ours(run))
    parts = divide(run.data, run.seed)
    material = play(run, parts)
    if not material.train:
        raise ConfigError("No episode reaches demonstrations.least_score: lower it.")
    model, tokenizer = prepare(run, material)
    about = run.demonstrations
    sampler, exact = (
        Sampler(tokenizer, run.agent.turns, about.max_length, run.agent.template, all_text=whole)
        for whole in (about.learn == "text", False)
    )
    held_out = None
    if material.held_out:
        held_out = dataset(exact, material.held_out, about.samples, run.seed)
        held_out = held_out.select(spread(range(len(held_out)), about.validation))
    else:
        arguments.eval_strategy = "no"
    trainer = PlanningSFT(
        model=model,
        args=arguments,
        train_dataset=dataset(sampler, material.train, about.samples, run.seed),
        eval_dataset=held_out,
        processing_class=tokenizer,
    )
    session = Session(run, trainer, parts)
    return session.train(lambda more: training_record(run, "sft", parts.digests(), **more))


def _ours(run: SFTRun) -> dict[str, Any]:
    return OURS | {"max_length": run.demonstrations.max_length}


if __name__ == "__main__":
    sys.exit(command(SFTRun, train, sys.argv[1:]))
