"""Models that are no models."""

from __future__ import annotations

import pytest

from ecgscroll.errors import ConfigError
from policies.backends.base import Backend, Reply
from policies.backends.scripted import Oracle, Script
from policies.judge import FLAG_CHUNKS

BATCH = """\
0: 0-30 s dominant_rhythm=sinus_rhythm af_frac=0.0
1: 30-60 s dominant_rhythm=AF af_frac=0.7
2: 60-90 s not measured
3: 90-120 s dominant_rhythm=null af_frac=null"""


def flagged(text, tools=(FLAG_CHUNKS,)):
    reply = Oracle().complete([{"role": "user", "content": text}], tools, 0)
    return reply.calls[0].arguments


def test_scripts_are_back_ends():
    assert isinstance(Script(["a"]), Backend)
    assert isinstance(Oracle(), Backend)


def test_replies_come_in_turn_and_begin_anew(tmp_path):
    (tmp_path / "script.yaml").write_text("[hello, {name: skim, arguments: {duration: 5}}]")
    model = Script(str(tmp_path / "script.yaml"))
    said = [model.complete([{"role": "user", "content": "x" * 8}], [], 0) for _ in range(3)]
    assert [one.text for one in said] == ["hello", "", "hello"]
    assert said[1].calls[0].arguments == '{"duration": 5}'
    assert len(model.fingerprint()["script"]) == 64
    assert (said[0].usage.prompt_tokens, said[0].usage.completion_tokens) == (2, 2)


def test_a_whole_reply_and_several_calls_pass():
    model = Script([Reply("as it is"), [{"name": "a"}, {"name": "b", "arguments": "{"}]])
    assert model.complete([], [], 0).text == "as it is"
    assert [call.arguments for call in model.complete([], [], 0).calls] == ["{}", "{"]


@pytest.mark.parametrize("script", ["nowhere.yaml", [], {}, 3])
def test_what_is_no_script_is_a_sentence(script):
    with pytest.raises(ConfigError):
        Script(script)


def test_the_oracle_reads_each_label():
    assert flagged(BATCH) == '{"indices": [1]}'
    assert (
        flagged("7: 0-30 s pvc_times_count=2\n8: 30-60 s pvc_times_count=0") == '{"indices": [7]}'
    )
    assert flagged(
        "0: 0-30 s ischemic=yes lead=V5 st_mv=-0.2\n1: 30-60 s ischemic=no lead=null"
    ) == ('{"indices": [0]}')
    assert flagged("0: 0-30 s not measured") == '{"indices": []}'


def test_the_oracle_refuses_what_it_cannot_read():
    with pytest.raises(ConfigError, match="--dx reference"):
        flagged("0: 0-30 s hr_bpm=70")
    with pytest.raises(ConfigError, match="policy judge"):
        flagged(BATCH, tools=())


@pytest.mark.parametrize(
    "line", ["5", "null", "[hello]", "{name: skim, arguments: {duration: 2020-01-01}}"]
)
def test_what_is_no_reply_is_told_before_anything_is_asked(line, tmp_path):
    (tmp_path / "script.yaml").write_text(f"- hello\n- {line}\n")
    with pytest.raises(ConfigError, match="is no reply"):
        Script(str(tmp_path / "script.yaml"))
