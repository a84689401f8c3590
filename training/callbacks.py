"""What a run shows and does while it trains: progress, warnings, samples, evaluation."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from transformers import TrainerCallback

from ecgscroll.files import write_atomic
from training.rewards import Outcome

EQUAL = "frac_reward_zero_std"
PATIENCE = 3  # logs in a row in which nothing could be learnt
_SHOWN = ("loss", "eval_loss", "reward", "episodes/score", EQUAL, "grad_norm")
_SHOWN_CHARS = 160


class RichProgress(TrainerCallback):
    """A progress bar with the newest figures beside it."""

    def __init__(self, console: Console | None = None) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        more = (TimeRemainingColumn(), TextColumn("{task.fields[figures]}"))
        self._bar = Progress(*columns, *more, console=console or Console(stderr=True))
        self._line: Any = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Show the bar, from where a resumed run stands."""
        if not state.is_world_process_zero:
            return
        self._bar.start()
        self._line = self._bar.add_task(
            "training", total=state.max_steps, completed=state.global_step, figures=""
        )

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Move on by a step."""
        if self._line is not None:
            self._bar.update(self._line, completed=state.global_step)

    def on_log(
        self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any
    ) -> None:
        """Show the newest figures."""
        if self._line is not None and logs:
            found = [f"{name} {float(logs[name]):.4g}" for name in _SHOWN if _is_number(logs, name)]
            if found:
                self._bar.update(self._line, figures="  ".join(found))

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Take the bar away."""
        if self._line is not None:
            self._bar.stop()


class EqualRewards(TrainerCallback):
    """Says early when every group's rewards are all equal: there is nothing to learn from then."""

    def __init__(self, say: Callable[[str], Any] | None = None, patience: int = PATIENCE) -> None:
        self._say = say or Console(stderr=True, soft_wrap=True).print
        self._patience, self._in_a_row = patience, 0

    def on_log(
        self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any
    ) -> None:
        """Count the logs in a row, and warn once each time the count is reached."""
        if not logs or EQUAL not in logs or not state.is_world_process_zero:
            return
        self._in_a_row = self._in_a_row + 1 if float(logs[EQUAL]) >= 1 else 0
        if self._in_a_row == self._patience:
            mean = logs.get("reward")
            self._say(
                f"Step {state.global_step}: in the last {self._patience} logs all rewards of each "
                f"group were equal (mean {mean}), so nothing is learnt. Train with SFT first, "
                "raise trainer.temperature or num_generations, turn on reward.progress, or choose "
                "other instances."
            )


class Samples:
    """Shows a rollout now and then, and keeps it in the run's folder.

    Parameters
    ----------
    folder
        Where they are kept.
    every
        Steps from one to the next; 0 for none.
    console
        Where they are shown.
    """

    def __init__(self, folder: Path, every: int, console: Console | None = None) -> None:
        self._folder, self._every = folder, every
        self._console = console or Console(stderr=True, soft_wrap=True)
        self._next = 0

    def __call__(self, completions: Sequence[Any], outcomes: Sequence[Outcome], step: int) -> None:
        """Show the first rollout of a batch, if it is time."""
        if not self._every or step < self._next:
            return
        self._next = step + self._every
        text = rollout_text(completions[0], outcomes[0])
        write_atomic(self._folder / f"step-{step:06d}.txt", text + "\n")
        self._console.print(f"Step {step}\n{text}", markup=False, highlight=False)


def rollout_text(messages: Sequence[Mapping[str, Any]], outcome: Outcome) -> str:
    """Return a rollout as a line per message, and what came of it."""
    lines = [f"{outcome.instance}: reward {outcome.reward}, score {outcome.score:.3f}"]
    for message in messages:
        for call in message.get("tool_calls") or ():
            function = call["function"]
            lines.append(f"  > {function['name']} {_short(function['arguments'])}")
        if message.get("content"):
            mark = "  " if message["role"] == "tool" else "  >"
            lines.append(f"{mark} {_short(message['content'])}")
    return "\n".join(lines)


class HeldOut(TrainerCallback):
    """Evaluates the model on held-out instances while it is trained.

    Parameters
    ----------
    play
        Plays with the checkpoint in a folder, and returns mean scores by name.
    save
        Writes the model in training into a folder.
    folder
        The run's; scores go to its ``evaluations.jsonl``.
    every
        Steps from one evaluation to the next; 0 for those that are asked for alone.
    at_start
        Whether to evaluate before the first step.
    """

    def __init__(
        self,
        play: Callable[[Path, int], dict[str, float]],
        save: Callable[[Path], None],
        folder: Path,
        every: int,
        at_start: bool = False,
    ) -> None:
        self._play, self._save, self._folder = play, save, folder
        self._every, self._at_start = every, at_start
        self.log: Callable[[dict[str, float]], None] | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Evaluate what training begins with."""
        if self._at_start and state.global_step == 0:
            self.evaluate(state)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Evaluate when it is time."""
        if self._every and state.global_step % self._every == 0:
            self.evaluate(state)

    def evaluate(self, state: Any) -> dict[str, float]:
        """Evaluate the model as it is, in the process that writes; return mean scores."""
        place = self._folder / "evaluations" / f"step-{state.global_step:06d}"
        model = place / "model"
        if state.is_world_process_zero:
            shutil.rmtree(place, ignore_errors=True)  # of a run that was stopped after it
        self._save(model)
        scores: dict[str, float] = {}
        if state.is_world_process_zero:
            try:
                scores = self._play(model, state.global_step)
            finally:
                shutil.rmtree(model, ignore_errors=True)
            self._keep(state.global_step, scores)
            if self.log is not None:
                self.log({f"held_out/{name}": value for name, value in scores.items()})
        return scores

    def _keep(self, step: int, scores: Mapping[str, float]) -> None:
        path = self._folder / "evaluations.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        kept = [line for line in lines if json.loads(line)["step"] != step]
        kept.append(json.dumps({"step": step, **scores}))
        write_atomic(path, "\n".join(kept) + "\n")


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN_CHARS else f"{flat[:_SHOWN_CHARS]}..."


def _is_number(logs: Mapping[str, Any], name: str) -> bool:
    try:
        float(logs.get(name))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True
