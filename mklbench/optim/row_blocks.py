"""The training samples of the joint method, in blocks of rows that are worked on side by side.

What an iteration asks of n samples is a map over blocks and a sum of what comes back, which is no
longer than the factors are wide. Between the iterations a block keeps what belongs to its samples:
alpha, the multipliers of its bounds, and the rows of B, in memory or made anew each time. Who asks
the blocks, and where they are, is in `mklbench.optim.row_engines`.

Losses are sums of hinges: one a sample of an SVM, two of an SVR.

    loss(f) = sum over k, i of  C_i max(0, r_ki - s_ki f(x_i)),   s_ki = -1 or +1.

The dual has a variable 0 <= alpha_ki <= C_i for each, is linear with the coefficients r_ki, and
a_i = sum_k s_ki alpha_ki are the coefficients of the function on the samples. An SVM has s = y and
r = 1; the tube of an SVR has s = 1, r = y - epsilon on one side, and s = -1, r = -(y + epsilon) on
the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mklbench.certify import Hinge, Tube
from mklbench.kernels.row_factors import ROWS, RowFactors


class Terms(NamedTuple):
    """The hinges of n samples.

    Attributes
    ----------
    signs, targets : ndarray of shape (k, n)
        s and r, of k hinges a sample.
    box : ndarray of shape (n,)
        C_i > 0.
    """

    signs: Array
    targets: Array
    box: Array

    def of(self, rows: slice) -> Terms:
        """Return the hinges of some samples.

        Parameters
        ----------
        rows : slice
            The samples.
        """
        return Terms(self.signs[:, rows], self.targets[:, rows], self.box[rows])

    def middle(self) -> Array:
        """Return what f(x_i) is to be near (n,): labels, or targets of a regression."""
        return np.asarray((self.signs * self.targets).mean(axis=0))

    def loss(self, outputs: Array) -> float:
        """Return the loss of a function.

        Parameters
        ----------
        outputs : ndarray of shape (n,)
            f(x_i).
        """
        return float(np.maximum(0.0, self.targets - self.signs * outputs).sum(axis=0) @ self.box)

    def dual_coef(self, alpha: Array) -> Array:
        """Return a (n,).

        Parameters
        ----------
        alpha : ndarray of shape (k, n)
            The dual variables.
        """
        return np.asarray((self.signs * alpha).sum(axis=0))


def terms_of(loss: Hinge | Tube) -> Terms:
    """Return a loss of n samples as hinges.

    Parameters
    ----------
    loss : Hinge or Tube
        With labels or targets (n,), and C or one bound a sample.
    """
    if isinstance(loss, Hinge):
        box = np.broadcast_to(np.asarray(loss.box, dtype=np.float64), loss.y.shape)
        return Terms(loss.y[None], np.ones((1, len(loss.y))), box)
    box = np.broadcast_to(np.asarray(loss.C, dtype=np.float64), loss.y.shape)
    signs = np.repeat([[1.0], [-1.0]], len(loss.y), axis=1)
    return Terms(signs, signs * loss.y - loss.epsilon, box)


def every(loss: Hinge | Tube, step: int) -> Hinge | Tube:
    """Return the loss on every `step`-th sample, each of which stands for as many as there are.

    Parameters
    ----------
    loss : Hinge or Tube
        Of n samples.
    step : int
        1 or more.
    """
    y = loss.y[::step]
    box = terms_of(loss).box[::step] * (len(loss.y) / len(y))
    return Hinge(y, box) if isinstance(loss, Hinge) else Tube(y, box, loss.epsilon)


Array = NDArray[np.float64]


# What is not finite ends the method, and numpy has nothing to add. OpenBLAS for AVX-512 raises the
# flag of an invalid operation even where the memory behind a short vector happens to hold no
# number, and the product is right.
UNFLAGGED: dict[str, Any] = {"over": "ignore", "invalid": "ignore", "divide": "ignore"}


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
    column_sums, projected, expansion : ndarray of shape (R,)
        B' Theta 1, B' Y Theta rho, rho being the right-hand side, and t = B' Y alpha, in double
        precision.
    theta, labelled : float
        1' Theta 1 and y' Theta rho.
    loss, linear, complementarity : float
        The loss, the dual but for its quadratic form, the sum of alpha of an SVM, and l'alpha +
        u'(C - alpha).
    excess : float
        What the loss is more than u accounts for, C'max(0, rho - u): 0 on the central path.
    balance : float
        y'alpha.
    n_pairs : int
        How many products the complementarity sums.
    """

    products: Array
    column_sums: Array
    projected: Array
    expansion: Array
    theta: float
    labelled: float
    loss: float
    linear: float
    complementarity: float
    excess: float
    balance: float
    n_pairs: int


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
    """alpha, C - alpha, and the multipliers l and u of their being >= 0, of all hinges."""

    alpha: Array
    slack: Array
    lower: Array
    upper: Array


