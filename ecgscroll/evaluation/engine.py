"""Spread episodes over processes; every episode has one outcome, whatever happens.

A worker that dies costs only the episode it was playing. Where it was playing several at once,
each of those is played again alone, so that only the one that ends workers is lost.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from queue import SimpleQueue
from typing import Any

from ecgscroll.errors import ConfigError, EcgScrollError
from ecgscroll.evaluation.agenda import Agenda
from ecgscroll.evaluation.config import Trial
from ecgscroll.evaluation.threads import Done, MakePlay, Message, Say, live, start_threads

_START_LIMIT = 3

Died = Callable[[Trial, int | None], None]


def run_pool(
    agenda: Agenda, make: MakePlay, workers: int, done: Done, died: Died, concurrency: int = 1
) -> None:
    """Play every episode in ``workers`` processes.

    Parameters
    ----------
    agenda
        What is left to play.
    make
        Makes what plays, in each worker.
    workers
        Number of processes.
    done
        Called here with an episode and what playing it returned.
    died
        Called here with an episode whose worker died, and the worker's exit code.
    concurrency
        Episodes at once in each process, each in a thread with a `Play` of its own.

    Raises
    ------
    ConfigError
        If ``make`` refuses in a worker.
    EcgScrollError
        If workers die before they play anything, or an episode cannot be kept.
    """
    seats = [_Seat(number, make, concurrency) for number in range(min(workers, len(agenda)))]
    try:
        while any(seat.occupied for seat in seats):
            for seat in _ready(seats):
                _attend(seat, agenda, done, died)
    finally:
        for seat in seats:
            seat.close()


@dataclass
class _Seat:
    """A place for one worker: its process, what it plays, and what it must play alone."""

    number: int
    make: MakePlay
    concurrency: int
    playing: list[Trial] = field(default_factory=list)
    suspects: deque[Trial] = field(default_factory=deque)
    failed_starts: int = 0

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(
            target=_work, args=(theirs, self.make, self.concurrency), daemon=False
        )
        self.process.start()
        theirs.close()
        self.started = False
        self.occupied = True

    def fill(self, agenda: Agenda) -> None:
        """Give the worker as much as it plays at once; what ended another worker, alone."""
        room = 1 if self.suspects else self.concurrency
        while agenda.go_on() and len(self.playing) < room:
            trial = self.suspects.popleft() if self.suspects else agenda.next(self.number)
            if trial is None:
                return
            self.playing.append(trial)
            with suppress(OSError):  # a worker that died just now is noticed by its sentinel
                self.pipe.send(trial)

    def receive(self) -> Message | None:
        """Return the worker's message, or None if it has died; called when either is so."""
        try:
            message: Message | None = self.pipe.recv() if self.pipe.poll() else None
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
        if self.playing or not self.started:
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


def _attend(seat: _Seat, agenda: Agenda, done: Done, died: Died) -> None:
    """Take in what a worker said, or its death, and give it what comes next."""
    message = seat.receive()
    if message is None:
        _bury(seat, died)
        return
    kind, content = message
    if kind in _ENDS:
        raise _ENDS[kind](content)
    seat.started, seat.failed_starts = True, 0
    if kind == "done":
        trial, note = content
        seat.playing.remove(trial)
        done(trial, note)
    seat.fill(agenda)
    if not seat.playing:
        seat.close()


def _bury(seat: _Seat, died: Died) -> None:
    """Report what a dead worker was playing, and start another in its place."""
    seat.process.join()
    code = seat.process.exitcode
    if not seat.playing:
        seat.failed_starts += 1
        if seat.failed_starts >= _START_LIMIT:
            raise EcgScrollError(f"Workers end before they play anything (exit code {code}).")
    elif len(seat.playing) == 1:
        died(seat.playing.pop(), code)
    else:
        seat.suspects.extend(seat.playing)
        seat.playing.clear()
    seat.restart()


_ENDS: dict[str, type[EcgScrollError]] = {"refused": ConfigError, "raised": EcgScrollError}


def _work(pipe: Connection, make: MakePlay, concurrency: int) -> None:
    """Life of a worker: make what plays, then play what comes until nothing does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        plays = [make() for _ in range(concurrency)]
    except EcgScrollError as error:
        pipe.send(("refused", str(error)))
        return
    except Exception as error:
        pipe.send(("raised", f"A worker could not begin ({type(error).__name__}: {error})."))
        return
    pipe.send(("ready", None))
    if concurrency == 1:  # in the main thread, where a policy may handle signals
        live(lambda: _received(pipe), plays[0], pipe.send)
        return
    inbox: SimpleQueue[Trial | None] = SimpleQueue()
    start_threads(inbox.get, plays, _one_at_a_time(pipe.send))
    while (trial := _received(pipe)) is not None:
        inbox.put(trial)


def _one_at_a_time(say: Say) -> Say:
    lock = threading.Lock()

    def said(message: Message) -> None:
        with lock:
            say(message)

    return said


def _received(pipe: Connection) -> Trial | None:
    try:
        trial: Trial = pipe.recv()
    except EOFError:
        return None
    return trial


def _end_with_parent() -> None:
    """A parent that was killed must not leave workers that write into a resumed run."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
