"""The training samples of the joint method, in blocks of rows that are worked on side by side.

What an iteration asks of n samples is a map over blocks and a sum of what comes back, which is no
longer than the factors are wide. Between the iterations a block keeps what belongs to its samples:
alpha, the multipliers of its bounds, and the rows of B, in memory or made anew each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_info, threadpool_limits

from mklbench.kernels.row_factors import ROWS, RowFactors

Array = NDArray[np.float64]
Result = TypeVar("Result")

# Rows of a block: enough that what comes back is little beside it, few enough for many blocks.
_BLOCK = 8 * ROWS


class Sums:
    """Numbers that are added up over the blocks, for dataclasses of them."""

    def __add__(self, other: Any) -> Any:
        return type(self)(
            **{
                field.name: getattr(self, field.name) + getattr(other, field.name)
                for field in fields(self)  # type: ignore[arg-type]
            }
        )


@dataclass
class Linearised(Sums):
    """Of the central path's equations at a point, with Theta = 1 / (l / alpha + u / (C - alpha)).

    Attributes
    ----------
    products : ndarray of shape (R, R)
        B' Theta B.
    column_sums, projected : ndarray of shape (R,)
        B' Theta 1, and B' Y Theta rho, rho being the right-hand side.
    theta, labelled : float
        1' Theta 1 and y' Theta rho.
    hinge, alpha, complementarity : float
        The hinge loss, the sum of alpha, and l'alpha + u'(C - alpha).
    balance : float
        y'alpha.
    """

    products: Array
    column_sums: Array
    projected: Array
    theta: float
    labelled: float
    hinge: float
    alpha: float
    complementarity: float
    balance: float


@dataclass
class Corrections(Sums):
    """Of the right-hand side after a predicted direction.

    Attributes
    ----------
    projected, centred : ndarray of shape (R,)
        B' Y Theta times the terms of second order, and times those of mu.
    labelled, labelled_centred : float
        y' Theta times the same.
    first, second : float
        l'alpha + u'(C - alpha) along the direction: what is of first and of second order in a step.
    longest : Least
        The step at which a variable becomes 0.
    """

    projected: Array
    centred: Array
    labelled: float
    labelled_centred: float
    first: float
    second: float
    longest: Least


@dataclass
class Direction(Sums):
    """A direction of all alpha: B' Y times it (R,), and the step at which a variable becomes 0."""

    projected: Array
    longest: Least


@dataclass(frozen=True)
class Least:
    """A number of which not the sum but the least is wanted."""

    value: float

    def __add__(self, other: Least) -> Least:
        return self if self.value <= other.value else other


class Variables(NamedTuple):
    """alpha, C - alpha, and the multipliers l and u of their being >= 0, each (n,)."""

    alpha: Array
    slack: Array
    lower: Array
    upper: Array


