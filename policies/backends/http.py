"""A model behind an OpenAI-compatible server: a company's, vLLM, Ollama, `transformers serve`.

The key comes from the environment and goes into the request's header, nowhere else: messages of
errors and replies are searched for it before anybody sees them.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import math
import os
import re
import threading
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

import openai

from ecgscroll.errors import ConfigError, ModelError
from policies.backends import plain
from policies.backends.base import Message, Reply, Usage
from policies.backends.pacing import Clock, Pace, backoff, retry_after
from policies.backends.wire import Turn, UnreadableError, read_turn

URL_VARIABLES = ("ECGSCROLL_BASE_URL", "OPENAI_BASE_URL")
KEY_VARIABLES = ("ECGSCROLL_API_KEY", "OPENAI_API_KEY")
DEFAULT_URL = "https://api.openai.com/v1"
LIMIT_FIELDS = ("max_tokens", "max_completion_tokens")  # what most servers know; OpenAI's own

_CHARACTERS_PER_TOKEN = 2  # cautious: numbers and JSON take more tokens than prose does
_SHORTEST_SECRET = 8  # a shorter key is a placeholder such as "none"
_LONGEST_ANSWER = 8 << 20  # bytes; one that never ends must not fill the memory

Tools = Sequence[Mapping[str, Any]]
Result = TypeVar("Result")


class HttpBackend:
    """A server's model that many threads may ask, a bounded number of them at once.

    Time-outs, refused and broken connections, 408, 409, 429, 5xx and unreadable answers are tried
    again, after the time that the server asks for or else a growing one. The client's own retries
    are off: they could neither be counted, nor seeded, nor held to the rate limits.

    Parameters
    ----------
    model
        Name of the model, as the server knows it.
    base_url
        Address of the API, such as ``http://localhost:8000/v1``. Default: ``ECGSCROLL_BASE_URL``,
        then ``OPENAI_BASE_URL``, then OpenAI's. The key: ``ECGSCROLL_API_KEY``, then
        ``OPENAI_API_KEY``.
    tools
        ``native`` uses the server's tool calling, ``text`` tells the tools in the system text and
        reads JSON from the reply; ``auto`` begins with the first and changes to the second for
        good when the server refuses a request because of the tools.
    temperature, top_p
        Sampling; a temperature of 0 asks for greedy decoding, None leaves it to the server, which
        some models insist on.
    max_new_tokens
        Most tokens of one reply.
    context_tokens
        Most tokens of messages and reply together; a server does not say, so None is unknown.
    concurrency
        Most requests under way at once.
    attempts
        Most tries of one request.
    timeout_s
        Longest time of one try, in seconds.
    longest_wait_s
        Longest time that a server may ask to wait before the next try, in seconds.
    requests_per_minute, tokens_per_minute
        Limits to keep to; None for none.
    prompt_price, completion_price
        Price of a million tokens; costs are unknown without.
    extra
        Further fields of the request's body, for what only some servers know.
    clock
        Where time comes from.

    Raises
    ------
    ConfigError
        If an option or the environment is wrong.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        tools: str = "auto",
        temperature: float | None = 0.0,
        top_p: float | None = None,
        max_new_tokens: int = 256,
        context_tokens: int | None = None,
        concurrency: int = 8,
        attempts: int = 6,
        timeout_s: float = 120.0,
        longest_wait_s: float = 120.0,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        prompt_price: float | None = None,
        completion_price: float | None = None,
        extra: Mapping[str, Any] | None = None,
        clock: Clock | None = None,
    ) -> None:
        if tools not in ("auto", "native", "text"):
            raise ConfigError(f"tools={tools!r} must be auto, native or text.")
        rates = (requests_per_minute, tokens_per_minute)
        above = [max_new_tokens, concurrency, attempts, timeout_s, context_tokens, *rates]
        if any(value is not None and not 0 < value < math.inf for value in above):
            raise ConfigError("Limits, attempts and time-outs of a model must be above 0.")
        least = (longest_wait_s, prompt_price or 0, completion_price or 0)
        if any(not 0 <= value < math.inf for value in least):
            raise ConfigError("Prices and waits of a model must be 0 or more.")
        self._url = _url(base_url)
        self._key = _key(self._url)
        self._secret = _spellings(self._key) if len(self._key) >= _SHORTEST_SECRET else None
        self._model, self._tools, self._native = model, tools, tools != "text"
        self._sampling = {"temperature": temperature, "top_p": top_p}
        self._limit, self._context = max_new_tokens, context_tokens
        self._limit_field = LIMIT_FIELDS[self._url == DEFAULT_URL]
        self._attempts, self._timeout_s, self._longest_s = attempts, timeout_s, longest_wait_s
        self._prices = (prompt_price, completion_price)
        self._extra = dict(extra or {})
        self._clock = clock or Clock()
        self._requests = Pace(requests_per_minute, self._clock)
        self._tokens = Pace(tokens_per_minute, self._clock)
        self._slots = asyncio.Semaphore(concurrency)
        self._loop = _LoopThread()
        self._client = openai.AsyncOpenAI(
            api_key=self._key, base_url=self._url, max_retries=0, timeout=timeout_s
        )

    @property
    def context_tokens(self) -> int | None:
        """Most tokens of messages and reply together, as given; None where unknown."""
        return self._context

    def count_tokens(self, text: str) -> int:
        """Return a cautious estimate: a token for every two characters."""
        return -(-len(text) // _CHARACTERS_PER_TOKEN)

    def complete(self, messages: Sequence[Message], tools: Tools, seed: int) -> Reply:
        """Return the model's next turn.

        Raises
        ------
        ModelError
            If the server refuses, or no attempt brings a readable answer.
        """
        return self._loop.run(self._complete(messages, tools, seed))

    def fingerprint(self) -> dict[str, Any]:
        """Return what replies depend on; a server's model has no revision that could be asked."""
        return {
            "backend": "openai",
            "model": self._model,
            "server": self._url,
            "tools": self._tools,
            **self._sampling,
            "max_new_tokens": self._limit,
            "context_tokens": self._context,
            "extra": self._extra,
        }

    def close(self) -> None:
        """Close connections; requests under way end with an error."""
        self._loop.close(self._client.close)

    async def _complete(self, messages: Sequence[Message], tools: Tools, seed: int) -> Reply:
        began = self._clock.now()
        attempt = 0
        while True:
            body = self._body(messages, tools, seed)
            estimate = self.count_tokens(json.dumps(body))
            try:
                turn = await self._attempt(body, estimate, bool(tools))
                break
            except _AdaptError:  # the next body is one that the server understands
                continue
            except _AgainError as failure:
                attempt += 1
                if attempt >= self._attempts:
                    raise self._error(f"{failure} (after {attempt} attempts)") from None
                # a wait of 0 is none: the server's clock may be behind this one's
                await self._clock.sleep(failure.wait_s or backoff(attempt - 1, seed))
        usage = self._usage(turn, estimate, self._clock.now() - began, attempt)
        self._tokens.correct(usage.prompt_tokens + usage.completion_tokens - estimate)
        return Reply(turn.text, turn.calls, usage, turn.stop)

    async def _attempt(self, body: dict[str, Any], estimate: int, with_tools: bool) -> Turn:
        await self._requests.take(1)
        await self._tokens.take(estimate)
        try:
            async with self._slots, asyncio.timeout(self._timeout_s):
                text = await self._fetched(body)
            return read_turn(json.loads(self._redacted(text)), with_tools)
        except (TimeoutError, openai.APITimeoutError):
            raise _AgainError(f"it did not answer within {self._timeout_s:g} s") from None
        except openai.APIConnectionError as error:
            reason = self._brief(error.__cause__ or error)
            raise _AgainError(f"the connection failed: {reason}") from None
        except openai.APIStatusError as error:
            raise self._refused(error, body) from None
        except UnreadableError as error:
            raise _AgainError(str(error)) from None
        except (ValueError, RecursionError):  # half an answer, or a page for people
            raise _AgainError("its answer is not JSON; does the base URL end in /v1?") from None
        except openai.OpenAIError as error:
            raise self._error(self._brief(error)) from None

    async def _fetched(self, body: Mapping[str, Any]) -> str:
        """Return an answer's text, read piece by piece: one may never end."""
        answer = bytearray()
        async with self._client.chat.completions.with_streaming_response.create(**body) as response:
            parts = response.iter_bytes()
            while part := await self._part(parts):
                answer += part
                if len(answer) > _LONGEST_ANSWER:
                    raise UnreadableError(f"its answer is longer than {_LONGEST_ANSWER >> 20} MiB")
        return answer.decode("utf-8-sig", "replace")

    async def _part(self, parts: AsyncIterator[bytes]) -> bytes:
        """Return the next bytes of an answer, empty at its end."""
        try:
            return await anext(parts, b"")
        except Exception as error:  # of the library below the client, which wraps those before
            raise _AgainError(f"the connection failed: {self._brief(error)}") from None

    def _refused(self, error: openai.APIStatusError, body: Mapping[str, Any]) -> Exception:
        """Tell what to do about an error status: change the request, try again, or give up."""
        status, message = error.status_code, self._brief(error)
        if status in (400, 404, 422) and self._adapted(message.lower(), body):
            return _AdaptError()
        told = f"it answered {status}: {message}"
        if (status in (408, 409, 429) or status >= 500) and "insufficient_quota" not in message:
            wait = retry_after(error.response.headers, self._clock)
            if wait is None or wait <= self._longest_s:
                return _AgainError(told, wait)
            return self._error(f"{told}; it asks to wait {wait:.0f} s")
        if status in (401, 403):
            told += f"; is {KEY_VARIABLES[0]} right?"
        return self._error(told)

    def _adapted(self, message: str, body: Mapping[str, Any]) -> bool:
        """Change how requests are made where the server named what it does not understand."""
        if LIMIT_FIELDS[0] in body and LIMIT_FIELDS[1] in message:
            self._limit_field = LIMIT_FIELDS[1]
            return True
        if "tools" not in body or self._tools != "auto":
            return False
        if "tool" in message or "function" in message:
            self._native = False
            return True
        return False

    def _body(self, messages: Sequence[Message], tools: Tools, seed: int) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._model, self._limit_field: self._limit}
        body |= {name: value for name, value in self._sampling.items() if value is not None}
        if body.get("temperature"):
            body["seed"] = seed % (1 << 31)
        if self._native:
            body["messages"] = plain.whole(messages)
            if tools:
                body["tools"] = list(tools)
        else:
            body["messages"] = plain.told(messages, tools)
        return {**body, **({"extra_body": self._extra} if self._extra else {})}

    def _usage(self, turn: Turn, estimate: int, seconds: float, retries: int) -> Usage:
        prompt, completion = turn.prompt_tokens, turn.completion_tokens
        if prompt is None:
            prompt = estimate
        if completion is None:
            said = turn.text + "".join(call.name + call.arguments for call in turn.calls)
            completion = self.count_tokens(said)
        cost = None
        if self._prices != (None, None):
            cost = (prompt * (self._prices[0] or 0) + completion * (self._prices[1] or 0)) / 1e6
        return Usage(prompt, completion, seconds, cost, retries)

    def _error(self, reason: str) -> ModelError:
        return ModelError(f"The model server at {self._url} gave no reply: {reason}.")

    def _brief(self, error: BaseException) -> str:
        lines = self._redacted(str(error)).strip().splitlines()
        return lines[0][:300].rstrip(".") if lines else type(error).__name__

    def _redacted(self, text: str) -> str:
        return self._secret.sub("***", text) if self._secret else text


