"""What came of a run's episodes, read from its folder.

Transcripts may have been edited, or written by a stranger. What has not the shape that statistics
take (:mod:`ecgscroll.evaluation.shapes`) is damaged, which to a run that goes on is the same as not
played, to the page a state of its own, and to everything else an error.
"""

from __future__ import annotations

from ecgscroll.catalogue.truths import Truth
from ecgscroll.errors import DataError
from ecgscroll.evaluation.config import Trial
from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.evaluation.outcome import Outcome, StoredInstance, read_outcome


def read_outcomes(folder: RunFolder) -> list[Outcome]:
    """Return what came of every episode of a run that has ended, in the order of its trials.

    Raises
    ------
    DataError
        If one cannot be read, or the folder holds no run.
    """
    damaged = folder.damaged()
    if damaged:
        raise DataError(
            f"{len(damaged)} episodes of {folder.path} cannot be read, {damaged[0].instance} "
            "first; run it again to mend it."
        )
    return whole_outcomes(folder)


def whole_outcomes(folder: RunFolder) -> list[Outcome]:
    """Return what came of every episode that has ended and can be read."""
    found = (whole_outcome(folder, trial) for trial in folder.config().trials())
    return [outcome for outcome in found if outcome is not None]


def whole_outcome(folder: RunFolder, trial: Trial) -> Outcome | None:
    """Return what came of an episode; None if it has not ended, or cannot be read."""
    end = folder.last_line(*trial)
    return None if end is None else read_outcome(end)


def truth_digest(instance: StoredInstance) -> str | None:
    """Return the digest of a stored truth, as `Truth.digest` gives it; None without annotations."""
    if instance.truth is None:
        return None
    return Truth(instance.truth.value, instance.truth.events).digest()
