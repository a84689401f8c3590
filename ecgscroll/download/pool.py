"""Several connections at once over a queue of files; one that fails for good stops all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from queue import Empty, SimpleQueue
from typing import TypeVar

from ecgscroll.download.http import Server, StoppedError
from ecgscroll.download.listing import Entry

T = TypeVar("T")


def run_all(server: Server, items: Iterable[Entry], work: Callable[[Entry], T]) -> dict[Entry, T]:
    """Do ``work`` on every item, with as many threads as the server has connections.

    Parameters
    ----------
    server
        Its ``stop`` event is set on the first error, and on an interrupt from the keyboard.
    items, work
        What to do it on, and what to do.

    Returns
    -------
    dict
        Result of each item.
    """
    queue: SimpleQueue[Entry] = SimpleQueue()
    for item in items:
        queue.put(item)
    results: dict[Entry, T] = {}
    n_threads = min(server.settings.connections, queue.qsize())
    if n_threads == 0:
        return results
    with ThreadPoolExecutor(n_threads) as pool:
        threads = [pool.submit(_drain, server, queue, work, results) for _ in range(n_threads)]
        try:
            wait(threads)
        except BaseException:
            server.stop.set()
            raise
    _raise_first(threads)
    return results


def _drain(
    server: Server, queue: SimpleQueue[Entry], work: Callable[[Entry], T], results: dict[Entry, T]
) -> None:
    while True:
        try:
            item = queue.get_nowait()
        except Empty:
            return
        try:
            server.check_stop()
            results[item] = work(item)
        except BaseException:
            server.stop.set()
            raise


def _raise_first(threads: list[Future[None]]) -> None:
    errors = [error for thread in threads if (error := thread.exception()) is not None]
    causes = [error for error in errors if not isinstance(error, StoppedError)]
    if errors:
        raise (causes or errors)[0]
