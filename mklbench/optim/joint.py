"""MKL on factors: weights, alpha and intercept together, by an interior-point method.

With K_m = B S_m B' (`mklbench.kernels.row_factors`) the problem of SimpleMKL is the saddle point

    min over d >= 0, 1'd = 1,  max over 0 <= alpha <= C, y'alpha = 0  of
    1'alpha - 1/2 sum_m d_m q_m,    q_m = t' S_m t,    t = B' Y alpha,    Y = diag(y).

With multipliers l, u (n,) of the bounds on alpha, z (M,) of d >= 0, b of y'alpha = 0 and lam of
1'd = 1, the central path at mu > 0 is

    Y (B S_d v + b) - 1 - l + u = 0,    l o alpha = mu,    u o (C - alpha) = mu,    y'alpha = 0,
    lam - q_m / 2 - z_m = 0,            z o d = mu,        1'd = 1,    v = t,

S_d = sum_m d_m S_m and now q_m = v' S_m v. On another set the weights are functions of some x,
which takes the place of d in the last line (`mklbench.optim.weight_sets`); of another loss there
are other numbers in the place of y and 1, and of a regression two alpha a sample
(`mklbench.optim.linearised`).

There is no outer loop and no SVM: each iteration solves one linear system, which needs B' Theta B
and products of B with a few vectors of n samples; all else is of the size of R, the columns of B,
and of M.

v (R,) is a variable of its own, and t - v shrinks with every step. The function is that of v, too:
where C times the kernels is huge the terms of t cancel, and a rounding of alpha in its last digit
is a large change of B S_d t.

The predictor and corrector are those of Mehrotra (1992), and further correctors those of Gondzio
(1996), for which the same factorisation serves. Multipliers l and u do not limit a step,
nor do a few alpha: they stay inside their bounds by themselves, and the equations take up what they
lack in the next iteration.

Most samples are far from the corner of their hinge, and their alpha all but at a bound. There they
are put and stay, Theta = 0, until the corner comes near: their rows take no part in B' Theta B,
which is most of the work. Their products count as what they are on the path.

With Theta = 1 / (l / alpha + u / (C - alpha)) and Y = diag(y) the changes of alpha, v, x, b and
lam at a point solve

    Theta^-1 dalpha + Y B (S_d dv + T dx) + y db = rho,    dv - B'Y dalpha = t - v,
    -s o T'dv + D dx + A'dlam = r,    y' dalpha = -y'alpha,    A dx = 1 - A x,

T = [S_1 v ... S_M v] J for the slopes J = dd/dx, and D = diag(z / x) + the curvature of d(x)
(`mklbench.optim.weight_sets`). With S_d = L L' and Woodbury's identity alpha and v go, what remains
is

    P = L (I + L' H L)^-1 L',    N = I - H P,    H = B' Theta B,    h = B' Theta 1,
    g = B'Y Theta rho + t - v,

    [ s o T'N H T + D    s o T'N h            A' ] [ dx   ]   [ r + s o T'N g                 ]
    [ (T'N h)'           1'Theta 1 - h'P h    0  ] [ db   ] = [ y'Theta rho - h'P g + y'alpha ]
    [ A                  0                    0  ] [ dlam ]   [ 1 - A x                       ]

after which dalpha = Theta (rho - Y (B o + db)) with o = S_d dv + T dx = T dx + P (g - H T dx - h
db).

Bounds of the problem on the factors come with each iteration; the certificate of the problem on the
kernels themselves is made outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mklbench.kernels.row_factors import ROWS, RowFactors
from mklbench.optim.linearised import Linearised
from mklbench.optim.row_blocks import SHARE, UNFLAGGED, Engine
from mklbench.optim.weight_sets import WeightSet

Array = NDArray[np.float64]

# Products of a block of rows in single precision are wrong by this share of their trace. So large
# may be what that makes of their sum.
_SINGLE, _LARGEST_ERROR = 6e-8, 0.02
# A step shorter than the first is corrected: after one that is longer by the second, products are
# to be within a factor of mu, and none smaller by more than so many mu. It has to become longer by
# the last.
_LONG, _FURTHER, _WITHIN, _LESS, _LONGER = 0.9, 0.3, 10.0, 3.0, 0.03
# Once the gap is below the second number, complementarity aims at no less than the first times the
# gap. Where it runs far ahead, rounding is larger than what is left of it, and the path diverges.
_BEHIND, _NEAR = 0.1, 0.5
# Alpha are put at their bound nearer to it than this share of C, where with the kernel of their
# sample they are also less than this share of the mean loss; both are smaller once the gap is below
# one in so many, so that the last steps put few there.
_AT_BOUND, _EFFECT, _FINE = 3e-4, 0.3, 100.0
# Of its trace, what makes a matrix positive definite that is so but for rounding.
_ROUNDING = 1e-14


@dataclass(frozen=True)
class Iterate:
    """A point near the central path, as far as it is no longer than the factors are wide.

    Attributes
    ----------
    x, weights : ndarray of shape (k,) and (M,)
        x > 0 and d.
    intercept : float
        b.
    expansion : ndarray of shape (R,)
        v; the function is B S_d v + b.
    upper, lower : float
        Bounds on the optimum of the problem on the factors. While y'alpha is not 0 the second is
        no more than a guess; less |b y'alpha|, as it is, it is below the first.
    """

    x: Array
    weights: Array
    intercept: float
    expansion: Array
    upper: float
    lower: float

    @property
    def gap(self) -> float:
        """(upper - lower) / upper."""
        return (self.upper - self.lower) / abs(self.upper)


@dataclass(frozen=True)
class Change:
    """A solution of the system.

    Attributes
    ----------
    x : ndarray of shape (k,)
        dx.
    intercept : float
        db.
    levels : ndarray of shape (c,)
        dlam.
    outputs : ndarray of shape (R,)
        o.
    """

    x: Array
    intercept: float
    levels: Array
    outputs: Array


class NewtonSystem:
    """The matrix of the system, factorised.

    Parameters
    ----------
    factors : RowFactors
        The M kernels, of R columns.
    at : Linearised
        What the samples add up to.
    weight_set : WeightSet
        Where the weights may be.
    x, prices : ndarray of shape (k,)
        x and z.
    expansion : ndarray of shape (R,)
        v.

    Attributes
    ----------
    trace : float
        That of L' H L, the sum of Theta_i k(x_i, x_i) over the samples.

    Raises
    ------
    LinAlgError
        If rounding leaves no system to solve.
    """

    def __init__(
        self,
        factors: RowFactors,
        at: Linearised,
        weight_set: WeightSet,
        x: Array,
        prices: Array,
        expansion: Array,
    ) -> None:
        self._at, self._signs = at, weight_set.signs
        self._T = weight_set.times_slopes(x, factors.products(expansion))
        weights = weight_set.weights(x)
        cores = zip(factors.combined(weights), factors.columns, strict=True)
        self._roots = [(root(core), columns) for core, columns in cores]
        H, T, A = at.products, self._T, weight_set.sums
        inner = self._left(self._left(H).T)
        self.trace = float(np.trace(inner))
        inner[np.diag_indices_from(inner)] += 1.0
        self._inner = _factorised(inner)
        self._HT = H @ T
        NHT, Nh = self._reduce(self._HT), self._reduce(at.column_sums)
        k = len(x)
        matrix = np.zeros((k + 1 + len(A),) * 2)
        matrix[:k, :k] = self._signs[:, None] * (T.T @ NHT) + np.diag(prices / x)
        matrix[:k, :k] += weight_set.curvature(x, 0.5 * factors.forms(expansion))
        matrix[k, :k] = T.T @ Nh
        matrix[:k, k] = self._signs * matrix[k, :k]
        matrix[k, k] = at.theta - float(at.column_sums @ self._within(at.column_sums))
        matrix[:k, k + 1 :], matrix[k + 1 :, :k] = A.T, A
        self._matrix = matrix
        self._sums = at.balance, 1.0 - A @ x
        self._behind = at.expansion - expansion

    def solve(self, projected: Array, labelled: float, prices: Array) -> Change:
        """Return the solution for a right-hand side.

        Parameters
        ----------
        projected : ndarray of shape (R,)
            B' Y Theta rho.
        labelled : float
            y' Theta rho.
        prices : ndarray of shape (k,)
            r.

        Raises
        ------
        LinAlgError
            If numbers have left the range of double precision.
        """
        at, T = self._at, self._T
        g = projected + self._behind
        reduced = self._reduce(g)
        balance, missing = self._sums
        right = np.concatenate(
            [
                prices + self._signs * (T.T @ reduced),
                [labelled - float(at.column_sums @ self._within(g)) + balance],
                missing,
            ]
        )
        found = np.linalg.solve(self._matrix, right)
        if not np.isfinite(found).all():
            raise LinAlgError("the solution is not finite")
        k = len(prices)
        x, b, lam = found[:k], float(found[k]), found[k + 1 :]
        left = g - self._HT @ x - at.column_sums * b
        return Change(x, b, lam, T @ x + self._within(left))

    def _within(self, vectors: Array) -> Array:
        """Return P times vectors (R,) or (R, k)."""
        return self._times(cho_solve(self._inner, self._left(vectors), check_finite=False))

    def _left(self, vectors: Array) -> Array:
        """Return L' times vectors (R,) or (R, k)."""
        return np.concatenate([root.T @ vectors[columns] for root, columns in self._roots])

    def _times(self, vectors: Array) -> Array:
        """Return L times vectors (R,) or (R, k)."""
        return np.concatenate([root @ vectors[columns] for root, columns in self._roots])

    def _reduce(self, vectors: Array) -> Array:
        """Return N times vectors (R,) or (R, k)."""
        return vectors - self._at.products @ self._within(vectors)


