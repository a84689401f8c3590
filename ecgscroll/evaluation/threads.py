"""Episodes at once in one process: threads, each with a player of its own.

Between them they wait for one model or one server, which so has several requests to work on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

from ecgscroll.errors import EcgScrollError
from ecgscroll.evaluation.agenda import Agenda
from ecgscroll.evaluation.config import Trial

# Plays an episode to its end, keeps what came of it, and returns a picklable note on it.
Play = Callable[[Trial], Any]
# Makes a `Play`, once for each thread that plays, before any episode; it must be picklable.
MakePlay = Callable[[], Play]
Done = Callable[[Trial, Any], None]
# What a worker or a thread says: "ready", "done", or why nothing more comes of it.
Message = tuple[str, Any]
Hear = Callable[[], Trial | None]
Say = Callable[[Message], None]


def run_inline(agenda: Agenda, make: MakePlay, done: Done, concurrency: int = 1) -> None:
    """Play every episode in this process, ``concurrency`` of them at once.

    Raises
    ------
    EcgScrollError
        If one of several threads cannot keep an episode; a single one raises what it meets.
    """
    if concurrency > 1:
        _run_threads(agenda, [make() for _ in range(concurrency)], done)
        return
    play = make()
    while (trial := agenda.next(0)) is not None:
        done(trial, play(trial))


def live(hear: Hear, play: Play, say: Say) -> None:
    """Play what is heard of until that is None, and say what came of each."""
    while (trial := hear()) is not None:
        try:
            note = play(trial)
        except OSError as error:  # a full disk: the next episode would fare no better
            say(("raised", f"An episode could not be kept ({error}); mend that, run again."))
            return
        say(("done", (trial, note)))


def start_threads(hear: Hear, plays: Sequence[Play], say: Say) -> None:
    """Let each of ``plays`` live in a thread; they end with the process, or by hearing None."""
    for play in plays:
        threading.Thread(target=_live_apart, args=(hear, play, say), daemon=True).start()


def _live_apart(hear: Hear, play: Play, say: Say) -> None:
    """As `live`; a thread must not end in silence, for somebody waits for its word."""
    try:
        live(hear, play, say)
    except BaseException as error:
        say(("raised", f"A thread that plays failed ({type(error).__name__}: {error})."))


def _run_threads(agenda: Agenda, plays: Sequence[Play], done: Done) -> None:
    inbox: SimpleQueue[Trial | None] = SimpleQueue()
    heard: SimpleQueue[Message] = SimpleQueue()
    start_threads(inbox.get, plays, heard.put)
    under_way = 0
    try:
        while True:
            while under_way < len(plays) and (trial := agenda.next(0)) is not None:
                inbox.put(trial)
                under_way += 1
            if not under_way:
                return
            kind, content = heard.get()
            if kind == "raised":
                raise EcgScrollError(content)
            under_way -= 1
            done(*content)
    finally:
        for _ in plays:
            inbox.put(None)
