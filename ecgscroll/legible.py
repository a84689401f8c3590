"""Text from anywhere, with the characters that hide, reorder or break written by their numbers."""

from __future__ import annotations

import re

# Controls but tab and line feed, halves of surrogate pairs, and what turns or hides text. The
# joiners U+200C and U+200D stay: scripts and emoji need them. The page's format.js has the same.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def legible(text: str) -> str:
    r"""Return a text that shows everything it holds, and that UTF-8 can carry.

    Examples
    --------
    >>> legible("a\x1b[31m\u202e")
    'a⟨1B⟩[31m⟨202E⟩'
    """
    return _HIDDEN.sub(lambda found: f"⟨{ord(found[0]):02X}⟩", text)
