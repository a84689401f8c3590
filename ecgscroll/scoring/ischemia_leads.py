"""The richer ischemia score: in which lead, when, and how deep.

Each reference episode of each lead is paired with at most one answered interval; a pair earns the
mean of three marks (lead right, IoU, peak |ST| within a tolerance), and the score is twice the sum
of marks over the intervals on both sides, as an F1 is. A mark no one can check, because the
reference notes no peak, is left out of its pair's mean.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ecgscroll.errors import ConfigError
from ecgscroll.scoring.findings import Finding, Parameters, read_entry
from ecgscroll.scoring.intervals import Interval, Union
from ecgscroll.scoring.latency import EventClock, Latency
from ecgscroll.scoring.verifiers import Score
from ecgscroll.tasks import get_task

PEAK_TOLERANCE_MV = 0.1


@dataclass(frozen=True)
class LeadInterval:
    """An ST episode of one lead: seconds, and its peak deviation in mV (None where unknown)."""

    lead: str | None
    start: float
    stop: float
    peak_mv: float | None


class StEpisode(Protocol):
    """An annotated ST episode, its lead by channel index."""

    @property
    def lead(self) -> int:
        """Channel index, from 0."""

    @property
    def start(self) -> float:
        """Onset in seconds."""

    @property
    def stop(self) -> float:
        """End in seconds."""

    @property
    def peak_mv(self) -> float | None:
        """Signed peak deviation in mV, if it was noted."""


def lead_intervals(episodes: Iterable[StEpisode], leads: Sequence[str]) -> list[LeadInterval]:
    """Name the leads of annotated episodes; an unnamed channel has no lead."""
    return [
        LeadInterval(
            leads[episode.lead] if 0 <= episode.lead < len(leads) else None,
            episode.start,
            episode.stop,
            episode.peak_mv,
        )
        for episode in sorted(episodes, key=lambda item: (item.start, item.stop, item.lead))
    ]


def verify_ischemia_leads(
    reference: Sequence[LeadInterval],
    ledger: Iterable[Any],
    total: float,
    *,
    iou: float | None = None,
    peak_tolerance_mv: float = PEAK_TOLERANCE_MV,
) -> Score:
    """Score ischemia lead by lead.

    Parameters
    ----------
    reference
        Episodes of all leads (see ``lead_intervals``).
    ledger
        Entries of type ``ischemia``; ``lead`` names the lead, ``value`` is the peak ST in mV. In
        each lead they are united, and the deepest value of what was united is its peak.
    total
        Length of the recording in seconds.
    iou
        What counts as detected for the latency, in the right lead; by default 0.75.
    peak_tolerance_mv
        Greatest error of |ST| that earns the mark.

    Returns
    -------
    A score whose answer is the union over leads, with ``pairs`` and ``intervals`` in its metadata.
    """
    if not 0 <= peak_tolerance_mv < math.inf:
        raise ConfigError(f"peak_tolerance_mv is 0 or more mV; {peak_tolerance_mv!r} is not.")
    parameters = Parameters.of_task(get_task("ischemia"), iou=iou)
    read = [read_entry(entry, "ischemia", total, parameters) for entry in ledger]
    findings = sorted((f for f in read if isinstance(f, Finding)), key=lambda f: f.stamp)
    answer = _unite(findings, parameters.join_s)
    marks = _marks(reference, answer, peak_tolerance_mv)
    pairs, earned = _assign(marks)
    both = len(reference) + len(answer)
    value = 2 * earned / both if both else 1.0
    return Score(
        value=value,
        answer=Union((span.start, span.stop) for span in answer).intervals(),
        explanation=(
            f"Ischemia by lead: {pairs} pairs between {len(answer)} intervals answered and "
            f"{len(reference)} in the reference earn {value:.3f}."
        ),
        latency=_latency(reference, findings, parameters),
        metadata={
            "parameters": parameters.to_dict() | {"peak_tolerance_mv": peak_tolerance_mv},
            "pairs": pairs,
            "intervals": [vars(span) for span in answer],
            "used": len(findings),
            "ignored": len(read) - len(findings),
        },
    )


def _unite(findings: Sequence[Finding], join_s: float) -> list[LeadInterval]:
    """Return the intervals answered in each lead, with the deepest value of each."""
    by_lead: dict[str | None, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_lead[finding.lead].append(finding)
    answer = []
    for lead, written in by_lead.items():
        for start, stop in Union(((f.t0, f.t1) for f in written), join_s).intervals():
            inside = (f.value for f in written if start <= f.t0 <= stop and f.value is not None)
            answer.append(LeadInterval(lead, start, stop, max(inside, key=abs, default=None)))
    return sorted(answer, key=lambda span: (span.start, span.stop, span.lead or ""))


def _marks(
    reference: Sequence[LeadInterval], answer: Sequence[LeadInterval], tolerance: float
) -> NDArray[np.float64]:
    """Return what each pair would earn, shape (reference, answer); 0 without shared time."""
    table = np.zeros((len(reference), len(answer)))
    for i, true in enumerate(reference):
        for j, span in enumerate(answer):
            shared = min(true.stop, span.stop) - max(true.start, span.start)
            if shared > 0:
                joint = (true.stop - true.start) + (span.stop - span.start) - shared
                marks = [float(span.lead == true.lead), shared / joint]
                if true.peak_mv is not None:
                    marks.append(_peak_mark(true.peak_mv, span.peak_mv, tolerance))
                table[i, j] = math.fsum(marks) / len(marks)
    return table


def _peak_mark(true_mv: float, said_mv: float | None, tolerance: float) -> float:
    return float(said_mv is not None and abs(abs(said_mv) - abs(true_mv)) <= tolerance + 1e-9)


def _assign(marks: NDArray[np.float64]) -> tuple[int, float]:
    """Return the number of pairs and the sum of marks of the best one-to-one assignment."""
    from scipy.optimize import linear_sum_assignment

    chosen = marks[linear_sum_assignment(marks, maximize=True)]
    return int((chosen > 0).sum()), math.fsum(chosen.tolist())


def _latency(
    reference: Sequence[LeadInterval], findings: Sequence[Finding], parameters: Parameters
) -> Latency:
    """Replay each lead alone: an episode is detected when its own lead's union matches it."""
    rows: list[tuple[Interval, float | None]] = []
    for lead in dict.fromkeys(span.lead for span in reference):
        spans = [(span.start, span.stop) for span in reference if span.lead == lead]
        clock, union = EventClock(spans, parameters.iou), Union(join_s=parameters.join_s)
        for finding in findings:
            change = union.add(finding.t0, finding.t1) if finding.lead == lead else None
            if change:
                clock.mark_matching(change.start, change.stop, parameters.iou, finding.stamp)
        stamps = clock.latency().stamps
        rows.extend(zip(sorted(spans), stamps, strict=True))
    rows.sort(key=lambda row: row[0])
    onsets, offsets = (tuple(span[k] for span, _ in rows) for k in (0, 1))
    return Latency(onsets, offsets, tuple(stamp for _, stamp in rows), parameters.iou)
