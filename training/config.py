"""What a training run is: one YAML, checked whole before anything is loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from ecgscroll.environment.episode import Rewind
from ecgscroll.environment.parameters import Budget, step_budget
from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.config import digest_of
from ecgscroll.scoring.rewards import RewardConfig
from ecgscroll.tasks import get_task
from policies.backends.decoding import default_device

Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, lt=1)]
Tier = Literal["none", "signal", "reference"]


def _known_budget(value: Any) -> Any:
    step_budget(value, 0.0)
    return value


Steps = Annotated[Budget, BeforeValidator(_known_budget)]


class Strict(BaseModel):
    """A part of a configuration; keys that it does not know are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Lora(Strict):
    """A LoRA adapter, as PEFT's ``LoraConfig`` names its fields."""

    r: Count = 16
    lora_alpha: Count = 32
    lora_dropout: Share = 0.0
    target_modules: str | list[str] = "all-linear"


class Scratch(Strict):
    """A model with random weights and a tokenizer of its own.

    Parameters
    ----------
    architecture
        A model type of transformers, such as ``qwen3``.
    vocabulary
        Entries of the tokenizer, phrases of the prompts not counted.
    config
        Fields of the architecture's configuration.
    """

    architecture: str = "qwen3"
    vocabulary: Annotated[int, Field(ge=300)] = 2048
    config: dict[str, Any] = Field(default_factory=dict)


class Model(Strict):
    """What is trained: a name or folder, or a model from scratch.

    Parameters
    ----------
    name
        A hub name, a model's folder, or the ``model`` folder of an earlier run; an adapter there
        goes on being trained.
    revision
        Commit, branch or tag of a hub's model.
    from_scratch
        In place of a name.
    chat_template
        Name of one of TRL's chat templates, or a file, for tokenizers whose own knows no tools.
    dtype
        As torch names it; ``auto`` is float32 on a CPU, else the checkpoint's.
    lora
        Train an adapter, not the weights.
    """

    name: str | None = None
    revision: str | None = None
    from_scratch: Scratch | None = None
    chat_template: str | None = None
    dtype: str = "auto"
    lora: Lora | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Model:
        if (self.name is None) == (self.from_scratch is None):
            raise ValueError("give either a name or from_scratch")
        return self


class Agent(Strict):
    """How the model is asked: what training shows it, and what evaluation must.

    Parameters
    ----------
    turns, slack
        Earlier turns that it sees, and how many more it comes to see before they are left out.
    prompt_tokens
        Most tokens of a prompt, tools included.
    max_new_tokens
        Most tokens of one reply.
    temperature
        Of evaluation; 0 is greedy.
    template
        Further variables of the chat template, such as ``enable_thinking: false``.
    """

    turns: Annotated[int, Field(ge=0)] = 8
    slack: Annotated[int, Field(ge=0)] = 8
    prompt_tokens: Count = 8000
    max_new_tokens: Count = 128
    temperature: Annotated[float, Field(ge=0)] = 0.0
    template: dict[str, Any] = {}

    def options(self) -> dict[str, Any]:
        """Return the Planning agent's options."""
        return {"context": "window", "ledger": False, **self.model_dump()}


class Data(Strict):
    """Which instances are trained on; patients of the test side never are.

    Parameters
    ----------
    folder
        Folder of recordings; by default as ``ecgscroll run`` finds it.
    dx
        Tiers of diagnostic tools; each instance is played in each.
    tasks, databases
        Keep these alone; empty keeps all.
    minutes, per_stage, with_events
        A curriculum from spans of minutes to whole recordings (null), drawn as
        `ecgscroll.loaders.curriculum` says, stage after stage.
    signal
        Whether to leave out recordings without a waveform.
    instances
        Ids, or a file of them, in place of what is drawn.
    held_out
        Share of the patients that is kept from training, to validate and evaluate on.
    """

    folder: Path | None = None
    dx: Annotated[list[Tier], Field(min_length=1)] = ["none"]
    tasks: list[str] = []
    databases: list[str] = []
    minutes: Annotated[list[float | None], Field(min_length=1)] = [10, 60, 360, None]
    per_stage: Count = 32
    with_events: Annotated[float, Field(ge=0, le=1)] = 0.5
    signal: bool = False
    instances: list[str] | Path | None = None
    held_out: Share = 0.2

    @model_validator(mode="after")
    def _known(self) -> Data:
        for task in self.tasks:
            get_task(task)
        return self


