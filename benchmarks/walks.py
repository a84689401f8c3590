"""What the speed rows run: episodes and clocks, without imports or file search."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ecgscroll
from ecgscroll.causal import sources
from ecgscroll.environment.env import ECGScrollEnv
from policies.rule import Rule


def records(data: Path) -> list[str]:
    return sorted(header.stem for header in (data / "mitdb").glob("*.hea"))


def cpu(run: Callable[[], Any]) -> float:
    """Processor seconds of one call: on a busy machine they move less than the clock's."""
    gc.collect()
    start = time.process_time()
    run()
    return time.process_time() - start


def forget() -> None:
    """Drop what this process holds of recordings, so that the next opening starts from disk."""
    sources._open.clear()


def rule_episode(env: ECGScrollEnv) -> int:
    """Steps of one Rule episode."""
    policy = Rule()
    obs, info = env.reset(seed=0)
    policy.reset(info)
    steps, ended = 0, False
    while not ended:
        obs, _, terminated, truncated, info = env.step(policy.act(obs, info))
        steps, ended = steps + 1, terminated or truncated
    return steps


def rule_pass(data: Path, names: list[str], dx: Any, database: str = "mitdb") -> int:
    """Steps of the Rule agent on PVC burden, each record opened, walked and scored."""
    return sum(
        rule_episode(ecgscroll.make(f"pvc_burden/{database}/{name}", data=data, dx=dx))
        for name in names
    )


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}
