"""What SFT and GRPO begin with: the run's folder, the model, its tokenizer."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import datasets
import torch
import transformers
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

from ecgscroll.errors import ConfigError, EcgScrollError
from ecgscroll.evaluation.config import differences
from ecgscroll.files import write_atomic
from policies.backends.checkpoint import adapter_folder, local_folder
from policies.backends.decoding import default_device
from training.checkpoints import base_of
from training.config import AnyRun, Common, Model, Run, load
from training.tiny import template_text

CONFIGURATION = "configuration.json"


def command(kind: type[AnyRun], train: Callable[[AnyRun], Any], argv: Sequence[str]) -> int:
    """Run a training command: one configuration, errors of the user's in one sentence."""
    if len(argv) != 1 or argv[0] in ("-h", "--help"):
        sys.stderr.write(
            f"Usage: python -m training.{Path(sys.argv[0]).stem} CONFIG.yaml\n\n{kind.__doc__}\n"
        )
        return 0 if argv[:1] in (["-h"], ["--help"]) else 2
    try:
        train(load(Path(argv[0]), kind))
    except EcgScrollError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def begin(run: Run) -> None:
    """Claim the run's folder, seed everything, and set the threads.

    Raises
    ------
    ConfigError
        If the folder holds a run of another configuration.
    """
    claim(run)
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")  # environment_factory is what we test
    os.environ["TENSORBOARD_LOGGING_DIR"] = str(run.output / "tensorboard")
    warnings.filterwarnings("ignore", category=FutureWarning, module=r"transformers\.|trl\.")
    datasets.disable_progress_bars()
    transformers.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    transformers.set_seed(run.seed)  # before the model: adapters are drawn when it is made


def claim(run: Common) -> None:
    """Take a folder for a run, and set the threads.

    Raises
    ------
    ConfigError
        If it holds a run of another configuration.
    """
    if run.threads is not None:
        torch.set_num_threads(run.threads)
    path = run.output / CONFIGURATION
    if path.is_file():
        stored = json.loads(path.read_text(encoding="utf-8"))
        changed = [one for one in differences(stored, run.plain()) if not one.startswith("output ")]
        if changed:
            raise ConfigError(
                f"{run.output} holds another run: {changed[0]}; choose another folder."
            )
    elif is_main():
        write_atomic(path, json.dumps(run.plain(), indent=1) + "\n")


def is_main() -> bool:
    """Tell whether this is the process that writes."""
    return int(os.environ.get("RANK", os.environ.get("LOCAL_RANK", "0"))) == 0


def open_tokenizer(about: Model) -> Any:
    """Return a named model's tokenizer, with the chat template that the configuration asks for."""
    tokenizer = _quietly(str(about.name), AutoTokenizer, revision=about.revision)
    if about.chat_template is not None:
        tokenizer.chat_template = template_text(about.chat_template)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def open_model(about: Model) -> Any:
    """Return a named model; an adapter that it has goes on being trained, else one may be added.

    Raises
    ------
    ConfigError
        If there is no such model, or its weights are pickled.
    """
    source, adapter = _source(about)
    dtype = about.dtype
    if dtype == "auto" and default_device() == "cpu":
        dtype = "float32"
    model = _quietly(
        source, AutoModelForCausalLM, revision=about.revision, dtype=dtype, use_safetensors=True
    )
    if adapter is not None:
        return PeftModel.from_pretrained(model, adapter, is_trainable=True)
    return with_adapter(model, about)


def with_adapter(model: Any, about: Model) -> Any:
    """Return the model with a fresh adapter, if the configuration asks for one."""
    if about.lora is None:
        return model
    return get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", **about.lora.model_dump()))


def _source(about: Model) -> tuple[str, str | None]:
    """Return what to load, and the folder of the adapter on it."""
    name = str(about.name)
    folder = Path(name).expanduser()
    if not folder.is_dir():
        local_folder(name)  # refuses what is neither a folder nor a hub's name
        return name, None
    base, adapter = base_of(folder)
    if adapter is not None:
        adapter_folder(adapter)
    if Path(base).expanduser().is_dir():
        local_folder(base)
    return base, adapter


def _quietly(source: str, kind: Any, **options: Any) -> Any:
    try:
        return kind.from_pretrained(source, trust_remote_code=False, **options)
    except (OSError, ValueError, ImportError, KeyError) as error:
        reason = " ".join(str(error).split())[:300]
        raise ConfigError(f"The model {source!r} cannot be loaded: {reason}") from None