@dataclass
class CentralPath:
    """The way along the central path on some factors.

    The variables of n samples are with the blocks of an engine; the others are here.

    Attributes
    ----------
    factors : RowFactors
        The kernels.
    engine : Engine
        The samples.
    weight_set : WeightSet
        Where the weights may be.
    v, x, z, b, lam : ndarray or float
        The variables that are not with the samples.
    """

    factors: RowFactors
    engine: Engine
    weight_set: WeightSet
    v: Array
    x: Array
    z: Array
    b: float
    lam: Array

    def iterates(self) -> Iterator[Iterate]:
        """Yield one point after the other, until no direction can be found.

        There is none, if the first is beyond what numbers can be.
        """
        double = False
        while True:
            weights = self.weight_set.weights(self.x)
            outputs = self.factors.expanded(weights, self.v)
            linearise = partial(self.engine.total, "linearise", outputs, self.b)
            at, double = carefully(linearise, double, self.factors, weights)
            iterate = iterate_of(self.factors, self.weight_set, self.x, self.b, self.v, at)
            if not np.isfinite(iterate.gap):
                return
            yield iterate
            try:
                self._step(at, iterate)
            except LinAlgError:
                return
            del at  # Its matrix makes room for the next.

    @np.errstate(**UNFLAGGED)
    def _step(self, at: Linearised, iterate: Iterate) -> None:
        """Go a step."""
        system = NewtonSystem(self.factors, at, self.weight_set, self.x, self.z, self.v)
        n_pairs = at.n_pairs + len(self.x)
        complementarity = at.complementarity + float(self.z @ self.x)
        mu = complementarity / n_pairs
        sums = self.weight_set.sums
        slopes = self.weight_set.slopes(self.x, 0.5 * self.factors.forms(self.v))
        residual = slopes + self.z - self.lam @ sums

        def direction(aims: Array, aimed: Array) -> tuple[Change, Array, Array, float]:
            change = system.solve(
                at.projected + aims[:-1], at.labelled + aims[-1], residual - self.z + aimed / self.x
            )
            along = np.array(self.engine.each("correct", change.outputs, change.intercept))
            dz = (aimed - self.z * change.x) / self.x - self.z
            of_x = SHARE * min(longest(self.x, change.x), longest(self.z, dz))
            return change, dz, along[:, :2].sum(axis=0), min(1.0, along[:, 2].min(), of_x)

        # The predictor, towards mu = 0.
        first, dz, along, step = direction(np.zeros(len(self.v) + 1), np.zeros_like(self.x))
        slope, second = along + np.array([self.z @ first.x + self.x @ dz, first.x @ dz])
        ahead = (complementarity + step * slope + step**2 * second) / n_pairs
        target = (max(ahead, 0.0) / mu) ** 3 * mu
        if iterate.gap < _NEAR:
            apart = iterate.upper - iterate.lower
            target = max(target, min(mu, _BEHIND * apart / n_pairs))
        # The corrector, and further ones while they make the step longer.
        aimed = target - first.x * dz
        change, dz, _, step = direction(self.engine.total("aim", target, 1.0, 1.0, np.inf), aimed)
        while step < _LONG:
            aims = self.engine.total("aim", target, min(1.0, step + _FURTHER), _WITHIN, _LESS)
            other, other_dz, _, longer = direction(aims, aimed)
            if longer < step + _LONGER:
                self.engine.each("back")
                break
            change, dz, step = other, other_dz, longer
        near = min(1.0, _FINE * iterate.gap)
        mean_loss, mean_kernel = at.loss / self.engine.bounds, system.trace / at.theta
        most = near * _EFFECT * mean_loss / mean_kernel
        reached = (1.0 - step) * mu + step * target
        projected = self.engine.total("advance", step, reached, near * _AT_BOUND, most)
        self.v = self.v + step * (at.expansion - self.v + projected)
        self.x = self.x + step * change.x
        self.z = self.z + step * dz
        self.b += step * change.intercept
        self.lam = self.lam + step * change.levels


