"""A training that is under way: its callbacks, where it goes on, what it leaves."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from transformers import PrinterCallback, Trainer

from ecgscroll.evaluation.run import Execution
from policies.backends import close_backends
from training.adapter import tier_of
from training.callbacks import HeldOut, RichProgress
from training.checkpoints import base_of, resumable, save_checkpoint
from training.config import Run
from training.data import Parts, digests, named, playable, spread
from training.evaluate import evaluate_checkpoint, mean_scores

Record = Callable[[Mapping[str, Any]], dict[str, Any]]


class Session:
    """Trains with one of TRL's trainers, evaluates on the way, and writes the checkpoint.

    Parameters
    ----------
    run
        The configuration.
    trainer
        TRL's, made for it.
    parts
        The run's instances.
    """

    def __init__(self, run: Run, trainer: Any, parts: Parts) -> None:
        self._run, self._trainer = run, trainer
        about = run.evaluation
        given = about.instances
        chosen = parts.held_out if given is None else named(parts.folder, given)
        self._instances, self._folder = spread(chosen, about.limit), parts.folder
        self._held_out = HeldOut(
            self._play,
            lambda folder: save_checkpoint(trainer, folder),
            run.output,
            about.every if self._instances else 0,
            about.at_start and bool(self._instances),
        )
        self._held_out.log = self._log
        if sys.stderr.isatty():
            trainer.remove_callback(PrinterCallback)  # the bar shows the figures
        trainer.add_callback(RichProgress())
        trainer.add_callback(self._held_out)

    def train(self, record: Record) -> dict[str, float]:
        """Train to the end, from the newest whole checkpoint if there is one.

        Parameters
        ----------
        record
            Makes the checkpoint's record from what came of it.
        """
        trainer, run = self._trainer, self._run
        last = resumable(run.output)
        result = trainer.train(resume_from_checkpoint=None if last is None else str(last))
        metrics = {name: float(value) for name, value in result.metrics.items()}
        scores: dict[str, float] = {}
        if run.evaluation.at_end and self._instances:
            scores = self._held_out.evaluate(trainer.state)
        more = {
            "began_as": run.model.name,
            "steps": trainer.state.global_step,
            "metrics": metrics,
            "evaluation": {"scores": scores, **digests(self._instances)},
        }
        save_checkpoint(trainer, run.output / "model", record(more))
        return metrics | {f"held_out/{name}": value for name, value in scores.items()}

    def _log(self, scores: dict[str, float]) -> None:
        """Log scores beside the step's own figures.

        GRPO's log would take those along; and every log says that this step's are done with, which
        other processes of the run, waiting to gather them, are not told.
        """
        control = self._trainer.control
        due = control.should_log
        Trainer.log(self._trainer, scores)
        control.should_log = due

    def _play(self, model: Path, step: int) -> dict[str, float]:
        """Evaluate a checkpoint in every tier; nothing of training's random state is used up."""
        scores: dict[str, float] = {}
        devices: list[int] | None = [] if not torch.cuda.is_available() else None
        try:
            with torch.random.fork_rng(devices):
                for tier in self._run.data.dx:
                    seen = [one for one in self._instances if playable(one, tier_of(tier))]
                    if not seen:
                        continue
                    summary = evaluate_checkpoint(
                        model,
                        seen,
                        self._folder,
                        model.parent / tier,
                        dx=tier_of(tier),
                        execution=Execution(concurrency=self._run.evaluation.concurrency),
                        max_steps=self._run.evaluation.max_steps,
                        options=self._run.agent.options() | {"model": base_of(model)[0]},
                    )
                    scores |= {f"{tier}/{k}": v for k, v in mean_scores(summary).items()}
        finally:
            close_backends()
        return scores
