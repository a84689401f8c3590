"""A checkpoint is written whole, names what it depends on, and holds no pickle."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ecgscroll.errors import ConfigError
from training.checkpoints import base_of, read_record, resumable, save_checkpoint
from training.evaluate import planning_options


class Trainer:
    """Saves as transformers' trainer does, or dies on the way."""

    def __init__(self, weights: bytes, dies: bool = False) -> None:
        self.weights, self.dies = weights, dies
        self.accelerator = self

    def wait_for_everyone(self) -> None:
        """There is nobody else."""

    def is_world_process_zero(self) -> bool:
        return True

    def save_model(self, folder: str) -> None:
        (Path(folder) / "training_args.bin").write_bytes(b"a pickle")
        (Path(folder) / "model.safetensors").write_bytes(self.weights)
        if self.dies:
            raise KeyboardInterrupt


def test_the_old_one_stays_until_the_new_one_is_whole(tmp_path):
    folder = tmp_path / "run" / "model"
    save_checkpoint(Trainer(b"one"), folder, {"step": 1})
    with pytest.raises(KeyboardInterrupt):
        save_checkpoint(Trainer(b"two", dies=True), folder, {"step": 2})
    assert (folder / "model.safetensors").read_bytes() == b"one"
    assert read_record(folder) == {"step": 1}
    save_checkpoint(Trainer(b"three"), folder, {"step": 3})
    assert (folder / "model.safetensors").read_bytes() == b"three"
    assert read_record(folder) == {"step": 3}
    assert sorted(path.name for path in folder.iterdir()) == ["model.safetensors", "training.json"]
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_the_newest_whole_checkpoint_is_resumed(tmp_path):
    assert resumable(tmp_path) is None
    for step, whole in ((5, True), (10, True), (15, False)):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        if whole:
            (folder / "trainer_state.json").write_text("{}")
    (tmp_path / "checkpoint-latest").mkdir()
    (tmp_path / "checkpoint-latest" / "trainer_state.json").write_text("{}")
    assert resumable(tmp_path) == tmp_path / "checkpoint-10"


def test_a_checkpoint_says_how_it_must_be_asked(tmp_path):
    planning = {"context": "window", "ledger": False, "turns": 8, "max_new_tokens": 48}
    (tmp_path / "training.json").write_text(json.dumps({"planning": planning}))
    options = planning_options(tmp_path, temperature=0.7)
    assert options == planning | {
        "backend": "transformers",
        "model": str(tmp_path),
        "tools": "native",
        "temperature": 0.7,
    }


def test_an_adapter_names_its_base(tmp_path):
    (tmp_path / "adapter_config.json").write_text('{"base_model_name_or_path": "some/model"}')
    assert base_of(tmp_path) == ("some/model", str(tmp_path))
    assert planning_options(tmp_path)["adapter"] == str(tmp_path)
    for broken in ("{", "[]", "{}", '{"base_model_name_or_path": 3}'):
        (tmp_path / "adapter_config.json").write_text(broken)
        with pytest.raises(ConfigError, match="does not name the model"):
            base_of(tmp_path)


@pytest.mark.parametrize("broken", ["{", "[]", "\x00"])
def test_a_broken_record_is_said(broken, tmp_path):
    (tmp_path / "training.json").write_text(broken)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_record(tmp_path)
