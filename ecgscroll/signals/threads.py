"""One thread for the linear algebra of small matrices: they are too small to share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread(call: Callable[P, R]) -> Callable[P, R]:
    """Run a function with one thread of linear algebra.

    Threads that wait for one another halve the speed of a process and take the core of the next;
    and a sum must not depend on how many cores share it.
    """

    @wraps(call)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with _controller().limit(limits=1, user_api="blas"):
            return call(*args, **kwargs)

    return limited
