"""A checkpoint on this machine: the same reply alone and in company, and only safe weights."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import ecgscroll
from ecgscroll.errors import ConfigError, ModelError
from policies.backends import close_backends, open_backend
from policies.backends.base import Backend, ToolCall

pytest.importorskip("peft")

TOOLS = ecgscroll.tool_schemas()[:1]
SKIM = ToolCall("skim", '{"duration": 600}')


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_backends()


def conversation(turn: int) -> list[dict[str, Any]]:
    """Conversations of different lengths, so that batches need padding."""
    said = [{"role": "user", "content": f"At {turn * 60} s. " * (1 + turn)}]
    if turn % 2:
        call = {"name": "skim", "arguments": '{"duration": '}
        said += [
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": call}]},
            {"role": "tool", "content": "{}", "tool_call_id": "1"},
        ]
    return said


def replies(model: Path, threads: int, **options: Any) -> list[str]:
    """Text of the replies to eight conversations, asked from so many threads."""
    backend = open_backend("transformers", model=str(model), max_new_tokens=24, **options)
    with ThreadPoolExecutor(threads) as pool:
        asked = pool.map(lambda i: backend.complete(conversation(i), TOOLS, i), range(8))
        return [reply.text + repr(reply.calls) for reply in asked]


def test_greedy_replies_are_the_same_alone_and_in_a_batch(tiny_model: Path) -> None:
    alone = replies(tiny_model, 1, batch_size=1)
    assert len(set(alone)) > 4
    assert replies(tiny_model, 4, patience_s=0.5, batch_size=4) == alone


def test_sampled_replies_follow_their_seed_alone_and_in_a_batch(tiny_model: Path) -> None:
    options = {"temperature": 1.0, "top_p": 0.9, "top_k": 50}
    alone = replies(tiny_model, 1, batch_size=1, **options)
    assert replies(tiny_model, 4, patience_s=0.5, batch_size=4, **options) == alone
    backend = open_backend("transformers", model=str(tiny_model), max_new_tokens=24, **options)
    drawn = {backend.complete(conversation(0), TOOLS, seed).text for seed in range(4)}
    assert len(drawn) == 4


def test_a_draw_follows_the_probabilities() -> None:
    import torch

    from policies.backends.decoding import Prompt, Sampling, _Draw

    prompts = [Prompt([0], 1, seed, lambda new: False) for seed in range(2000)]
    scores = torch.tensor([[0.5, 0.3, 0.2]]).log().repeat(2000, 1)
    drawn = _Draw(Sampling(1.0, 1.0, 0), prompts)(None, scores).argmax(dim=1)
    shares = torch.bincount(drawn, minlength=3) / 2000
    assert shares.tolist() == pytest.approx([0.5, 0.3, 0.2], abs=0.04)  # 3.5 standard errors


def test_a_model_calls_a_tool_and_stops_there(taught_model: Path, tool: dict[str, Any]) -> None:
    backend = open_backend("transformers", model=str(taught_model))
    assert isinstance(backend, Backend)
    reply = backend.complete([{"role": "user", "content": "Go on."}], [tool], 0)
    assert (reply.text, reply.calls, reply.stop) == ("", (SKIM,), "tool_calls")
    assert reply.usage.completion_tokens < 60
    assert reply.usage.prompt_tokens > 100
    assert backend.count_tokens("skim") >= 1
    assert backend.context_tokens == 8192


def test_a_response_template_of_the_tokenizer_is_used(
    taught_model: Path, tool: dict[str, Any], tmp_path: Path
) -> None:
    folder = shutil.copytree(taught_model, tmp_path / "model")
    path = folder / "tokenizer_config.json"
    fields = {
        "tool_calls": {
            "open_pattern": r"\s*<tool_call>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "json",
            "transform": {"function": {"name": "templated", "arguments": "{content}"}},
        },
        "content": {"close": "<|im_end|>", "content": "text"},
    }
    template = {"start_anchor": "<|im_start|>assistant\n", "fields": fields}
    path.write_text(json.dumps({**json.loads(path.read_text()), "response_template": template}))
    backend = open_backend("transformers", model=str(folder))
    reply = backend.complete([{"role": "user", "content": "Go on."}], [tool], 0)
    assert [call.name for call in reply.calls] == ["templated"]


def test_an_adapter_by_path_equals_the_merged_model(tiny_model: Path, tmp_path: Path) -> None:
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    torch.manual_seed(1)
    base = AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32)
    config = LoraConfig(target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    model = get_peft_model(base, config)
    model.save_pretrained(tmp_path / "adapter")
    merged = shutil.copytree(tiny_model, tmp_path / "merged")
    model.merge_and_unload().save_pretrained(merged)
    adapted = replies(tiny_model, 4, adapter=str(tmp_path / "adapter"))
    assert adapted == replies(merged, 1)
    assert adapted != replies(tiny_model, 1)
    plain = open_backend("transformers", model=str(tiny_model)).fingerprint()
    with_it = open_backend(
        "transformers", model=str(tiny_model), adapter=str(tmp_path / "adapter")
    ).fingerprint()
    assert plain["adapter"] is None
    assert {**with_it, "adapter": None} == plain

    close_backends()
    (tmp_path / "adapter" / "adapter_model.safetensors").unlink()
    torch.save({}, tmp_path / "adapter" / "adapter_model.bin")
    with pytest.raises(ConfigError, match=r"pickle can run any code.*safetensors\.$"):
        open_backend("transformers", model=str(tiny_model), adapter=str(tmp_path / "adapter"))


def test_the_fingerprint_tells_weights_apart(tiny_model: Path, taught_model: Path) -> None:
    one, other = (
        open_backend("transformers", model=str(folder)).fingerprint()["revision"]
        for folder in (tiny_model, taught_model)
    )
    assert one != other


def test_bfloat16_decodes_too(tiny_model: Path) -> None:
    assert len(replies(tiny_model, 4, dtype="bfloat16", device="cpu")) == 8


def without_template(model: Path, folder: Path, template: str | None) -> Path:
    """A copy of a model with another chat template, or none."""
    shutil.copytree(model, folder)
    (folder / "chat_template.jinja").unlink()
    if template is not None:
        (folder / "chat_template.jinja").write_text(template)
    return folder


NO_SYSTEM = (
    "{% for m in messages %}{% if m.role not in ('user', 'assistant') %}"
    "{{ raise_exception('no such role') }}{% endif %}<{{ m.role }}>{{ m.content }}{% endfor %}"
)


@pytest.mark.parametrize("template", [None, NO_SYSTEM], ids=["no template", "no system role"])
def test_a_model_without_tools_is_told_them_in_words(
    tiny_model: Path, tmp_path: Path, template: str | None
) -> None:
    folder = without_template(tiny_model, tmp_path / "model", template)
    backend = open_backend("transformers", model=str(folder), max_new_tokens=4)
    assert backend.fingerprint()["tools"] == "text"
    said = [{"role": "system", "content": "Read the ECG."}, *conversation(1)]
    with_tools = backend.complete(said, TOOLS, 0).usage.prompt_tokens
    assert with_tools > backend.complete(said, [], 0).usage.prompt_tokens + 20


def test_what_does_not_fit_reaches_the_thread_that_asked(tiny_model: Path) -> None:
    backend = open_backend(
        "transformers", model=str(tiny_model), context_tokens=600, patience_s=0.2, max_new_tokens=8
    )
    short, long = conversation(0), [{"role": "user", "content": "word " * 2000}]
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(backend.complete, said, [], 0) for said in (short, long, short, short)]
    with pytest.raises(ModelError, match="the model reads 600"):
        asked[1].result()
    assert len({asked[i].result().text for i in (0, 2, 3)}) == 1


def test_a_refusing_template_and_a_closed_model_are_told(tiny_model: Path, tmp_path: Path) -> None:
    template = "{{ raise_exception('never') }}"
    folder = without_template(tiny_model, tmp_path / "model", template)
    backend = open_backend("transformers", model=str(folder))
    with pytest.raises(ModelError, match="refuses the messages: never"):
        backend.complete(conversation(0), TOOLS, 0)
    backend.close()
    backend.close()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"model": "/nowhere/at/all"}, "There is no folder"),
        ({"tools": "maybe"}, "auto, native or text"),
        ({"dtype": "float99"}, "There is no dtype"),
        ({"device": "abacus"}, "There is no device"),
        ({"temperature": -1}, "temperature"),
        ({"batch_size": 0}, "1 or more"),
        ({"kept_gib": -1}, "0 or more"),
        ({"adapter": "/nowhere"}, "no adapter"),
        ({"colour": 1}, "unexpected keyword"),
    ],
)
def test_wrong_options(tiny_model: Path, wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        open_backend("transformers", **{"model": str(tiny_model), **wrong})


def test_unsafe_or_broken_folders_are_refused(tiny_model: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_model, tmp_path / "pickled")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ConfigError, match="pickle can run any code"):
        open_backend("transformers", model=str(folder))
    folder = shutil.copytree(tiny_model, tmp_path / "code")
    config = json.loads((folder / "config.json").read_text())
    auto = {"AutoConfig": "evil.Config", "AutoModelForCausalLM": "evil.Model"}
    (folder / "config.json").write_text(
        json.dumps({**config, "model_type": "evil", "auto_map": auto})
    )
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Config: pass\n")
    with pytest.raises(ConfigError, match="cannot be read"):
        open_backend("transformers", model=str(folder))
    assert not (tmp_path / "ran").exists()
    (folder / "adapter_config.json").write_text("{}")
    with pytest.raises(ConfigError, match="is an adapter"):
        open_backend("transformers", model=str(folder))
    folder = shutil.copytree(tiny_model, tmp_path / "cut")
    (folder / "model.safetensors").write_bytes(b"short")
    with pytest.raises(ConfigError, match="cannot be loaded"):
        open_backend("transformers", model=str(folder)).complete(conversation(0), [], 0)
