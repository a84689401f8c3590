"""Spread episodes over a Ray cluster (extra ``ray``), with the results of the process pool.

Transcripts come back to the driver, which alone writes: no folder is shared but the recordings'.
"""

from __future__ import annotations

import logging
import os
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

import ray
from ray.exceptions import RayActorError, RayTaskError

from ecgscroll.errors import EcgScrollError
from ecgscroll.evaluation.agenda import Agenda
from ecgscroll.evaluation.config import Trial
from ecgscroll.evaluation.threads import Done, MakePlay, Play

_TRIES = 3  # a node that goes away is no fault of the episode on it; one that ends three workers is
_STORE_BYTES = 100 << 20  # of a local cluster: transcripts pass through, nothing stays


def run_ray(
    agenda: Agenda,
    make: MakePlay,
    workers: int,
    done: Done,
    died: Callable[[Trial, int | None], None],
    concurrency: int = 1,
) -> None:
    """Play every episode in ``workers`` actors; parameters as `engine.run_pool`.

    The cluster is the one that ``RAY_ADDRESS`` names, else a local one that ends with the run.
    Episodes of a worker that died are played again, each alone; ``died`` hears of one that has
    ended three workers.

    Raises
    ------
    EcgScrollError
        What ``make`` raises in a worker, or if an episode raises.
    """
    with _cluster(workers):
        seats = [_Seat(number, make, concurrency) for number in range(min(workers, len(agenda)))]
        again: deque[Trial] = deque()
        deaths: Counter[Trial] = Counter()
        while calls := _fill(seats, agenda, again):
            for call in ray.wait(list(calls))[0]:
                seat = calls[call]
                trial = seat.calls.pop(call)
                try:
                    done(trial, ray.get(call))
                except RayTaskError as error:
                    raise _told(error) from None
                except RayActorError as error:
                    if error.actor_init_failed:
                        raise EcgScrollError(f"A worker could not begin: {error}") from None
                    deaths[trial] += 1
                    (died(trial, None) if deaths[trial] == _TRIES else again.append(trial))
                    seat.lost = True


@dataclass
class _Seat:
    """A place for one actor: what it plays, and whether it must play alone."""

    number: int
    make: MakePlay
    concurrency: int
    calls: dict[Any, Trial] = field(default_factory=dict)
    lost: bool = True
    alone: bool = False

    def ready(self) -> None:
        """See that there is an actor: a first one, or another where one was lost."""
        if self.lost and not self.calls:
            worker: Any = ray.remote(_Worker)
            self.actor = worker.options(max_concurrency=self.concurrency).remote(
                self.make, self.concurrency, sys.path
            )
            self.lost = False

    def give(self, trial: Trial) -> None:
        self.calls[self.actor.play.remote(trial)] = trial


def _fill(seats: Sequence[_Seat], agenda: Agenda, again: deque[Trial]) -> dict[Any, _Seat]:
    """Give each seat as much as it plays at once; return all calls under way."""
    for seat in seats:
        seat.ready()
        while not seat.lost and agenda.go_on():
            if again and not seat.calls:
                seat.give(again.popleft())
                seat.alone = True
                break
            if again or len(seat.calls) >= (1 if seat.alone and seat.calls else seat.concurrency):
                break
            seat.alone = False
            trial = agenda.next(seat.number)
            if trial is None:
                break
            seat.give(trial)
    return {call: seat for seat in seats for call in seat.calls}


class _Worker:
    """An actor: players, one for each call at once."""

    def __init__(self, make: MakePlay, concurrency: int, paths: Sequence[str]) -> None:
        sys.path.extend(path for path in paths if path not in sys.path)
        self._idle: SimpleQueue[Play] = SimpleQueue()
        self._refusal: EcgScrollError | None = None
        try:
            for _ in range(concurrency):
                self._idle.put(make())
        except EcgScrollError as error:  # raised again where the driver hears it
            self._refusal = error

    def play(self, trial: Trial) -> Any:
        if self._refusal is not None:
            raise self._refusal
        player = self._idle.get()
        try:
            return player(trial)
        finally:
            self._idle.put(player)


def _told(error: RayTaskError) -> EcgScrollError:
    cause = error.cause
    if isinstance(cause, EcgScrollError):
        return cause
    return EcgScrollError(f"A worker failed ({type(cause).__name__}: {cause}).")


@contextmanager
def _cluster(workers: int) -> Iterator[None]:
    """Connect to the cluster that the caller named, or start one here."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    begun = not ray.is_initialized()
    if begun and os.environ.get("RAY_ADDRESS"):
        ray.init(logging_level=logging.WARNING)
    elif begun:
        ray.init(
            "local",
            num_cpus=workers,
            include_dashboard=False,
            object_store_memory=_STORE_BYTES,
            logging_level=logging.WARNING,
        )
    try:
        yield
    finally:
        if begun:
            ray.shutdown()
