"""What a run leaves: weights, tokenizer and a record of how they came to be, all or nothing."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.provenance import provenance
from ecgscroll.tools.schemas import tool_schemas
from policies.prompts import prompts_digest

RECORD = "training.json"
_ADAPTER = "adapter_config.json"
_ARGUMENTS = "training_args.bin"
_LIBRARIES = ("accelerate", "datasets", "lightning", "peft", "torch", "transformers", "trl")


def save_checkpoint(trainer: Any, folder: Path, record: Mapping[str, Any] | None = None) -> None:
    """Write a trainer's model into a folder; a kill leaves the old one, the new one or none.

    Every process of a distributed run must call it: shards are gathered.

    Parameters
    ----------
    trainer
        With the model, or PEFT's, of which the adapter alone is written, and the tokenizer.
    folder
        Replaced if it exists.
    record
        What `training_record` gave.
    """
    partial = folder.with_name(f".{folder.name}.partial")
    if trainer.is_world_process_zero():
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
    trainer.accelerator.wait_for_everyone()
    trainer.save_model(str(partial))
    trainer.accelerator.wait_for_everyone()
    if trainer.is_world_process_zero():
        (partial / _ARGUMENTS).unlink(missing_ok=True)  # a pickle
        if record is not None:
            text = json.dumps(record, indent=1) + "\n"
            (partial / RECORD).write_text(text, encoding="utf-8")
        _replace(partial, folder)
    trainer.accelerator.wait_for_everyone()


def _replace(new: Path, folder: Path) -> None:
    """Put a folder in another's place; the time between, in which there is none, is two calls."""
    if folder.exists():
        old = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        folder.replace(old / "old")
        new.replace(folder)
        shutil.rmtree(old, ignore_errors=True)
    else:
        new.replace(folder)


def training_record(run: Any, kind: str, digests: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return all that a checkpoint depends on, as JSON carries it.

    Parameters
    ----------
    run
        The run's configuration.
    kind
        ``sft``, ``grpo`` or ``neural``.
    digests
        Hashes of the data.
    more
        What came of it: evaluation, losses, what the model began as.
    """
    came_from = provenance(None)
    packages = {name: _version(name) for name in _LIBRARIES} | came_from["packages"]
    return {
        "kind": kind,
        "configuration": run.plain(),
        "digest": run.digest(),
        "seed": run.seed,
        **(
            {"planning": run.agent.options(), "told": told_digest()}
            if hasattr(run, "agent")
            else {}
        ),
        "data": dict(digests),
        "commit": came_from["commit"],
        "python": came_from["python"],
        "packages": packages,
        **more,
    }


def told_digest() -> str:
    """SHA-256 of what every model is told: the prompts and the tools' schemas.

    A tokenizer of a model from scratch has their lines as tokens, so it is for these words alone.
    """
    schemas = [tool_schemas(dx) for dx in (None, "signal", "reference")]
    return hashlib.sha256(f"{prompts_digest()} {json.dumps(schemas)}".encode()).hexdigest()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def read_record(folder: Path) -> dict[str, Any]:
    """Return a checkpoint's record; empty where a model has none.

    Raises
    ------
    ConfigError
        If there is one that is no JSON object.
    """
    path = folder / RECORD
    if not path.is_file():
        return {}
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise ConfigError(f"{path} cannot be read; train again, or take it away.")
    return record


def base_of(folder: Path) -> tuple[str, str | None]:
    """Return a checkpoint's model and its adapter: itself and none, unless it is an adapter.

    Raises
    ------
    ConfigError
        If it is an adapter that does not say of which model.
    """
    path = folder / _ADAPTER
    if not path.is_file():
        return str(folder), None
    try:
        base = json.loads(path.read_text(encoding="utf-8"))["base_model_name_or_path"]
    except (OSError, ValueError, KeyError, TypeError):
        base = None
    if not isinstance(base, str) or not base:
        raise ConfigError(f"{path} does not name the model that the adapter belongs to.")
    return base, str(folder)


def resumable(output: Path) -> Path | None:
    """Return the newest of a run's checkpoints that was written whole, if there is one.

    The trainer writes its state last, so a checkpoint without it was cut short.
    """
    found = [path.parent for path in output.glob("checkpoint-*/trainer_state.json")]
    numbered = [path for path in found if path.name.rpartition("-")[2].isdecimal()]
    return max(numbered, key=lambda path: int(path.name.rpartition("-")[2]), default=None)
