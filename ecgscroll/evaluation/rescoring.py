"""Score a run anew from its stored ledgers: no policy, no recordings, other parameters."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from ecgscroll.errors import ConfigError, DataError
from ecgscroll.evaluation.folder import RunFolder, write_rows
from ecgscroll.evaluation.outcome import Outcome
from ecgscroll.evaluation.player import scored
from ecgscroll.evaluation.reading import read_outcomes
from ecgscroll.evaluation.summary import summarise_run
from ecgscroll.files import write_atomic
from ecgscroll.scoring.verifiers import verify


def rescore(folder: RunFolder, out: Path, **parameters: Any) -> dict[str, Any]:
    """Score every finished episode of a run again, and return the summary.

    Parameters
    ----------
    folder
        The run.
    out
        Folder for the new ``results.jsonl`` and ``summary.json``.
    parameters
        As `ecgscroll.verify` takes them, None for the task's own; ``scoring`` is the run's own
        unless given.

    Raises
    ------
    ConfigError
        If ``out`` is the run's own folder, or a parameter is out of its range.
    DataError
        If the folder holds no run, or no episode of it has ended.
    """
    config = folder.config()
    if out.resolve() == folder.path.resolve():
        raise ConfigError(f"{out} holds the run's own results; choose another --out for new ones.")
    given = {name: value for name, value in parameters.items() if value is not None}
    given = {"scoring": config.scoring, **given}
    outcomes = [scored_anew(outcome, given) for outcome in read_outcomes(folder)]
    if not outcomes:
        raise DataError(f"No episode of {folder.path} has ended; there is nothing to score.")
    write_rows(out / "results.jsonl", (outcome.row for outcome in outcomes))
    summary = {**folder.stored(), "parameters": given}
    summary |= summarise_run(outcomes, config.bootstrap_seed, given)
    write_atomic(out / "summary.json", json.dumps(summary, indent=1) + "\n")
    return summary


def scored_anew(outcome: Outcome, parameters: dict[str, Any]) -> Outcome:
    """Return the outcome as other parameters see its ledger; one with an error stays as it is."""
    if outcome.row["error"] is not None or outcome.instance.truth is None:
        return outcome
    score = verify(outcome.instance, outcome.ledger, **parameters)
    row = {**outcome.row, "scoring": parameters["scoring"], **scored(score)}
    return replace(outcome, row=row, latency=score.latency.to_dict(per_event=True))
