"""What the loaders' tests share: an agent that wanders, prompts, a tokenizer, conversations."""

from __future__ import annotations

import json

import numpy as np

SYSTEM = "Find atrial fibrillation."
TEMPLATE = """{%- if tools %}{{ '<|im_start|>system\\n' + messages[0].content }}
{%- for tool in tools %}{{ '\\n' + tool | tojson }}{% endfor %}{{ '<|im_end|>\\n' }}{% endif %}
{%- for message in messages %}{% if not (tools and loop.first) %}
{{- '<|im_start|>' + message.role + '\\n' + message.content }}
{%- for call in message.tool_calls or [] %}
{{- '<tool_call>' + call.function.name + call.function.arguments | tojson + '</tool_call>' }}
{%- endfor %}{{ '<|im_end|>\\n' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""


class Wanderer:
    """Skims lengths that its seed draws, writes what it skimmed, and finishes after six calls."""

    name = "wanderer"

    def reset(self, info):
        self.rng = np.random.default_rng(info["sampling_seed"])
        self.calls = 0

    def act(self, obs, info):
        self.calls += 1
        if self.calls > 6:
            return {"name": "finish", "arguments": {}}
        if self.calls % 2:
            return {"name": "skim", "arguments": {"duration": float(self.rng.integers(5, 90))}}
        t1 = float(obs["cursor"])
        return {"name": "write", "arguments": {"t0": max(0.0, t1 - 5), "t1": t1}}


class Raises(Wanderer):
    """One that fails at its third call."""

    def act(self, obs, info):
        if self.calls == 2:
            raise ValueError("no idea")
        return super().act(obs, info)


def prompt(instance, dx):
    """A prompt as training would make it."""
    return [
        {"role": "system", "content": f"{instance.task}, {dx}"},
        {"role": "user", "content": "Begin."},
    ]


def call(name, as_text=True, **arguments):
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": json.dumps(arguments) if as_text else arguments,
                },
            }
        ],
    }


def conversation(turns=3, tools=True):
    """System, observation, then calls with their answers, and a last word."""
    messages = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": "cursor 0.000 s of 900.000 s"},
    ]
    for n in range(turns):
        messages += [
            call("skim", as_text=n % 2 == 0, duration=100 + n),
            {"role": "tool", "tool_call_id": "c1", "content": f'{{"t1": {100 + n}, "é": "ü {n}"}}'},
        ]
    messages.append({"role": "assistant", "content": "Done."})
    about = {"type": "function", "function": {"name": "skim", "description": "Let time pass."}}
    return {"messages": messages, "instance": "a/b/c", **({"tools": [about]} if tools else {})}


def tokenizer(template=TEMPLATE, special=("<|endoftext|>", "<|im_start|>", "<|im_end|>")):
    """A byte-level BPE tokenizer of a few merges, with a chat template."""
    import tokenizers
    from transformers import PreTrainedTokenizerFast

    bpe = tokenizers.Tokenizer(tokenizers.models.BPE())
    bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=list(special),
        initial_alphabet=sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    bpe.train_from_iterator([json.dumps(conversation())] * 4, trainer)
    made = PreTrainedTokenizerFast(
        tokenizer_object=bpe, eos_token=special[-1], pad_token=special[0]
    )
    made.chat_template = template
    return made