def _spellings(key: str) -> re.Pattern[str]:
    """Match a key as it stands, and as JSON may escape it, within JSON as well."""
    return re.compile("".join(rf"\\*(?:{re.escape(c)}|u(?i:{ord(c):04x}))" for c in key))


class _AgainError(Exception):
    """An attempt failed in a way that another may not."""

    def __init__(self, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


class _AdaptError(Exception):
    """The server does not understand the request as it was made; it will be made otherwise."""


class _LoopThread:
    """An event loop in a thread of its own, started when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._process = os.getpid()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine on the loop and wait for its result."""
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._started())
        except ModelError:
            work.close()
            raise
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise ModelError("The model was closed before it answered.") from None
        except BaseException:
            future.cancel()
            raise

    def close(self, farewell: Any) -> None:
        """Cancel what runs, await ``farewell()``, end the thread."""
        with self._lock:
            self._closed = True
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None or os.getpid() != self._process:
            return
        asyncio.run_coroutine_threadsafe(_cancel_others(farewell), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed or os.getpid() != self._process:
                raise ModelError("The model was closed, or opened in another process; open it.")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="model-server", daemon=True
                )
                self._thread.start()
            return self._loop


async def _cancel_others(farewell: Any) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await farewell()


def _url(base_url: str | None) -> str:
    url = base_url or _first(URL_VARIABLES) or DEFAULT_URL
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise ConfigError("The model server's base URL must look like http://localhost:8000/v1.")
    if "@" in parts.netloc or parts.query:
        raise ConfigError(
            f"Leave user, password and query out of the base URL; the key goes into "
            f"{KEY_VARIABLES[0]}."
        )
    return url.rstrip("/")


def _key(url: str) -> str:
    key = _first(KEY_VARIABLES)
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise ConfigError(f"The key in {KEY_VARIABLES[0]} holds characters that no header may.")
    if not key and url == DEFAULT_URL:
        raise ConfigError(
            f"There is no key: set {KEY_VARIABLES[0]}, or the address of a server that needs none "
            f"in {URL_VARIABLES[0]}."
        )
    return key or "none"


def _first(variables: Sequence[str]) -> str:
    found = (os.environ.get(variable, "").strip() for variable in variables)
    return next((value for value in found if value), "")
