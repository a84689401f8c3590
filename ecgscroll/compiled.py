"""Loops over samples as machine code, by numba: compiled once per machine, imported when first run.

Only sums, products, quotients, roots and comparisons in the order that the source gives them
(``fastmath`` is off, and no result depends on which vector units there are). Kernels therefore
leave logarithms and the like to numpy.

Compiled code is kept in ``kernels`` of the cache folder (:func:`ecgscroll.files.cache_dir`; or in
``NUMBA_CACHE_DIR``, if that is set), one folder per state of the source. Since numba pickles what
it keeps, the folder is used only if it belongs to this user and nobody else can write to it. Where
it cannot be used, or something in it is damaged, code is compiled anew in every process.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from functools import lru_cache, update_wrapper
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

from ecgscroll.files import cache_dir

P = ParamSpec("P")
R = TypeVar("R")

SOURCES = "*/*_kernels.py"
"""Files of this package that hold kernels; a kernel may call another's of any of them."""


class Kernel(Generic[P, R]):
    """A function of arrays and numbers that is compiled when it is first called.

    ``py_func`` is the function itself, which gives the same results to the rounding, slowly.
    """

    _trusts_disk = True

    def __init__(self, function: Callable[P, R]) -> None:
        self.py_func = function
        self._built: Callable[P, R] | None = None
        self._built_with_disk = False
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the compiled function."""
        try:
            return (self._built or self._build())(*args, **kwargs)
        except Exception:
            # A damaged or unwritable file of numba's; a mistake of the kernel's fails again.
            if not self._built_with_disk:
                raise
        Kernel._trusts_disk = False
        return self._build()(*args, **kwargs)

    @property
    def _numba_type_(self) -> Any:
        """What numba asks of a kernel that another one calls."""
        if self._built is None or self._built_with_disk != Kernel._trusts_disk:
            self._build()
        return import_module("numba").typeof(self._built)

    def _build(self) -> Callable[P, R]:
        numba: Any = import_module("numba")
        before, folder = numba.config.CACHE_DIR, code_folder() if Kernel._trusts_disk else None
        try:
            if folder is not None:
                numba.config.CACHE_DIR = str(folder)
            jit = numba.njit(cache=folder is not None, error_model="numpy", nogil=True)
            built: Callable[P, R] = jit(self.py_func)
        finally:
            numba.config.CACHE_DIR = before
        self._built, self._built_with_disk = built, folder is not None
        return built


def compiled(function: Callable[P, R]) -> Kernel[P, R]:
    """Make a kernel of a function."""
    return Kernel(function)


def code_folder() -> Path | None:
    """Return the folder for compiled code, made if need be; None where none can be trusted."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    try:
        place = Path(chosen) if chosen else cache_dir() / "kernels"
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = place / _version()
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder if _mine(folder) else None
    except (OSError, RuntimeError):
        return None


def _mine(folder: Path) -> bool:
    """Whether the folder is this user's, who alone can write to it and to the one that holds it."""
    for place in (folder, folder.parent):
        status = place.stat()
        shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if status.st_uid != os.getuid() or shared:
            return False
    return os.access(folder, os.W_OK)


@lru_cache(maxsize=1)
def _version() -> str:
    """Name of the state of the source: numba itself looks at the file of each kernel alone."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob(SOURCES)):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
