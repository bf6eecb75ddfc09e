"""A primal-dual interior-point method for the small quadratic programmes of the local model.

It is Mehrotra's predictor and corrector (Nocedal & Wright 2006, Algorithm 16.4), with the bounds
and the constraints of the kernels eliminated, so that an iteration is one Cholesky factorisation of
an (n, n) matrix and one of a (w + 1, w + 1) matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

Array = NDArray[np.float64]

_MAX_ITERATIONS = 50
# A step goes this far towards the nearest bound.
_TO_THE_BOUNDARY = 0.99
# The starting point is kept away from its bounds by this share of the mean.
_INTERIOR = 0.2
_LEAST_ROOM = 1e-16
_TINY = np.finfo(float).tiny
# Added to diagonals in units of their mean: Q is singular where all alpha are free, the multipliers
# are not unique where kernels are equal. It grows where rounding has made Q indefinite.
_RIDGE, _LARGEST_RIDGE = 1e-13, 1e-2


@dataclass(frozen=True)
class Programme:
    """The programme

        maximise    p'alpha - 1/2 alpha' Q alpha - 1/2 tau^2   over alpha (n,) and tau
        subject to  offset + X'alpha <= tau,  0 <= alpha <= upper,  y'alpha = balance.

    Attributes
    ----------
    Q : (n, n), symmetric and positive semidefinite.
    X : (n, w), w >= 1.
    p, y, upper : (n,), n >= 1.
    offset : (w,).
    balance : a number.
    """

    Q: Array
    X: Array
    p: Array
    y: Array
    upper: Array
    offset: Array
    balance: float


@dataclass(frozen=True)
class Point:
    """A primal-dual point of a `Programme`.

    Attributes
    ----------
    alpha : (n,) strictly between the bounds.
    multipliers : (w,) of the kernels' constraints, > 0; their sum is tau.
    intercept : multiplier of the equation.
    slack : (w,) room under the kernels' constraints, > 0.
    at_zero, at_upper : (n,) multipliers of the bounds, > 0.
    """

    alpha: Array
    multipliers: Array
    intercept: float
    slack: Array
    at_zero: Array
    at_upper: Array

    def moved(self, size: float, step: Point) -> Point:
        """Return the point `size` times `step` further on."""
        return Point(
            alpha=self.alpha + size * step.alpha,
            multipliers=self.multipliers + size * step.multipliers,
            intercept=self.intercept + size * step.intercept,
            slack=self.slack + size * step.slack,
            at_zero=self.at_zero + size * step.at_zero,
            at_upper=self.at_upper + size * step.at_upper,
        )

    def room(self, upper: Array) -> Array:
        """Return upper - alpha, which rounding must not make zero."""
        return np.maximum(upper - self.alpha, _LEAST_ROOM * upper)

    def complementarity(self, upper: Array) -> float:
        """Return the sum of all products that vanish at the solution."""
        return float(
            self.at_zero @ self.alpha
            + self.at_upper @ self.room(upper)
            + self.multipliers @ self.slack
        )

    def largest_step(self, step: Point, upper: Array) -> float:
        """Return the largest size in (0, 1] for which the moved point keeps its bounds."""
        room = np.concatenate(
            [
                self.alpha,
                self.room(upper),
                self.at_zero,
                self.at_upper,
                self.multipliers,
                self.slack,
            ]
        )
        change = np.concatenate(
            [
                step.alpha,
                -step.alpha,
                step.at_zero,
                step.at_upper,
                step.multipliers,
                step.slack,
            ]
        )
        ratio = float(np.max(-change / room))
        return 1.0 / ratio if ratio > 1.0 else 1.0


def interior(
    programme: Programme, alpha: Array, multipliers: Array, intercept: float, unit: float
) -> Point:
    """Return a point inside all bounds close to the given values, which may lie on them.

    `unit` is the size of a typical alpha.
    """
    upper = programme.upper
    shift = _INTERIOR * np.minimum(unit, 0.5 * upper)
    inner = np.clip(alpha, shift, upper - shift)
    lifted = multipliers + _INTERIOR * multipliers.mean()
    reached = float((programme.offset + programme.X.T @ inner).max())
    lifted *= max(1.0, reached / float(lifted.sum()))
    tau = float(lifted.sum())
    violation = programme.p - programme.Q @ inner - programme.X @ lifted - programme.y * intercept
    product = _INTERIOR * unit * max(float(np.abs(violation).mean()), 1e-3)
    slack = tau - programme.offset - programme.X.T @ inner
    low = inner < 0.5 * upper
    return Point(
        alpha=inner,
        multipliers=lifted,
        intercept=intercept,
        slack=np.maximum(slack, _INTERIOR * tau),
        at_zero=np.where(low, np.maximum(-violation, 0.0), 0.0) + product / inner,
        at_upper=np.where(low, 0.0, np.maximum(violation, 0.0)) + product / (upper - inner),
    )


def maximise(programme: Programme, start: Point, tol: float) -> Point:
    """Solve a programme from a point inside its bounds, which need not be feasible otherwise.

    Parameters
    ----------
    programme : the programme.
    start : see `interior`.
    tol : stop when the complementarity, in units of the objective, and the violations of the linear
        conditions, in units of the margin and of tau, are below this.

    Returns
    -------
    Point
        The last point; where rounding ends the iteration early, the closest that could be had.
    """
    point, ridge = start, _RIDGE
    upper = programme.upper
    n_products = 2 * len(upper) + len(programme.offset)
    for _ in range(_MAX_ITERATIONS):
        residuals = _Residuals(programme, point)
        if residuals.small(tol):
            break
        system = _NewtonSystem(programme, point, residuals, ridge)
        if system.singular:
            if ridge >= _LARGEST_RIDGE:
                break
            ridge *= 1e3
            continue
        affine = system.step(0.0, None)
        size = point.largest_step(affine, upper)
        remaining = point.moved(size, affine).complementarity(upper) / residuals.complementarity
        target = remaining**3 * residuals.complementarity / n_products
        step = system.step(target, affine)
        size = _TO_THE_BOUNDARY * point.largest_step(step, upper)
        if not np.isfinite(step.intercept) or size < 1e-8:
            break
        point = point.moved(size, step)
    return point


class _Residuals:
    """How far a point is from meeting the optimality conditions."""

    def __init__(self, programme: Programme, point: Point) -> None:
        alpha, tau = point.alpha, float(point.multipliers.sum())
        Qa = programme.Q @ alpha
        self.tau = tau
        self.stationarity = (
            programme.p
            - Qa
            - programme.X @ point.multipliers
            - programme.y * point.intercept
            + point.at_zero
            - point.at_upper
        )
        self.feasibility = tau - programme.offset - programme.X.T @ alpha - point.slack
        self.imbalance = programme.balance - float(programme.y @ alpha)
        self.complementarity = point.complementarity(programme.upper)
        self.objective = float(programme.p @ alpha - 0.5 * (alpha @ Qa)) - 0.5 * tau**2

    def small(self, tol: float) -> bool:
        complementarity = self.complementarity / max(abs(self.objective), _TINY)
        linear = max(
            float(np.abs(self.stationarity).max()), float(np.abs(self.feasibility).max()) / self.tau
        )
        # The linear conditions cannot be met better than to rounding.
        return complementarity <= (tol if linear <= tol else 1e-3 * tol)


class _NewtonSystem:
    """The linear equations of one iteration, factorised once for its two right-hand sides.

    With Theta the diagonal of at_zero / alpha + at_upper / (upper - alpha), what is left after
    eliminating the bounds and the slacks is

        (Q + Theta) d_alpha + X d_multipliers + y d_intercept = right-hand side
        X' d_alpha - (1 1' + diag(slack / multipliers)) d_multipliers = right-hand side
        y' d_alpha = imbalance.
    """

    def __init__(
        self, programme: Programme, point: Point, residuals: _Residuals, ridge: float
    ) -> None:
        self._point = point
        self._room = point.room(programme.upper)
        self._residuals = residuals
        w = len(point.multipliers)
        barrier = programme.Q.copy()
        diagonal = barrier.reshape(-1)[:: len(barrier) + 1]
        diagonal += ridge * float(diagonal.mean())
        diagonal += point.at_zero / point.alpha + point.at_upper / self._room
        self._factor, failed = dpotrf(barrier.T, lower=1, clean=0, overwrite_a=1)
        self.singular = bool(failed)
        if self.singular:
            return
        columns = np.column_stack([programme.X, programme.y])
        self._half, _ = dtrtrs(self._factor, columns, lower=1)
        schur = self._half.T @ self._half
        schur[:w, :w] += 1.0
        diagonal = schur.reshape(-1)[:: w + 2]
        diagonal += ridge * float(diagonal.mean())
        diagonal[:w] += point.slack / point.multipliers
        self._schur, failed = dpotrf(schur, lower=1)
        self.singular = bool(failed)

    def step(self, target: float, affine: Point | None) -> Point:
        """Return the step towards complementary products of size `target`.

        `affine` is the step to target 0, whose second-order effect is corrected for; None to
        compute that step itself.
        """
        point, residuals = self._point, self._residuals
        zero = target - point.at_zero * point.alpha
        upper = target - point.at_upper * self._room
        slack = target - point.multipliers * point.slack
        if affine is not None:
            zero -= affine.alpha * affine.at_zero
            upper += affine.alpha * affine.at_upper
            slack -= affine.multipliers * affine.slack
        right = residuals.stationarity + zero / point.alpha - upper / self._room
        half, _ = dtrtrs(self._factor, right, lower=1)
        reduced = self._half.T @ half
        reduced[:-1] -= residuals.feasibility - slack / point.multipliers
        reduced[-1] -= residuals.imbalance
        duals, _ = dpotrs(self._schur, reduced, lower=1)
        alpha, _ = dtrtrs(self._factor, half - self._half @ duals, lower=1, trans=1)
        multipliers = duals[:-1]
        return Point(
            alpha=alpha,
            multipliers=multipliers,
            intercept=float(duals[-1]),
            slack=(slack - point.slack * multipliers) / point.multipliers,
            at_zero=(zero - point.at_zero * alpha) / point.alpha,
            at_upper=(upper + point.at_upper * alpha) / self._room,
        )
