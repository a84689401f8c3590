"""What trivial strategies earn, beside runs on the same instances, and whether exploits pay."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from ecgscroll.catalogue.instances import Instance
from ecgscroll.errors import ConfigError, DataError
from ecgscroll.records.databases import get_card, locate
from ecgscroll.records.recording import Recording
from ecgscroll.records.reference import load_reference
from ecgscroll.scoring.exploits import EXPLOITS, Breach, find_breaches
from ecgscroll.scoring.findings import Scoring
from ecgscroll.scoring.floors import floor_ledgers
from ecgscroll.scoring.latency import Latency
from ecgscroll.scoring.statistics import Summary, summarise
from ecgscroll.scoring.verifiers import verify
from ecgscroll.tasks import get_task

# An exploit works on any instance or on none: a few of each task, spread over its list, will tell.
EXPLOIT_INSTANCES = 6
_ROW_FIELDS = ("instance", "policy", "dx", "scoring", "score", "error")


@dataclass(frozen=True)
class Agent:
    """One row of the table: who, what it scores, and the share of events it missed."""

    name: str
    floor: bool
    summary: Summary
    missed_share: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can carry."""
        row = {"agent": self.name, "floor": self.floor, "missed_share": self.missed_share}
        return row | self.summary.to_dict()


@dataclass(frozen=True)
class RunRows:
    """Results of one run by instance id."""

    name: str
    scoring: Scoring
    rows: Mapping[str, Mapping[str, Any]]


def read_run(folder: Path) -> RunRows:
    """Read RUN/results.jsonl.

    Raises
    ------
    DataError
        If the file is absent or a line is no result, with the line's number.
    """
    path = folder / "results.jsonl"
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        raise DataError(f"{path} cannot be read; give the folder of a finished run.") from None
    rows = [_read_row(path, n, line) for n, line in enumerate(lines, start=1) if line.strip()]
    if not rows:
        raise DataError(f"{path} holds no results; let the run finish an episode first.")
    first = rows[0]
    name = f"{first['policy']}, dx {first['dx'] or 'none'} ({folder.resolve().name})"
    return RunRows(name, first["scoring"], {row["instance"]: row for row in rows})


def _read_row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise DataError(f"Line {number} of {path} is not JSON; run or rescore it anew.") from None
    if not isinstance(row, dict) or not set(_ROW_FIELDS) <= set(row):
        raise DataError(f"Line {number} of {path} lacks one of {', '.join(_ROW_FIELDS)}.")
    score = row["score"]
    fits = score is None or (isinstance(score, int | float) and 0 <= score <= 1)
    if not (fits and isinstance(row["instance"], str) and row["scoring"] in get_args(Scoring)):
        raise DataError(
            f"Line {number} of {path} has a score outside [0, 1], an instance that is no text or "
            "an unknown scoring."
        )
    return row


def shared_scoring(asked: Scoring | None, runs: Sequence[RunRows]) -> Scoring:
    """Return the scoring of the table: what is asked, or that of the runs.

    Raises
    ------
    ConfigError
        If a run was scored otherwise: its figures would stand beside floors of another kind.
    """
    scoring = asked or (runs[0].scoring if runs else "committed")
    for run in runs:
        if run.scoring != scoring:
            raise ConfigError(
                f"The run {run.name} was scored as {run.scoring}, not {scoring}; rescore it with "
                f"`ecgscroll rescore RUN --scoring {scoring}`, and give RUN/rescored."
            )
    return scoring