class Demonstrations(Strict):
    """Whom SFT imitates, and what a sample of it is.

    Parameters
    ----------
    policy, options
        As ``ecgscroll run`` takes them.
    max_length
        Most tokens of a sample.
    samples
        Most samples of one episode, drawn at random; a day of ECG would outweigh a hundred short
        recordings.
    learn
        ``calls``: the loss is on the agent's turns alone. ``text``: on all that it reads too, which
        is how a model from scratch first learns the language, and to copy numbers.
    validation
        Most samples of held-out patients to validate on, evenly spread.
    least_score
        Least score of an episode that is worth imitating; 0 takes all.
    workers
        Processes that play.
    """

    policy: str = "expert"
    options: dict[str, Any] = {}
    max_length: Count = 4096
    samples: Count | None = None
    learn: Literal["calls", "text"] = "calls"
    validation: Count = 256
    least_score: Annotated[float, Field(ge=0, le=1)] = 0.0
    workers: Annotated[int, Field(ge=0)] = 0


class Evaluation(Strict):
    """Episodes on held-out instances while training goes on.

    Parameters
    ----------
    every
        Steps from one evaluation to the next; 0 for none but the last.
    at_start
        Whether the model is evaluated before the first step, for a comparison at the end.
    at_end
        Whether it is when training has ended.
    instances
        Ids, or a file of them; by default the held-out ones.
    limit
        Most instances, spread evenly over the list.
    max_steps
        Most calls of an episode: a model that has learnt little may go round in circles.
    concurrency
        Episodes at once: their requests are decoded together.
    """

    every: Annotated[int, Field(ge=0)] = 0
    at_start: bool = False
    at_end: bool = False
    instances: list[str] | Path | None = None
    limit: Count | None = None
    max_steps: Count | None = None
    concurrency: Count = 8


class Common(Strict):
    """What all training shares.

    Parameters
    ----------
    output
        Folder of the run; its ``model`` folder is what comes of it.
    seed
        Of everything that is drawn.
    threads
        Processor threads of torch; default: its own choice.
    trainer
        Arguments of the trainer: TRL's ``SFTConfig`` or ``GRPOConfig``, or Lightning's ``Trainer``.
    """

    output: Path
    seed: Annotated[int, Field(ge=0)] = 0
    threads: Count | None = None
    data: Data = Data()
    evaluation: Evaluation = Evaluation()
    trainer: dict[str, Any] = {}

    def plain(self) -> dict[str, Any]:
        """Return values as JSON carries them."""
        values: dict[str, Any] = json.loads(self.model_dump_json())
        return values

    def digest(self) -> str:
        """SHA-256 of everything but the output folder."""
        return digest_of({k: v for k, v in self.plain().items() if k != "output"})


class Run(Common):
    """What SFT and GRPO share: a language model, and how it is asked."""

    model: Model
    agent: Agent = Agent()


class Rewarded(Strict):
    """What the verifier pays, and under which rules.

    Parameters
    ----------
    reward
        Weights of the terms, see `ecgscroll.scoring.rewards.RewardConfig`.
    budget, rewind
        As `ecgscroll.make` takes them.
    """

    reward: dict[str, float] = {}
    budget: Steps = "open"
    rewind: Rewind = "costed"

    @model_validator(mode="after")
    def _known_terms(self) -> Self:
        RewardConfig.from_dict(self.reward)
        return self

    def weights(self) -> RewardConfig:
        """Return the reward's weights."""
        return RewardConfig.from_dict(self.reward)


class SFTRun(Run):
    """Supervised fine-tuning on a policy's episodes."""

    demonstrations: Demonstrations = Demonstrations()


class GRPORun(Run, Rewarded):
    """GRPO with the verifier as the reward.

    Parameters
    ----------
    samples_every
        Steps from one rollout that is shown to the next; 0 for none.
    """

    samples_every: Annotated[int, Field(ge=0)] = 10

    @model_validator(mode="after")
    def _can_act(self) -> GRPORun:
        if self.model.from_scratch is not None:
            raise ValueError("GRPO goes on from a model that can act: give model.name")
        return self


