"""``python -m training.grpo CONFIG``: GRPO with the verifier as the reward, through TRL."""

from __future__ import annotations

import sys
from typing import Any

from trl import GRPOConfig, GRPOTrainer

from ecgscroll.errors import ConfigError
from training.adapter import Adapter, tier_of
from training.callbacks import EqualRewards, Samples
from training.checkpoints import training_record
from training.config import GRPORun, trainer_arguments
from training.data import divide
from training.order import OrderedByEpoch
from training.session import Session
from training.setup import begin, command, is_main, open_model, open_tokenizer

OURS: dict[str, Any] = {
    "learning_rate": 1e-5,
    "num_generations": 8,
    "per_device_train_batch_size": 8,
    "max_completion_length": 4096,
    "gradient_checkpointing": False,
    "logging_steps": 1,
    "save_steps": 50,
    "save_total_limit": 2,
    "report_to": ["tensorboard"],
}


class PlanningGRPO(OrderedByEpoch, GRPOTrainer):  # type: ignore[misc]
    """TRL's trainer, which tells a model of its tools as the Planning agent does.

    TRL describes tools from the methods' docstrings, in another order and other words than
    `ecgscroll.tool_schemas`. What is trained must read what is evaluated reads, so the schemas
    themselves are put in their place; the calls still go to the methods.
    """

    def __init__(self, *args: Any, schemas: dict[str, list[Any]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._env_tools = schemas


def make_trainer(run: GRPORun, adapter: Adapter, arguments: Any) -> PlanningGRPO:
    """Return the trainer of a run."""
    return PlanningGRPO(
        model=open_model(run.model),
        args=arguments,
        train_dataset=adapter.train_dataset,
        processing_class=open_tokenizer(run.model),
        environment_factory=adapter.environment_factory,
        reward_funcs=adapter.reward_funcs,
        schemas=adapter.schemas,
    )


def train(run: GRPORun) -> dict[str, float]:
    """Train, or go on with a run that was stopped; return the last metrics."""
    begin(run)
    arguments = trainer_arguments(run, GRPOConfig, **_ours(run))
    parts = divide(run.data, run.seed)
    watch = Samples(run.output / "samples", run.samples_every if is_main() else 0)
    adapter = Adapter(
        parts.train,
        data=parts.folder,
        dx=[tier_of(tier) for tier in run.data.dx],
        reward=run.weights(),
        seed=run.seed,
        watch=watch,
        budget=run.budget,
        rewind=run.rewind,
    )
    trainer = make_trainer(run, adapter, arguments)
    _check_batches(trainer)
    trainer.add_callback(EqualRewards())
    session = Session(run, trainer, parts)
    return session.train(
        lambda more: training_record(
            run, "grpo", parts.digests(), reward=run.weights().to_dict(), **more
        )
    )


def _check_batches(trainer: PlanningGRPO) -> None:
    """Refuse what TRL would pass over in silence.

    Raises
    ------
    ConfigError
        If a batch of prompts is larger than the dataset, of which nothing would be trained, or a
        checkpoint falls between the steps that share rollouts, which a resumed run would draw anew.
    """
    about = trainer.args
    prompts, rows = about.generation_batch_size // about.num_generations, len(trainer.train_dataset)
    if prompts > rows:
        raise ConfigError(
            f"A batch takes {prompts} prompts and the dataset has {rows}: lower trainer."
            "per_device_train_batch_size, raise num_generations, or train on more instances."
        )
    shared = about.num_iterations * about.steps_per_generation
    steps = max(1, shared // about.gradient_accumulation_steps)
    if about.save_strategy == "steps" and about.save_steps % steps:
        raise ConfigError(
            f"{steps} steps share their rollouts: let trainer.save_steps be a multiple of {steps}."
        )


def _ours(run: GRPORun) -> dict[str, Any]:
    """Return our defaults; without a bound on its length, one turn could take all of a rollout."""
    bound = "max_tokens" if run.trainer.get("use_vllm") else "max_new_tokens"
    return OURS | {
        "generation_kwargs": {bound: run.agent.max_new_tokens},
        "chat_template_kwargs": run.agent.template or None,
    }


if __name__ == "__main__":
    sys.exit(command(GRPORun, train, sys.argv[1:]))
