"""The whole path at the smallest scale: SFT, GRPO, evaluation; each goes on where it stopped."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from training_fakes import grpo_values, sft_values

from ecgscroll.errors import ConfigError
from training import grpo, sft
from training.checkpoints import told_digest
from training.config import GRPORun, SFTRun

pytestmark = pytest.mark.slow


def history(output: Path, name: str) -> list[tuple[int, float]]:
    """What the run's newest checkpoint says was logged at each step."""
    newest = max(output.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))
    state = json.loads((newest / "trainer_state.json").read_text())
    return [(row["step"], row[name]) for row in state["log_history"] if name in row]


def interrupted(output: Path, step: int) -> None:
    """Leave a run as a kill after a step would have."""
    for path in output.glob("checkpoint-*"):
        if int(path.name.split("-")[1]) > step:
            shutil.rmtree(path)
    torn = output / f"checkpoint-{step + 1}"
    torn.mkdir()
    (torn / "model.safetensors").write_bytes(b"half a file")


def records(folder: Path) -> dict:
    return json.loads((folder / "model" / "training.json").read_text())


def test_sft_leaves_all_that_belongs_together(taught):
    names = {path.name for path in (taught / "model").iterdir()}
    assert {"model.safetensors", "tokenizer.json", "training.json", "config.json"} <= names
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pth"))]
    record = records(taught)
    assert record["kind"] == "sft"
    assert record["seed"] == record["configuration"]["seed"] == 0
    assert record["planning"]["ledger"] is False
    assert set(record["data"]["train"]) == {"truths", "recordings"}
    assert record["packages"]["trl"]
    assert record["told"] == told_digest()
    assert list((taught / "tensorboard").iterdir())


def test_sft_lowers_the_loss_and_goes_on_after_a_kill_as_if_there_had_been_none(
    synth_data, tmp_path
):
    values = sft_values(synth_data, tmp_path, max_steps=8, logging_steps=1)
    values["trainer"] |= {"save_strategy": "steps", "save_steps": 5}
    values["demonstrations"] |= {"policy": "rule", "options": {}, "max_length": 700}
    run = SFTRun.model_validate(values)
    sft.train(run)
    losses, norms = history(tmp_path, "loss"), history(tmp_path, "grad_norm")
    assert losses[-1][1] < losses[0][1]
    interrupted(tmp_path, 5)
    sft.train(run)
    assert history(tmp_path, "loss") == losses
    assert history(tmp_path, "grad_norm") == norms


def test_grpo_goes_on_after_a_kill_as_if_there_had_been_none(taught, synth_data, tmp_path):
    values = grpo_values(
        synth_data,
        tmp_path,
        taught / "model",
        max_steps=6,
        num_generations=8,
        per_device_train_batch_size=8,
    )
    values["reward"] |= {"step": 0.01}
    values["data"]["instances"] = ["af_burden/synth/paf01", "episode_detection/synth/paf01"]
    values["trainer"] |= {"save_strategy": "steps", "save_steps": 3}
    run = GRPORun.model_validate(values)
    grpo.train(run)
    before = {name: history(tmp_path, name) for name in ("loss", "reward", "grad_norm", "entropy")}
    assert any(loss for _, loss in before["loss"][3:])
    interrupted(tmp_path, 3)
    grpo.train(run)
    assert {name: history(tmp_path, name) for name in before} == before


def test_another_configuration_in_the_same_folder_is_refused(synth_data, tmp_path):
    values = sft_values(synth_data, tmp_path, max_steps=1)
    sft.train(SFTRun.model_validate(values))
    with pytest.raises(ConfigError, match="holds another run: seed was 0, now 1"):
        sft.train(SFTRun.model_validate(values | {"seed": 1}))


def test_grpo_then_evaluation_before_and_after(taught, synth_data, tmp_path):
    output = tmp_path / "grpo"
    values = grpo_values(synth_data, output, taught / "model")
    values["evaluation"] = {
        "every": 2,
        "at_start": True,
        "instances": ["episode_detection/synth/paf01"],
    }
    metrics = grpo.train(GRPORun.model_validate(values))
    assert metrics["train_loss"] == metrics["train_loss"]
    lines = (output / "evaluations.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [0, 2]
    assert "none/episode_detection" in json.loads(lines[0])
    assert not list((output / "evaluations").glob("*/model"))
    assert list((output / "samples").iterdir())
    assert records(output)["reward"]["progress"] == 0.5
    assert records(output)["began_as"] == str(taught / "model")


def test_the_command_evaluates_a_checkpoint_and_compares_it(
    taught, synth_data, tmp_path, monkeypatch, capsys
):
    from training.evaluate import run

    ids = tmp_path / "ids.txt"
    ids.write_text("af_burden/synth/paf01\n")
    model = str(taught / "model")
    given = ["--instances", str(ids), "--data", str(synth_data), "--max-steps", "8"]
    for more in (["--out", str(tmp_path / "a")], ["--out", str(tmp_path / "b"), "--before", model]):
        monkeypatch.setattr("sys.argv", ["evaluate", model, *given, *more])
        with pytest.raises(SystemExit) as stopped:
            run()
        assert not stopped.value.code
    row = json.loads((tmp_path / "a" / "results.jsonl").read_text())
    assert row["error"] is None
    assert row["writes"] == 2
    assert row["score"] > 0.5
    assert "af_burden" in capsys.readouterr().out
    assert (tmp_path / "b" / "results.jsonl").read_text() == (
        tmp_path / "a" / "results.jsonl"
    ).read_text()


def test_lora_trains_an_adapter_that_goes_on_and_is_evaluated(taught, synth_data, tmp_path):
    from training.evaluate import planning_options

    values = grpo_values(synth_data, tmp_path / "one", taught / "model", max_steps=1)
    values["model"]["lora"] = {"r": 4, "lora_alpha": 8}
    grpo.train(GRPORun.model_validate(values))
    adapter = tmp_path / "one" / "model"
    assert (adapter / "adapter_model.safetensors").is_file()
    assert not (adapter / "model.safetensors").exists()
    again = grpo_values(synth_data, tmp_path / "two", adapter, max_steps=1)
    again["evaluation"] = {"at_end": True, "instances": ["af_burden/synth/paf01"]}
    metrics = grpo.train(GRPORun.model_validate(again))
    assert "held_out/none/af_burden" in metrics
    options = planning_options(tmp_path / "two" / "model")
    assert options["adapter"] == str(tmp_path / "two" / "model")
    assert options["model"] == str(taught / "model")
