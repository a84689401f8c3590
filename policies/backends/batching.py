"""Requests of many threads, gathered into batches for one thread that works."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

from ecgscroll.errors import ModelError

Request = TypeVar("Request")
Answer = TypeVar("Answer")


class Batcher(Generic[Request, Answer]):
    """Let many threads ask, and one answer them batch by batch.

    A batch goes when it is full, or when nothing has arrived for ``patience_s``; so a single
    asker waits that long at most. A batch that fails is worked through one by one, so that the
    error reaches the asker whose request caused it and nobody else.

    Parameters
    ----------
    work
        Answers a batch, in its order; called from one thread only.
    size
        Most requests of a batch.
    patience_s
        How long an unfinished batch waits for the next request, in seconds.
    """

    def __init__(
        self, work: Callable[[Sequence[Request]], Sequence[Answer]], size: int, patience_s: float
    ) -> None:
        self._work, self._size, self._patience_s = work, size, patience_s
        self._queue: queue.SimpleQueue[tuple[Request, Future[Answer]] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._process = os.getpid()

    def ask(self, request: Request) -> Answer:
        """Return the answer to one request; waits for it.

        Raises
        ------
        ModelError
            If the batcher is closed before the answer is there, or belongs to another process.
        """
        if os.getpid() != self._process:  # its thread did not come along
            raise ModelError("The model was opened before this process was forked; open it here.")
        future: Future[Answer] = Future()
        with self._lock:
            if self._closed:
                raise ModelError("The model was closed; open it again before asking.")
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="batcher", daemon=True)
                self._thread.start()
            self._queue.put((request, future))
        return future.result()

    def close(self) -> None:
        """Refuse new requests, answer those that wait with an error, and end the thread."""
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
            if thread is not None:
                self._queue.put(None)
        if thread is not None:
            thread.join()

    def _serve(self) -> None:
        while (item := self._queue.get()) is not None:
            batch, last = self._gather(item)
            if self._closed:
                _fail(batch)
            else:
                self._answer(batch)
            if last:
                break
        while not self._queue.empty():
            if (item := self._queue.get()) is not None:
                _fail([item])

    def _gather(
        self, item: tuple[Request, Future[Answer]]
    ) -> tuple[list[tuple[Request, Future[Answer]]], bool]:
        """Return a batch that begins with ``item``, and whether the thread is to end after it."""
        batch = [item]
        while len(batch) < self._size:
            try:
                following = self._queue.get(timeout=self._patience_s)
            except queue.Empty:
                break
            if following is None:
                return batch, True
            batch.append(following)
        return batch, False

    def _answer(self, batch: Sequence[tuple[Request, Future[Answer]]]) -> None:
        try:
            answers = self._work([request for request, _ in batch])
            for (_, future), answer in zip(batch, answers, strict=True):
                future.set_result(answer)
        except BaseException as error:  # whatever it is, nobody may wait for ever
            if len(batch) == 1:
                batch[0][1].set_exception(error)
                return
            for single in batch:
                if not single[1].done():
                    self._answer([single])


def _fail(batch: Sequence[tuple[Request, Future[Answer]]]) -> None:
    for _, future in batch:
        future.set_exception(ModelError("The model was closed before it answered."))
