"""Weights of a local checkpoint, and many prompts decoded at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from transformers import (
    AutoModelForCausalLM,
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriteria,
    StoppingCriteriaList,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from ecgscroll.errors import ConfigError
from policies.backends.reuse import open_reader

Ended = Callable[[Sequence[int]], bool]


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request to decode.

    Parameters
    ----------
    ids
        Tokens of the prompt.
    limit
        Most new tokens.
    seed
        Seed of this row's own generator.
    ended
        Tells from the new tokens whether the turn is complete before the model ends it.
    """

    ids: Sequence[int]
    limit: int
    seed: int
    ended: Ended


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is drawn; greedy where the temperature is 0."""

    temperature: float
    top_p: float
    top_k: int


class Decoder:
    """A checkpoint in memory, perhaps with a LoRA adapter, ready to decode.

    The sampling defaults and penalties that a checkpoint carries are dropped, so that decoding is
    what was asked for, and padding cannot count as repetition.

    Parameters
    ----------
    source, revision
        What transformers loads.
    adapter
        Folder of a LoRA adapter.
    dtype, device
        As torch names them, or ``auto``.
    kept_bytes
        Most memory for what was read, in bytes; 0 keeps nothing, and transformers decodes.
    """

    def __init__(
        self,
        source: str,
        revision: str | None,
        adapter: Path | None,
        dtype: str,
        device: str,
        kept_bytes: int = 1 << 30,
    ) -> None:
        where = default_device() if device == "auto" else device
        kind = "float32" if dtype == "auto" and where == "cpu" else dtype
        model: Any = AutoModelForCausalLM.from_pretrained(
            source, revision=revision, dtype=kind, use_safetensors=True, trust_remote_code=False
        )
        self._ends = _ids(model.generation_config.eos_token_id)
        if adapter is not None:
            model = PeftModel.from_pretrained(model, str(adapter))
        self._model = model.to(where).eval()
        self._model.generation_config = GenerationConfig()  # type: ignore[no-untyped-call]
        self._device = where
        self._reader = open_reader(self._model, kept_bytes) if kept_bytes else None

    def decode(
        self, prompts: Sequence[Prompt], ends: frozenset[int], pad: int, sampling: Sampling
    ) -> list[list[int]]:
        """Return the new tokens of each prompt, without the one that ended it.

        A row's tokens depend on its own prompt and seed, whatever was read before it: it looks
        at nothing else, and draws from a generator of its own. What is left of the others is
        rounding, which can only decide between tokens that are equally likely to the last bits of
        the dtype.
        """
        rows = _Rows(prompts, ends | self._ends)
        draw = _Draw(sampling, prompts)
        with torch.inference_mode():
            if self._reader is not None:
                ids = [prompt.ids for prompt in prompts]
                limits = [prompt.limit for prompt in prompts]
                new = self._reader.decode(ids, limits, draw.pick, rows.ended)
            else:
                new = self._generate(prompts, pad, rows, draw)
        return [tokens[:length] for tokens, length in zip(new, rows.lengths, strict=True)]

    def _generate(
        self, prompts: Sequence[Prompt], pad: int, rows: _Rows, draw: _Draw
    ) -> list[list[int]]:
        """Decode with transformers, for models whose cache cannot be cut."""
        rows.width = width = max(len(prompt.ids) for prompt in prompts)
        ids = torch.full((len(prompts), width), pad)
        mask = torch.zeros_like(ids)
        for row, prompt in enumerate(prompts):
            ids[row, width - len(prompt.ids) :] = torch.tensor(prompt.ids)
            mask[row, width - len(prompt.ids) :] = 1
        config = GenerationConfig(  # type: ignore[no-untyped-call]
            do_sample=False,  # the draw, where there is one, is in the scores: see _Draw
            max_new_tokens=max(prompt.limit for prompt in prompts),
            pad_token_id=pad,
        )
        out = self._model.generate(
            input_ids=ids.to(self._device),
            attention_mask=mask.to(self._device),
            generation_config=config,
            logits_processor=LogitsProcessorList([draw] if draw.random else []),
            stopping_criteria=StoppingCriteriaList([rows]),
        )
        new: list[list[int]] = out[:, width:].tolist()
        return new


class _Rows(StoppingCriteria):
    """End each row by itself, and remember how many of its tokens count."""

    width = 0
    """Length of the prompts where they are part of what is looked at."""

    def __init__(self, prompts: Sequence[Prompt], ends: frozenset[int]) -> None:
        self._prompts, self._ends = prompts, ends
        self._done = [False] * len(prompts)
        self.lengths = [0] * len(prompts)

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        for row, tokens in enumerate(input_ids[:, self.width :].tolist()):
            if not self._done[row]:
                self._done[row] = self.ended(row, tokens)
        return torch.tensor(self._done, device=input_ids.device)

    def ended(self, row: int, tokens: list[int]) -> bool:
        """Tell whether a row's new tokens are its last; asked after each."""
        prompt = self._prompts[row]
        if tokens[-1] in self._ends:
            return True
        self.lengths[row] = len(tokens)
        return len(tokens) >= prompt.limit or prompt.ended(tokens)


class _Draw(LogitsProcessor):
    """Make the largest score a fair draw: Gumbel noise, each row from its own generator.

    The noise is made on the CPU, so that a seed gives the same draw on any device.
    """

    def __init__(self, sampling: Sampling, prompts: Sequence[Prompt]) -> None:
        self._temperature = sampling.temperature
        self.random = sampling.temperature > 0
        self._cut: list[Any] = []
        if sampling.top_k > 0:
            self._cut.append(TopKLogitsWarper(sampling.top_k))
        if sampling.top_p < 1:
            self._cut.append(TopPLogitsWarper(sampling.top_p))
        self._generators = [
            torch.Generator().manual_seed(prompt.seed % (1 << 63)) for prompt in prompts
        ]

    def __call__(self, input_ids: Any, scores: torch.Tensor) -> torch.Tensor:
        return torch.stack([self._noisy(row, one) for row, one in enumerate(scores)])

    def pick(self, row: int, scores: torch.Tensor) -> int:
        """Return a row's next token."""
        return int((self._noisy(row, scores) if self.random else scores).argmax())

    def _noisy(self, row: int, scores: torch.Tensor) -> torch.Tensor:
        scores = scores.float()[None] / self._temperature
        for cut in self._cut:
            scores = cut(None, scores)
        wait = torch.empty(scores.shape[-1]).exponential_(generator=self._generators[row])
        return scores[0] - wait.log().to(scores.device)


def default_device() -> str:
    """Return the GPU where there is one, else the CPU."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def set_threads(threads: int) -> None:
    """Let torch use so many processor threads from now on, in all of this process."""
    torch.set_num_threads(threads)


def check_device(device: str, dtype: str) -> None:
    """Refuse a device or dtype that torch does not know.

    Raises
    ------
    ConfigError
        If it does not.
    """
    if dtype != "auto" and not isinstance(getattr(torch, dtype, None), torch.dtype):
        raise ConfigError(f"There is no dtype {dtype!r}; take auto, float32, bfloat16 or float16.")
    try:
        if device != "auto":
            torch.device(device)
    except RuntimeError:
        raise ConfigError(f"There is no device {device!r}; take auto, cpu or cuda.") from None


def _ids(value: int | Sequence[int] | None) -> frozenset[int]:
    if value is None:
        return frozenset()
    return frozenset([value] if isinstance(value, int) else value)
