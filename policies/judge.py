"""The Judge agent: the environment's stream is walked for it, the model says which chunks count.

A batch of chunks is skimmed and measured, then shown to the model, a line a chunk; what it flags is
written, neighbours as one, before time moves on. So a finding is stamped at its batch's end: the
ledger has no other way, and a batch of one chunk stamps each finding at its chunk's end.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ecgscroll.environment.actions import kind_of, shown
from ecgscroll.environment.episode import MAX_SKIM_S, MIN_SKIM_S
from ecgscroll.environment.parameters import check_count
from ecgscroll.errors import ConfigError
from ecgscroll.tasks import Task, get_task
from policies.asking import Asker, message_tokens, prompt_room
from policies.backends import open_backend
from policies.backends.base import Message
from policies.calls import take_call
from policies.context import recorded
from policies.prompts import judge_prompt, phrase, prompts_digest
from policies.rule import label_of, label_value
from policies.text import chunk_line

Call = dict[str, Any]
Result = Mapping[str, Any]

# What a chunk's line shows where no label is to be had, by the task's cue.
MEASURED: dict[str, tuple[str, ...]] = {
    "rr_irregularity": ("get_rate_rhythm",),
    "st_deviation": ("get_rate_rhythm", "get_st"),
    "ectopy": ("get_rate_rhythm", "get_qrs"),
    "wide_beats": ("get_qrs",),
    "longest_rr": ("get_rate_rhythm",),
}
FLAG_CHUNKS: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "flag_chunks",
        "description": "Name the chunks of this batch that show the event; once per batch.",
        "parameters": {
            "type": "object",
            "properties": {
                "indices": {
                    "type": "array",
                    "items": {"type": "integer"},
                    "description": "Numbers of the chunks; an empty list if none shows it.",
                }
            },
            "required": ["indices"],
            "additionalProperties": False,
        },
    },
}
_SHOWN_INDICES, _SHOWN_DIGITS = 10, 20


class Judge:
    """Let a language model judge a recording chunk by chunk, in batches.

    Parameters
    ----------
    backend
        Name of the back end, as `policies.backends.open_backend` knows it.
    batch
        Chunks that are judged at once.
    chunk_s
        Length of a chunk in seconds, 5 to 1800; tasks on single beats take 30 at most.
    retries
        How often a reply without a valid call, or with invalid indices, is asked for again; then
        what is valid in the last one counts.
    prompt_tokens
        Most tokens of a prompt, tools included; less where the model's context is shorter.
    options
        The back end's own: model, adapter, temperature, max_new_tokens, ...

    Raises
    ------
    ConfigError
        If there is no such back end, or an option is wrong.
    """

    name = "judge"

    def __init__(
        self,
        backend: str = "transformers",
        batch: int = 60,
        chunk_s: float = 30.0,
        retries: int = 2,
        prompt_tokens: int = 16000,
        **options: Any,
    ) -> None:
        check_count("batch", batch, 1)
        check_count("retries", retries, 0)
        check_count("prompt_tokens", prompt_tokens, 1)
        self._chunk_s = _checked_chunk(chunk_s)
        self._batch, self._retries, self._most = batch, retries, prompt_tokens
        self._options = options
        self._asker = Asker(open_backend(backend, **options))

    @classmethod
    def fingerprint(
        cls,
        backend: str = "transformers",
        batch: int = 60,
        chunk_s: float = 30.0,
        retries: int = 2,
        prompt_tokens: int = 16000,
        **options: Any,
    ) -> dict[str, Any]:
        """Return the prompts' hash, how chunks are judged and what the back end depends on."""
        return {
            "prompts": prompts_digest(),
            "chunks": {"batch": batch, "chunk_s": chunk_s, "retries": retries},
            "prompt_tokens": prompt_tokens,
            "backend": open_backend(backend, **options).fingerprint(),
        }

    def reset(self, info: Mapping[str, Any]) -> None:
        """Begin an episode; raises `ConfigError` if the prompt does not fit the model."""
        self._asker.begin(info)
        self._task = get_task(info["task"])
        self._labelled = info["dx"] is not None
        self._tools = chunk_tools(self._task, self._labelled)
        self._prompt = judge_prompt(info["task"], info["dx"], self._chunk_s)
        self._room = prompt_room(self._asker.backend, [FLAG_CHUNKS], self._most, self._options)
        self._walk: Generator[Call, Result, None] | None = None

    def act(self, obs: Mapping[str, Any], info: Mapping[str, Any]) -> Call:
        """Return the next call of the walk; at a batch's end the model is asked first."""
        self._asker.forget()
        if self._walk is None:
            self._walk = self._episode(float(obs["total"]))
            return next(self._walk)
        return self._walk.send(info["result"])

    def trace(self) -> dict[str, Any] | None:
        """Return what the model was asked and what it said at the last step, if it was asked."""
        return self._asker.trace()

    def usage(self) -> dict[str, Any]:
        """Return what the episode's requests took together."""
        return self._asker.usage()

    def _episode(self, total: float) -> Generator[Call, Result, None]:
        """Walk the recording batch by batch; each call is answered with its result."""
        chunks = tiles(total, self._chunk_s)
        for first in range(0, len(chunks), self._batch):
            batch = chunks[first : first + self._batch]
            lines = yield from self._read(batch)
            flagged = self._judge(lines)
            widest = self._task.max_write_s
            for t0, t1 in merged([batch[n] for n in flagged], widest):
                yield _call("write", t0=t0, t1=t1)
        yield _call("finish")

    def _read(self, batch: Sequence[tuple[float, float]]) -> Generator[Call, Result, list[str]]:
        """Skim over a batch, as far at once as a skim may go, and measure each of its chunks."""
        lines: list[str] = []
        at_once = int(MAX_SKIM_S // self._chunk_s)
        for first in range(0, len(batch), at_once):
            span = batch[first : first + at_once]
            yield _call("skim", duration=max(span[-1][1] - span[0][0], MIN_SKIM_S))
            for t0, t1 in span:
                results = yield from self._measure(t0, t1)
                lines.append(chunk_line(len(lines), t0, t1, results))
        return lines

    def _measure(self, t0: float, t1: float) -> Generator[Call, Result, list[Result]]:
        results: list[Result] = []
        for tool in self._tools:
            result = yield _call("measure", tool=tool, t0=t0, t1=t1)
            results.append(self._told(result))
        return results

    def _told(self, result: Result) -> Result:
        """Return what a line shows: a tool's result, of it the share of a supplementary event."""
        if not self._labelled or not self._task.supplementary or "error" in result:
            return result
        return {"tool": "label", self._task.event: label_value(self._task, result)}

    def _judge(self, lines: Sequence[str]) -> list[int]:
        """Ask which chunks count, again while the reply is at fault; return valid numbers."""
        messages: list[Message] = [
            {"role": "system", "content": self._prompt},
            {"role": "user", "content": "\n".join(lines)},
        ]
        self._check_room(messages)
        flags = Flags()
        for turn in range(self._retries + 1):
            reply = self._asker.ask(messages, [FLAG_CHUNKS])
            taken = take_call(reply, [FLAG_CHUNKS])
            flags = read_flags(taken.action, len(lines))
            if flags.problem is None:
                break
            again = phrase("answer_again", problem=flags.problem, last=len(lines) - 1)
            more = recorded(reply, taken, turn).observed(again)
            messages = [*messages[:2], *more]  # one mistake is enough to learn from
        return flags.valid

    def _check_room(self, messages: Sequence[Message]) -> None:
        count = self._asker.backend.count_tokens
        taken = sum(message_tokens(message, count) for message in messages)
        if taken > self._room:
            raise ConfigError(
                f"A batch of {self._batch} chunks takes {taken} tokens, of {self._room} that the "
                "model's context leaves: lower batch, or raise prompt_tokens if it is that."
            )


@dataclass(frozen=True, slots=True)
class Flags:
    """What a `flag_chunks` call says.

    Parameters
    ----------
    valid
        Numbers of chunks, each once, in order.
    problem
        What is wrong with the call; None if nothing is.
    """

    valid: list[int] = field(default_factory=list)
    problem: str | None = None


def read_flags(action: Mapping[str, Any], chunks: int) -> Flags:
    """Check a call of `flag_chunks` against a batch of so many chunks."""
    arguments = action["arguments"]
    given = arguments.get("indices") if isinstance(arguments, dict) else None
    if action["name"] != "flag_chunks" or not isinstance(given, list):
        return Flags(problem="That was no call of flag_chunks with a list of indices.")
    wrong = [value for value in given if not _is_index(value, chunks)]
    valid = sorted({int(value) for value in given if _is_index(value, chunks)})
    if not wrong:
        return Flags(valid)
    named = ", ".join(map(_named, wrong[:_SHOWN_INDICES]))
    more = f" and {len(wrong) - _SHOWN_INDICES} more" if len(wrong) > _SHOWN_INDICES else ""
    return Flags(valid, f"There are no chunks {named}{more} in this batch.")


def _named(value: Any) -> str:
    """Return a wrong index as a message may hold it: it goes back to the model."""
    if isinstance(value, str):
        return shown(value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value)[:_SHOWN_DIGITS] if number else kind_of(value)


def _is_index(value: Any, chunks: int) -> bool:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return whole and not isinstance(value, bool) and 0 <= value < chunks


def tiles(total: float, chunk_s: float) -> list[tuple[float, float]]:
    """Return the bounds (s) of the chunks that tile a recording; the last may be short."""
    count = max(1, -int(-total // chunk_s))
    return [(n * chunk_s, min((n + 1) * chunk_s, total)) for n in range(count)]


def merged(
    chunks: Sequence[tuple[float, float]], widest: float | None
) -> list[tuple[float, float]]:
    """Join chunks that touch into one interval, as long as none gets wider than ``widest`` s."""
    found: list[tuple[float, float]] = []
    for t0, t1 in chunks:
        touches = found and found[-1][1] == t0
        if touches and (widest is None or t1 - found[-1][0] <= widest):
            found[-1] = (found[-1][0], t1)
        else:
            found.append((t0, t1))
    return found


def chunk_tools(task: Task, labelled: bool) -> tuple[str, ...]:
    """Return the tools whose results a chunk's line shows: the label's, or the task's measures."""
    return (label_of(task)[0],) if labelled else MEASURED[task.cue]


def _checked_chunk(chunk_s: object) -> float:
    if isinstance(chunk_s, int | float) and MIN_SKIM_S <= chunk_s <= MAX_SKIM_S:
        return float(chunk_s)
    raise ConfigError(
        f"chunk_s lies between {MIN_SKIM_S:g} and {MAX_SKIM_S:g} seconds, not at {chunk_s!r}."
    )


def _call(name: str, **arguments: Any) -> Call:
    return {"name": name, "arguments": arguments}