class Rows:
    """A block: alpha and the multipliers of some samples, and how to have their rows of B.

    Parameters
    ----------
    factors : RowFactors
        The kernels.
    start, stop : int
        The samples.
    y, box : ndarray of shape (stop - start,)
        Their labels, and bounds C_i.
    dtype : type
        Of the rows of B.
    kept : bool
        Whether these stay in memory.
    """

    def __init__(
        self,
        factors: RowFactors,
        start: int,
        stop: int,
        y: Array,
        box: Array,
        dtype: type[np.floating],
        kept: bool,
    ) -> None:
        self._factors, self._start, self._stop, self._dtype = factors, start, stop, dtype
        self._y, self._box, self._kept = y, box, kept
        self._blocks: list[NDArray] | None = None
        self._double = False

    def sampled(self, step: int) -> tuple[NDArray, Array, Array]:
        """Return every `step`-th row of B (k, R), its label and its bound."""
        chosen = np.arange(0, self._stop - self._start, step)
        parts = []
        for rows, block in self._each():
            own = chosen[(chosen >= rows.start) & (chosen < rows.stop)]
            parts.append(block[own - rows.start])
        return np.concatenate(parts), self._y[chosen], self._box[chosen]

    def loss(self, x: Array, b: float) -> float:
        """Return the hinge loss of B x + b."""
        outputs = self._outputs(x) + b
        return float(self._box @ np.maximum(0.0, 1.0 - self._y * outputs))

    def begin(self, x: Array, b: float, mu: float) -> Array:
        """Take the alpha of the central path for B x + b, and return B' Y alpha (R,)."""
        slope = self._y * (self._outputs(x) + b) - 1.0
        c = self._box
        self.alpha = 2.0 * mu * c / (slope * c + 2.0 * mu + np.hypot(slope * c, 2.0 * mu))
        # Kept beside alpha: near C their difference has no digits left.
        self._slack = 2.0 * mu * c / (2.0 * mu - slope * c + np.hypot(slope * c, 2.0 * mu))
        self._lower, self._upper = mu / self.alpha, mu / self._slack
        return self._projected(self._y * self.alpha)

    def resume(self, variables: Variables) -> Array:
        """Take the variables of this block from those of all (n,), and return B' Y alpha (R,)."""
        own = slice(self._start, self._stop)
        self.alpha, self._slack, self._lower, self._upper = (each[own] for each in variables)
        return self._projected(self._y * self.alpha)

    def variables(self) -> Variables:
        """Return the variables of this block."""
        return Variables(self.alpha, self._slack, self._lower, self._upper)

    def linearise(self, x: Array, b: float, double: bool) -> Linearised:
        """Return the equations at the point whose outputs are B x + b."""
        self._double = double
        outputs = self._outputs(x) + b
        self._theta = 1.0 / (self._lower / self.alpha + self._upper / self._slack)
        self._rho = 1.0 - self._y * outputs
        weighted = self._y * self._theta * self._rho
        roots = np.sqrt(self._theta)
        products = np.zeros((self._factors.rank,) * 2)
        for rows, block in self._each():
            scaled = block.astype(np.float64) if double else block
            scaled = scaled * roots[rows, None].astype(scaled.dtype)
            products += scaled.T @ scaled
        return Linearised(
            products,
            self._projected(self._theta),
            self._projected(weighted),
            float(self._theta.sum()),
            float(weighted.sum()),
            float(self._box @ np.maximum(0.0, self._rho)),
            float(self.alpha.sum()),
            float(self._lower @ self.alpha + self._upper @ self._slack),
            float(self._y @ self.alpha),
        )

    def predict(self, x: Array, db: float) -> Corrections:
        """Return what the predicted direction, alpha along rho - Y (B x + db), says."""
        alpha = self._theta * (self._rho - self._y * (db + self._products(x)))
        lower = -self._lower - self._lower * alpha / self.alpha
        upper = -self._upper + self._upper * alpha / self._slack
        self._second_lower, self._second_upper = alpha * lower, -alpha * upper
        self._correction = self._second_upper / self._slack - self._second_lower / self.alpha
        self._centre = 1.0 / self.alpha - 1.0 / self._slack
        labelled = self._y * self._theta
        second, centred = labelled * self._correction, labelled * self._centre
        projected = self._projected(np.stack([second, centred], axis=1))
        return Corrections(
            projected[:, 0],
            projected[:, 1],
            float(second.sum()),
            float(centred.sum()),
            float(
                self.alpha @ lower + self._lower @ alpha + self._slack @ upper - self._upper @ alpha
            ),
            float(self._second_lower.sum() + self._second_upper.sum()),
            self._longest(alpha, lower, upper),
        )

    def correct(self, x: Array, db: float, mu: float) -> Direction:
        """Return the direction towards the point of the central path at mu."""
        rho = self._rho + self._correction + mu * self._centre
        alpha = self._theta * (rho - self._y * (db + self._products(x)))
        lower = (mu - self._second_lower - self._lower * alpha) / self.alpha - self._lower
        upper = (mu - self._second_upper + self._upper * alpha) / self._slack - self._upper
        self._direction = alpha, lower, upper
        return Direction(self._projected(self._y * alpha), self._longest(alpha, lower, upper))

    def advance(self, step: float) -> None:
        """Go so far along the direction."""
        alpha, lower, upper = self._direction
        self.alpha = self.alpha + step * alpha
        self._slack = self._slack - step * alpha
        self._lower, self._upper = self._lower + step * lower, self._upper + step * upper

    def _longest(self, alpha: Array, lower: Array, upper: Array) -> Least:
        shrinking = (
            -alpha / self.alpha,
            alpha / self._slack,
            -lower / self._lower,
            -upper / self._upper,
        )
        fastest = max(float(each.max()) for each in shrinking)
        return Least(1.0 / fastest if fastest > 0 else np.inf)

    def _each(self) -> Iterator[tuple[slice, NDArray]]:
        """Yield the rows of B in smaller blocks, with their place in this one."""
        for i, start in enumerate(range(self._start, self._stop, ROWS)):
            stop = min(start + ROWS, self._stop)
            yield slice(start - self._start, stop - self._start), self._rows(i, start, stop)

    def _rows(self, i: int, start: int, stop: int) -> NDArray:
        if not self._kept:
            return self._factors.rows(start, stop, self._dtype)
        if self._blocks is None:
            self._blocks = []
        if i == len(self._blocks):
            self._blocks.append(self._factors.rows(start, stop, self._dtype))
        return self._blocks[i]

    def _outputs(self, x: Array) -> Array:
        """Return B x in double precision."""
        return np.concatenate([block.astype(np.float64) @ x for _, block in self._each()])

    def _products(self, x: Array) -> Array:
        """Return B x in the precision of B: of a direction."""
        if self._double:
            return self._outputs(x)
        narrow = x.astype(self._dtype)
        return np.concatenate([block @ narrow for _, block in self._each()]).astype(np.float64)

    def _projected(self, a: Array) -> Array:
        """Return B'a in the precision of B, added up in doubles."""
        dtype = np.float64 if self._double else self._dtype
        narrow = a.astype(dtype)
        parts = (block.astype(dtype, copy=False).T @ narrow[rows] for rows, block in self._each())
        return np.asarray(sum(part.astype(np.float64) for part in parts))


