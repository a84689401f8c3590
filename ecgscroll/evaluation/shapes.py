"""Whether what a run's folder holds has the shape that it should, before anything counts on it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeGuard

from ecgscroll.evaluation.config import RunConfig
from ecgscroll.tasks import TASKS

_END = {"row", "ledger", "latency", "events"}
_TEXTS = ("patient", "ended")
_NUMBERS = ("duration_s", "cursor_s", "steps", "skims", "measures", "writes", "rewinds", "errors")
_ROW = {*_TEXTS, *_NUMBERS, "instance", "task", "database", "error", "truth", "score", "answer"}

_LONGEST_S = 1e8  # three years; floors of what is longer would not fit into memory


def is_end(end: Any, instance: str, rollout: int) -> bool:
    """Whether a value is the last line of this episode's transcript, whole and well formed.

    Of the row everything is checked that statistics and the page take from it; of the ledger only
    that its entries are mappings, for verifiers check what those hold.
    """
    if not isinstance(end, dict) or not end.keys() >= _END:
        return False
    row, events = end["row"], end["events"]
    return (
        _is_row(row, instance, rollout)
        and _is_span_list(events)
        and _is_list(end["ledger"], lambda entry: isinstance(entry, dict))
        and _is_latency(end["latency"], len(events))
    )


def is_sound(config: RunConfig) -> bool:
    """Whether a configuration that was read has values of the types that it names."""
    texts = (config.policy, config.data, config.recordings, config.version, *config.instances)
    seeds = (config.seed, config.sampling_seed, config.bootstrap_seed)
    return (
        all(isinstance(text, str) for text in texts)
        and all(name.count("/") >= 2 for name in config.instances)
        and all(isinstance(number, int) for number in (*seeds, config.rollouts))
        and config.rollouts >= 1
        and all(isinstance(held, Mapping) for held in (config.options, config.fingerprint))
    )


def is_finite(value: Any) -> TypeGuard[float]:
    """Whether a value is a number, no truth value, that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _is_row(row: Any, instance: str, rollout: int) -> bool:
    if not isinstance(row, dict) or not row.keys() >= _ROW:
        return False
    named = (row["instance"], row.get("rollout", 0), row["task"], row["database"])
    return (
        named == (instance, rollout, *instance.split("/")[:2])
        and row["task"] in TASKS
        and all(isinstance(row[name], str) for name in _TEXTS)
        and all(is_finite(row[name]) and row[name] >= 0 for name in _NUMBERS)
        and _is_or_none(row["error"], lambda error: isinstance(error, str))
        and 0 < row["duration_s"] < _LONGEST_S
        and _is_or_none(row["truth"], _is_span_list if _is_intervals(row["task"]) else is_finite)
        and _is_score(row)
        and _is_or_none(row.get("latency"), _is_row_latency)
        and _is_or_none(row.get("read_s"), is_finite)
        and _is_or_none(row.get("usage"), _is_usage)
    )


def _is_score(row: Mapping[str, Any]) -> bool:
    """Whether a row has a score from 0 to 1, or a reason to have none."""
    score = row["score"]
    if score is None or row["error"] is not None:
        return score is None and (row["error"] is not None or row["truth"] is None)
    return is_finite(score) and 0 <= score <= 1


def _is_intervals(task: str) -> bool:
    return TASKS[task].answer == "intervals"


def _is_span_list(value: Any) -> bool:
    return _is_list(value, _is_span)


def _is_row_latency(latency: Any) -> bool:
    kinds = ("from_onset", "from_earliest")
    return isinstance(latency, dict) and all(
        _is_or_none(latency.get(kind), lambda held: isinstance(held, dict)) for kind in kinds
    )


def _is_latency(latency: Any, events: int) -> bool:
    return latency is None or (
        isinstance(latency, dict)
        and all(
            _is_list(latency.get(kind), lambda delay: _is_or_none(delay, is_finite))
            and len(latency[kind]) == events
            for kind in ("onset_s", "earliest_s")
        )
    )


def _is_usage(usage: Any) -> bool:
    return isinstance(usage, dict) and all(_is_or_none(one, is_finite) for one in usage.values())


def _is_span(span: Any) -> bool:
    return isinstance(span, list) and len(span) == 2 and all(map(is_finite, span))


def _is_list(value: Any, check: Any) -> bool:
    return isinstance(value, list) and all(map(check, value))


def _is_or_none(value: Any, check: Any) -> bool:
    return value is None or bool(check(value))
