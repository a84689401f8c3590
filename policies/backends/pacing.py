"""When to ask a server again, and how often at all."""

from __future__ import annotations

import asyncio
import email.utils
import math
import time
from collections.abc import Mapping
from datetime import UTC

import numpy as np

FIRST_WAIT_S = 0.5
LONGEST_BACKOFF_S = 60.0


class Clock:
    """Time as the back end sees it, in seconds; tests put their own in its place."""

    def now(self) -> float:
        """Return a monotonic time."""
        return time.monotonic()

    def date(self) -> float:
        """Return the Unix time."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        await asyncio.sleep(seconds)


class Pace:
    """Spread amounts over time so that they never run ahead of a limit per minute.

    For one event loop; no limit where ``per_minute`` is None.
    """

    def __init__(self, per_minute: float | None, clock: Clock) -> None:
        self._seconds_each = 60 / per_minute if per_minute else 0.0
        self._clock = clock
        self._free = 0.0

    async def take(self, amount: float) -> None:
        """Wait until ``amount`` may be used, and count it."""
        now = self._clock.now()
        start = max(now, self._free)
        self._free = start + amount * self._seconds_each
        if start > now:
            await self._clock.sleep(start - now)

    def correct(self, amount: float) -> None:
        """Count what was used beyond, or below, an amount that was taken as an estimate."""
        self._free += amount * self._seconds_each


def backoff(attempt: int, seed: int) -> float:
    """Return how long to wait after failed attempt number ``attempt`` (from 0), in seconds.

    It doubles from one attempt to the next, less up to a half by a draw from the request's seed:
    episodes that fail together do not come back together.
    """
    longest = min(FIRST_WAIT_S * 2.0 ** min(attempt, 20), LONGEST_BACKOFF_S)
    return longest * (1 - 0.5 * float(np.random.default_rng((seed % (1 << 63), attempt)).random()))


def retry_after(headers: Mapping[str, str], clock: Clock) -> float | None:
    """Return the seconds that a server asks to wait, as a number or an HTTP date; None if none."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        text = headers.get(name)
        if text is None:
            continue
        try:
            seconds = float(text) * unit
        except ValueError:
            seconds = _until(text, clock)
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    return None


def _until(text: str, clock: Clock) -> float:
    try:
        date = email.utils.parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - clock.date()
    except (ValueError, OverflowError):
        return math.nan
