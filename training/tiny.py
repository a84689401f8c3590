"""A model from scratch and its own tokenizer, for training in minutes on a processor.

Every line of the system prompts and every tool's schema is one token, so that a prompt of 8,000
characters takes some forty; digits are tokens of their own, so that arithmetic on times can be
learnt; the rest is byte-level BPE that may merge across blanks, since what is read is JSON.
"""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import tokenizers
import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

from ecgscroll.errors import ConfigError
from ecgscroll.tasks import TASKS
from ecgscroll.tools.schemas import tool_schemas
from policies.prompts import planning_prompt
from training.adapter import tier_of
from training.config import Scratch

END, PAD = "<|im_end|>", "<|endoftext|>"
SPECIAL = [PAD, "<|im_start|>", END]
# Not special: what a model says between them must survive decoding.
MARKS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]

_LEAST_PHRASE = 16  # characters; what is shorter is BPE's
_LONGEST_TOKEN = 24
_TEMPLATE = "qwen2_5"
_BREAK = re.compile("|".join(map(re.escape, ("\n", *SPECIAL, *MARKS))))


def template_text(name: str) -> str:
    """Return a chat template: one of TRL's by name, or a file's.

    Raises
    ------
    ConfigError
        If there is none.
    """
    path = Path(name)
    if path.suffix == ".jinja" and path.is_file():
        return path.read_text(encoding="utf-8")
    folder = importlib.resources.files("trl") / "chat_templates"
    try:
        return (folder / f"{path.name}.jinja").read_text(encoding="utf-8")
    except OSError:
        raise ConfigError(f"There is no chat template {name!r}; name one of TRL's.") from None


def make_tokenizer(texts: Iterable[str], vocabulary: int, tiers: Sequence[str]) -> Any:
    """Train a tokenizer.

    Parameters
    ----------
    texts
        What agents read and say: observations and calls.
    vocabulary
        Most entries, phrases not counted.
    tiers
        Tiers whose tools are told in the prompts.
    """
    pre, bpe = tokenizers.pre_tokenizers, tokenizers.Tokenizer(tokenizers.models.BPE())
    bpe.pre_tokenizer = pre.Sequence(
        [pre.Digits(individual_digits=True), pre.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    bpe.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=SPECIAL,
        initial_alphabet=sorted(pre.ByteLevel.alphabet()),
        max_token_length=_LONGEST_TOKEN,
        min_frequency=4,
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    bpe.add_tokens([_token(text) for text in (*MARKS, *_phrases(tiers))])
    return _fast(bpe)


def _fast(bpe: tokenizers.Tokenizer) -> Any:
    tokenizer: Any = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=bpe, eos_token=END, pad_token=PAD
    )
    tokenizer.chat_template = template_text(_TEMPLATE)
    return tokenizer


def _token(text: str) -> tokenizers.AddedToken:
    return tokenizers.AddedToken(text, normalized=False, special=False)


def _phrases(tiers: Sequence[str]) -> list[str]:
    """Return the lines that system prompts are made of, longest first."""
    blank = _fast(tokenizers.Tokenizer(tokenizers.models.BPE()))
    lines: set[str] = set()
    for tier in tiers:
        dx = tier_of(tier)
        for task in TASKS:
            messages = [{"role": "system", "content": planning_prompt(task, dx)}]
            prompt: Any = blank.apply_chat_template(
                messages, tools=tool_schemas(dx), tokenize=False
            )
            lines |= set(_BREAK.split(prompt))
    kept = [one for one in lines if len(one) >= _LEAST_PHRASE]
    return sorted(kept, key=lambda one: (-len(one), one))


def make_model(about: Scratch, tokenizer: Any) -> Any:
    """Return a model with random weights; torch's generator must have been seeded.

    Raises
    ------
    ConfigError
        If transformers knows no such architecture, or a field does not fit it.
    """
    ids = {
        "vocab_size": len(tokenizer),
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": None,
    }
    try:
        config = AutoConfig.for_model(about.architecture, **about.config, **ids)
        made: Any = AutoModelForCausalLM
        return made.from_config(config, dtype=torch.float32)
    except (TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:300]
        raise ConfigError(f"from_scratch cannot be made: {reason}") from None