class Network(Strict):
    """Sizes of the neural policy, see `policies.neural.network.Shape`."""

    hidden: Annotated[int, Field(ge=1, le=4096)] = 128
    layers: Annotated[int, Field(ge=1, le=16)] = 1


class Cloning(Strict):
    """How the neural policy learns the expert's calls.

    Parameters
    ----------
    rounds
        In the first the expert plays, in later ones the network, and the expert says what it would
        do there.
    samples
        Most views of one episode.
    most_steps
        Most calls of an episode.
    epochs, batch_size, learning_rate
        Of each round.
    """

    rounds: Count = 2
    samples: Count = 200
    most_steps: Count = 5000
    epochs: Count = 6
    batch_size: Count = 64
    learning_rate: Annotated[float, Field(gt=0)] = 1e-3


class Gradient(Strict):
    """How it improves on the verifier's reward.

    Parameters
    ----------
    steps
        Of the optimizer; 0 for none.
    games, group
        Instances in a step, and episodes of each, whose mean is the baseline.
    temperature
        At which they are played.
    most_steps
        Most calls of an episode.
    most_choices
        Most choices of an episode that are learnt from.
    learning_rate, entropy
        Rate, and weight of the bonus for entropy.
    save_steps
        Steps from one checkpoint to the next, and from one episode that is shown to the next.
    """

    steps: Annotated[int, Field(ge=0)] = 200
    games: Count = 4
    group: Annotated[int, Field(ge=2)] = 8
    temperature: Annotated[float, Field(gt=0)] = 1.0
    most_steps: Count = 1000
    most_choices: Count = 100
    learning_rate: Annotated[float, Field(gt=0)] = 1e-4
    entropy: Annotated[float, Field(ge=0)] = 1e-3
    save_steps: Count = 50


class NeuralRun(Common, Rewarded):
    """The neural policy: cloning of the expert, then policy gradient."""

    network: Network = Network()
    cloning: Cloning = Cloning()
    gradient: Gradient = Gradient()


AnyRun = TypeVar("AnyRun", bound=Common)


def load(path: Path, kind: type[AnyRun]) -> AnyRun:
    """Read a configuration.

    Raises
    ------
    ConfigError
        If the file cannot be read, holds a key that is not known, or a value that does not fit.
    """
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"The configuration {path} cannot be read: {reason}.") from None
    if not isinstance(values, dict):
        raise ConfigError(f"The configuration {path} is no mapping of names to values.")
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{path}: {_first(error)}.") from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def _first(error: ValidationError) -> str:
    """Say in one sentence what is wrong first."""
    found = error.errors()[0]
    where = ".".join(map(str, found["loc"])) or "it"
    if found["type"] == "extra_forbidden":
        return f"there is no key {where!r}; see training/config.py for those there are"
    return f"{where}: {found['msg'].removeprefix('Value error, ')}"


def trainer_arguments(run: Run, kind: Any, **ours: Any) -> Any:
    """Return TRL's arguments: what a configuration says over what is ours.

    Parameters
    ----------
    run
        The configuration.
    kind
        ``SFTConfig`` or ``GRPOConfig``.
    ours
        Defaults that differ from TRL's.

    Raises
    ------
    ConfigError
        If there is no such argument, the run itself sets it, or its value does not fit.
    """
    known = set(kind.__dataclass_fields__)
    for name in run.trainer:
        if name not in known:
            raise ConfigError(f"trainer: {kind.__name__} has no argument {name!r}.")
        if name in ("output_dir", "seed", "data_seed", "resume_from_checkpoint"):
            raise ConfigError(f"trainer: {name!r} follows from the run; leave it out.")
    gpu = default_device() != "cpu"
    here = {"bf16": gpu, "use_cpu": not gpu, "dataloader_pin_memory": gpu, "disable_tqdm": True}
    values = {**here, **ours, **run.trainer, "output_dir": str(run.output), "seed": run.seed}
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"trainer: {' '.join(str(error).split())[:300]}") from None
