"""A record of a database, opened with the labels its card promises."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ecgscroll.catalogue.spans import Span
from ecgscroll.catalogue.truths import Truth, build_truth, label_of
from ecgscroll.records.databases import get_card, locate
from ecgscroll.records.recording import Recording
from ecgscroll.records.reference import AF_LABELS, Reference, load_reference

Availability = Literal["signal", "annotations", "none"]


@dataclass(frozen=True)
class OpenedRecord:
    """A record that is there, with its reference labels if they were read."""

    data: Path
    recording: Recording
    annotated: bool
    reference: Reference | None
    excerpt: bool
    af_labels: tuple[str, ...]

    @property
    def available(self) -> Availability:
        """What of the record is there."""
        if self.recording.has_signal:
            return "signal"
        return "annotations" if self.annotated else "none"

    def never_answers(self, task: str) -> bool:
        """Whether the card says that the record lacks what the task needs, whatever its file."""
        card = get_card(self.recording.database)
        return card is not None and card.annotates(label_of(task), self.recording.name) is False

    def truth(self, task: str) -> Truth | None:
        """Build the truth of a task; a DataError says why the annotations cannot answer it."""
        if self.reference is None:
            return None
        return build_truth(
            task,
            self.reference,
            self.recording.duration,
            excerpt=self.excerpt,
            af_labels=self.af_labels,
        )


def open_record(
    data: Path,
    database: str,
    record: str,
    af_labels: tuple[str, ...] = AF_LABELS,
    *,
    span: Span | None = None,
    read: bool = True,
) -> OpenedRecord:
    """Open a record or a span of it, and read its labels unless ``read`` is false.

    Raises
    ------
    DataError
        If the record is absent, unsafe or damaged, or ends before the span.
    """
    folder, name = locate(data, database, record)
    recording, card = Recording.open(folder, name, database).part(span), get_card(database)
    return OpenedRecord(
        data=data,
        recording=recording,
        annotated=(folder / f"{name}.{card.annotator if card else 'atr'}").is_file(),
        reference=load_reference(recording, card, af_labels) if read else None,
        excerpt=card is None or card.excerpts or span is not None,
        af_labels=af_labels,
    )
