"""The threads that a computation may have.

Where several computations are side by side or are timed, linear algebra is limited to one thread
each. A single one that shares its rows among threads of its own may have more (`allowing`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from threadpoolctl import threadpool_info

_ALLOWED: ContextVar[int | None] = ContextVar("allowed", default=None)


@contextmanager
def allowing(threads: int) -> Iterator[None]:
    """Allow computations so many threads within the context, whatever linear algebra has.

    Parameters
    ----------
    threads : int
        How many, >= 1.
    """
    token = _ALLOWED.set(threads)
    try:
        yield
    finally:
        _ALLOWED.reset(token)


def n_threads() -> int:
    """Return how many threads are allowed here: as many as linear algebra has, unless said."""
    allowed = _ALLOWED.get()
    if allowed is not None:
        return allowed
    pools = (pool for pool in threadpool_info() if pool["user_api"] == "blas")
    return max((int(pool["num_threads"]) for pool in pools), default=1)
