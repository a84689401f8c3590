"""The Planning agent, played by scripts in place of a model."""

from __future__ import annotations

import json

import pytest
from policies_fakes import assert_well_formed, play, quarter, write_day

import ecgscroll
from ecgscroll.errors import ConfigError
from ecgscroll.policy import Policy, Traced, fingerprint
from policies.asking import message_tokens
from policies.planning import Planning

EVERY = {
    "episode_detection/synth/paf01", "ischemia/synth/ischemia01", "pvc_burden/synth/ectopy01",
    "rare_event/synth/rare01", "change_detection/synth/paf01",
}  # fmt: skip


def scan(messages, tools, seed):
    """Skim on; at the end write one interval, then finish: what it knows it reads in the prompt."""
    newest = messages[-1]["content"]
    head = newest.split("\n")[0]
    cursor, total = (float(word) for word in head.partition(",")[0].split() if word[0].isdigit())
    if cursor < total:
        return {"name": "skim", "arguments": {"duration": 60}}
    if "entries written: 0" in head:
        return {"name": "write", "arguments": {"t0": 10, "t1": 40, "confidence": 0.5}}
    return {"name": "finish", "arguments": {}}


@pytest.mark.parametrize("instance", sorted(EVERY))
@pytest.mark.parametrize("dx", [None, "reference"])
def test_a_scripted_model_reads_every_synthetic_recording(instance, dx, synth_data):
    policy = Planning(backend="script", script=scan)
    env = ecgscroll.make(instance, data=synth_data, dx=dx)
    calls, infos, finished = play(env, policy)
    assert finished
    assert infos[-1]["counts"]["errors"] == 0
    assert len(infos[-1]["ledger"]) == 1
    assert 0 <= infos[-1]["score"].value <= 1
    assert policy.usage()["requests"] == len(calls)


@pytest.mark.parametrize("context", ["window", "last", "full"])
def test_the_same_model_plays_under_every_context(context, synth_data):
    policy = Planning(backend="script", script=scan, context=context)
    _, infos, finished = play(ecgscroll.make("af_burden/synth/paf01", data=synth_data), policy)
    assert finished
    assert infos[-1]["counts"]["writes"] == 1


def test_a_recording_without_a_waveform_is_read_as_well(tmp_path, synth_data):
    folder = tmp_path / "bare"
    folder.mkdir()
    for file in (synth_data / "synth").iterdir():
        if file.suffix in (".hea", ".atr") and file.stem == "paf01":
            (folder / file.name).write_bytes(file.read_bytes())
    env = ecgscroll.make("af_burden/bare/paf01", data=tmp_path, dx="reference")
    _, infos, finished = play(env, Planning(backend="script", script=scan))
    assert (finished, infos[-1]["beats"]) == (True, "reference")


def test_a_day_of_thousands_of_turns_stays_in_a_small_context(tmp_path):
    """A whole day in skims of 30 s, the model's context being 6,000 tokens."""
    write_day(tmp_path / "long")
    turns = []

    def steps(messages, tools, seed):
        turns.append(sum(message_tokens(one, quarter) for one in messages))
        call = scan(messages, tools, seed)
        return call if call["name"] != "skim" else {"name": "skim", "arguments": {"duration": 30}}

    policy = Planning(backend="script", script=steps, context_tokens=6000)
    env = ecgscroll.make("af_burden/long/day", data=tmp_path, dx="reference")
    _, infos, finished = play(env, policy)
    assert finished
    assert len(turns) == infos[-1]["counts"]["steps"] == 2882
    tools = quarter(json.dumps(ecgscroll.tool_schemas("reference")))
    assert max(turns) + tools + 256 <= 6000


def test_the_trace_is_the_last_request_as_json(synth_data):
    policy = Planning(backend="script", script=scan)
    assert isinstance(policy, Policy)
    assert isinstance(policy, Traced)
    env = ecgscroll.make("af_burden/synth/paf01", data=synth_data)
    obs, info = env.reset(seed=0)
    policy.reset(info)
    assert policy.trace() is None
    policy.act(obs, info)
    trace = json.loads(json.dumps(policy.trace()))
    assert_well_formed(trace["messages"])
    assert trace["messages"][-1]["content"] == obs["text"]
    assert trace["reply"]["calls"][0]["name"] == "skim"
    assert trace["usage"]["prompt_tokens"] > 100
    assert policy.usage()["prompt_tokens"] == trace["usage"]["prompt_tokens"]


def test_seeds_follow_from_the_episodes_seed_its_instance_and_the_turn(synth_data):
    seen = []

    def note(messages, tools, seed):
        seen.append(seed)
        return scan(messages, tools, seed)

    def seeds(**changes):
        seen.clear()
        policy = Planning(backend="script", script=note)
        env = ecgscroll.make("af_burden/synth/paf01", data=synth_data)
        obs, info = env.reset(seed=1)
        policy.reset(info | changes)
        for _ in range(3):
            policy.act(obs, info)
        return tuple(seen)

    assert seeds() == seeds()
    every = [seeds(), seeds(sampling_seed=2), seeds(seed=3), seeds(instance="a/b/c")]
    assert len({seed for one in every for seed in one}) == 12
    assert seeds(sampling_seed=1) == seeds()
    assert all(0 <= seed < 2**31 for one in every for seed in one)


def test_the_fingerprint_tells_prompts_context_and_model():
    options = {"backend": "oracle", "context": "last", "slack": 3}
    found = fingerprint("policies.planning:Planning", options)
    assert found["context"]["kind"] == "last"
    assert found["context"]["slack"] == 3
    assert found["backend"] == {"oracle": "labels"}
    assert len(found["prompts"]) == 64


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"backend": "abacus"}, "no back end 'abacus'"),
        ({"backend": "oracle", "context": "some"}, "window, last, full"),
        ({"backend": "oracle", "turns": -1}, "turns must be"),
        ({"backend": "oracle", "slack": -1}, "slack must be"),
        ({"backend": "oracle", "colour": 1}, "colour"),
    ],
)
def test_a_wrong_option_is_a_sentence(options, why):
    with pytest.raises(ConfigError, match=why):
        Planning(**options)


def test_a_context_that_holds_no_prompt_is_a_sentence(synth_data):
    policy = Planning(backend="script", script=scan, context_tokens=1000)
    _, info = ecgscroll.make("af_burden/synth/paf01", data=synth_data).reset(seed=0)
    with pytest.raises(ConfigError, match="longer context"):
        policy.reset(info)


def test_the_oracle_refuses_to_plan(synth_data):
    policy = Planning(backend="oracle")
    obs, info = ecgscroll.make("af_burden/synth/paf01", data=synth_data).reset(seed=0)
    policy.reset(info)
    with pytest.raises(ConfigError, match="policy judge"):
        policy.act(obs, info)
