"""A server's model: a reply or one clear sentence, whatever it does, and no key anywhere."""

from __future__ import annotations

import gzip
import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import scripted_server as fake

from ecgscroll.errors import ConfigError, EcgScrollError, ModelError
from policies.backends.base import Backend, ToolCall
from policies.backends.http import HttpBackend
from policies.backends.pacing import Clock, Pace, backoff, retry_after

KEY = "sk-fake-0123456789"
TOOL = {"type": "function", "function": {"name": "skim", "description": "", "parameters": {}}}
ASKED = [{"role": "user", "content": "Go on."}]
SKIM = '{"name": "skim", "arguments": {"duration": 60}}'


class FakeClock(Clock):
    """Time that passes when it is slept, and at once."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    def date(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ECGSCROLL_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ECGSCROLL_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def ask(*script: fake.Answer, seed: int = 0, **options: Any) -> Any:
    """The reply to one request, the server that gave it, and the waits in between."""
    clock = FakeClock()
    with fake.serving(*script) as server:
        backend = HttpBackend("m", base_url=server.url, clock=clock, **options)
        try:
            return backend.complete(ASKED, [TOOL], seed), server, clock.slept
        finally:
            backend.close()


def test_it_is_a_backend_and_sends_what_it_was_given() -> None:
    reply, server, _ = ask(fake.says("Hello."), max_new_tokens=7)
    assert (reply.text, reply.calls, reply.stop) == ("Hello.", (), "stop")
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (100, 10)
    body = server.bodies[0]
    assert body["messages"] == ASKED
    assert body["tools"] == [TOOL]
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("m", 7, 0)
    assert "seed" not in body
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    backend = HttpBackend("m", base_url=server.url)
    assert isinstance(backend, Backend)
    backend.close()


def test_sampling_sends_the_seed_and_extra_fields_pass() -> None:
    _, server, _ = ask(fake.says("x"), seed=5, temperature=0.7, top_p=0.9, extra={"min_p": 0.1})
    body = server.bodies[0]
    assert (body["seed"], body["temperature"], body["top_p"], body["min_p"]) == (5, 0.7, 0.9, 0.1)


def test_several_calls_at_once_and_malformed_ones_are_handed_on() -> None:
    made = [
        fake.call("skim", '{"duration": 60}'),
        fake.call("skim", '{"duration": '),
        fake.call("skim", {"duration": 5}),
        fake.call(None, None, None),
        {"type": "function"},
        "nonsense",
    ]
    reply, _, _ = ask(fake.calls(*made))
    assert reply.calls == (
        ToolCall("skim", '{"duration": 60}', "c1"),
        ToolCall("skim", '{"duration": ', "c1"),
        ToolCall("skim", '{"duration": 5}', "c1"),
        ToolCall("", "{}", ""),
        ToolCall("", "{}", ""),
    )
    assert reply.stop == "tool_calls"


@pytest.mark.parametrize("content", [None, 5, [{"text": 3}, "x"], {}])
def test_no_calls_and_no_text_is_an_empty_reply(content: Any) -> None:
    reply, _, _ = ask(fake.says(content))
    assert (reply.text, reply.calls) == ("", ())


def test_a_long_text_comes_whole() -> None:
    reply, _, _ = ask(fake.says("word " * 20_000))
    assert len(reply.text) == 99_999


@pytest.mark.parametrize("count", [10**30, -1, 1.5, "many", None, True, float("nan")])
def test_implausible_token_counts_are_estimated(count: Any) -> None:
    answer = fake.says("four", prompt_tokens=count, completion_tokens=count)
    reply, _, _ = ask(answer, prompt_price=1.0, completion_price=1.0)
    assert 0 < reply.usage.prompt_tokens < 1000
    assert reply.usage.completion_tokens == 2
    assert 0 < reply.usage.cost < 0.01


def test_costs_follow_the_prices() -> None:
    reply, _, _ = ask(fake.says("x"), prompt_price=2.0, completion_price=10.0)
    assert reply.usage.cost == pytest.approx((100 * 2 + 10 * 10) / 1e6)
    assert ask(fake.says("x"))[0].usage.cost is None


def test_it_waits_as_the_server_asks_and_counts_retries() -> None:
    script = (fake.status(429, Retry_After="7"), fake.status(500), fake.says("x"))
    reply, server, slept = ask(*script)
    assert (reply.text, reply.usage.retries, len(server.bodies)) == ("x", 2, 3)
    assert slept[0] == 7
    assert slept[1] == backoff(1, 0)
    assert reply.usage.seconds == pytest.approx(sum(slept))


FAILURES = {
    "429": fake.status(429),
    "500": fake.status(500),
    "hangs": fake.hangs,
    "breaks off": fake.breaks_off,
    "page": fake.page,
    "empty choices": lambda handler: handler.send(200, '{"choices": []}'),
    "choices of the wrong kind": lambda handler: handler.send(200, '{"choices": [3]}'),
    "error with status 200": lambda handler: handler.send(200, '{"error": {"message": "busy"}}'),
    "not JSON": lambda handler: handler.send(200, '{"choices": ['),
    "a list": lambda handler: handler.send(200, "[]"),
    "deep": lambda handler: handler.send(200, "[" * 100_000),
    "empty": lambda handler: handler.send(200, ""),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_what_may_pass_is_tried_again_then_told_in_one_sentence(failure: fake.Answer) -> None:
    options = {"attempts": 2, "timeout_s": 0.4 if failure is fake.hangs else 20}
    reply, server, _ = ask(failure, fake.says("x"), **options)
    assert (reply.text, reply.usage.retries, len(server.bodies)) == ("x", 1, 2)
    with pytest.raises(ModelError, match=r"gave no reply: .* \(after 2 attempts\)\.$") as caught:
        ask(failure, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("code", [400, 401, 403, 404, 422])
def test_what_will_not_pass_is_not_tried_again(code: int) -> None:
    with fake.serving(fake.status(code, f"bad key {KEY}\nmore")) as server:
        backend = HttpBackend("m", base_url=server.url, clock=FakeClock())
        with pytest.raises(ModelError, match=f"answered {code}") as caught:
            backend.complete(ASKED, [], 0)
        backend.close()
    assert len(server.bodies) == 1
    assert KEY not in str(caught.value)


def test_a_wait_beyond_all_patience_is_not_waited() -> None:
    with pytest.raises(ModelError, match="asks to wait 9000 s"):
        ask(fake.status(429, Retry_After="9000"))


def test_nobody_at_the_address() -> None:
    with fake.serving(fake.hangs) as server:
        url = server.url
    backend = HttpBackend("m", base_url=url, attempts=2, clock=FakeClock())
    with pytest.raises(ModelError, match="connection failed"):
        backend.complete(ASKED, [], 0)
    backend.close()


def test_a_server_without_tools_is_told_them_in_words() -> None:
    refusal = fake.status(400, '"auto" tool choice requires --enable-auto-tool-choice')
    with fake.serving(refusal, fake.says(f"Well: {SKIM}"), fake.says(SKIM)) as server:
        backend = HttpBackend("m", base_url=server.url, clock=FakeClock())
        first = backend.complete(ASKED, [TOOL], 0)
        second = backend.complete(ASKED, [TOOL], 0)
        backend.close()
    assert first.calls == second.calls == (ToolCall("skim", '{"duration": 60}'),)
    assert first.text == "Well:"
    assert first.usage.retries == 0
    assert ["tools" in body for body in server.bodies] == [True, False, False]
    assert "skim" in server.bodies[1]["messages"][0]["content"]


def test_tools_as_text_from_the_start_and_native_tools_only() -> None:
    assert "tools" not in ask(fake.says(SKIM), tools="text")[1].bodies[0]
    with pytest.raises(ModelError, match="no tools"):
        ask(fake.status(400, "no tools"), tools="native")


def test_a_server_that_wants_the_other_name_of_the_limit_gets_it() -> None:
    refusal = fake.status(400, "'max_tokens' is not supported, use 'max_completion_tokens'")
    reply, server, _ = ask(refusal, fake.says("x"), max_new_tokens=9)
    assert reply.text == "x"
    assert server.bodies[1]["max_completion_tokens"] == 9
    assert "max_tokens" not in server.bodies[1]


def test_requests_under_way_are_bounded() -> None:
    most, now, lock = 0, 0, threading.Lock()
    together = threading.Barrier(3)

    def counted(handler: fake.Handler) -> None:
        nonlocal most, now
        with lock:
            now += 1
            most = max(most, now)
        together.wait(20)
        with lock:
            now -= 1
        handler.send(200, fake.completion({"content": "x"}))

    with fake.serving(counted) as server:
        backend = HttpBackend("m", base_url=server.url, concurrency=3)
        with ThreadPoolExecutor(9) as pool:
            replies = list(pool.map(lambda seed: backend.complete(ASKED, [], seed), range(9)))
        backend.close()
    assert [reply.text for reply in replies] == ["x"] * 9
    assert most == 3


def test_closing_ends_requests_under_way_and_refuses_new_ones() -> None:
    with fake.serving(fake.hangs) as server, ThreadPoolExecutor(1) as pool:
        backend = HttpBackend("m", base_url=server.url)
        waiting = pool.submit(backend.complete, ASKED, [], 0)
        while not server.bodies:
            threading.Event().wait(0.005)
        backend.close()
        with pytest.raises(ModelError, match="closed"):
            waiting.result(20)
    backend.close()
    with pytest.raises(ModelError, match="closed"):
        backend.complete(ASKED, [], 0)


def test_limits_per_minute_are_kept() -> None:
    clock = FakeClock()
    with fake.serving(fake.says("x")) as server:
        backend = HttpBackend("m", base_url=server.url, requests_per_minute=30, clock=clock)
        for _ in range(3):
            backend.complete(ASKED, [], 0)
        backend.close()
    assert clock.slept == [2.0, 2.0]


def test_an_estimate_that_was_too_high_is_given_back() -> None:
    import asyncio

    clock = FakeClock()
    pace = Pace(60, clock)
    asyncio.run(pace.take(100))
    pace.correct(-90)
    asyncio.run(pace.take(1))
    assert clock.slept == [10.0]


def test_the_wait_grows_and_is_the_same_for_a_seed() -> None:
    waits = [backoff(attempt, 3) for attempt in range(30)]
    assert waits == [backoff(attempt, 3) for attempt in range(30)]
    assert waits != [backoff(attempt, 4) for attempt in range(30)]
    for attempt, wait in enumerate(waits[:6]):
        assert 0.25 * 2**attempt <= wait <= 0.5 * 2**attempt
    assert max(waits) <= 60


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "-5"}, 0),
        ({"retry-after": "Thu, 01 Jan 1970 00:17:00 GMT"}, 20),
        ({"retry-after": "Thu, 01 Jan 1970 00:17:00 -0000"}, 20),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e999"}, None),
    ],
)
def test_how_long_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, FakeClock()) == seconds


def test_the_key_is_nowhere_but_in_the_header(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    reply, _, _ = ask(fake.status(500, KEY), fake.says(f"Your key is {KEY}."))
    written = [repr(reply), caplog.text]
    for script in ((fake.status(401, f"Incorrect API key: {KEY}"),), (fake.status(500, KEY),)):
        with pytest.raises(ModelError) as caught:
            ask(*script, attempts=1)
        written.append(str(caught.getrepr(style="long")))
    backend = HttpBackend("m", base_url="http://127.0.0.1:9/v1")
    written += [json.dumps(backend.fingerprint()), repr(backend), *capfd.readouterr()]
    backend.close()
    assert "***" in written[0]
    assert [text for text in written if KEY in text] == []


def test_a_key_that_a_server_spells_otherwise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-ab/cd+0123"
    monkeypatch.setenv("ECGSCROLL_API_KEY", key)
    escaped = "".join(f"\\u{ord(letter):04X}" for letter in key)
    for spelt in (key.replace("/", r"\/"), escaped):
        inner = fake.call("skim", f'{{"k": "{spelt}"}}')
        told = json.dumps({"error": {"message": "M"}}).replace("M", f"no {spelt}")
        said = fake.completion({"content": "M"}).replace('"M"', f'"{spelt}"')
        assert ask(lambda handler, said=said: handler.send(200, said))[0].text == "***"
        assert ask(fake.calls(inner))[0].calls[0].arguments == '{"k": "***"}'
        with pytest.raises(ModelError, match=r"no \*\*\*"):
            ask(lambda handler, told=told: handler.send(200, told), attempts=1)


def endless(handler: fake.Handler) -> None:
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    while not handler.server.released.is_set():
        handler.wfile.write(b"%x\r\n%s\r\n" % (1 << 20, b" " * (1 << 20)))


def bomb(handler: fake.Handler) -> None:
    data = gzip.compress(b" " * (100 << 20), 1)
    handler.send_response(200)
    handler.send_header("Content-Encoding", "gzip")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


@pytest.mark.parametrize("answer", [endless, bomb])
def test_an_answer_that_does_not_end_is_not_kept(answer: fake.Answer) -> None:
    with pytest.raises(ModelError, match="longer than 8 MiB"):
        ask(answer, attempts=1)


def test_what_is_no_gzip_is_one_sentence() -> None:
    with pytest.raises(ModelError, match="the connection failed"):
        ask(lambda handler: handler.send(200, "abc", Content_Encoding="gzip"), attempts=1)


def test_a_byte_order_mark_does_no_harm() -> None:
    text = "\ufeff" + fake.completion({"content": "hi"})
    assert ask(lambda handler: handler.send(200, text))[0].text == "hi"


@pytest.mark.parametrize("wait", ["0", "-3", "Thu, 01 Jan 1970 00:00:10 GMT"])
def test_a_wait_of_nothing_does_not_use_up_the_attempts(wait: str) -> None:
    _, _, slept = ask(fake.status(429, Retry_After=wait), fake.says("hi"))
    assert slept == [backoff(0, 0)]


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("ECGSCROLL_API_KEY", "", "There is no key"),
        ("ECGSCROLL_API_KEY", "a\nb-secret", "no header may"),
        ("ECGSCROLL_BASE_URL", "localhost:8000", "must look like"),
        ("ECGSCROLL_BASE_URL", "http://me:secret@h/v1", "Leave user"),
        ("ECGSCROLL_BASE_URL", "http://h/v1?key=secret", "Leave user"),
        ("ECGSCROLL_BASE_URL", "http://[h/v1", "must look like"),
    ],
)
def test_a_wrong_environment_is_told_without_its_value(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=sentence) as caught:
        HttpBackend("m")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "option",
    [
        {"tools": "maybe"},
        {"attempts": 0},
        {"timeout_s": 0},
        {"timeout_s": float("nan")},
        {"requests_per_minute": 0},
        {"tokens_per_minute": -1},
        {"longest_wait_s": -1},
        {"prompt_price": -1},
        {"completion_price": float("inf")},
    ],
)
def test_wrong_options(option: dict[str, Any]) -> None:
    with pytest.raises(EcgScrollError):
        HttpBackend("m", base_url="http://127.0.0.1:9/v1", **option)
