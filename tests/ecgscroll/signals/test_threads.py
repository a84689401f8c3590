"""Linear algebra of small matrices runs on one thread, and what the user set comes back."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from ecgscroll.signals.threads import one_thread


def threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_one_thread_within_and_the_users_number_after() -> None:
    np.eye(2) @ np.eye(2)
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        assert one_thread(threads)() == {1}
        assert threads() == before


def test_what_a_function_takes_and_gives_is_unchanged() -> None:
    assert one_thread(divmod)(7, 3) == (2, 1)
