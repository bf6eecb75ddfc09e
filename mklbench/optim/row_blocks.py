"""The training samples of the joint method, in blocks of rows that threads work on side by side.

What an iteration asks of n samples is a map over blocks and a sum of what comes back, which is no
longer than the factors are wide (`mklbench.optim.linearised`). Between the iterations a block keeps
what belongs to its samples: alpha, the multipliers of its bounds, and the rows of B, in memory or
made anew each time. A question is the name of a method of `Rows` with arguments.

Where several computations are side by side or are timed, linear algebra is limited to one thread
each. A single one that shares its rows among threads of its own may have more (`allowing`).
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_info, threadpool_limits

from mklbench.kernels.row_factors import ROWS, RowFactors
from mklbench.optim.linearised import Linearised, Products, SplitRows, Terms

Array = NDArray[np.float64]

# Of a step to the nearest bound.
SHARE = 0.995
# Bytes that the rows of B may take to be kept; those of later blocks are made anew.
KEPT = 1.6e9
# What is not finite ends the method, and numpy has nothing to add. OpenBLAS for AVX-512 raises the
# flag of an invalid operation even where the memory behind a short vector happens to hold no
# number, and the product is right.
UNFLAGGED: dict[str, Any] = {"over": "ignore", "invalid": "ignore", "divide": "ignore"}
# Rows of a block: enough that what comes back is little beside it, few enough for many blocks.
_BLOCK = 16 * ROWS
# Of all alpha, the share that does not limit a step at most, and what its bounds add up to at most:
# what these alpha lack of t = B'Y alpha is of that size, whatever n is.
_CLIPPED, _OF_BOUNDS = 1e-4, 1e3
# After a step no product is below this share of their mean: multipliers are raised to there.
_LEAST = 0.1
# Alpha at a bound are beside it, by so much of what counts as near, and are free again where on the
# central path they would be farther from it than so many times that.
_BESIDE, _FREED = 1e-9, 100.0

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
    """

    factors: RowFactors
    exact: RowFactors
    terms: Terms
    dtype: type[np.floating]