@np.errstate(**UNFLAGGED)
def iterate_of(
    factors: RowFactors, weight_set: WeightSet, x: Array, b: float, v: Array, at: Linearised
) -> Iterate:
    """Return a point with its bounds, of what the samples add up to."""
    d, penalty = weight_set.weights(x), weight_set.penalty
    upper = penalty.value(d, factors.forms(v)) + at.loss
    lower = at.linear - penalty.dual_value(factors.forms(at.expansion)) - abs(b * at.balance)
    return Iterate(x, d, b, v, upper, lower)


def carefully(
    ask: Callable[[bool], Linearised], double: bool, factors: RowFactors, weights: Array
) -> tuple[Linearised, bool]:
    """Return what `ask` says, in double precision where single makes L' H L too wrong, and whether.

    The error of a block is random.
    """
    at = ask(double)
    pairs = zip(factors.combined(weights), factors.columns, strict=True)
    traces = sum(np.sum(core * at.products[columns, columns]) for core, columns in pairs)
    error = _SINGLE * float(traces) / max(1.0, factors.n_samples / ROWS) ** 0.5
    rough = not error <= _LARGEST_ERROR
    return ask(True) if rough and not double else at, rough


@np.errstate(**UNFLAGGED)
def prices_of(
    factors: RowFactors, weight_set: WeightSet, x: Array, v: Array, mu: float
) -> tuple[Array, Array]:
    """Return z > 0 and lam near the central path at mu."""
    slopes = weight_set.slopes(x, 0.5 * factors.forms(v))
    levels = np.array([slopes[row > 0].max() + mu * row.sum() for row in weight_set.sums])
    return np.maximum(levels @ weight_set.sums - slopes, mu / x), levels


def longest(variables: Array, direction: Array) -> float:
    """Return how far variables > 0 may go along a direction until one of them is 0."""
    fastest = float((-direction / variables).max(initial=0.0))
    return 1.0 / fastest if fastest > 0 else np.inf


def _factorised(matrix: Array) -> tuple[Array, bool]:
    """Return the Cholesky factor of a matrix that is positive definite but for rounding."""
    if not np.isfinite(matrix).all():
        raise LinAlgError("the matrix is not finite")
    try:
        return cho_factor(matrix, lower=True)
    except LinAlgError:
        raised = matrix + _ROUNDING * float(np.trace(matrix)) * np.eye(len(matrix))
        return cho_factor(raised, lower=True)


def root(core: Array) -> Array:
    """Return L with L L' = `core` (r, r), which is positive semidefinite up to rounding."""
    values, vectors = np.linalg.eigh(core)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def coefficients(core: Array, outputs: Array) -> Array:
    """Return v with `core` v = `outputs` (r,), but for directions in which `core` is 0."""
    values, vectors = np.linalg.eigh(core)
    kept = values > _ROUNDING * values[-1]
    return np.asarray(vectors[:, kept] @ (vectors[:, kept].T @ outputs / values[kept]))
