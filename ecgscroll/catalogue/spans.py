"""Sub-spans: an instance may be a stretch of a recording, ``afdb/04015@3600-7200``.

A span is a recording of its own: times count from its start, nothing before it is visible, and
what holds at its bounds is what files that are cut there would say. :meth:`Recording.part` makes
it; whatever reads a recording knows nothing of it.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from ecgscroll.errors import ConfigError

Span: TypeAlias = tuple[int, int]
"""Start and end in whole seconds of the recording."""
_SPAN = re.compile(r"(0|[1-9][0-9]{0,8})-([1-9][0-9]{0,8})")


def split_span(name: str) -> tuple[str, Span | None]:
    """Split ``record@t0-t1`` into the record's name and its span; None for a whole recording.

    Raises
    ------
    ConfigError
        If what follows the ``@`` is no span of whole seconds.

    Examples
    --------
    >>> split_span("04015@3600-7200")
    ('04015', (3600, 7200))
    >>> split_span("04015")
    ('04015', None)
    """
    record, at, text = name.partition("@")
    if not at:
        return record, None
    match = _SPAN.fullmatch(text)
    if match is None or int(match[1]) >= int(match[2]):
        raise ConfigError(
            f"{name!r:.80} names no span; write record@t0-t1 in whole seconds, t0 before t1."
        )
    return record, (int(match[1]), int(match[2]))


def with_span(record: str, span: Span | None) -> str:
    """Return what `split_span` takes apart."""
    return record if span is None else f"{record}@{span[0]}-{span[1]}"
