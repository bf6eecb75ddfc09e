"""Who keeps the blocks of rows of the joint method, and asks them: threads of this process.

A question is the name of a method of `mklbench.optim.row_blocks.Rows` with arguments.

Where several computations are side by side or are timed, linear algebra is limited to one thread
each. A single one that shares its rows among threads of its own may have more (`allowing`).
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from mklbench.kernels.row_factors import ROWS
from mklbench.optim.row_blocks import UNFLAGGED, FactorProblem, Rows

# Rows of a block: enough that what comes back is little beside it, few enough for many blocks.
_BLOCK = 16 * ROWS
# Of all alpha, the share that does not limit a step at most, and what its bounds add up to at most:
# what these alpha lack of t = B'Y alpha is of that size, whatever n is.
_CLIPPED, _OF_BOUNDS = 1e-4, 1e3

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


class Engine:
    """The blocks in the memory of this process, asked by a thread each.

    Parameters
    ----------
    problem : FactorProblem
        What they are made of.
    pool : ThreadPoolExecutor
        The threads.
    """

    def __init__(self, problem: FactorProblem, pool: ThreadPoolExecutor) -> None:
        n = problem.factors.n_samples
        n_blocks = -(-n // _BLOCK) if n > _BLOCK else min(-(-n // ROWS), n_threads())
        clipped = min(_CLIPPED, _OF_BOUNDS / float(problem.terms.box.sum()))
        self._blocks = [Rows(problem, rows, clipped) for rows in cut(n, n_blocks)]
        self._pool = pool

    def each(self, question: str, *arguments: Any) -> list[Any]:
        """Return what every block answers, in their order."""
        return list(self._asked(question, arguments))

    def total(self, question: str, *arguments: Any) -> Any:
        """Return the sum of what the blocks answer."""
        return reduce(add, self._asked(question, arguments))

    def _asked(self, question: str, arguments: tuple[Any, ...]) -> Iterator[Any]:
        def answer(block: Rows) -> Any:
            with np.errstate(**UNFLAGGED):
                return getattr(block, question)(*arguments)

        return self._pool.map(answer, self._blocks)


@contextmanager
def threads(problem: FactorProblem) -> Iterator[Engine]:
    """Give an engine of threads; linear algebra within a block has one thread."""
    with ThreadPoolExecutor(n_threads()) as pool:
        engine = Engine(problem, pool)
        with threadpool_limits(1, user_api="blas"):
            yield engine


def cut(n: int, blocks: int) -> list[slice]:
    """Return the rows of so many blocks of about the same size."""
    ends = np.linspace(0, n, blocks + 1).astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]
