"""Random streams: one generator per purpose and block, so that no part disturbs another."""

from __future__ import annotations

import zlib

import numpy as np

from ecgscroll.errors import ConfigError

VERSION = 1
"""Version of the recipe: raised whenever the same seed gives other samples."""


def generator(seed: int, purpose: str, block: int = 0) -> np.random.Generator:
    """Return the generator of one purpose in one block.

    Parameters
    ----------
    seed
        Seed of the recording, 0 or more.
    purpose
        Name of the part that draws from it.
    block
        Index of the block on the recording's fixed grid, for what is drawn as the signal is
        rendered.

    Raises
    ------
    ConfigError
        If the seed is negative or no whole number.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ConfigError(f"The seed must be a whole number, 0 or more, not {seed!r}.")
    return np.random.default_rng([seed, VERSION, zlib.crc32(purpose.encode()), block])


def poisson_times(
    rng: np.random.Generator, per_hour: float, duration_s: float
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Times of a Poisson process in [0, duration_s), sorted, s."""
    count = rng.poisson(per_hour * duration_s / 3600.0)
    return np.sort(rng.uniform(0.0, duration_s, count))
