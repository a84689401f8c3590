"""The page's reader, in Python: what a browser gets out of a pack."""

from __future__ import annotations

import base64
import gzip
import json
import re
import struct

import numpy as np


def opened(text):
    """Return a pack's value and the bytes behind it."""
    data = gzip.decompress(base64.b64decode(text))
    (length,) = struct.unpack("<I", data[:4])
    return json.loads(data[4 : 4 + length]), data[4 + length :]


def unwound(data, reference):
    """Return the array that a reference stands for."""
    width = np.dtype(f"<{reference['type']}")
    part = np.frombuffer(
        data, np.uint8, reference["n"] * width.itemsize, offset=reference["at"]
    ).reshape(width.itemsize, -1)
    return np.cumsum(part.T.copy().view(width).ravel(), dtype=width)


def pack_of(page, name):
    """Return the text of a pack in a page's source, None if there is none."""
    found = re.search(rf'<script type="text/plain" id="{re.escape(name)}">([^<]*)</script>', page)
    return found and found[1]
