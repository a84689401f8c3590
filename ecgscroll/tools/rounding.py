"""What a result shows: numbers rounded to what the measurement supports, lists under a cap."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

CAP = 60
"""Most items of a list in a result; the true count stands beside it."""


def milliseconds(value: float) -> int | None:
    """Whole milliseconds; ``None`` for NaN."""
    return None if not math.isfinite(value) else round(float(value))


def millivolts(value: float) -> float | None:
    """Hundredths of a millivolt; ``None`` for NaN."""
    return None if not math.isfinite(value) else round(float(value), 2) + 0.0


def seconds(value: float) -> float:
    """Tenths of a second."""
    return round(float(value), 1)


def ratio(value: float) -> float | None:
    """Three decimals; ``None`` for NaN."""
    return None if not math.isfinite(value) else round(float(value), 3)


def capped(name: str, values: Iterable[Any]) -> dict[str, Any]:
    """``{name: first 60 values, name_count: how many there are}``."""
    listed = list(values)
    return {name: listed[:CAP], f"{name}_count": len(listed)}
