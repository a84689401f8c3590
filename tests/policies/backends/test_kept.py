"""What was read is found again by how it begins, and takes no more memory than it may."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from policies.backends.kept import Beginnings, Read


def read(*ids: int) -> Read:
    """As many states as tokens, each the token itself."""
    made = Read()
    states = torch.tensor(ids, dtype=torch.float32).reshape(1, 1, -1, 1)
    made.add(0, states, -states)
    made.ids += ids
    return made


def held(one: Read) -> list[float]:
    """What a layer sees of all tokens and of one more."""
    more = torch.full((1, 1, 1, 1), 999.0)
    keys, values = one.add(0, more, -more)
    assert torch.equal(keys, -values)
    return keys.flatten().tolist()


def test_states_grow_and_those_that_are_cut_off_are_written_over() -> None:
    one = read(*range(300))
    one.cut(3)
    assert held(one) == [0, 1, 2, 999]
    for token in range(3, 2000):
        states = torch.full((1, 1, 1, 1), float(token))
        one.add(0, states, -states)
        one.ids.append(token)
    assert held(one) == [*range(2000), 999]


def test_what_goes_on_is_taken_out_and_what_begins_alike_is_copied() -> None:
    store = Beginnings(1 << 20)
    store.keep(read(*range(20)))
    other = store.take([0, 1, 2, 3, 50])
    assert held(other) == [0, 1, 2, 3, 999]  # a copy: too little to take it over
    same = store.take([*range(18), 50, 51])
    assert held(same) == [*range(18), 999]
    assert store.take([*range(18), 50]).ids == []


def test_one_token_is_left_to_read() -> None:
    store = Beginnings(1 << 20)
    store.keep(read(1, 2, 3))
    assert store.take([1, 2, 3]).ids == [1, 2]


def test_the_longest_beginning_is_found() -> None:
    store = Beginnings(1 << 20)
    for end in (3, 9, 6):
        store.keep(read(*range(end), 77, 78))
    assert store.take(list(range(30))).ids == list(range(9))
    assert store.take([5, 6]).ids == []


def test_the_oldest_goes_when_there_is_too_much() -> None:
    size = read(1, 2).nbytes
    store = Beginnings(2 * size)
    for first in (10, 20, 30):
        store.keep(read(first, 1))
    assert [store.take([first, 1, 2]).ids for first in (10, 20, 30)] == [[], [20, 1], [30, 1]]
    Beginnings(size - 1).keep(read(1))
