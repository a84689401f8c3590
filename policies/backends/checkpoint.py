"""Which weights a name stands for: what is safe to load, and a hash that tells two apart."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from ecgscroll.errors import ConfigError

ADAPTER_WEIGHTS = "adapter_model.safetensors"
PICKLES = (".bin", ".pt", ".pth", ".pkl", ".ckpt")

# A hash reads this many blocks of this many bytes, evenly spread over a file of weights: enough to
# tell two checkpoints apart, and cheap for hundreds of gigabytes.
_BLOCKS = 64
_BLOCK_BYTES = 1 << 16


def local_folder(model: str) -> Path | None:
    """Return the folder of a local model, or None for a hub's name.

    Raises
    ------
    ConfigError
        If the name is a path and no model lies there that may be loaded.
    """
    path = Path(model).expanduser()
    if not path.is_dir():
        if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", model) or model[0] in "./~":
            raise ConfigError(f"There is no folder {model!r}; name a model's folder or hub name.")
        return None
    if (path / "adapter_config.json").exists():
        raise ConfigError(f"{model!r} is an adapter: give it as 'adapter', its base as 'model'.")
    if not (path / "config.json").is_file():
        raise ConfigError(f"The folder {model!r} holds no config.json, so it is no model's folder.")
    if not any(path.glob("*.safetensors")):
        raise ConfigError(_refusal(model, path))
    return path


def adapter_folder(adapter: str) -> Path:
    """Return the folder of a LoRA adapter after checking that it may be loaded.

    Raises
    ------
    ConfigError
        If it is no adapter's folder, or its weights are not safetensors.
    """
    path = Path(adapter).expanduser()
    if not (path / "adapter_config.json").is_file():
        raise ConfigError(f"There is no adapter in {adapter!r}; name a folder that PEFT has saved.")
    if not (path / ADAPTER_WEIGHTS).is_file():
        raise ConfigError(_refusal(adapter, path))
    return path


def weights_hash(folder: Path) -> str:
    """Return a SHA-256 over a folder's model: small files whole, weights by size and samples."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.suffix in (".json", ".jinja", ".safetensors", ".model") and path.is_file():
            digest.update(path.name.encode() + b"\0")
            _add(digest, path)
    return digest.hexdigest()


def _add(digest: hashlib._Hash, path: Path) -> None:
    size = path.stat().st_size
    digest.update(size.to_bytes(8, "little"))
    with path.open("rb") as file:
        if size <= _BLOCKS * _BLOCK_BYTES:
            digest.update(file.read())
            return
        for block in range(_BLOCKS):
            file.seek(block * (size - _BLOCK_BYTES) // (_BLOCKS - 1))
            digest.update(file.read(_BLOCK_BYTES))


def _refusal(name: str, folder: Path) -> str:
    if any(path.suffix in PICKLES for path in folder.iterdir()):
        return (
            f"The weights in {name!r} are pickled, and a pickle can run any code: "
            "save them as safetensors."
        )
    return f"There are no weights in {name!r}: a .safetensors file is missing."
