"""What is left to play, and who plays what: episodes on one recording go to one worker."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from ecgscroll.evaluation.config import Trial

GoOn = Callable[[], bool]


def order(trials: Iterable[tuple[Trial, str, float]]) -> list[list[Trial]]:
    """Group episodes by recording, the longest group first.

    Parameters
    ----------
    trials
        (episode, recording, duration in seconds) of each.
    """
    groups: dict[str, list[Trial]] = {}
    length: dict[str, float] = {}
    for trial, recording, duration in trials:
        groups.setdefault(recording, []).append(trial)
        length[recording] = length.get(recording, 0.0) + duration
    return [groups[recording] for recording in sorted(groups, key=lambda r: (-length[r], r))]


class Agenda:
    """Hands out episodes to workers.

    Parameters
    ----------
    groups
        Episodes that go together, as `order` gives them.
    go_on
        Asked before an episode is handed out; once it says no, nothing more is.
    """

    def __init__(self, groups: Sequence[Sequence[Trial]], go_on: GoOn = lambda: True) -> None:
        self.go_on = go_on
        self._waiting = deque(deque(group) for group in groups)
        self._own: dict[int, deque[Trial]] = {}

    def __len__(self) -> int:
        """Episodes that are not handed out yet."""
        return sum(map(len, (*self._waiting, *self._own.values())))

    def next(self, worker: int) -> Trial | None:
        """Next episode: of the worker's own recording, of a new one, or taken from another."""
        if not self.go_on():
            return None
        own = self._own.setdefault(worker, deque())
        if not own and self._waiting:
            own = self._own[worker] = self._waiting.popleft()
        if own:
            return own.popleft()
        richest = max(self._own.values(), key=len)
        return richest.pop() if richest else None
