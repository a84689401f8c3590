"""Choose the Rule agent's thresholds on training patients: ``python benchmarks/fit_rule.py``.

Every chunk of every training recording is measured once, by the same actions that the agent uses;
then each candidate cue and threshold is scored by the verifiers on what the agent would have
written. It prints the best of each task, and how the released threshold does on the same
recordings, for ``rule.yaml``.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import ecgscroll
from ecgscroll.catalogue.instances import Instance, list_instances
from ecgscroll.catalogue.splits import split_of
from ecgscroll.scoring.ledger import Ledger
from ecgscroll.tasks import get_task
from policies.rule import Rule, cue_value, strength

Chunk = tuple[float, float, dict[str, float | None]]


@dataclass(frozen=True)
class Candidate:
    """A field of a tool, and the thresholds to try."""

    tool: str
    field: str
    thresholds: tuple[float, ...]


def _grid(start: float, stop: float, step: float) -> tuple[float, ...]:
    return tuple(round(float(x), 4) for x in np.arange(start, stop + step / 2, step))


RR = (Candidate("get_rate_rhythm", "rr_irregularity", _grid(0.06, 0.30, 0.01)),)
ST = (Candidate("get_st", "st_mv", _grid(0.05, 0.60, 0.01)),)
ECTOPY = (
    Candidate("get_qrs", "wide_beat_frac", _grid(0.01, 0.60, 0.01)),
    Candidate("get_qrs", "ectopic_count", _grid(1, 40, 1)),
)
# What each cue is fitted on: a database whose recordings (or excerpts) have training patients. The
# AF tasks share the cue of AF burden: episode F1 alone would have the agent flag nearly everything,
# for the sake of recordings that are in AF from end to end, and change has no training patients.
FITS: dict[str, tuple[str, tuple[Candidate, ...]]] = {
    "af_burden": ("ltafdb", RR),
    "ischemia": ("qtdb", ST),
    "pvc_burden": ("mitdb", ECTOPY),
    "rare_event": ("mitdb", ECTOPY),
}


def training_instances(task: str, database: str, data: Path) -> list[Instance]:
    """Return the instances of training patients."""
    found = list_instances(data, set="all", tasks=[task], databases=[database])
    return [one for one in found if split_of(database, one.record) == "train"]


def measure(instance: Instance, candidates: Sequence[Candidate], data: Path) -> list[Chunk]:
    """Walk a recording as the Rule agent does; return (t0, t1, value by field) of every chunk."""
    env = ecgscroll.make(instance, data=data)
    obs, _ = env.reset()
    chunks: list[Chunk] = []
    tool, width = candidates[0].tool, Rule.fingerprint()["chunk_s"]
    while (start := float(obs["cursor"])) < float(obs["total"]):
        obs = env.step({"name": "skim", "arguments": {"duration": width}})[0]
        stop = float(obs["cursor"])
        window = {"tool": tool, "t0": start, "t1": stop}
        info = env.step({"name": "measure", "arguments": window})[4]
        values = {one.field: cue_value(info["result"].get(one.field)) for one in candidates}
        chunks.append((start, stop, values))
    return chunks


def score(instance: Instance, chunks: Iterable[Chunk], field: str, threshold: float) -> float:
    """Score what the Rule agent would have written."""
    ledger, event = Ledger(), get_task(instance.task).event
    for t0, t1, values in chunks:
        confidence = strength(values[field], threshold)
        if confidence is not None:
            ledger.append(type=event, t0=t0, t1=t1, cursor=t1, confidence=confidence)
    return ecgscroll.verify(instance, ledger).value


def score_all(
    instance: Instance, candidates: Sequence[Candidate], data: Path
) -> dict[tuple[str, float], float]:
    """Score every candidate field and threshold on one instance."""
    chunks = measure(instance, candidates, data)
    return {
        (one.field, threshold): score(instance, chunks, one.field, threshold)
        for one in candidates
        for threshold in (*one.thresholds, math.inf)
    }


def fit(task: str, data: Path, workers: int) -> None:
    """Print the best candidates of a task; beside them the released threshold, and nothing."""
    database, candidates = FITS[task]
    instances = training_instances(task, database, data)
    play = partial(score_all, candidates=candidates, data=data)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        scores = list(pool.map(play, instances))
    mean = {key: float(np.mean([one[key] for one in scores])) for key in scores[0]}
    print(f"{task}: {len(instances)} recordings of training patients in {database}")
    for one in candidates:
        keys = [(one.field, threshold) for threshold in one.thresholds]
        top = max(mean[key] for key in keys)
        plateau = [key for key in keys if mean[key] >= top - 1e-9]
        best = plateau[len(plateau) // 2]
        print(f"  {one.field} >= {best[1]:g} scores {mean[best]:.3f}")
    cue: dict[str, Any] = Rule.fingerprint("released")["cues"][task]
    released = mean[cue["field"], float(cue["threshold"])]
    print(f"  released: {cue['field']} >= {cue['threshold']} scores {released:.3f}")
    print(f"  nothing written scores {mean[cue['field'], math.inf]:.3f}")


def main() -> None:
    """Fit the tasks that are named."""
    parser = argparse.ArgumentParser(description="Choose the Rule agent's thresholds.")
    parser.add_argument("--data", type=Path, required=True, help="folder of the databases")
    parser.add_argument("--tasks", nargs="*", default=list(FITS), choices=list(FITS))
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    for task in arguments.tasks:
        fit(task, arguments.data, arguments.workers)


if __name__ == "__main__":
    main()