def compare(
    instances: Sequence[Instance],
    runs: Sequence[RunRows] = (),
    *,
    scoring: Scoring = "committed",
    seed: int = 0,
    progress: Callable[[Instance], None] = lambda instance: None,
) -> dict[str, list[Agent]]:
    """Return the table of each task: trivial strategies and runs, on the same instances.

    Parameters
    ----------
    instances
        With their truths. Where runs are given, those that every run has played are compared.
    runs
        Results to stand beside the strategies.
    scoring
        As for ``ecgscroll.verify``.
    seed
        Of the bootstrap.
    progress
        Told of each instance once its strategies are scored.
    """
    kept = [one for one in instances if all(one.id in run.rows for run in runs)]
    tables: dict[str, list[Agent]] = {}
    for task in dict.fromkeys(one.task for one in kept):
        own = [one for one in kept if one.task == task]
        patients = [one.patient for one in own]
        hits = get_task(task).answer in ("onset", "point")
        floors = _floor_scores(own, scoring, progress)
        agents = [
            Agent(name, True, summarise(values, patients, hits=hits, seed=seed), share)
            for name, (values, share) in floors.items()
        ]
        for run in runs:
            values, share = _run_scores(run, own)
            summary = summarise(values, patients, hits=hits, seed=seed)
            agents.append(Agent(run.name, False, summary, share))
        tables[task] = agents
    return tables


def _floor_scores(
    instances: Iterable[Instance], scoring: Scoring, progress: Callable[[Instance], None]
) -> dict[str, tuple[list[float | None], float | None]]:
    """Return each strategy's scores over the instances, and the share of events it missed."""
    scores: dict[str, list[float | None]] = {}
    latencies: dict[str, list[Latency]] = {}
    for instance in instances:
        for name, ledger in floor_ledgers(instance, _beats(instance)).items():
            score = verify(instance, ledger, scoring=scoring)
            scores.setdefault(name, []).append(score.value)
            latencies.setdefault(name, []).append(score.latency)
        progress(instance)
    return {
        name: (values, _share((one.missed, one.events) for one in latencies[name]))
        for name, values in scores.items()
    }


def _beats(instance: Instance) -> list[float] | None:
    """Return all beat times of a PVC task's recording, in seconds, whatever their type."""
    if get_task(instance.task).event != "pvc" or instance.data is None:
        return None
    folder, name = locate(instance.data, instance.database, instance.record)
    recording = Recording.open(folder, name, instance.database).part(instance.span)
    reference = load_reference(recording, get_card(instance.database))
    times: list[float] = [] if reference is None else reference.beat_times.tolist()
    return times


def _run_scores(
    run: RunRows, instances: Sequence[Instance]
) -> tuple[list[float | None], float | None]:
    """Return a run's scores, None for an error, and the share of events it missed."""
    rows = [run.rows[one.id] for one in instances]
    latencies = [row["latency"] for row in rows if isinstance(row.get("latency"), dict)]
    counts = [(one.get("missed"), one.get("events")) for one in latencies]
    share = _share((m, n) for m, n in counts if isinstance(m, int) and isinstance(n, int))
    return [None if row["error"] is not None else row["score"] for row in rows], share


def _share(counts: Iterable[tuple[int, int]]) -> float | None:
    listed = list(counts)
    events = sum(of for _, of in listed)
    return sum(missed for missed, _ in listed) / events if events else None


@dataclass(frozen=True)
class ExploitReport:
    """How the exploit suite went: instances tried, and every breach found."""

    instances: tuple[str, ...]
    breaches: tuple[Breach, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can carry."""
        return {
            "exploits": list(EXPLOITS),
            "instances": list(self.instances),
            "breaches": [vars(breach) for breach in self.breaches],
            "passed": not self.breaches,
        }


def try_exploits(instances: Sequence[Instance]) -> ExploitReport:
    """Try every exploit in both scorings on a few instances of each task, spread over its list."""
    tried = []
    for task in dict.fromkeys(one.task for one in instances):
        own = [one for one in instances if one.task == task]
        step = max(1, len(own) // EXPLOIT_INSTANCES)
        tried += own[::step][:EXPLOIT_INSTANCES]
    breaches = [
        breach
        for one in tried
        for scoring in ("committed", "published")
        for breach in find_breaches(one, scoring=scoring)
    ]
    return ExploitReport(tuple(one.id for one in tried), tuple(breaches))
