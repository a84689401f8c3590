"""The tokenizer of a model from scratch: short prompts, digits one by one, nothing lost."""

from __future__ import annotations

import pytest
import torch

import ecgscroll
from ecgscroll.errors import ConfigError
from policies.prompts import planning_prompt
from training.config import Scratch
from training.tiny import make_model, make_tokenizer, template_text

TEXTS = [
    f"af_burden: cursor {n} s of 900 s, entries written: 0\nResult: "
    f'{{"t0":{n}.0,"t1":{n + 30}.0,"cue":"rr_irregularity","peak":0.1}}'
    for n in range(200)
]


@pytest.fixture(scope="module")
def tokenizer():
    return make_tokenizer(TEXTS, 400, ["none", "reference"])


def ids(tokenizer, text):
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def test_every_digit_is_a_token(tokenizer):
    text = '"t0":1234.5,"t1":67890.25'
    tokens = [tokenizer.decode([token]) for token in ids(tokenizer, text)]
    with_digits = [one for one in tokens if any(c.isdigit() for c in one)]
    assert with_digits == [c for c in text if c.isdigit()]


@pytest.mark.parametrize(
    "text",
    [
        *TEXTS[:2],
        '<tool_call>\n{"name": "write", "arguments": {"t0": 1.5}}\n</tool_call>',
        "Ünïcode ≥ 0.1 mV  two  blanks\n\n",
        planning_prompt("ischemia", "reference"),
    ],
)
def test_nothing_is_lost(tokenizer, text):
    assert tokenizer.decode(ids(tokenizer, text), skip_special_tokens=True) == text


def test_a_system_prompt_is_short(tokenizer):
    messages = [{"role": "system", "content": planning_prompt("af_burden", "reference")}]
    tools = ecgscroll.tool_schemas("reference")
    text = tokenizer.apply_chat_template(messages, tools=tools, tokenize=False)
    assert len(text) > 5000
    assert len(ids(tokenizer, text)) < 150


def test_a_seed_gives_the_same_weights(tokenizer):
    about = Scratch(config={"hidden_size": 32, "num_hidden_layers": 1, "intermediate_size": 32})
    states = []
    for _ in range(2):
        torch.manual_seed(3)
        states.append(make_model(about, tokenizer).state_dict())
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_what_transformers_does_not_know_is_said(tokenizer):
    with pytest.raises(ConfigError, match="from_scratch cannot be made"):
        make_model(Scratch(architecture="abacus"), tokenizer)


def test_chat_templates_by_name_or_file(tmp_path):
    assert "<tool_call>" in template_text("qwen2_5")
    file = tmp_path / "mine.jinja"
    file.write_text("{{ messages }}")
    assert template_text(str(file)) == "{{ messages }}"
    with pytest.raises(ConfigError, match="no chat template"):
        template_text("../../secrets")
