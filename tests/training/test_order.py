"""The order of an epoch follows from the seed and the epoch's number, not from what came before."""

from __future__ import annotations

from transformers.trainer_pt_utils import LengthGroupedSampler
from trl.trainer.utils import RepeatSampler

from training.order import EachEpoch


def samplers():
    lengths = [(7 * n) % 31 for n in range(40)]
    rows = [{"input_ids": [0] * n} for n in lengths]
    yield LengthGroupedSampler(4, rows, lengths=lengths)
    yield RepeatSampler(range(40), mini_repeat_count=2, batch_size=4, seed=0)


def epoch(sampler, number):
    sampler.set_epoch(number)
    return list(sampler)


def test_an_epoch_has_the_same_order_whatever_came_before():
    for first, second in zip(samplers(), samplers(), strict=True):
        one, other = EachEpoch(first, 3), EachEpoch(second, 3)
        orders = [epoch(one, number) for number in range(3)]
        assert epoch(other, 2) == orders[2]
        assert orders[0] != orders[1] != orders[2]
        assert epoch(other, 0) == orders[0]
        assert len(other) == len(orders[0])


def test_another_seed_gives_another_order():
    one, other = (EachEpoch(next(samplers()), seed) for seed in (0, 1))
    assert epoch(one, 0) != epoch(other, 0)
    assert sorted(epoch(one, 0)) == sorted(epoch(other, 0))