class Rows:
    """A block: alpha and the multipliers of some samples, and how to have their rows of B.

    A question is one of the methods, by its name. None of them changes an array in place, so that
    the block before a question is there to be asked the same again (`asked`).

    Parameters
    ----------
    factors : RowFactors
        The kernels on the samples of the block.
    exact : RowFactors
        The same without loss, for certificates.
    terms : Terms
        The loss of the samples.
    dtype : type
        Of the rows of B.
    kept : bool
        Whether these stay in memory.
    """

    def __init__(
        self,
        factors: RowFactors,
        exact: RowFactors,
        terms: Terms,
        dtype: type[np.floating],
        kept: bool,
    ) -> None:
        self._factors, self._exact = factors, exact
        self._terms = terms
        self._dtype, self._kept = dtype, kept
        self._blocks: dict[int, NDArray] = {}
        self._double = False

    def __getstate__(self) -> dict[str, Any]:
        """Leave the rows of B behind: they are made anew where a block comes to."""
        return {**vars(self), "_blocks": {}}

    def asked(self, question: str, arguments: tuple[Any, ...]) -> tuple[Rows, Any]:
        """Return the block as it is after a question, and the answer; this one stays as it was."""
        after = Rows.__new__(Rows)  # not a copy, which would come without the rows of B
        vars(after).update(vars(self))
        with np.errstate(**UNFLAGGED):
            return after, getattr(after, question)(*arguments)

    def turned_to(self, terms: Terms) -> None:
        """Take another loss, of another problem on the same samples."""
        self._terms = terms
        self._double = False

    def sampled(self, chosen: NDArray[np.bool_]) -> tuple[NDArray, Array, Array]:
        """Return the rows of B (k, R) of some samples, what is wanted there, and their bounds."""
        parts = [block[chosen[rows]] for rows, block in self._each()]
        return np.concatenate(parts), self._terms.middle()[chosen], self._terms.box[chosen]

    def loss(self, x: Array, b: float) -> float:
        """Return the loss of B x + b."""
        return self._terms.loss(self._outputs(x) + b)

    def begin(self, x: Array, b: float, mu: float) -> None:
        """Take the alpha of the central path for B x + b."""
        signs, targets, c = self._terms
        slope = signs * (self._outputs(x) + b) - targets
        self._alpha = 2.0 * mu * c / (slope * c + 2.0 * mu + np.hypot(slope * c, 2.0 * mu))
        # Kept beside alpha: near C their difference has no digits left.
        self._slack = 2.0 * mu * c / (2.0 * mu - slope * c + np.hypot(slope * c, 2.0 * mu))
        self._lower, self._upper = mu / self._alpha, mu / self._slack

    def resume(self, variables: Variables) -> None:
        """Take the variables of the samples."""
        self._alpha, self._slack, self._lower, self._upper = variables

    def variables(self) -> Variables:
        """Return the variables of the samples."""
        return Variables(self._alpha, self._slack, self._lower, self._upper)

    def dual_coef(self) -> Array:
        """Return a of the samples, which is alpha o y of an SVM."""
        return self._terms.dual_coef(self._alpha)

    def projected_exactly(self, a: Array) -> Array:
        """Return B'a for the exact B, in double precision."""
        return project(self._exact, a)

    def both_exactly(self, a: Array, x: Array) -> tuple[Array, Array]:
        """Return B'a and B x, for the exact B and vectors x (q, k), in double precision."""
        parts = [self._exact.both(rows, a, x) for rows in _pieces(self._exact)]
        projected, outputs = zip(*parts, strict=True)
        return np.asarray(sum(projected)), np.concatenate(outputs)

    def linearise(self, x: Array, b: float, double: bool) -> Linearised:
        """Return the equations at the point whose outputs are B x + b."""
        self._double = double
        signs, targets, box = self._terms
        a = self.dual_coef()
        function, expansion = self._both(x, a)
        outputs = function + b
        self._theta = 1.0 / (self._lower / self._alpha + self._upper / self._slack)
        self._rho = targets - signs * outputs
        theta = self._theta.sum(axis=0)
        weighted = self._terms.dual_coef(self._theta * self._rho)
        roots = np.sqrt(theta)
        products = np.zeros((self._factors.rank,) * 2)
        for rows, block in self._each():
            scaled = block.astype(np.float64) if double else block
            scaled = scaled * roots[rows, None].astype(scaled.dtype)
            products += scaled.T @ scaled
        return Linearised(
            products,
            self._projected(theta),
            self._projected(weighted),
            expansion,
            float(theta.sum()),
            float(weighted.sum()),
            self._terms.loss(outputs),
            float(np.vdot(targets, self._alpha)),
            float(np.vdot(self._lower, self._alpha) + np.vdot(self._upper, self._slack)),
            float(np.maximum(0.0, self._rho - self._upper).sum(axis=0) @ box),
            float(a.sum()),
            2 * self._alpha.size,
        )

    def predict(self, x: Array, db: float) -> Corrections:
        """Return what the predicted direction, alpha along rho - Y (B x + db), says."""
        alpha = self._theta * (self._rho - self._terms.signs * (db + self._products(x)))
        lower = -self._lower - self._lower * alpha / self._alpha
        upper = -self._upper + self._upper * alpha / self._slack
        self._second_lower, self._second_upper = alpha * lower, -alpha * upper
        self._correction = self._second_upper / self._slack - self._second_lower / self._alpha
        self._centre = 1.0 / self._alpha - 1.0 / self._slack
        second = self._terms.dual_coef(self._theta * self._correction)
        centred = self._terms.dual_coef(self._theta * self._centre)
        projected = self._projected(np.stack([second, centred], axis=1))
        return Corrections(
            projected[:, 0],
            projected[:, 1],
            float(second.sum()),
            float(centred.sum()),
            float(
                np.vdot(self._alpha, lower)
                + np.vdot(self._lower, alpha)
                + np.vdot(self._slack, upper)
                - np.vdot(self._upper, alpha)
            ),
            float(self._second_lower.sum() + self._second_upper.sum()),
            self._longest(alpha, lower, upper),
        )

    def correct(self, x: Array, db: float, mu: float) -> Direction:
        """Return the direction towards the point of the central path at mu."""
        rho = self._rho + self._correction + mu * self._centre
        alpha = self._theta * (rho - self._terms.signs * (db + self._products(x)))
        lower = (mu - self._second_lower - self._lower * alpha) / self._alpha - self._lower
        upper = (mu - self._second_upper + self._upper * alpha) / self._slack - self._upper
        self._direction = alpha, lower, upper
        projected = self._projected(self._terms.dual_coef(alpha))
        return Direction(projected, self._longest(alpha, lower, upper))

    def advance(self, step: float) -> None:
        """Go so far along the direction."""
        alpha, lower, upper = self._direction
        self._alpha = self._alpha + step * alpha
        self._slack = self._slack - step * alpha
        self._lower, self._upper = self._lower + step * lower, self._upper + step * upper

    def _longest(self, alpha: Array, lower: Array, upper: Array) -> Least:
        shrinking = (
            -alpha / self._alpha,
            alpha / self._slack,
            -lower / self._lower,
            -upper / self._upper,
        )
        fastest = max(float(each.max()) for each in shrinking)
        return Least(1.0 / fastest if fastest > 0 else np.inf)

    def _each(self) -> Iterator[tuple[slice, NDArray]]:
        """Yield the rows of B in smaller blocks, with their place in this one."""
        for rows in _pieces(self._factors):
            yield rows, self._rows(rows)

    def _rows(self, rows: slice) -> NDArray:
        if rows.start in self._blocks:
            return self._blocks[rows.start]
        block = self._factors.rows(rows.start, rows.stop, self._dtype)
        # Blocks that came of the same block share what is kept.
        return self._blocks.setdefault(rows.start, block) if self._kept else block

    def _outputs(self, x: Array) -> Array:
        """Return B x in double precision."""
        return np.concatenate([block.astype(np.float64) @ x for _, block in self._each()])

    def _both(self, x: Array, a: Array) -> tuple[Array, Array]:
        """Return B x and B'a in double precision."""
        outputs, projected = [], np.zeros(self._factors.rank)
        for rows, block in self._each():
            exact = block.astype(np.float64)
            outputs.append(exact @ x)
            projected += exact.T @ a[rows]
        return np.concatenate(outputs), projected

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


def project(factors: RowFactors, a: Array) -> Array:
    """Return B'a (R,) in double precision, some rows at a time.

    Parameters
    ----------
    factors : RowFactors
        The kernels on n samples.
    a : ndarray of shape (n,)
        A vector.
    """
    return np.asarray(sum(factors.projected(rows, a) for rows in _pieces(factors)))


def _pieces(factors: RowFactors) -> list[slice]:
    """Return the rows that are worked on together."""
    starts = range(0, factors.n_samples, ROWS)
    return [slice(start, min(start + ROWS, factors.n_samples)) for start in starts]
