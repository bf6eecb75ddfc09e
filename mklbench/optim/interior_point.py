"""A primal-dual interior-point method for the small quadratic programmes of the local model.

It is Mehrotra's predictor and corrector (Nocedal & Wright 2006, Algorithm 16.4), with the bounds
and the constraints of the kernels eliminated, so that an iteration is one Cholesky factorisation of
an (n, n) matrix and one of a (w + 1, w + 1) matrix.

Beside it, on 21 programmes of `mkl` (``results/bench/programmes.md``), Clarabel takes twelve times
as long, as its matrices are sparse and these are dense. PIQP is 1.1 times as fast to the stop of
`mkl` and 1.7 times to 1e-9: a few per cent of a fit, on another path to the same optimum. When the
recorded numbers of the exact solvers are measured anew, take PIQP.

Where the active set of a programme is nearly known there is Newton's method on the optimality
conditions. Near the optimum of MKL the same support vectors are free, and the same kernels have
weight, from one model to the next. Then one system of linear equations in the free alpha and in the
multipliers of these kernels takes the place of the ten of the interior-point method, and its
solution is exact. Where the sets were not right, they are exchanged for those that the solution
asks for (the primal-dual active set method of Hintermüller, Ito & Kunisch 2002), which ends soon
or, far from the optimum, not at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgesv, dpotrf, dpotrs, dtrtrs

Array = NDArray[np.float64]

_MAX_ITERATIONS = 50
# A step goes this far towards the nearest bound, and one shorter than the second leads nowhere.
_TO_THE_BOUNDARY, _SHORTEST_STEP = 0.99, 1e-8
# The starting point is kept away from its bounds by this share of the mean.
_INTERIOR = 0.2
# Added to diagonals in units of their mean: Q is singular where all alpha are free, the multipliers
# are not unique where kernels are equal. It grows where rounding has made Q indefinite.
_RIDGE, _LARGEST_RIDGE = 1e-13, 1e-2
_TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Programme:
    """The programme

        maximise    p'alpha - 1/2 alpha' Q alpha - 1/2 tau^2   over alpha (n,) and tau
        subject to  offset + X'alpha <= tau,  0 <= alpha <= upper,  y'alpha = balance.

    Attributes
    ----------
    Q : ndarray of shape (n, n)
        Symmetric and positive semidefinite.
    X : ndarray of shape (n, w)
        w >= 1.
    p, y, upper : ndarray of shape (n,)
        n >= 1.
    offset : ndarray of shape (w,)
        .
    balance : float
        A number.
    """

    Q: Array
    X: Array
    p: Array
    y: Array
    upper: Array
    offset: Array
    balance: float


@dataclass(frozen=True)
class InteriorPoint:
    """A primal-dual point of a `Programme`, inside all bounds.

    Attributes
    ----------
    pairs : ndarray of shape (2, 2 n + w)
        positive. The first row has alpha, upper - alpha and the slacks of the
        kernels' constraints; the second row the multiplier of each. The products of a column vanish
        at the solution.
    intercept : float
        Multiplier of the equation.
    n : int
        The number of variables.
    """

    pairs: Array
    intercept: float
    n: int

    @property
    def alpha(self) -> Array:
        """The variables (n,)."""
        return self.pairs[0, : self.n]

    @property
    def slack(self) -> Array:
        """tau - offset - X'alpha (w,)."""
        return self.pairs[0, 2 * self.n :]

    @property
    def multipliers(self) -> Array:
        """The multipliers of the kernels' constraints (w,); their sum is tau."""
        return self.pairs[1, 2 * self.n :]

    @property
    def at_zero(self) -> Array:
        """The multipliers of alpha >= 0 (n,)."""
        return self.pairs[1, : self.n]

    @property
    def at_upper(self) -> Array:
        """The multipliers of alpha <= upper (n,)."""
        return self.pairs[1, self.n : 2 * self.n]


def interior(
    programme: Programme, alpha: Array, multipliers: Array, intercept: float, unit: float
) -> InteriorPoint:
    """Return a point inside all bounds close to the given values, which may lie on them.

    `unit` is the size of a typical alpha.
    """
    upper = programme.upper
    shift = _INTERIOR * np.minimum(unit, 0.5 * upper)
    inner = np.clip(alpha, shift, upper - shift)
    reached = programme.offset + programme.X.T @ inner
    lifted = multipliers + _INTERIOR * multipliers.mean()
    lifted *= max(1.0, float(reached.max()) / float(lifted.sum()))
    tau = float(lifted.sum())
    violation = programme.p - programme.Q @ inner - programme.X @ lifted - programme.y * intercept
    product = _INTERIOR * unit * max(float(np.abs(violation).mean()), 1e-3)
    low = inner < 0.5 * upper
    room = upper - inner
    primal = [inner, room, np.maximum(tau - reached, _INTERIOR * tau)]
    dual = [
        np.where(low, np.maximum(-violation, 0.0), 0.0) + product / inner,
        np.where(low, 0.0, np.maximum(violation, 0.0)) + product / room,
        lifted,
    ]
    pairs = np.array([np.concatenate(primal), np.concatenate(dual)])
    return InteriorPoint(pairs, intercept, len(inner))


