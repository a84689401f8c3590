"""Every shipped configuration loads; what does not fit is refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from accelerate.commands.config.config_args import load_config_from_file
from trl import GRPOConfig, SFTConfig

from ecgscroll.errors import ConfigError
from training import grpo, sft
from training.config import GRPORun, Run, SFTRun, load, trainer_arguments
from training.tiny import template_text

ROOT = Path(__file__).resolve().parents[2] / "configs"
CONFIGS = sorted(path for path in ROOT.glob("*.yaml") if path.stem != "neural")
KINDS = {"sft": (SFTRun, SFTConfig, sft.OURS), "grpo": (GRPORun, GRPOConfig, grpo.OURS)}
KINDS["text"] = KINDS["sft"]


def kind_of(path: Path):
    return KINDS[path.stem.rpartition("-")[2]]


def on_this_machine(run: Run) -> Run:
    """The same run without the library for generation that only GPUs have."""
    vllm = {"use_vllm": False} if isinstance(run, GRPORun) else {}
    return run.model_copy(update={"trainer": run.trainer | vllm})


def test_there_are_configurations():
    names = {path.stem for path in CONFIGS}
    assert names >= {
        f"{model}-{kind}"
        for model in ("tiny", "smollm2-135m", "qwen3-0.6b", "qwen3-8b")
        for kind in ("sft", "grpo")
    }


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_configuration_loads_and_its_trainer_takes_it(path, tmp_path):
    kind, arguments, ours = kind_of(path)
    run = on_this_machine(load(path, kind)).model_copy(update={"output": tmp_path})
    made = trainer_arguments(run, arguments, **ours)
    assert made.output_dir == str(tmp_path)
    assert made.seed == run.seed
    assert made.report_to == ["tensorboard"]
    if run.model.chat_template is not None:
        assert "tool_call" in template_text(run.model.chat_template)
    if kind is GRPORun:
        assert made.generation_batch_size % made.num_generations == 0
        assert run.agent.prompt_tokens >= 2 * run.agent.max_new_tokens


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_output_folders_differ_and_grpo_goes_on_from_its_sft(path):
    run = load(path, kind_of(path)[0])
    assert run.output == Path("runs") / path.stem
    if path.stem == "tiny-sft":
        assert run.model.name == "runs/tiny-text/model"
    if path.stem.endswith("-grpo"):
        assert run.model.name == f"runs/{path.stem.removesuffix('-grpo')}-sft/model"


@pytest.mark.parametrize("name", ["cpu", "fsdp", "deepspeed"])
def test_accelerate_takes_its_configurations(name):
    found = load_config_from_file(str(ROOT / "accelerate" / f"{name}.yaml"))
    assert found.num_processes == (2 if name == "cpu" else 8)


GOOD = {"output": "runs/x", "model": {"name": "some/model"}}
BAD = [
    ({"modle": {}}, "there is no key 'modle'"),
    ({"model": {"name": "a/b", "lora": {"rank": 3}}}, "there is no key 'model.lora.rank'"),
    ({"model": {}}, "model: give either a name or from_scratch"),
    ({"model": {"name": "a/b", "from_scratch": {}}}, "model: give either a name or from_scratch"),
    ({"model": {"from_scratch": {}}}, "GRPO goes on from a model that can act"),
    ({"seed": -1}, "seed: Input should be greater than or equal to 0"),
    ({"data": {"held_out": 1.0}}, "data.held_out"),
    ({"data": {"dx": []}}, "data.dx"),
    ({"data": {"dx": ["both"]}}, "data.dx.0"),
    ({"data": {"tasks": ["chess"]}}, "chess"),
    ({"reward": {"score": -1}}, "'score' is 0 or more"),
    ({"reward": {"scores": 1}}, "There is no reward weight 'scores'"),
    ({"budget": "endless"}, "There is no budget 'endless'"),
    ({"threads": 0}, "threads"),
]


@pytest.mark.parametrize(("change", "says"), BAD)
def test_what_does_not_fit_is_refused_in_one_sentence(change, says, tmp_path):
    path = tmp_path / "run.yaml"
    path.write_text(yaml.safe_dump(GOOD | change))
    with pytest.raises(ConfigError) as refused:
        load(path, GRPORun)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("text", ["[1, 2]", "a: [", "", "\x00"])
def test_a_file_that_is_no_mapping_is_refused(text, tmp_path):
    path = tmp_path / "run.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as refused:
        load(path, SFTRun)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"learning_rat": 1}, "SFTConfig has no argument 'learning_rat'"),
        ({"output_dir": "elsewhere"}, "'output_dir' follows from the run"),
        ({"seed": 3}, "'seed' follows from the run"),
        ({"eval_strategy": "now and then"}, "trainer: "),
    ],
)
def test_trainer_arguments_are_checked(given, says):
    run = SFTRun.model_validate(GOOD | {"trainer": given})
    with pytest.raises(ConfigError, match=says):
        trainer_arguments(run, SFTConfig)


def test_the_digest_tells_runs_apart_but_not_their_folders():
    one = SFTRun.model_validate(GOOD)
    moved = SFTRun.model_validate(GOOD | {"output": "runs/y"})
    other = SFTRun.model_validate(GOOD | {"seed": 1})
    assert one.digest() == moved.digest() != other.digest()


@pytest.mark.parametrize(("vllm", "bound"), [(True, "max_tokens"), (False, "max_new_tokens")])
def test_a_turn_is_bounded_in_the_words_of_what_generates(vllm, bound):
    run = GRPORun.model_validate(
        GOOD | {"agent": {"max_new_tokens": 77}, "trainer": {"use_vllm": vllm}}
    )
    assert grpo._ours(run)["generation_kwargs"] == {bound: 77}
