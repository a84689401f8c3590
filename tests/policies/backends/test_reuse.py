"""Keeping what was read and drafting what was said before change nothing but the time taken."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("peft")

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from policies.backends import rows
from policies.backends.base import Reply, ToolCall
from policies.backends.decoding import Decoder, Prompt, Sampling
from policies.backends.local import LocalBackend
from policies.backends.reuse import open_reader
from policies.backends.rows import followed
from policies.calls import Taken
from policies.context import Context

GREEDY, DRAWN = Sampling(0.0, 1.0, 0), Sampling(0.7, 0.95, 40)
LIMIT, END = 24, frozenset({2})


def decoder(model: Path, kept_bytes: int = 1 << 20) -> Decoder:
    return Decoder(str(model), None, None, "float32", "cpu", kept_bytes)


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
@pytest.mark.parametrize("fed", [rows.MOST_FED, 50])
def test_replies_are_those_of_a_decoder_that_reads_everything_anew(
    tiny_model: Path, sampling: Sampling, fed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    anew = talks(decoder(tiny_model, 0), sampling)
    monkeypatch.setattr(rows, "MOST_FED", fed)
    assert talks(decoder(tiny_model), sampling) == anew
    assert max(len(answer) for answers in anew for answer in answers) == LIMIT


def test_a_reply_does_not_depend_on_what_was_read_before(tiny_model: Path) -> None:
    made = decoder(tiny_model)
    prompt = [Prompt(list(range(3, 90)), LIMIT, 0, lambda new: False)]
    first = made.decode(prompt, END, 0, GREEDY)
    talks(made, GREEDY, 5)
    assert made.decode(prompt, END, 0, GREEDY) == first


def test_only_what_is_new_is_read_and_nothing_is_padded(tiny_model: Path) -> None:
    made = decoder(tiny_model)
    counts: list[int] = []
    forward = made._model.forward

    def counted(*args: Any, **kwargs: Any) -> Any:
        counts.append(kwargs["input_ids"].numel())
        return forward(*args, **kwargs)

    made._model.forward = counted
    long, short = list(range(3, 203)), list(range(300, 310))
    prompts = [Prompt(ids, 4, 0, lambda new: False) for ids in (long, short)]
    said = made.decode(prompts, END, 0, GREEDY)[0]
    assert 210 <= sum(counts) <= 210 + 2 * 4 * 4  # four tokens each, drafts of three at most
    counts.clear()
    made.decode([Prompt([*long, *said, 7, 8, 9], 4, 0, lambda new: False)], END, 0, GREEDY)
    assert sum(counts) <= 1 + 3 + 4 * 4  # the last token that was said had not been read


def conversation(backend: LocalBackend, number: int, tool: dict[str, Any]) -> list[Reply]:
    """Forty turns of a window that grows and drops back; the reply is a call of the tool."""
    context = Context("window", "You watch an ECG.", 3000, backend.count_tokens, 3, slack=4)
    replies = []
    for turn in range(40):
        asked = "Begin." if turn == 0 else f"At {turn * 600 + number} s. Go on."
        replies.append(backend.complete(context.messages(asked), [tool], turn))
        taken = {"name": "skim", "arguments": {"duration": 600 + turn % 7}}
        said = Reply("", (ToolCall("skim", '{"duration": 600}'),))
        context.said(said, Taken(taken, 0))
    return replies


def test_hundreds_of_replies_of_a_trained_model_are_the_same_with_and_without(
    taught_model: Path, tool: dict[str, Any]
) -> None:
    def said(**options: Any) -> list[list[Any]]:
        backend = LocalBackend(str(taught_model), max_new_tokens=32, **options)
        with ThreadPoolExecutor(6) as pool:
            played = pool.map(lambda number: conversation(backend, number, tool), range(6))
            found = [[(one.text, one.calls) for one in replies] for replies in played]
        backend.close()
        return found

    anew = said(kept_gib=0)
    assert said(kept_gib=1) == anew
    assert len({repr(one) for replies in anew for one in replies}) > 20


@pytest.mark.parametrize(
    ("said", "draft"),
    [
        ("abcdeabc", "dea"),
        ("abcXabcdabc", "dab"),  # the newest place
        ("xyabcdXabcdYxyabcd", "Xab"),  # the one where more was the same
        ("abcd", ""),
        ("a", ""),
        ("", ""),
    ],
)
def test_a_draft_is_what_followed_the_same_tokens(said: str, draft: str) -> None:
    assert followed(said, 3) == list(map(ord, draft))


def model(kind: str, **fields: Any) -> Any:
    """A model of an architecture with random weights, large enough that each of them counts."""
    torch.manual_seed(0)
    about = {
        "vocab_size": 50, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "bos_token_id": None,
        "eos_token_id": None, "pad_token_id": None, "initializer_range": 0.3,
    }  # fmt: skip
    made: Any = AutoModelForCausalLM
    return made.from_config(AutoConfig.for_model(kind, **about | fields)).eval()


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("mamba", {}),  # a recurrent state
        ("mistral", {"sliding_window": 8}),
        ("diffllama", {}),  # attention of its own, which nothing but trying it tells
        ("stablelm", {}),  # does not hand on which rows there are
    ],
)
def test_a_model_with_another_kind_of_memory_is_left_to_transformers(
    kind: str, fields: dict[str, Any]
) -> None:
    other = model(kind, **fields)
    ids = torch.arange(12)[None]
    before = other(input_ids=ids).logits
    assert open_reader(other, 1 << 20) is None
    assert torch.equal(other(input_ids=ids).logits, before)


@pytest.mark.parametrize("kind", ["qwen3", "llama"])
def test_no_token_is_asked_for_twice(kind: str) -> None:
    """Each row's tokens are chosen in order, once each, however many were drafted."""
    reader = open_reader(model(kind), 1 << 20)
    assert reader is not None
    asked: list[int] = []

    def pick(row: int, scores: torch.Tensor) -> int:
        asked.append(row)
        return [5, 6, 7][(len(asked) - 1) % 3]

    with torch.inference_mode():
        said = reader.decode([[5, 6, 7, 5, 6, 7]], [9], pick, lambda row, new: False)
    assert said == [[5, 6, 7] * 3]
    assert len(asked) == 9
