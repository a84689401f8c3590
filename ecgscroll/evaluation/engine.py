"""Spread episodes over processes; whatever their number and fate, every episode has one outcome.

Episodes on one recording go to one worker, one after another, so that its caches serve them all;
the longest first, so that the last to finish is short. A worker that dies costs only the episode
it was playing: that one is reported, and a fresh worker takes over.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from ecgscroll.errors import ConfigError, EcgScrollError

_START_LIMIT = 3


# Plays an instance to its end, keeps what came of it, and returns a picklable note on it.
Play = Callable[[str], Any]
# Makes a worker's `Play`, once in each process before any episode; it must be picklable.
MakePlay = Callable[[], Play]
Done = Callable[[str, Any], None]
Died = Callable[[str, int | None], None]


def order(instances: Iterable[tuple[str, str, float]]) -> list[list[str]]:
    """Group instances by recording, the longest group first.

    Parameters
    ----------
    instances
        (id, recording, duration in seconds) of each.
    """
    groups: dict[str, list[str]] = {}
    length: dict[str, float] = {}
    for name, recording, duration in instances:
        groups.setdefault(recording, []).append(name)
        length[recording] = length.get(recording, 0.0) + duration
    return [groups[recording] for recording in sorted(groups, key=lambda r: (-length[r], r))]


def run_inline(groups: Sequence[Sequence[str]], make: MakePlay, done: Done) -> None:
    """Play every instance in this process."""
    play = make()
    for group in groups:
        for instance in group:
            done(instance, play(instance))


def run_pool(
    groups: Sequence[Sequence[str]], make: MakePlay, workers: int, done: Done, died: Died
) -> None:
    """Play every instance in ``workers`` processes.

    Parameters
    ----------
    groups
        Instances that go together, as `order` gives them.
    make
        Makes what plays, in each worker.
    workers
        Number of processes.
    done
        Called here with an instance and what playing it returned.
    died
        Called here with an instance whose worker died, and the worker's exit code.

    Raises
    ------
    ConfigError
        If ``make`` refuses in a worker.
    EcgScrollError
        If workers die before they play anything, or an episode cannot be kept.
    """
    queue = deque(deque(group) for group in groups)
    seats = [_Seat(make) for _ in range(min(workers, sum(map(len, groups))))]
    try:
        while any(seat.occupied for seat in seats):
            for seat in _ready(seats):
                _attend(seat, seats, queue, done, died)
    finally:
        for seat in seats:
            seat.close()


@dataclass
class _Seat:
    """A place for one worker: its process, what it plays, and what is set aside for it."""

    make: MakePlay
    group: deque[str] = field(default_factory=deque)
    playing: str | None = None
    failed_starts: int = 0

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(
            target=_work, args=(theirs, self.make), daemon=False
        )
        self.process.start()
        theirs.close()
        self.started = False
        self.occupied = True

    def give(self, instance: str) -> None:
        self.playing = instance
        with suppress(OSError):  # a worker that died just now is noticed by its sentinel
            self.pipe.send(instance)

    def receive(self) -> tuple[str, Any] | None:
        """Return the worker's message, or None if it has died; called when either is so."""
        try:
            message: tuple[str, Any] | None = self.pipe.recv() if self.pipe.poll() else None
        except (EOFError, OSError):
            return None
        return message

    def restart(self) -> None:
        self.close()
        self.start()

    def close(self) -> None:
        """End the worker, at once if it is still playing."""
        self.occupied = False
        self.pipe.close()
        if self.playing is not None or not self.started:
            self.process.terminate()
        self.process.join(timeout=5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def _ready(seats: Sequence[_Seat]) -> Iterator[_Seat]:
    """Seats whose worker has said something or died, once each."""
    waiting: dict[Any, _Seat] = {}
    for seat in seats:
        if seat.occupied:
            waiting[seat.pipe] = waiting[seat.process.sentinel] = seat
    heard = {id(seat): seat for seat in (waiting[source] for source in wait(list(waiting)))}
    yield from heard.values()


def _attend(
    seat: _Seat, seats: Sequence[_Seat], queue: deque[deque[str]], done: Done, died: Died
) -> None:
    """Take in what a worker said, or its death, and give it what comes next."""
    message = seat.receive()
    if message is None:
        _bury(seat, died)
        return
    kind, content = message
    if kind == "refused":
        raise ConfigError(content)
    if kind == "raised":
        raise EcgScrollError(content)
    seat.started, seat.failed_starts = True, 0
    if seat.playing is not None:
        instance, seat.playing = seat.playing, None
        done(instance, content)
    following = _next_for(seat, seats, queue)
    if following is None:
        seat.close()
    else:
        seat.give(following)


def _bury(seat: _Seat, died: Died) -> None:
    """Report what a dead worker was playing, and start another in its place."""
    seat.process.join()
    code = seat.process.exitcode
    if seat.playing is None:
        seat.failed_starts += 1
        if seat.failed_starts >= _START_LIMIT:
            raise EcgScrollError(f"Workers end before they play anything (exit code {code}).")
    else:
        instance, seat.playing = seat.playing, None
        died(instance, code)
    seat.restart()


def _next_for(seat: _Seat, seats: Sequence[_Seat], queue: deque[deque[str]]) -> str | None:
    """Next instance: of the worker's own recording, of a new one, or taken from another worker."""
    if not seat.group and queue:
        seat.group = queue.popleft()
    if seat.group:
        return seat.group.popleft()
    richest = max(seats, key=lambda other: len(other.group))
    return richest.group.pop() if richest.group else None


def _work(pipe: Connection, make: MakePlay) -> None:
    """Life of a worker: make what plays, then play what comes until nothing does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        play = make()
    except EcgScrollError as error:
        pipe.send(("refused", str(error)))
        return
    except Exception as error:
        pipe.send(("raised", f"A worker could not begin ({type(error).__name__}: {error})."))
        return
    pipe.send(("ready", None))
    while True:
        try:
            instance = pipe.recv()
        except EOFError:
            return
        try:
            note = play(instance)
        except OSError as error:  # a full disk: the next episode would fare no better
            pipe.send(("raised", f"An episode could not be kept ({error}); mend that, run again."))
            return
        pipe.send(("done", note))


def _end_with_parent() -> None:
    """A parent that was killed must not leave workers that write into a resumed run."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
