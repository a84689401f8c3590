"""Keeping what was read and drafting what was said before change nothing but the time taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("peft")

import torch
from transformers import MambaConfig, MambaForCausalLM

from policies.backends.decoding import Decoder, Prompt, Sampling
from policies.backends.reuse import Beginnings, Reader, _Kept, can_reuse, followed

GREEDY, DRAWN = Sampling(0.0, 1.0, 0), Sampling(0.7, 0.95, 40)
LIMIT, END = 24, frozenset({2})


def decoder(model: Path, *, reuse: bool) -> Decoder:
    made = Decoder(str(model), None, None, "float32", "cpu")
    assert made._reader is not None
    if not reuse:
        made._reader = None
    return made


def talks(made: Decoder, sampling: Sampling, turns: int = 25) -> list[list[list[int]]]:
    """Four conversations that grow by what is said and by new tokens, or are cut and begin anew."""
    rng = np.random.default_rng(7)
    rows = [list(map(int, rng.integers(3, 500, 40 + 9 * n))) for n in range(4)]
    said = []
    for turn in range(turns):
        asked = [rows[n] for n in range(4) if (turn + n) % 3]
        prompts = [Prompt(ids, LIMIT - turn % 5, turn, lambda new: False) for ids in asked]
        answers = made.decode(prompts, END, 0, sampling)
        said.append(answers)
        for ids, answer in zip(asked, answers, strict=True):
            ids += [*answer, *map(int, rng.integers(3, 500, 11))]
            if len(ids) > 300:
                del ids[20:200]
    return said


@pytest.mark.parametrize("sampling", [GREEDY, DRAWN])
def test_replies_are_those_of_a_decoder_that_reads_everything_anew(
    tiny_model: Path, sampling: Sampling
) -> None:
    anew = talks(decoder(tiny_model, reuse=False), sampling)
    assert talks(decoder(tiny_model, reuse=True), sampling) == anew
    assert max(len(answer) for answers in anew for answer in answers) == LIMIT


def test_a_reply_does_not_depend_on_what_was_read_before(tiny_model: Path) -> None:
    made = decoder(tiny_model, reuse=True)
    prompt = [Prompt(list(range(3, 90)), LIMIT, 0, lambda new: False)]
    first = made.decode(prompt, END, 0, GREEDY)
    talks(made, GREEDY, 5)
    assert made.decode(prompt, END, 0, GREEDY) == first


def test_only_what_is_new_is_read(tiny_model: Path) -> None:
    made = decoder(tiny_model, reuse=True)
    widths: list[int] = []
    forward = made._model.forward

    def counted(*args: Any, **kwargs: Any) -> Any:
        widths.append(kwargs["input_ids"].shape[1])
        return forward(*args, **kwargs)

    made._model.forward = counted
    ids = list(range(3, 203))
    said = made.decode([Prompt(ids, 4, 0, lambda new: False)], END, 0, GREEDY)[0]
    assert widths[0] >= len(ids)
    widths.clear()
    made.decode([Prompt([*ids, *said, 7, 8, 9], 4, 0, lambda new: False)], END, 0, GREEDY)
    assert max(widths) <= 3 + len(said) + 8


def test_the_oldest_beginnings_go_first_and_longer_ones_replace_theirs() -> None:
    def kept(*ids: int) -> _Kept:
        states = torch.zeros(1, len(ids), 1)
        return _Kept(np.array(ids), ((states, states),))

    one, two = tuple(range(20)), tuple(range(100, 120))
    store = Beginnings(most_bytes=400)
    store.keep(kept(*one))
    store.keep(kept(*one, 20))  # goes on from the first
    store.keep(kept(*two))
    assert store.longest(np.array([*one, 20, 5]))[0] == 21
    assert store.longest(np.array(two))[0] == 19  # one token is always read
    store.keep(kept(*range(200, 240)))  # 320 bytes: both others go
    assert store.longest(np.array([*one, 20, 5]))[0] == 0
    assert store.longest(np.array([*two, 5]))[0] == 0
    assert store.longest(np.arange(200, 250))[0] == 40


@pytest.mark.parametrize(
    ("said", "draft"),
    [
        ([1, 2, 3, 4, 5, 1, 2, 3], [4, 5, 1]),
        ([1, 2, 3, 9, 1, 2, 3, 4, 1, 2, 3], [4, 1, 2]),  # the newest place
        ([1, 2, 3, 4], []),
        ([1, 2], []),
    ],
)
def test_a_draft_is_what_followed_the_same_tokens(said: list[int], draft: list[int]) -> None:
    assert followed(said, 3) == draft


def test_a_model_with_another_kind_of_memory_is_left_to_transformers(tiny_model: Path) -> None:
    recurrent = MambaForCausalLM(MambaConfig(hidden_size=32, num_hidden_layers=1, vocab_size=64))
    assert not can_reuse(recurrent)
    assert can_reuse(decoder(tiny_model, reuse=True)._model)


def test_no_token_is_asked_for_twice() -> None:
    """Each row's tokens are chosen in order, once each, however many were drafted."""
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(0)
    config = Qwen2Config(vocab_size=50, hidden_size=32, intermediate_size=64, num_hidden_layers=1,
                         num_attention_heads=2, num_key_value_heads=1)  # fmt: skip
    model = Qwen2ForCausalLM(config).eval()
    asked: list[int] = []

    def pick(row: int, scores: torch.Tensor) -> int:
        asked.append(row)
        return [5, 6, 7][(len(asked) - 1) % 3]

    with torch.inference_mode():
        said = Reader(model).decode([[5, 6, 7, 5, 6, 7]], pick, lambda row, new: False, 9)
    assert said == [[5, 6, 7] * 3]
    assert len(asked) == 9
