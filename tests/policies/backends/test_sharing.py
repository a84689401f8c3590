"""Many threads and one model: nobody waits for ever, and errors find their way."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ecgscroll.errors import ConfigError, ModelError
from policies import backends
from policies.backends.batching import Batcher


def test_requests_are_gathered_and_answers_find_their_askers() -> None:
    sizes: list[int] = []

    def work(batch: Sequence[int]) -> list[int]:
        sizes.append(len(batch))
        return [request * 10 for request in batch]

    batcher = Batcher(work, size=4, patience_s=1.0)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(batcher.ask, range(8))) == [request * 10 for request in range(8)]
    assert sizes == [4, 4]
    assert batcher.ask(5) == 50  # alone: the batch goes when nobody else comes
    batcher.close()


def test_an_error_reaches_the_one_who_caused_it() -> None:
    def work(batch: Sequence[int]) -> list[float]:
        return [1 / request for request in batch]

    batcher = Batcher(work, size=4, patience_s=1.0)
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(batcher.ask, request) for request in (1, 0, 2, 4)]
    assert [asked[i].result() for i in (0, 2, 3)] == [1, 0.5, 0.25]
    with pytest.raises(ZeroDivisionError):
        asked[1].result()
    assert batcher.ask(1) == 1
    batcher.close()


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, MemoryError])
def test_whatever_is_raised_nobody_waits_for_ever(error: type[BaseException]) -> None:
    def work(batch: Sequence[int]) -> list[int]:
        raise error

    batcher = Batcher(work, size=2, patience_s=0.01)
    for _ in range(2):
        with pytest.raises(error):
            batcher.ask(1)
    batcher.close()


def test_too_few_answers_are_an_error() -> None:
    batcher: Batcher[int, int] = Batcher(lambda batch: [], size=2, patience_s=0.01)
    with pytest.raises(ValueError, match="shorter"):
        batcher.ask(1)
    batcher.close()


def test_closing_answers_those_who_wait() -> None:
    working, go_on = threading.Event(), threading.Event()

    def work(batch: Sequence[int]) -> list[int]:
        working.set()
        go_on.wait(20)
        return list(batch)

    batcher = Batcher(work, size=1, patience_s=0.01)
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(batcher.ask, 1)
        assert working.wait(20)
        second = pool.submit(batcher.ask, 2)
        closing = pool.submit(batcher.close)
        while not batcher._closed:
            threading.Event().wait(0.001)
        go_on.set()
        closing.result(20)
        assert first.result(20) == 1
        with pytest.raises(ModelError, match="closed"):
            second.result(20)
    batcher.close()
    with pytest.raises(ModelError, match="closed"):
        batcher.ask(3)


class Fake:
    """A back end that counts how often it is made."""

    made = 0

    def __init__(self, size: Any = 1) -> None:
        type(self).made += 1
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Fake]]:
    monkeypatch.setitem(backends.BACKENDS, "fake", f"{__name__}:Fake")
    monkeypatch.setattr(Fake, "made", 0)
    yield Fake
    backends.close_backends()


def test_the_same_request_from_many_threads_opens_one(fake: type[Fake]) -> None:
    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(lambda _: backends.open_backend("fake", size=2), range(16)))
    assert len({id(backend) for backend in opened}) == 1
    assert backends.open_backend("fake", size=3) is not opened[0]
    assert backends.open_backend("fake", size=object()) is not backends.open_backend("fake")
    assert fake.made == 4
    backends.close_backends()
    assert opened[0].closed == 1
    assert backends.open_backend("fake", size=2) is not opened[0]


def test_a_name_an_option_or_a_library_that_is_not_there(
    fake: type[Fake], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="no back end 'other'; choose one of"):
        backends.open_backend("other")
    with pytest.raises(ConfigError, match="it takes size"):
        backends.open_backend("fake", colour=1)
    monkeypatch.setitem(backends.BACKENDS, "fake", "no_such_library.backend:Fake")
    with pytest.raises(ConfigError, match="needs the library no_such_library"):
        backends.open_backend("fake")