def maximise(programme: Programme, start: InteriorPoint, tol: float) -> InteriorPoint:
    """Solve a programme from a point inside its bounds, which need not be feasible otherwise.

    Parameters
    ----------
    programme : Programme
        The programme.
    start : InteriorPoint
        See `interior`.
    tol : float
        Stop when the complementarity, in units of the objective, and the violations of the linear
        conditions, in units of the margin and of tau, are below this.

    Returns
    -------
    InteriorPoint
        The last point; where rounding ends the iteration early, the closest that could be had.
    """
    point, ridge = start, _RIDGE
    columns = np.column_stack([programme.X, programme.y])
    for _ in range(_MAX_ITERATIONS):
        residuals = _Residuals(programme, point)
        if residuals.small(tol):
            break
        system = _NewtonSystem(programme, columns, point, residuals, ridge)
        if system.singular:
            if ridge >= _LARGEST_RIDGE:
                break
            ridge *= 1e3
            continue
        pairs = point.pairs
        affine, _ = system.step(-pairs[0] * pairs[1])
        primal, dual = pairs + _largest_step(pairs, affine) * affine
        shrinking = float(primal @ dual) / residuals.complementarity
        target = shrinking**3 * residuals.complementarity / pairs.shape[1]
        step, change = system.step(target - pairs[0] * pairs[1] - affine[0] * affine[1])
        size = _TO_THE_BOUNDARY * _largest_step(pairs, step)
        if not np.isfinite(change) or size < _SHORTEST_STEP:
            break
        point = InteriorPoint(pairs + size * step, point.intercept + size * change, point.n)
    return point


def _largest_step(pairs: Array, step: Array) -> float:
    """Return the largest size in (0, 1] that keeps the pairs >= 0."""
    ratio = -float((step / pairs).min())
    return 1.0 / ratio if ratio > 1.0 else 1.0


class _Residuals:
    """How far a point is from meeting the optimality conditions."""

    def __init__(self, programme: Programme, point: InteriorPoint) -> None:
        alpha, multipliers = point.alpha, point.multipliers
        self.tau = float(multipliers.sum())
        Qa = programme.Q @ alpha
        slope = programme.p - Qa
        self.objective = 0.5 * float((slope + programme.p) @ alpha) - 0.5 * self.tau**2
        slope -= programme.X @ multipliers
        slope -= point.intercept * programme.y
        slope += point.at_zero
        slope -= point.at_upper
        self.stationarity = slope
        self.feasibility = self.tau - programme.offset - programme.X.T @ alpha - point.slack
        self.imbalance = programme.balance - float(programme.y @ alpha)
        self.complementarity = float(point.pairs[0] @ point.pairs[1])

    def small(self, tol: float) -> bool:
        complementarity = self.complementarity / max(abs(self.objective), _TINY)
        if complementarity > tol:
            return False
        linear = max(
            float(np.abs(self.stationarity).max()), float(np.abs(self.feasibility).max()) / self.tau
        )
        # The linear conditions cannot be met better than to rounding.
        return linear <= tol or complementarity <= 1e-3 * tol


class _NewtonSystem:
    """The linear equations of one iteration, factorised once for its two right-hand sides.

    With Theta the diagonal of the multipliers of both bounds, each divided by the distance to its
    bound, what is left after eliminating the bounds and the slacks is

        (Q + Theta) d_alpha + X d_multipliers + y d_intercept = right-hand side
        X' d_alpha - (1 1' + diag(slack / multipliers)) d_multipliers = right-hand side
        y' d_alpha = imbalance.
    """

    def __init__(
        self,
        programme: Programme,
        columns: Array,
        point: InteriorPoint,
        residuals: _Residuals,
        ridge: float,
    ) -> None:
        self._pairs, self._n = point.pairs, point.n
        self._residuals = residuals
        n, w = point.n, columns.shape[1] - 1
        self._ratios = point.pairs[1] / point.pairs[0]
        barrier = programme.Q.copy()
        diagonal = barrier.reshape(-1)[:: n + 1]
        diagonal += ridge * float(diagonal.sum()) / n
        diagonal += self._ratios[:n]
        diagonal += self._ratios[n : 2 * n]
        self._factor, failed = dpotrf(barrier.T, lower=1, clean=0, overwrite_a=1)
        self.singular = bool(failed)
        if self.singular:
            return
        self._half, _ = dtrtrs(self._factor, columns, lower=1)
        schur = self._half.T @ self._half
        schur[:w, :w] += 1.0
        diagonal = schur.reshape(-1)[:: w + 2]
        diagonal += ridge * float(diagonal.sum()) / w
        diagonal[:w] += 1.0 / self._ratios[2 * n :]
        self._schur, failed = dpotrf(schur, lower=1)
        self.singular = bool(failed)

    def step(self, products: Array) -> tuple[Array, float]:
        """Return the step of the pairs and of the intercept that changes products by `products`."""
        n, residuals = self._n, self._residuals
        primal, dual = self._pairs
        scaled = products / primal
        right = residuals.stationarity + scaled[:n]
        right -= scaled[n : 2 * n]
        half, _ = dtrtrs(self._factor, right, lower=1)
        reduced = self._half.T @ half
        reduced[:-1] -= residuals.feasibility
        reduced[:-1] += products[2 * n :] / dual[2 * n :]
        reduced[-1] -= residuals.imbalance
        solved, _ = dpotrs(self._schur, reduced, lower=1)
        step = np.empty_like(self._pairs)
        alpha, _ = dtrtrs(self._factor, half - self._half @ solved, lower=1, trans=1)
        step[0, :n] = alpha
        step[0, n : 2 * n] = -alpha
        step[0, 2 * n :] = (products[2 * n :] - primal[2 * n :] * solved[:-1]) / dual[2 * n :]
        step[1] = scaled - self._ratios * step[0]
        return step, float(solved[-1])


