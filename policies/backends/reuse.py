"""Which models may keep what they have read: a conversation grows at its end, so most of a prompt
was read in the turn before.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from policies.backends.rows import IMPLEMENTATION, Reader

_USUAL = "sdpa"  # what attention by rows is made of


def open_reader(model: Any, most_bytes: int) -> Reader | None:
    """Return a reader, or None for a model that does not look at all that was read, and only that.

    Windows, recurrent states and attention of a model's own rule it out. Since not every model
    tells, it is tried on a few tokens.

    Parameters
    ----------
    model
        A causal language model, perhaps with an adapter.
    most_bytes
        Most memory for what is kept from one call to the next.
    """
    base = _base(model)
    if not _attends_to_all(base):
        return None
    texts = [list(range(2, 18)), list(range(9, 17))]
    with torch.inference_mode():
        plain = torch.stack([_next_scores(model, ids) for ids in texts])
        base.set_attn_implementation(IMPLEMENTATION)
        reader = Reader(model, most_bytes)
        try:
            found = _tried(reader, texts)
        except Exception:  # models raise what they please
            found = torch.full_like(plain, torch.inf)
    bound = torch.finfo(plain.dtype).eps ** 0.5 * plain.abs().max()
    if (found - plain).abs().max() <= bound:
        return reader
    base.set_attn_implementation(_USUAL)
    return None


def _base(model: Any) -> Any:
    """Return a model without its adapter's wrapping."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def _attends_to_all(base: Any) -> bool:
    layers = DynamicCache(config=base.config).layers
    return (
        base.config._attn_implementation == _USUAL
        and base._can_set_attn_implementation()
        and {"position_ids", "logits_to_keep"} <= set(inspect.signature(base.forward).parameters)
        and all(type(layer) is DynamicLayer for layer in layers)
    )


def _next_scores(model: Any, ids: Sequence[int]) -> torch.Tensor:
    device = next(model.parameters()).device
    scores: torch.Tensor = model(input_ids=torch.tensor([ids], device=device)).logits[0, -1]
    return scores


def _tried(reader: Reader, texts: Sequence[Sequence[int]]) -> torch.Tensor:
    """Return what a reader scores after some texts, having read half of each before."""
    found: dict[int, torch.Tensor] = {}

    def pick(row: int, scores: torch.Tensor) -> int:
        found[row] = scores
        return 0

    for part in ([ids[: len(ids) // 2] for ids in texts], texts):
        reader.decode(part, [1] * len(part), pick, lambda row, new: True)
    return torch.stack([found[row] for row in range(len(texts))])
