"""Numbers of a view and of each candidate call, as a network reads them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecgscroll.tasks import CORE_TASKS
from policies.expert.view import CLOSE_S, MEMORY, Turn, View
from policies.neural.candidates import PLACES, SKIMS_S, TOOLS, Candidate

Features = NDArray[np.float32]

TIERS = (None, "signal", "reference")
VERBS = ("skim", "measure", "write", "finish")
FIELDS: tuple[tuple[str, float], ...] = (
    ("peak", 1.0), ("mean", 1.0), ("rr_entropy", 1.0), ("rr_irregularity", 0.2),
    ("hr_bpm", 100.0), ("n_beats", 100.0), ("af_frac", 1.0), ("ectopic_count", 5.0),
    ("pvc_times_count", 5.0), ("wide_beat_frac", 1.0), ("episodes_count", 1.0),
    ("ischemic", 1.0),
)  # fmt: skip
"""What is read of a result, and its scale."""
N_BINS = 6

TURN = len(VERBS) + len(TOOLS) + 4 + 2 * len(FIELDS) + 3 + 2 * N_BINS
STATE = len(CORE_TASKS) + len(TIERS) + 4 + MEMORY * TURN
CANDIDATE = len(VERBS) + len(TOOLS) + len(SKIMS_S) + 2 * (len(PLACES) + 1) + 10


def state_features(view: View, dx: str | None) -> Features:
    """Return the features of a view, (`STATE`,): task, tier, time left, turns from the newest."""
    about = [
        *_one_hot(CORE_TASKS, view.task),
        *_one_hot(TIERS, dx),
        float(view.ended),
        _log(view.total - view.cursor),
        _log(view.cursor),
        len(view.turns) / MEMORY,
    ]
    turns = [_turn(turn, view.cursor) for turn in reversed(view.turns)]
    turns += [[0.0] * TURN] * (MEMORY - len(turns))
    return np.array([*about, *(value for turn in turns for value in turn)], np.float32)


def candidate_features(view: View, found: Sequence[Candidate]) -> Features:
    """Return the features of each candidate, (n, `CANDIDATE`)."""
    kinds = np.array([_kinds(one) for one in found])
    t0, t1 = (np.array([getattr(one, name) for one in found]) for name in ("t0", "t1"))
    last, asked, written = view.last, view.back("measure"), view.back("write")
    windowed = kinds[:, 3] > 0
    numbers = np.stack(
        [
            _logs(t1 - t0),
            _logs(view.cursor - t0),
            _logs(view.cursor - t1),
            _touch(t0, last and last.t0),
            _touch(t0, last and last.t1),
            _touch(t1, last and last.t1),
            _touch(t0, written and written.t1),
            _touch(t0, asked and asked.t1),
            _touch(t1, view.cursor),
            np.abs(t0 / 10 - np.rint(t0 / 10)) < 1e-3,
        ],
        axis=1,
    )
    parts = [table[kinds[:, n]] for n, table in enumerate(_TABLES)]
    return np.concatenate([*parts, numbers * windowed[:, None]], axis=1).astype(np.float32)


def _kinds(one: Candidate) -> tuple[int, int, int, int, int]:
    """Return the rows of `_TABLES` of a candidate: verb, tool, duration, and its places."""
    arguments = one.call["arguments"]
    return (
        VERBS.index(one.call["name"]),
        _TOOL_ROW[arguments.get("tool")],
        _SKIM_ROW[arguments.get("duration")],
        one.start + 1,
        one.stop + 1,
    )


_TOOL_ROW: dict[Any, int] = {None: 0, **{name: n for n, name in enumerate(TOOLS, 1)}}
_SKIM_ROW: dict[Any, int] = {None: 0, **{length: n for n, length in enumerate(SKIMS_S, 1)}}
_TABLES = (
    np.eye(len(VERBS)),
    np.eye(len(TOOLS) + 1)[:, 1:],
    np.eye(len(SKIMS_S) + 1)[:, 1:],
    np.eye(len(PLACES) + 1),
    np.eye(len(PLACES) + 1),
)
"""A row for each value: one at its place, or zeros for none."""


def _logs(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.log1p(np.maximum(0.0, seconds)) / 5.0


def _touch(t: NDArray[np.float64], other: float | None) -> NDArray[np.bool_]:
    if other is None:
        return np.zeros(len(t), dtype=bool)
    return np.abs(t - other) <= CLOSE_S


def _turn(turn: Turn, cursor: float) -> list[float]:
    result = turn.result
    windowed = "t0" in result and "t1" in result
    t0, t1 = (turn.t0, turn.t1) if windowed else (cursor, cursor)
    bins = [one[2] for one in result.get("bins") or []][:N_BINS]
    bins += [None] * (N_BINS - len(bins))
    share = result.get("af_frac")
    mixed = min(share, 1 - share) * (t1 - t0) if share is not None else 0.0
    return [
        *_one_hot(VERBS, turn.name),
        *_one_hot(TOOLS, result.get("tool")),
        _log(t1 - t0), _log(cursor - t0), _log(cursor - t1), float(t1 >= cursor - CLOSE_S),
        *(value for name, scale in FIELDS for value in _value(result, name, scale)),
        _log(mixed), float(mixed > 0.4), math.log10(1e-3 + float(result.get("peak") or 0.0)),
        *(value for one in bins for value in (float(one or 0.0), float(one is not None))),
    ]  # fmt: skip


def _value(result: Mapping[str, Any], name: str, scale: float) -> tuple[float, float]:
    """Return a field over its scale, at most 5, and whether it is there."""
    value = result.get(name)
    if isinstance(value, bool | int | float) and math.isfinite(value):
        return max(-5.0, min(5.0, float(value) / scale)), 1.0
    return 0.0, 0.0


def _log(seconds: float) -> float:
    return math.log1p(max(0.0, seconds)) / 5.0


def _one_hot(names: Sequence[Any], name: Any) -> list[float]:
    return [float(one == name) for one in names]
