"""Language models behind one small protocol, wherever they run.

`open_backend` makes one from a name and options, once per process: episodes that ask for the same
model share it.
"""

from __future__ import annotations

import inspect
import json
import os
import threading
from importlib import import_module
from typing import Any

from ecgscroll.errors import ConfigError
from policies.backends.base import Backend

# Name -> module:class. Imported when one is opened, so that a stranger needs no library for it.
BACKENDS: dict[str, str] = {
    "openai": "policies.backends.http:HttpBackend",
    "oracle": "policies.backends.scripted:Oracle",
    "script": "policies.backends.scripted:Script",
    "transformers": "policies.backends.local:LocalBackend",
}

_open: dict[str, Backend] = {}
_lock = threading.Lock()


def open_backend(name: str, **options: Any) -> Backend:
    """Return the back end of a name with these options, the same object for the same request.

    Parameters
    ----------
    name
        A key of `BACKENDS`.
    options
        Keyword arguments of its class. Options that JSON cannot hold make a back end of its own.

    Raises
    ------
    ConfigError
        If there is no such back end, a library that it needs is missing, or an option is wrong.
    """
    key = _key(name, options)
    with _lock:
        backend = _open.get(key) if key else None
        if backend is None:
            backend = _make(name, options)
            if key:
                _open[key] = backend
        return backend


def close_backends() -> None:
    """Close every back end that this process has opened; the next `open_backend` makes anew."""
    with _lock:
        backends = list(_open.values())
        _open.clear()
    for backend in backends:
        backend.close()


def _make(name: str, options: dict[str, Any]) -> Backend:
    if name not in BACKENDS:
        raise ConfigError(f"There is no back end {name!r}; choose one of {', '.join(BACKENDS)}.")
    module, _, attribute = BACKENDS[name].partition(":")
    try:
        kind = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"The back end {name!r} needs the library {error.name}; install its extra "
            f"(ecgscroll[llm] for local models, ecgscroll[openai] for servers)."
        ) from None
    try:
        inspect.signature(kind).bind(**options)
    except TypeError as error:
        takes = ", ".join(inspect.signature(kind).parameters)
        raise ConfigError(f"The back end {name!r}: {error}; it takes {takes}.") from None
    backend: Backend = kind(**options)
    return backend


def _key(name: str, options: dict[str, Any]) -> str | None:
    try:
        return json.dumps([name, options], sort_keys=True)
    except TypeError:
        return None


def _forget_after_fork() -> None:
    """A forked child has the parent's models but none of their threads: it opens its own."""
    global _lock
    _lock = threading.Lock()
    _open.clear()


os.register_at_fork(after_in_child=_forget_after_fork)
