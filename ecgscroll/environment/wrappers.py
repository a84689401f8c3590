"""The environment as numbers, for off-the-shelf learners, and in vectors of environments.

Everything numeric is computed from what a step returns; the wrapper sees no more than a model does.
"""

from __future__ import annotations

import math
from collections import UserDict
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, MultiDiscrete
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from ecgscroll.environment.env import ECGScrollEnv, Info
from ecgscroll.tasks import get_task
from ecgscroll.tools.registry import tool_names

Features = NDArray[np.float32]
Window = tuple[float, float]

VERBS = ("skim", "measure", "write", "finish")
SKIM_S = (5.0, 30.0, 60.0, 300.0, 900.0, 1800.0)
PLACES = ("skimmed", "peak", "extend", "beat")
N_BINS = 6
LIMIT = 5.0
BEAT_S = 2.0

MEASURED: tuple[tuple[str, str, float], ...] = (
    ("get_rate_rhythm", "hr_bpm", 100.0),
    ("get_rate_rhythm", "rr_irregularity", 0.2),
    ("get_rate_rhythm", "rr_entropy", 1.0),
    ("get_p_wave", "p_present_frac", 1.0),
    ("get_p_wave", "pr_mean_ms", 200.0),
    ("get_qrs", "mean_qrs_ms", 100.0),
    ("get_qrs", "wide_beat_frac", 1.0),
    ("get_qrs", "ectopic_count", 5.0),
    ("get_st", "st_mv", 0.1),
    ("get_t_wave", "t_amp", 0.5),
    ("get_qt", "qtc_ms", 450.0),
    ("classify_rhythm", "af_frac", 1.0),
    ("classify_beats", "pvc_times_count", 5.0),
    ("flag_ischemia", "ischemic", 1.0),
)
"""(tool, field, scale): the feature is field / scale; a field per lead gives its largest."""

FEATURES: tuple[str, ...] = (
    "elapsed fraction of the recording",
    "length of the last skim over 1800 s",
    "entries written, log10(1 + n)",
    "written share of the recording",
    "bad calls in a row over 10",
    "peak of the last profile over the cue's scale",
    "mean of the last profile over the cue's scale",
    *(f"bin {i} of the last profile over the cue's scale" for i in range(N_BINS)),
    *(f"bin {i} has a value" for i in range(N_BINS)),
    *(f"{tool}.{field} over {scale:g}" for tool, field, scale in MEASURED),
    *(f"{tool}.{field} was measured since the last skim" for tool, field, _ in MEASURED),
)
_CUE_SCALE = {
    "rr_irregularity": 0.2,
    "st_deviation": 0.1,
    "ectopy": 1.0,
    "wide_beats": 1.0,
    "longest_rr": 2.0,
}


