"""Who keeps the blocks of rows of the joint method, and asks them: threads of this process.

A question is the name of a method of `mklbench.optim.row_blocks.Rows` with arguments.

Where several computations are side by side or are timed, linear algebra is limited to one thread
each. A single one that shares its rows among threads of its own may have more (`allowing`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_info, threadpool_limits

from mklbench.kernels.row_factors import ROWS, RowFactors
from mklbench.optim.row_blocks import UNFLAGGED, Rows, Terms

Array = NDArray[np.float64]

# Rows of a block: enough that what comes back is little beside it, few enough for many blocks.
_BLOCK = 8 * ROWS
# Bytes that the rows of B may take in a process to be kept.
KEPT = 1.6e9

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


@dataclass(frozen=True)
class OfSamples:
    """An argument of which each block gets its own rows.

    Attributes
    ----------
    arrays : tuple of ndarray of shape (..., n)
        Of all samples; a block is given a tuple, or the array where there is only one.
    """

    arrays: tuple[NDArray[Any], ...]

    def of(self, rows: slice) -> Any:
        """Return what the block with these rows is given."""
        own = tuple(each[..., rows] for each in self.arrays)
        return own if len(own) > 1 else own[0]


@dataclass(frozen=True)
class FactorProblem:
    """What blocks are made of.

    Attributes
    ----------
    factors : RowFactors
        The kernels on all n samples.
    exact : RowFactors
        The same without loss.
    terms : Terms
        The loss.
    dtype : type
        Of the rows of B.
    alone : bool
        Whether no other problem has the same rows.
    """

    factors: RowFactors
    exact: RowFactors
    terms: Terms
    dtype: type[np.floating]
    alone: bool = False

    @property
    def size(self) -> int:
        """Bytes of the rows of B."""
        dense = self.factors.rank - int(self.factors.sparse.sum())
        return self.factors.n_samples * dense * np.dtype(self.dtype).itemsize

    def has_rows_of(self, other: FactorProblem) -> bool:
        """Tell whether another problem is the same but for its loss."""
        return (self.factors, self.exact, self.dtype) == (other.factors, other.exact, other.dtype)

    def block(self, rows: slice) -> Rows:
        """Return the block with these rows."""
        X = self.factors.X[rows]
        parts = self.factors.on(X), self.exact.on(X)
        return Rows(*parts, self.terms.of(rows), self.dtype, self.size <= KEPT, self.factors.sparse)


class Engine:
    """The blocks in the memory of this process, asked by a thread each.

    Parameters
    ----------
    problem : FactorProblem
        What they are made of.
    """

    def __init__(self, problem: FactorProblem) -> None:
        n = problem.factors.n_samples
        self._rows = cut(n, -(-n // _BLOCK) if n > _BLOCK else min(-(-n // ROWS), n_threads()))
        self._blocks = [problem.block(rows) for rows in self._rows]
        self._pool = ThreadPoolExecutor(n_threads())

    def each(self, question: str, *arguments: Any) -> list[Any]:
        """Return what every block answers, in their order."""
        return list(self._asked(question, arguments))

    def total(self, question: str, *arguments: Any) -> Any:
        """Return the sum of what the blocks answer."""
        return reduce(add, self._asked(question, arguments))

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(cancel_futures=True)

    def _asked(self, question: str, arguments: tuple[Any, ...]) -> Iterator[Any]:
        def answer(block: Rows, rows: slice) -> Any:
            own = [
                each.of(rows) if isinstance(each, OfSamples | Terms) else each for each in arguments
            ]
            with np.errstate(**UNFLAGGED):
                return getattr(block, question)(*own)

        return self._pool.map(answer, self._blocks, self._rows)


# Makes the engine of a problem, and ends it.
Maker = Callable[[FactorProblem], AbstractContextManager[Engine]]


@contextmanager
def threads(problem: FactorProblem) -> Iterator[Engine]:
    """Give an engine of threads; linear algebra within a block has one thread."""
    engine = Engine(problem)
    try:
        with threadpool_limits(1, user_api="blas"):
            yield engine
    finally:
        engine.close()


_MAKER: ContextVar[Maker] = ContextVar("maker", default=threads)


def engine_of(problem: FactorProblem) -> AbstractContextManager[Engine]:
    """Give the engine of a problem: threads, or what `made_by` says.

    Parameters
    ----------
    problem : FactorProblem
        What the blocks are made of.
    """
    return _MAKER.get()(problem)


@contextmanager
def made_by(maker: Maker) -> Iterator[None]:
    """Have the joint method take another engine than threads.

    Parameters
    ----------
    maker : callable
        Gives the engine of a `FactorProblem` as a context.
    """
    token = _MAKER.set(maker)
    try:
        yield
    finally:
        _MAKER.reset(token)


class _Shared:
    """Makes the engines of problems that come one after the other, and keeps what has room."""

    def __init__(self, make: Maker) -> None:
        self._make, self._in_use = make, False
        self._kept: list[tuple[FactorProblem, Engine, ExitStack]] = []

    @contextmanager
    def __call__(self, problem: FactorProblem) -> Iterator[Engine]:
        if self._in_use or problem.alone:  # in use: of one problem within another
            with self._make(problem) as own:
                yield own
            return
        self._in_use = True
        try:
            yield self._engine(problem)
        finally:
            self._in_use = False

    def _engine(self, problem: FactorProblem) -> Engine:
        for other, engine, _ in self._kept:
            if other.has_rows_of(problem):
                engine.each("turned_to", problem.terms)
                return engine
        while sum(other.size for other, _, _ in self._kept) + problem.size > KEPT and self._kept:
            self._kept.pop()[2].close()
        opened = ExitStack()
        engine = opened.enter_context(self._make(problem))
        self._kept.append((problem, engine, opened))
        return engine

    def close(self) -> None:
        """End all engines, the last one first: it began with the threads that the others leave."""
        while self._kept:
            self._kept.pop()[2].close()


@contextmanager
def shared() -> Iterator[None]:
    """Have problems that differ in their losses alone take the same engine, one by one.

    The rows of factors that it keeps serve all of them.
    """
    maker = _Shared(_MAKER.get())
    try:
        # An engine that is kept leaves linear algebra one thread, which are not those of the next.
        with allowing(n_threads()), made_by(maker):
            yield
    finally:
        maker.close()


def cut(n: int, blocks: int) -> list[slice]:
    """Return the rows of so many blocks of about the same size."""
    ends = np.linspace(0, n, blocks + 1).astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]
