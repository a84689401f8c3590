"""A checkpoint on this machine: any causal language model that transformers loads."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import transformers
from transformers.utils.peft_utils import find_adapter_config_file

from ecgscroll.errors import ConfigError, EcgScrollError, ModelError
from policies.backends import plain
from policies.backends.base import Message, Reply, Stop, ToolCall, Usage
from policies.backends.batching import Batcher
from policies.backends.checkpoint import adapter_folder, local_folder, weights_hash
from policies.backends.decoding import Decoder, Prompt, Sampling, check_device, set_threads
from policies.backends.parsing import arguments_text, cleaned, first_call_end, parse_calls

Tools = Sequence[Mapping[str, Any]]


class LocalBackend:
    """A local model that many threads may ask; their requests are decoded together.

    Opening one reads the configuration and the tokenizer; the weights are loaded when it is first
    asked. Code that comes with a checkpoint is never run, and pickled weights are refused.

    Parameters
    ----------
    model
        A folder, or a name on the hub.
    adapter
        Folder of a LoRA adapter that PEFT has saved; None for none.
    revision
        Commit, branch or tag of a model on the hub.
    dtype, device
        As torch names them. ``auto``: the GPU where there is one, with the checkpoint's dtype;
        else the CPU, in float32, which is faster there than bfloat16.
    tools
        ``native`` uses the chat template's tools, ``text`` tells them in the system text and reads
        JSON from the reply; ``auto`` takes the first where the template can.
    temperature, top_p, top_k
        Sampling; a temperature of 0 is greedy, and top_k 0 means all tokens.
    max_new_tokens
        Most tokens of one reply.
    context_tokens
        Most tokens of messages and reply together; default: what the model was made for.
    batch_size
        Most requests decoded together.
    patience_s
        How long a batch that is not full waits for one more request, in seconds.
    kept_gib
        Most memory for what was read, in GiB: what begins as it did is not read again. 0 keeps
        nothing, and leaves decoding to transformers.
    threads
        Processor threads of torch, for all of the process; default: torch's own choice. On a
        machine that does other work too, fewer are faster.
    template
        Further variables of the chat template, such as ``{"enable_thinking": False}``.

    Raises
    ------
    ConfigError
        If there is no such model or adapter, it may not be loaded, or an option is wrong.
    """

    def __init__(
        self,
        model: str,
        *,
        adapter: str | None = None,
        revision: str | None = None,
        dtype: str = "auto",
        device: str = "auto",
        tools: str = "auto",
        temperature: float = 0.0,
        top_p: float = 1.0,
        top_k: int = 0,
        max_new_tokens: int = 256,
        context_tokens: int | None = None,
        batch_size: int = 8,
        patience_s: float = 0.02,
        kept_gib: float = 1.0,
        threads: int | None = None,
        template: Mapping[str, Any] | None = None,
    ) -> None:
        _check(
            tools,
            temperature,
            top_p,
            min(max_new_tokens, batch_size, context_tokens or 1, threads or 1),
        )
        check_device(device, dtype)
        if not 0 <= kept_gib < float("inf"):
            raise ConfigError("kept_gib must be a number of GiB, 0 or more.")
        folder = local_folder(model)
        self._model, self._source = model, str(folder or model)
        self._adapter = adapter_folder(adapter) if adapter else None
        self._revision, self._dtype, self._device = revision, dtype, device
        self._sampling = Sampling(temperature, top_p, top_k)
        self._limit, self._kept = max_new_tokens, int(kept_gib * 2**30)
        self._template = dict(template or {})
        config, self._tokenizer = _read(self._source, revision)
        self._ends = frozenset({self._tokenizer.eos_token_id} - {None})
        self._context = _context(config, self._tokenizer, context_tokens)
        self._native = tools == "native" or (tools == "auto" and _takes_tools(self._tokenizer))
        if threads is not None:
            set_threads(threads)
        self._hash = weights_hash(folder) if folder else str(getattr(config, "_commit_hash", None))
        self._lock = threading.RLock()  # a fast tokenizer does not bear two threads at once
        self._decoder: Decoder | None = None
        self._batcher = Batcher(self._decode, batch_size, patience_s)

    @property
    def context_tokens(self) -> int | None:
        """Most tokens of messages and reply together."""
        return self._context

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text."""
        with self._lock:
            return len(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def complete(self, messages: Sequence[Message], tools: Tools, seed: int) -> Reply:
        """Return the model's next turn; it ends with the first complete call.

        Raises
        ------
        ModelError
            If the messages do not fit the model's context or chat template, or decoding fails.
        """
        began = time.monotonic()
        prompt = self._prompt(messages, tools, seed)
        try:
            self._load()
            new = self._batcher.ask(prompt)
        except EcgScrollError:
            raise
        except Exception as error:
            raise ModelError(f"The model {self._model!r} failed: {_first_line(error)}") from error
        text, calls = self._read_reply(prompt, new, tools)
        usage = Usage(len(prompt.ids), len(new), time.monotonic() - began)
        return Reply(text, calls, usage, self._stop(prompt, new, calls))

    def fingerprint(self) -> dict[str, Any]:
        """Return what replies depend on; ``revision`` is the hub's commit or a hash of the files.

        The batch is not part of it: see `Decoder.decode`.
        """
        return {
            "backend": "transformers",
            "model": self._model,
            "revision": self._hash,
            "adapter": None if self._adapter is None else weights_hash(self._adapter),
            "dtype": self._dtype,
            "tools": "native" if self._native else "text",
            "temperature": self._sampling.temperature,
            "top_p": self._sampling.top_p,
            "top_k": self._sampling.top_k,
            "max_new_tokens": self._limit,
            "context_tokens": self._context,
            "template": self._template,
            "transformers": transformers.__version__,
        }

    def close(self) -> None:
        """Let go of the weights; requests that wait get an error."""
        self._batcher.close()
        self._decoder = None

    def _load(self) -> None:
        with self._lock:
            if self._decoder is None:
                self._decoder = _weights(
                    self._source,
                    self._revision,
                    self._adapter,
                    self._dtype,
                    self._device,
                    self._kept,
                )

    def _prompt(self, messages: Sequence[Message], tools: Tools, seed: int) -> Prompt:
        with self._lock:
            ids = self._encode(messages, tools)
        limit = self._limit
        if self._context is not None:
            limit = min(limit, self._context - len(ids))
        if limit < 1:
            raise ModelError(
                f"The prompt has {len(ids)} tokens and the model reads {self._context}; "
                "send fewer turns, or take a model with a longer context."
            )
        return Prompt(ids, limit, seed, self._ended if tools else _never)

    def _encode(self, messages: Sequence[Message], tools: Tools) -> list[int]:
        templated = getattr(self._tokenizer, "chat_template", None) is not None
        text = self._render(messages, tools, templated)
        ids: list[int] = self._tokenizer(text, add_special_tokens=not templated)["input_ids"]
        return ids

    def _render(self, messages: Sequence[Message], tools: Tools, templated: bool) -> str:
        if self._native:
            return self._apply([_decoded(message) for message in plain.whole(messages)], tools)
        told = plain.told(messages, tools)
        if not templated:
            return plain.transcript(told)
        try:
            return self._apply(told, ())
        except ModelError:  # some templates know no system role
            return self._apply(plain.without_system(told), ())

    def _apply(self, messages: Sequence[Mapping[str, Any]], tools: Tools) -> str:
        try:
            return _apply(self._tokenizer, messages, tools, self._template)
        except Exception as error:  # templates raise what they please
            raise ModelError(
                f"The chat template of {self._model!r} refuses the messages: {_first_line(error)}"
            ) from None

    def _ended(self, new: Sequence[int]) -> bool:
        """Tell whether a call is complete; only a token that can end one is worth the look."""
        with self._lock:
            if not {"}", ">", "]"} & set(self._tokenizer.decode(new[-1:])):
                return False
            return first_call_end(self._tokenizer.decode(new, skip_special_tokens=True)) is not None

    def _decode(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        decoder = self._decoder
        if decoder is None:
            raise ModelError("The model was closed; open it again before asking.")
        pad = self._tokenizer.pad_token_id
        return decoder.decode(prompts, self._ends, 0 if pad is None else pad, self._sampling)

    def _read_reply(
        self, prompt: Prompt, new: Sequence[int], tools: Tools
    ) -> tuple[str, tuple[ToolCall, ...]]:
        with self._lock:
            parsed = self._parse(prompt, new, tools) if self._native and tools else None
            if parsed is not None:
                return parsed
            text = self._tokenizer.decode(new, skip_special_tokens=True)
        return parse_calls(text) if tools else (cleaned(text), ())

    def _parse(
        self, prompt: Prompt, new: Sequence[int], tools: Tools
    ) -> tuple[str, tuple[ToolCall, ...]] | None:
        """Read a reply by the tokenizer's own response template; None where it has or fits none."""
        if getattr(self._tokenizer, "response_template", None) is None:
            return None
        prefix = self._tokenizer.decode(prompt.ids)
        raw = self._tokenizer.decode(new)
        try:
            message = self._tokenizer.parse_response(raw, prefix=prefix, tools=list(tools))
            calls = [call["function"] for call in message.get("tool_calls") or ()]
            made = [ToolCall(call["name"], arguments_text(call["arguments"])) for call in calls]
        except Exception:  # a broken call; ours reads those
            return None
        said, more = parse_calls(message.get("content") or "")
        return said, tuple(made) or more

    def _stop(self, prompt: Prompt, new: Sequence[int], calls: Sequence[ToolCall]) -> Stop:
        if calls:
            return "tool_calls"
        return "length" if len(new) >= prompt.limit else "stop"


def _weights(source: str, *options: Any) -> Decoder:
    try:
        return Decoder(source, *options)
    except Exception as error:  # each library below has errors of its own
        raise ConfigError(f"The model {source!r} cannot be loaded: {_first_line(error)}") from error


def _read(source: str, revision: str | None) -> tuple[Any, Any]:
    """Read a model's configuration and tokenizer."""
    try:
        config = transformers.AutoConfig.from_pretrained(
            source, revision=revision, trust_remote_code=False
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            source, revision=revision, trust_remote_code=False
        )
        adapter = find_adapter_config_file(source, revision=revision)
    except (OSError, ValueError, ImportError, KeyError) as error:
        raise ConfigError(f"The model {source!r} cannot be read: {_first_line(error)}") from error
    if adapter is not None:
        raise ConfigError(f"{source!r} is an adapter; give its base as 'model'.")
    return config, tokenizer


def _context(config: Any, tokenizer: Any, wanted: int | None) -> int | None:
    text = config.get_text_config()
    known = [
        value
        for value in (wanted, getattr(text, "max_position_embeddings", None))
        if isinstance(value, int)
    ]
    if not known and tokenizer.model_max_length < 1 << 30:
        known = [tokenizer.model_max_length]
    return min(known, default=None)


def _takes_tools(tokenizer: Any) -> bool:
    """Try whether a chat template shows tools, calls and results to the model."""
    messages: list[dict[str, Any]]
    marks = ("probe_tool", "probe_value", "probe_result")
    function = {"name": marks[0], "arguments": {"key": marks[1]}}
    schema = {"name": marks[0], "description": "", "parameters": {"type": "object"}}
    messages = [
        {"role": "user", "content": "-"},
        {"role": "assistant", "content": "", "tool_calls": [_call(function)]},
        {"role": "tool", "content": marks[2], "name": marks[0], "tool_call_id": "call00000"},
    ]
    try:
        text = _apply(tokenizer, messages, [{"type": "function", "function": schema}], {})
        bare = _apply(tokenizer, messages, (), {})
    except Exception:  # no template, or one that refuses
        return False
    return all(mark in text for mark in marks) and text.count(marks[0]) > bare.count(marks[0])


def _call(function: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": "call00000", "type": "function", "function": function}


def _apply(
    tokenizer: Any, messages: Sequence[Mapping[str, Any]], tools: Tools, more: Mapping[str, Any]
) -> str:
    text: str = tokenizer.apply_chat_template(
        list(messages),
        tools=list(tools) or None,
        add_generation_prompt=True,
        tokenize=False,
        **more,
    )
    return text


def _decoded(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message whose calls carry their arguments as objects, as chat templates expect."""
    calls = [
        {**call, "function": {**function, "arguments": json.loads(function["arguments"])}}
        for call in message.get("tool_calls", ())
        for function in (call["function"],)
    ]
    return {**message, "tool_calls": calls} if calls else dict(message)


def _never(new: Sequence[int]) -> bool:
    return False


def _check(tools: str, temperature: float, top_p: float, least: int) -> None:
    if tools not in ("auto", "native", "text"):
        raise ConfigError(f"tools={tools!r} must be auto, native or text.")
    if not temperature >= 0 or not 0 < top_p <= 1:
        raise ConfigError("The temperature must be 0 or more, and top_p above 0 and at most 1.")
    if least < 1:
        raise ConfigError("max_new_tokens, context_tokens, batch_size and threads are 1 or more.")


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__