class NumericWrapper(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """A Box of `FEATURES` to observe, a MultiDiscrete (verb, skim length, tool, place) to act.

    - verb: index in `VERBS`;
    - skim length: index in `SKIM_S`, read by ``skim``;
    - tool: index in the tier's tools, read by ``measure``;
    - place: index in `PLACES`, read by ``measure`` and ``write``: the last skimmed window; the bin
      of its peak; from the last write's end to the cursor; or 2 s around the first ectopic beat
      that the last measurement listed and that is not written yet. Where there is no such place
      it is the skimmed window. A write wider than the task allows is cut to its middle.

    Parameters
    ----------
    env
        An `ECGScrollEnv`, or one that ``gymnasium.make("ECGScroll-v0", ...)`` made.
    """

    def __init__(self, env: gymnasium.Env[dict[str, Any], dict[str, Any]]) -> None:
        RecordConstructorArgs.__init__(self)
        gymnasium.Wrapper.__init__(self, env)
        base = env.unwrapped
        if not isinstance(base, ECGScrollEnv):
            raise TypeError(f"NumericWrapper wraps an ECGScrollEnv, not {type(base).__name__}.")
        self._task, self._total = get_task(base.task.name), base.total
        self._tools = tool_names(base.dx)
        sizes = [len(VERBS), len(SKIM_S), len(self._tools), len(PLACES)]
        self.action_space = MultiDiscrete(sizes)
        self.observation_space = Box(-LIMIT, LIMIT, (len(FEATURES),), np.float32)
        self._forget()

    def _forget(self) -> None:
        self._profile: dict[str, Any] = {}
        self._measured: dict[tuple[str, str], float] = {}
        self._beats: list[float] = []
        self._written: list[Window] = []
        self._errors = 0
        self._cursor = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Features, Info]:
        """Begin an episode."""
        _, info = self.env.reset(seed=seed, options=options)
        self._forget()
        return self._features(), info

    def step(self, action: NDArray[np.int64]) -> tuple[Features, float, bool, bool, dict[str, Any]]:
        """Carry out the call that an index vector stands for."""
        obs, reward, terminated, truncated, info = self.env.step(self.call(action))
        self._cursor = float(obs["cursor"])
        self._take_in(info["result"])
        return self._features(), float(reward), terminated, truncated, info

    def call(self, action: NDArray[np.int64]) -> dict[str, Any]:
        """Return the tool call that an index vector stands for."""
        verb, skim, tool, place = (int(i) for i in action)
        if VERBS[verb] == "skim":
            return {"name": "skim", "arguments": {"duration": SKIM_S[skim]}}
        if VERBS[verb] == "finish":
            return {"name": "finish", "arguments": {}}
        t0, t1 = self._place(PLACES[place])
        if VERBS[verb] == "measure":
            return {"name": "measure", "arguments": {"tool": self._tools[tool], "t0": t0, "t1": t1}}
        t0, t1 = self._narrowed(t0, t1)
        return {"name": "write", "arguments": {"t0": t0, "t1": t1}}

    def _place(self, place: str) -> Window:
        """Return a window in seconds; the skimmed one where the place does not exist."""
        skimmed = (self._profile.get("t0", 0.0), self._profile.get("t1", 1.0))
        if place == "peak" and self._profile.get("peak_t0") is not None:
            return self._profile["peak_t0"], self._profile["peak_t1"]
        if place == "extend" and self._written and self._written[-1][1] < self._cursor:
            return self._written[-1][1], self._cursor
        if place == "beat":
            free = (t for t in self._beats if not any(a <= t < b for a, b in self._written))
            beat = next(free, None)
            if beat is not None:
                return max(0.0, beat - BEAT_S / 2), beat + BEAT_S / 2
        return skimmed

    def _narrowed(self, t0: float, t1: float) -> Window:
        widest = self._task.max_write_s
        if widest is None or t1 - t0 <= widest:
            return t0, t1
        middle = (t0 + t1) / 2
        return middle - widest / 2, middle + widest / 2

    def _take_in(self, result: Mapping[str, Any]) -> None:
        """Remember what the features show."""
        self._errors = self._errors + 1 if "error" in result else 0
        if "cue" in result:
            self._profile, self._measured, self._beats = dict(result), {}, []
        elif "written" in result:
            self._written.append((result["t0"], result["t1"]))
        elif "tool" in result:
            for tool, field, scale in MEASURED:
                if tool == result["tool"]:
                    value = largest(result.get(field))
                    if value is not None:
                        self._measured[tool, field] = value / scale
            times = result.get("pvc_times", result.get("ectopic_times"))
            self._beats = list(times) if times else self._beats

    def _features(self) -> Features:
        scale = _CUE_SCALE[self._task.cue]
        bins = [b[2] for b in self._profile.get("bins", [])]
        bins += [None] * (N_BINS - len(bins))
        length = self._profile.get("t1", 0.0) - self._profile.get("t0", 0.0)
        keys = [(tool, field) for tool, field, _ in MEASURED]
        values = [
            self._cursor / self._total,
            length / SKIM_S[-1],
            math.log10(1 + len(self._written)),
            sum(b - a for a, b in self._written) / self._total,
            self._errors / 10,
            (self._profile.get("peak") or 0.0) / scale,
            (self._profile.get("mean") or 0.0) / scale,
            *((value or 0.0) / scale for value in bins),
            *(float(value is not None) for value in bins),
            *(self._measured.get(key, 0.0) for key in keys),
            *(float(key in self._measured) for key in keys),
        ]
        return np.clip(np.array(values, dtype=np.float32), -LIMIT, LIMIT)


class WholeInfo(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Keeps the dictionaries inside ``info`` whole when Gymnasium stacks environments.

    A vector environment merges dictionaries key by key into typed arrays, which fails as soon as
    one tool's field is a number in one environment and null, or a value per lead, in another. Here
    each becomes a `collections.UserDict`, so ``infos["result"][i]`` is what environment ``i`` said.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gymnasium.Wrapper.__init__(self, env)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        obs, info = self.env.reset(seed=seed, options=options)
        return obs, _whole(info)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Carry out one action."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        return obs, reward, terminated, truncated, _whole(info)


def _whole(info: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: UserDict(value) if isinstance(value, dict) else value for key, value in info.items()
    }


def largest(value: Any) -> float | None:
    """Return a number as it is, of a value per lead the one farthest from 0, else None."""
    if isinstance(value, Mapping):
        known = [v for v in value.values() if v is not None]
        return float(max(known, key=abs)) if known else None
    return float(value) if isinstance(value, (bool, int, float)) else None
