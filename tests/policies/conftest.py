"""A model that tests make in seconds: Qwen2's architecture, its own tokenizer, ChatML."""

from __future__ import annotations

import importlib.resources
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

import ecgscroll

CALL = '<tool_call>\n{"name": "skim", "arguments": {"duration": 600}}\n</tool_call>'
SKIM = {
    "type": "function",
    "function": {
        "name": "skim",
        "description": "Let time pass.",
        "parameters": {"type": "object", "properties": {"duration": {"type": "number"}}},
    },
}


def tiny_tokenizer() -> Any:
    """A byte-level BPE tokenizer of 600 tokens, trained on the tools' schemas."""
    import tokenizers
    from transformers import PreTrainedTokenizerFast

    bpe = tokenizers.Tokenizer(tokenizers.models.BPE())
    bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    bpe.train_from_iterator([json.dumps(ecgscroll.tool_schemas(dx="reference"))] * 4, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    template = importlib.resources.files("trl") / "chat_templates" / "qwen2_5.jinja"
    tokenizer.chat_template = template.read_text(encoding="utf-8")
    return tokenizer


def tiny_weights(tokenizer: Any) -> Any:
    """A model of about 0.1 M parameters whose greedy replies differ from prompt to prompt."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=8192,
        initializer_range=0.3,
        tie_word_embeddings=False,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    return Qwen2ForCausalLM(config)


def teach(model: Any, tokenizer: Any, asked: list[str]) -> None:
    """Teach a model to answer each of a few questions with the call `CALL`."""
    import torch

    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(40):
        for question in asked:
            prompt = tokenizer.apply_chat_template(
                [{"role": "user", "content": question}],
                tools=[SKIM],
                add_generation_prompt=True,
                tokenize=False,
            )
            known = tokenizer(prompt)["input_ids"]
            ids = torch.tensor([known + tokenizer(f"{CALL}<|im_end|>")["input_ids"]])
            labels = ids.clone()
            labels[:, : len(known)] = -100
            model(input_ids=ids, labels=labels).loss.backward()
            optimizer.step()
            optimizer.zero_grad()


def save(model: Any, tokenizer: Any, folder: Path) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def tool() -> dict[str, Any]:
    """The tool that `taught_model` was taught with."""
    return SKIM


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a model that knows nothing and has tools in its chat template."""
    if importlib.util.find_spec("trl") is None:
        pytest.skip("needs the train extra")
    import torch

    torch.set_num_threads(1)  # for so small a model, more threads only wait for one another
    tokenizer = tiny_tokenizer()
    return save(tiny_weights(tokenizer), tokenizer, tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def taught_model(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the same model, taught to answer "Go on." and "Begin." with `CALL`."""
    tokenizer = tiny_tokenizer()
    model = tiny_weights(tokenizer)
    teach(model, tokenizer, ["Go on.", "Begin."])
    return save(model, tokenizer, tmp_path_factory.mktemp("models") / "taught")
