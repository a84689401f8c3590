"""What the page carries, as text that no HTML parser can take for anything else.

A pack is JSON and, behind it, arrays as bytes; compressed, then base64. So whatever a model or a
recording's header says never stands in the page's source, and the browser opens one pack at a time.
"""

from __future__ import annotations

import base64
import json
import math
import struct
import zlib
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ecgscroll.evaluation.accounts import LONGEST_TEXT

Width = Literal["i1", "i2", "i4"]

MAX_TEXT = LONGEST_TEXT
"""Characters of one string that are kept."""
_SPARE = 100  # what a transcript has cut and says so is not cut again
_MAX_DEPTH = 24
_GZIP = 31  # zlib's window bits for a gzip header, without a time
_EXACT = 2**53  # beyond it JavaScript's numbers round


class Pack:
    """A growing pack; ``add`` arrays, then ``close`` it with the value that refers to them."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._at = 0

    def add(self, values: ArrayLike, width: Width) -> dict[str, Any]:
        """Add an array of integers; return what a value holds in its place.

        Differences from value to value are kept, modulo the width, all low bytes first: smooth
        signals then compress to about a byte a sample.
        """
        array = np.asarray(values, dtype=f"<{width}").ravel()
        steps = np.diff(array, prepend=array.dtype.type(0))  # wraps, and so does the reader's sum
        size = array.dtype.itemsize
        data = steps.astype(array.dtype).view(np.uint8).reshape(-1, size).T.tobytes()
        reference = {"at": self._at, "n": len(array), "type": width}
        self._parts.append(data)
        self._at += len(data)
        return reference

    def close(self, value: Any) -> str:
        """Return the pack as base64 text."""
        head = to_json(value).encode("ascii")
        # For differences: a tenth of the time that the usual strategy takes for as few bytes.
        strategy = zlib.Z_FILTERED if self._parts else zlib.Z_DEFAULT_STRATEGY
        data = struct.pack("<I", len(head)) + head + b"".join(self._parts)
        return compressed(data, strategy)


def packed(value: Any) -> str:
    """Return a pack without arrays."""
    return Pack().close(value)


def compressed(data: bytes, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> str:
    """Return bytes as gzip in base64, the same for the same bytes."""
    writer = zlib.compressobj(6, zlib.DEFLATED, _GZIP, zlib.DEF_MEM_LEVEL, strategy)
    return base64.b64encode(writer.compress(data) + writer.flush()).decode("ascii")


def to_json(value: Any) -> str:
    """Return JSON in ASCII that JavaScript reads as it was meant."""
    return json.dumps(_plain(value), separators=(",", ":"), allow_nan=False)


def _plain(value: Any, depth: int = 0) -> Any:
    """Return a value with no number, text or nesting that a browser would choke on."""
    if isinstance(value, str):
        return shortened(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) <= _EXACT else shortened(_digits(value))
    if not isinstance(value, dict | list | tuple):
        return value
    if depth >= _MAX_DEPTH:
        return "…"
    if isinstance(value, dict):
        return {shortened(str(key)): _plain(one, depth + 1) for key, one in value.items()}
    return [_plain(one, depth + 1) for one in value]


def shortened(text: str, limit: int = MAX_TEXT) -> str:
    """Return a text, or its beginning and how much was left out."""
    if len(text) <= limit + _SPARE:
        return text
    return f"{text[:limit]}… ({len(text) - limit:,} more characters, in the transcript)"


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # Python refuses to write very long ones
        return f"{value:#x}"
