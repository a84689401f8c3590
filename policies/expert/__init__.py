"""The expert: a scripted planner that uses only the actions and what they return."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from ecgscroll.errors import ConfigError
from policies.expert import beats, irregular, ischemia, rhythm
from policies.expert.view import MEMORY, Call, Turn, View

Plan = Callable[[View], Call]


class Expert:
    """Skim coarse, measure where the cue rises, bound, write, go on.

    A reference agent, and the demonstrator for supervised fine-tuning: each call follows from the
    last `MEMORY` turns alone.
    """

    name = "expert"

    def reset(self, info: Mapping[str, Any]) -> None:
        """Begin an episode."""
        self._task = str(info["task"])
        self._plan = plan_for(self._task, info["dx"])
        self._turns: deque[Turn] = deque(maxlen=MEMORY)
        self._called = ""

    def act(self, obs: Mapping[str, Any], info: Mapping[str, Any]) -> Call:
        """Return the next call."""
        if self._called and "error" not in info["result"]:
            self._turns.append(Turn(self._called, info["result"]))
        view = View(self._task, float(obs["cursor"]), float(obs["total"]), tuple(self._turns))
        call = self._plan(view)
        self._called = call["name"]
        return call


AF, PVC = ("episode_detection", "af_burden", "change_detection"), ("pvc_burden", "rare_event")
PLANS: dict[tuple[str, str | None], Plan] = {
    **{(task, "reference"): rhythm.plan for task in AF},
    **{(task, "signal"): irregular.judged for task in AF[:2]},
    ("change_detection", "signal"): irregular.measured,
    **{(task, None): irregular.measured for task in AF},
    **{(task, dx): beats.labelled for task in PVC for dx in ("reference", "signal")},
    **{(task, None): beats.measured for task in PVC},
    **{("ischemia", dx): ischemia.labelled for dx in ("reference", "signal")},
    ("ischemia", None): ischemia.measured,
}
"""By task and tier of diagnostic tools."""


def plan_for(task: str, dx: str | None) -> Plan:
    """Return the plan of a task in a tier; raises `ConfigError` for one that has none."""
    try:
        return PLANS[task, dx]
    except KeyError:
        raise ConfigError(f"The expert has no plan for {task} with dx={dx}.") from None