Mask = NDArray[np.bool_]

_EXCHANGES = 6


class _Sets(NamedTuple):
    """Masks: free alpha, alpha at the upper bound (n,), kernels whose constraint binds (w,)."""

    free: Mask
    at_upper: Mask
    binding: Mask


def maximise_near(
    programme: Programme, alpha: Array, multipliers: Array, tol: float
) -> InteriorPoint | None:
    """Solve a programme from a nearly known active set.

    Parameters
    ----------
    programme : Programme
        The programme.
    alpha, multipliers : ndarray
        (n,) and (w,), which are on their bounds where the solution is expected
        to be.
    tol : float
        How far, in units of the margin and of tau, an inequality may be violated.

    Returns
    -------
    InteriorPoint or None
        The solution, with zeros in its pairs; None where it was not found.
    """
    upper = programme.upper
    sets = _Sets((alpha > 0) & (alpha < upper), alpha >= upper, multipliers > 0)
    for _ in range(_EXCHANGES):
        solved = _solve(programme, sets)
        if solved is None:
            return None
        alpha, multipliers, intercept = solved
        tau = float(multipliers.sum())
        violation = programme.p - programme.Q @ alpha - programme.X @ multipliers
        violation -= intercept * programme.y
        slack = tau - programme.offset - programme.X.T @ alpha
        exact = np.abs(violation[sets.free]).max() <= tol
        exact &= np.abs(slack[sets.binding]).max() <= tol * tau
        if not exact:  # the equations are singular
            return None
        proposed = _Sets(
            free=np.where(
                sets.free,
                (alpha >= 0) & (alpha <= upper),
                np.where(sets.at_upper, violation < -tol, violation > tol),
            ),
            at_upper=np.where(sets.free, alpha > upper, sets.at_upper & (violation >= -tol)),
            binding=np.where(sets.binding, multipliers >= 0, slack < -tol * tau),
        )
        if all(map(np.array_equal, proposed, sets)):
            violation[sets.free] = 0.0
            slack[sets.binding] = 0.0
            primal = [alpha, upper - alpha, np.maximum(slack, 0.0)]
            dual = [np.maximum(-violation, 0.0), np.maximum(violation, 0.0), multipliers]
            pairs = np.array([np.concatenate(primal), np.concatenate(dual)])
            return InteriorPoint(pairs, intercept, len(alpha))
        sets = proposed
    return None


def _solve(programme: Programme, sets: _Sets) -> tuple[Array, Array, float] | None:
    """Return alpha, the multipliers and the intercept that meet the equations of the sets."""
    free, binding = np.flatnonzero(sets.free), np.flatnonzero(sets.binding)
    f, k = len(free), len(binding)
    if f == 0 or k == 0:
        return None
    alpha = np.where(sets.at_upper, programme.upper, 0.0)
    X, y, Q = programme.X[:, binding], programme.y, programme.Q[free]
    equations = np.zeros((f + k + 1, f + k + 1))
    equations[:f, :f] = Q[:, free]
    equations[:f, f:-1] = X[free]
    equations[f:-1, :f] = X[free].T
    equations[f:-1, f:-1] = -1.0  # tau is the sum of the multipliers
    equations[:f, -1] = equations[-1, :f] = y[free]
    right = np.empty(f + k + 1)
    right[:f] = programme.p[free] - Q @ alpha
    right[f:-1] = -programme.offset[binding] - X.T @ alpha
    right[-1] = programme.balance - y @ alpha
    _, _, solution, failed = dgesv(equations, right)
    if failed or not np.isfinite(solution).all():
        return None
    alpha[free] = solution[:f]
    multipliers = np.zeros(len(programme.offset))
    multipliers[binding] = solution[f:-1]
    return alpha, multipliers, float(solution[-1])