class Engine(Protocol):
    """Keeps the blocks, and asks all of them."""

    def each(self, ask: Callable[[Rows], Result]) -> Iterator[Result]:
        """Yield what every block answers, in their order."""

    def map(self, function: Callable[[slice], Result], rows: Sequence[slice]) -> Iterator[Result]:
        """Yield what a function returns for some rows of all samples, in their order."""


class Threads:
    """The blocks in the memory of this process, asked by a thread each.

    Parameters
    ----------
    blocks : sequence of Rows
        The blocks.
    """

    def __init__(self, blocks: Sequence[Rows]) -> None:
        self.blocks = tuple(blocks)
        self._pool = ThreadPoolExecutor(n_threads())

    def each(self, ask: Callable[[Rows], Result]) -> Iterator[Result]:
        return self._pool.map(ask, self.blocks)

    def map(self, function: Callable[[slice], Result], rows: Sequence[slice]) -> Iterator[Result]:
        return self._pool.map(function, rows)

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(cancel_futures=True)


def project(factors: RowFactors, a: Array, engine: Engine | None = None) -> Array:
    """Return B'a (R,) in double precision, a block of rows at a time.

    Parameters
    ----------
    factors : RowFactors
        The kernels on n samples.
    a : ndarray of shape (n,)
        A vector.
    engine : Engine or None, default=None
        Whose threads are to be used; threads of its own if not given.
    """
    return added(_mapped(factors, lambda rows: factors.projected(rows, a), engine))


def expand(factors: RowFactors, x: Array, engine: Engine | None = None) -> Array:
    """Return B x (n, k) in double precision, a block of rows at a time.

    Parameters
    ----------
    factors : RowFactors
        The kernels on n samples.
    x : ndarray of shape (R, k)
        Vectors.
    engine : Engine or None, default=None
        Whose threads are to be used; threads of its own if not given.
    """
    outputs = _mapped(factors, lambda rows: factors.outputs(rows, x), engine)
    return np.concatenate(list(outputs))


def _mapped(
    factors: RowFactors, function: Callable[[slice], Result], engine: Engine | None
) -> Iterator[Result]:
    starts = range(0, factors.n_samples, ROWS)
    rows = [slice(start, min(start + ROWS, factors.n_samples)) for start in starts]
    if engine is not None:
        yield from engine.map(function, rows)
        return
    with ThreadPoolExecutor(n_threads()) as pool, threadpool_limits(1, user_api="blas"):
        yield from pool.map(function, rows)


def added(results: Iterator[Any]) -> Any:
    """Return the sum of what blocks answered, in their order."""
    return reduce(lambda total, each: total + each, results)


def n_threads() -> int:
    """Return how many threads linear algebra is allowed here."""
    pools = (pool for pool in threadpool_info() if pool["user_api"] == "blas")
    return max((int(pool["num_threads"]) for pool in pools), default=1)


@contextmanager
def threads(
    factors: RowFactors, y: Array, box: Array, dtype: type[np.floating], kept: bool
) -> Iterator[Threads]:
    """Give an engine of threads on blocks; linear algebra within a block has one thread."""
    blocks = [
        Rows(factors, a, b, y[a:b], box[a:b], dtype, kept) for a, b in _bounds(factors.n_samples)
    ]
    engine = Threads(blocks)
    try:
        with threadpool_limits(1, user_api="blas"):
            yield engine
    finally:
        engine.close()


def _bounds(n: int) -> list[tuple[int, int]]:
    """Return where blocks of about the same size begin and end."""
    count = -(-n // _BLOCK) if n > _BLOCK else min(-(-n // ROWS), n_threads())
    ends = np.linspace(0, n, count + 1).astype(int)
    return list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))