class Rows:
    """A block: alpha and the multipliers of some samples, and how to have their rows of B.

    A question is one of the methods, by its name.

    Parameters
    ----------
    problem : FactorProblem
        What it is a part of.
    own : slice
        Which of all samples these are.
    clipped : float
        The share of the alpha that do not limit the step of all: they go less far themselves.
    """

    def __init__(self, problem: FactorProblem, own: slice, clipped: float) -> None:
        X, self._sparse = problem.factors.X[own], problem.factors.sparse
        self._factors, self._exact = problem.factors.on(X), problem.exact.on(X)
        self._terms, self._own, self._clipped = problem.terms.of(own), own, clipped
        self._dtype = self._precision = problem.dtype
        width = int((~self._sparse).sum()) * np.dtype(problem.dtype).itemsize
        self._kept = own.stop * width <= KEPT
        self._blocks: dict[int, SplitRows] = {}
        # In one piece memory goes back to the system when finer rows take their place.
        self._memory = np.empty((len(X), problem.factors.rank), problem.dtype)

    def take(self, x: Array, b: float) -> None:
        """Take the function B x + b."""
        signs, targets, *_ = self._terms
        self._rho = targets - signs * (self._outputs(x) + b)
        self._change = np.zeros_like(self._rho)

    def scale(self) -> float:
        """Return the sum of the mean sizes of what is wanted."""
        return float(np.abs(self._terms.targets).mean(axis=0).sum())

    def smooth(self, width: float, double: bool) -> Linearised:
        """Return the equations of the loss that is quadratic where |rho| < `width` / 2."""
        self._precision, box = np.float64 if double else self._dtype, self._terms.box
        self._alpha = box * np.clip(self._rho / width + 0.5, 0.0, 1.0)
        self._theta = box / width * ((self._alpha > 0.0) & (self._alpha < box))
        found = self._added(self.dual_coef())
        return replace(found, projected=0.0 * found.projected, labelled=0.0)

    def along(self, x: Array, db: float) -> Array:
        """Look along B x + db.

        Return -1 times the slope of the smoothed loss, and of the hinges in its quadratic part the
        sum of squared changes and of 1, weighted with Theta (3,).
        """
        self._change = self._terms.signs * (self._outputs(x, self._precision) + db)
        squares = np.vdot(self._theta, self._change**2)
        return np.array([np.vdot(self._alpha, self._change), squares, self._theta.sum()])

    def ahead(self, step: float, width: float) -> Array:
        """Return of a step the smoothed loss, its cost, and how many hinges are inside (3,)."""
        rho, box = self._rho - step * self._change, self._terms.box
        share = np.clip(rho / width + 0.5, 0.0, 1.0)
        loss = np.where(rho < 0.5 * width, 0.5 * width * share**2, rho).sum(axis=0) @ box
        costs = (np.maximum(0.0, rho) - share * rho).sum(axis=0) @ box
        return np.array([loss, costs, ((share > 0.0) & (share < 1.0)).sum()])

    def go(self, step: float) -> None:
        """Go a step along the change of the function."""
        self._rho = self._rho - step * self._change

    def enter(self, mu: float, width: float, a: Array | None) -> None:
        """Take the alpha of the smoothed loss, or of the coefficients a of all samples, but none
        that is nearer to a bound than on the central path at mu, and multipliers that account for
        the loss."""
        (signs, _, c, shares), rho = self._terms, self._rho
        product, least = mu * shares, self._central(mu)
        share = 0.5 + rho / width if a is None else signs * a[self._own] / c
        # Both are kept: near C the difference of C and alpha has no digits left.
        self._alpha = np.clip(c * share, least, c - least)
        self._slack = np.clip(c * (1.0 - share), least, c - least)
        lower, upper = product / self._alpha, product / self._slack
        self._lower, self._upper = np.maximum(lower, upper - rho), np.maximum(upper, lower + rho)
        self._free = np.ones(rho.shape, dtype=bool)

    def _central(self, mu: float) -> Array:
        """Return how far from a bound alpha are on the central path at mu (k, n)."""
        c, product = self._terms.box, mu * self._terms.shares
        far = np.abs(self._rho) * c
        return np.asarray(2.0 * product * c / (far + 2.0 * product + np.hypot(far, 2.0 * product)))

    def _settle(self, mu: float, share: float, most: float) -> None:
        """Put alpha at the bound that they are all but at, and free those whose hinge comes near.

        The function is still that of the last point.
        """
        (_, _, c, shares), is_low = self._terms, self._alpha < self._slack
        near, central = np.where(is_low, self._alpha, self._slack), self._central(mu)
        least = np.minimum(share * c, most)
        is_at = (near < least) & (is_low == (self._rho < 0.0)) & (central < _FREED * least)
        moved, self._free = self._free == is_at, ~is_at
        near = np.where(moved, np.where(is_at, _BESIDE * least, central), near)
        ends = np.where(is_low, [near, c - near], [c - near, near])
        self._alpha, self._slack = ends
        self._lower, self._upper = np.where(moved, mu * shares / ends, [self._lower, self._upper])

    def dual_coef(self) -> Array:
        """Return a of the samples, which is alpha o y of an SVM."""
        return self._terms.dual_coef(self._alpha)

    def both_exactly(self, a: Array, x: Array) -> tuple[Array, Array]:
        """Return B'a and B x in double precision: exact B, a of all samples, x (q, k)."""
        own = a[self._own]
        parts = [self._exact.both(rows, own, x) for rows in _pieces(self._exact)]
        projected, outputs = zip(*parts, strict=True)
        return np.asarray(sum(projected)), np.concatenate(outputs)

    def linearise(self, x: Array, b: float, double: bool) -> Linearised:
        """Return the equations at the point whose outputs are B x + b."""
        self._precision = np.float64 if double else self._dtype
        function, expansion = self._both(x, self.dual_coef())
        self._theta = self._free / (self._lower / self._alpha + self._upper / self._slack)
        self._rho = self._terms.targets - self._terms.signs * (function + b)
        self._aim_lower: Array | float = 0.0
        self._aim_upper: Array | float = 0.0
        weighted = self._terms.dual_coef(self._theta * self._rho)
        pairs = float(np.vdot(self._lower, self._alpha) + np.vdot(self._upper, self._slack))
        return replace(self._added(weighted), expansion=expansion, complementarity=pairs)

    def _added(self, a: Array) -> Linearised:
        """Return the equations with B'a for `projected` and `expansion`, of one look at each row.

        Complementarity is not in them.
        """
        theta = self._theta.sum(axis=0)
        roots, (columns, projected) = np.sqrt(theta), np.zeros((2, self._factors.rank))
        total: Products | None = None
        for rows, block in self._each():
            wide = block.astype(self._precision)
            chosen = roots[rows] > 0.0
            products = wide.of(chosen).products(roots[rows][chosen])
            total = total + products if total else products
            columns += wide.projected(theta[rows])
            projected += wide.projected(a[rows])
        assert total  # A block has rows.
        return Linearised(
            total,
            columns,
            projected,
            projected,
            float(theta.sum()),
            float(a.sum()),
            self._terms.loss(self._rho),
            float(np.vdot(self._terms.targets, self._alpha)),
            0.0,
            float(self.dual_coef().sum()),
            2 * self._alpha.size,
        )

    def correct(self, x: Array, db: float) -> Array:
        """Take the direction for the products aimed at, along which the outputs are B x + db.

        Return of l'alpha + u'(C - alpha) along it what is of first and of second order in a step,
        and the step that all alpha but a few can take (3,).
        """
        rho = self._rho + self._aim_lower / self._alpha - self._aim_upper / self._slack
        alpha = self._theta * (rho - self._terms.signs * (db + self._outputs(x, self._precision)))
        lower = (self._aim_lower - self._lower * alpha) / self._alpha - self._lower
        upper = (self._aim_upper + self._upper * alpha) / self._slack - self._upper
        self._candidate = alpha, lower, upper
        longest, k = self._longest(alpha).ravel(), int(self._clipped * alpha.size)
        first = np.vdot(self._alpha, lower) + np.vdot(self._lower, alpha)
        first += np.vdot(self._slack, upper) - np.vdot(self._upper, alpha)
        second = np.vdot(alpha, lower) - np.vdot(alpha, upper)
        return np.array([first, second, np.partition(longest, k)[k]])

    def aim(self, mu: float, step: float, within: float, less: float) -> Array:
        """Aim at what brings products within a factor of mu that are not after a step.

        No product is to be smaller by more than `less` times mu.

        Return B' Y Theta times what that adds to the right-hand side, and y' Theta times (R + 1,).
        """
        alpha, lower, upper = self._former = self._candidate
        aimed = mu * self._terms.shares
        low = (self._alpha + step * alpha) * (self._lower + step * lower)
        high = (self._slack - step * alpha) * (self._upper + step * upper)
        self._aim_lower = self._aim_lower + _towards(low, aimed, within, less)
        self._aim_upper = self._aim_upper + _towards(high, aimed, within, less)
        more = self._aim_lower / self._alpha - self._aim_upper / self._slack
        more = self._terms.dual_coef(self._theta * more)
        return np.append(self._projected(more), more.sum())

    def back(self) -> None:
        """Take the direction before the last again."""
        self._candidate = self._former

    def advance(self, step: float, mu: float, share: float, most: float) -> Array:
        """Go so far along the direction, to about mu; return B' Y dalpha.

        An alpha that would leave its bounds goes less far. Multipliers are raised to where no
        product is far below mu. Alpha nearer to a bound than a share of C, and than `most`, are put
        there.
        """
        alpha, lower, upper = self._candidate
        own = np.minimum(step, self._longest(alpha))
        self._alpha = self._alpha + own * alpha
        self._slack = self._slack - own * alpha
        least = _LEAST * mu * self._terms.shares
        self._lower = np.maximum(self._lower + step * lower, least / self._alpha)
        self._upper = np.maximum(self._upper + step * upper, least / self._slack)
        self._settle(mu, share, most)
        return self._projected(self._terms.dual_coef(alpha))

    def _longest(self, alpha: Array) -> Array:
        """Return how far each alpha (k, n) may go along a direction."""
        return SHARE * np.where(alpha > 0, self._slack, self._alpha) / np.abs(alpha)

    def _each(self) -> Iterator[tuple[slice, SplitRows]]:
        """Yield the rows of B in smaller blocks, with their place in this one."""
        for rows in _pieces(self._factors):
            yield rows, self._rows(rows)

    def _rows(self, rows: slice) -> SplitRows:
        if rows.start in self._blocks:
            return self._blocks[rows.start]
        made = self._factors.rows(rows.start, rows.stop, self._dtype)
        if self._kept and not self._sparse.any():
            self._memory[rows] = made
            made = self._memory[rows]
        block = SplitRows(made, self._sparse)
        return self._blocks.setdefault(rows.start, block) if self._kept else block

    def _outputs(self, x: Array, dtype: type[np.floating] = np.float64) -> Array:
        """Return B x."""
        x = x.astype(dtype)
        parts = [block.astype(dtype).outputs(x) for _, block in self._each()]
        return np.concatenate(parts).astype(np.float64)

    def _both(self, x: Array, a: Array) -> tuple[Array, Array]:
        """Return B x and B'a in double precision."""
        outputs, projected = [], np.zeros(self._factors.rank)
        for rows, block in self._each():
            exact = block.astype(np.float64)
            outputs.append(exact.outputs(x))
            projected += exact.projected(a[rows])
        return np.concatenate(outputs), projected

    def _projected(self, a: Array) -> Array:
        """Return B'a in the precision of B, added up in doubles."""
        parts = (b.astype(self._precision).projected(a[rows]) for rows, b in self._each())
        return np.asarray(sum(parts))


class Engine:
    """The blocks in the memory of this process, asked by a thread each.

    Parameters
    ----------
    problem : FactorProblem
        What they are made of.
    pool : ThreadPoolExecutor
        The threads.

    Attributes
    ----------
    bounds : float
        The sum of C over the samples.
    """

    def __init__(self, problem: FactorProblem, pool: ThreadPoolExecutor) -> None:
        n, self.bounds = problem.factors.n_samples, float(problem.terms.box.sum())
        n_blocks = -(-n // _BLOCK) if n > _BLOCK else min(-(-n // ROWS), n_threads())
        clipped = min(_CLIPPED, _OF_BOUNDS / self.bounds)
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


def _towards(products: Array, aimed: Array, within: float, less: float) -> Array:
    """Return what brings products within a factor of others, as far as it is not too much less."""
    wanted = np.clip(products, aimed / within, aimed * within)
    return np.maximum(wanted - products, -less * aimed)


def _pieces(factors: RowFactors) -> list[slice]:
    """Return the rows that are worked on together."""
    starts = range(0, factors.n_samples, ROWS)
    return [slice(start, min(start + ROWS, factors.n_samples)) for start in starts]
