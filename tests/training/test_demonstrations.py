"""What a model is trained on is what the Planning agent shows it, token by token."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ecgscroll
from ecgscroll.errors import ConfigError
from ecgscroll.tools.schemas import tool_schemas
from policies.planning import Planning
from training.demonstrations import DONE, demonstrate
from training.samples import IGNORED, Sampler, decoded_calls, stretches
from training.tiny import make_tokenizer

NAME = "af_burden/synth/paf01"


@pytest.fixture(scope="module")
def conversation(synth_data):
    (found,) = demonstrate("rule", [NAME], "reference", synth_data)
    return found


@pytest.fixture(scope="module")
def tokenizer(conversation):
    return make_tokenizer(conversation.texts(), 600, ["reference"])


def calls_of(conversation):
    said = [one for turn in conversation.turns for one in turn if one["role"] == "assistant"]
    functions = [one["tool_calls"][0]["function"] for one in said]
    return [{"name": f["name"], "arguments": json.loads(f["arguments"])} for f in functions]


def asked(data, calls, turns):
    """What the Planning agent asks with, turn by turn, when its model makes these calls."""
    env = ecgscroll.make(NAME, data=data, dx="reference")
    policy = Planning("script", script=calls, turns=turns, ledger=False, prompt_tokens=10**6)
    obs, info = env.reset(seed=0)
    policy.reset(info)
    while not env.ended:
        action = policy.act(obs, info)
        yield policy.trace()["messages"]
        obs, _, _, _, info = env.step(action)


def prompt(tokenizer, messages):
    return tokenizer.apply_chat_template(
        [decoded_calls(one) for one in messages],
        tools=tool_schemas("reference"),
        add_generation_prompt=True,
        tokenize=True,
        return_dict=True,
    )["input_ids"]


def test_a_whole_conversation_reads_as_the_planning_agents_prompts(
    conversation, tokenizer, synth_data
):
    (sample,) = Sampler(tokenizer, 6, 10**6).samples(conversation)
    calls = calls_of(conversation)
    for turn, messages in enumerate(asked(synth_data, calls, 10**6)):
        if turn % 10 == 0:
            begin = prompt(tokenizer, messages)
            assert sample["input_ids"][: len(begin)] == begin
            said = tokenizer.decode(sample["input_ids"][len(begin) :]).partition("<|im_end|>")[0]
            call = json.loads(said.replace("<tool_call>", "").replace("</tool_call>", ""))
            assert call == calls[turn]


def test_a_window_reads_as_the_planning_agents(conversation, tokenizer, synth_data):
    turns = 6
    whole = list(Sampler(tokenizer, turns, 1600).samples(conversation))
    windows = [prompt(tokenizer, one) for one in asked(synth_data, calls_of(conversation), turns)]
    assert len(whole) > 5
    for sample in whole:
        assert any(sample["input_ids"][: len(window)] == window for window in windows)


def test_the_loss_is_on_each_of_the_agents_turns_once(conversation, tokenizer):
    learnt = ""
    for sample in Sampler(tokenizer, 6, 1200).samples(conversation):
        own = [token for token in sample["labels"] if token != IGNORED]
        pairs = zip(sample["input_ids"], sample["labels"], strict=True)
        assert all(label in (token, IGNORED) for token, label in pairs)
        learnt += tokenizer.decode(own)
    said = [part.strip() for part in learnt.split("<|im_end|>") if part.strip()]
    assert said.pop() == DONE
    found = [
        json.loads(one.removeprefix("<tool_call>").removesuffix("</tool_call>")) for one in said
    ]
    assert found == calls_of(conversation)


def test_a_first_lesson_is_on_all_that_is_read_but_the_system_prompt(conversation, tokenizer):
    calls, text = (
        next(iter(Sampler(tokenizer, 6, 1600, all_text=whole).samples(conversation)))
        for whole in (False, True)
    )
    assert calls["input_ids"] == text["input_ids"]
    learnt = [token for token in text["labels"] if token != IGNORED]
    assert learnt == text["input_ids"][-len(learnt) :]
    told = tokenizer.decode(text["input_ids"][: -len(learnt)])
    assert "Answer every message" in told
    assert "Result" not in told
    assert "cursor" in tokenizer.decode(learnt)
    assert text["labels"][-200:] != calls["labels"][-200:]


def test_the_ledgers_lines_are_not_shown(conversation):
    assert "Ledger:" not in "".join(conversation.texts())
    assert conversation.score == pytest.approx(0.965, abs=0.001)


@given(
    st.lists(st.integers(1, 300), min_size=1, max_size=60), st.integers(1, 12), st.integers(1, 3000)
)
def test_every_turn_is_learnt_once_within_the_room_with_a_window_before_it(lengths, shown, room):
    found = stretches(lengths, shown, room)
    learnt = [turn for one in found for turn in range(one.learnt, one.last)]
    assert learnt == list(range(len(lengths)))
    for one in found:
        assert one.first <= one.learnt < one.last
        assert one.first < one.learnt or one.first == 0
        size = sum(lengths[one.first : one.last])
        assert size <= room or one.last == one.learnt + 1
        if sum(lengths[max(0, one.learnt - shown) : one.learnt + 1]) <= room:
            assert one.first == max(0, one.learnt - shown)


@given(
    st.lists(st.integers(1, 300), min_size=30, max_size=80), st.integers(1, 12), st.integers(0, 12)
)
def test_a_window_that_grows_is_learnt_at_every_size(lengths, shown, slack):
    found = stretches(lengths, shown, room=(shown + slack + 1) * max(lengths))
    for one in found[1:-1]:
        seen = {turn - one.first for turn in range(one.learnt, one.last)}
        assert set(range(shown, shown + slack + 1)) <= seen


def test_a_template_that_trl_does_not_know_is_refused(tokenizer):
    other = type(tokenizer)(tokenizer_object=tokenizer.backend_tokenizer)
    other.chat_template = "{% for message in messages %}{{ message.content }}{% endfor %}"
    with pytest.raises(ConfigError, match="set model"):
        Sampler(other, 8, 1000)


def test_a_sample_that_has_no_room_for_a_turn_is_refused(conversation, tokenizer):
    with pytest.raises(ConfigError, match=r"raise demonstrations.max_length \(200\)"):
        list(Sampler(tokenizer, 8, 200).samples(conversation))
