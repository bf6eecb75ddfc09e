"""SimpleMKL (Rakotomamonjy, Bach, Canu & Grandvalet, JMLR 9, 2008).

The problem is convex: with q_m(alpha) = (alpha o y)' K_m (alpha o y),

    minimise over d >= 0, sum_m d_m = 1
    J(d) = max over 0 <= alpha <= C, y'alpha = 0 of  sum_i alpha_i - 1/2 sum_m d_m q_m(alpha),

and J is differentiable with gradient dJ/dd_m = -1/2 q_m(alpha*) (eq. 11), where alpha* solves the
SVM with the kernel sum_m d_m K_m.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mklbench.kernels.base import Array, Bank
from mklbench.optim.problem import ClassWeight, Problem
from mklbench.optim.svm_value import Objective, Point, check_bank, descend
from mklbench.penalties.simple import Simplex
from mklbench.solution import Solution
from mklbench.validation import check_limits, check_positive, check_positive_or_none

VERSION = 1
EXACT = True
# Held at once (`mklbench.optim.fit_memory`): LIBSVM's buffer, both ends of a line search, its best
# and its last point, and the temporaries of one.
MATRICES = 7.0


# A weight is zero when it is this small beside the largest one.
_ZERO_WEIGHT = 1e-8
_MAX_LINE_SEARCH_STEPS = 20


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 100.0,
    *,
    tol: float = 1e-2,
    objective_tol: float | None = None,
    max_iter: int = 500,
    line_search_tol: float = 0.1,
    svm_tol: float = 1e-3,
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Learn the kernel weights of a bank by reduced gradient descent (Algorithm 1).

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=100.0
        Box constraint.
    tol : float, default=0.01
        Stop at this certified relative duality gap.
    objective_tol : float or None, default=None
        Stop as well where a descent direction has changed the objective by less than
        this share of it; None for never.
    max_iter : int, default=500
        Maximum number of descent directions.
    line_search_tol : float, default=0.1
        A line search ends where the slope of J has shrunk to this fraction.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance; it is tightened by itself where it, not the weights,
        keeps the gap above `tol`.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all.

    Returns
    -------
    Solution
        `objective` is J(d), the maximum of the SVM's dual at the returned weights.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range.
    """
    tol = check_limits(tol, max_iter)
    check_positive("line_search_tol", line_search_tol)
    check_positive_or_none("objective_tol", objective_tol)
    problem = Problem.of(y, C, class_weight, sample_weight, svm_tol)
    bank = check_bank("simplemkl", bank, len(problem.y))
    return minimise(bank, problem, tol, objective_tol, max_iter, line_search_tol)


def minimise(
    bank: Bank,
    problem: Problem,
    tol: float,
    objective_tol: float | None = None,
    max_iter: int = 500,
    line_search_tol: float = 0.1,
) -> Solution:
    """Do so for a problem that has been checked, as the other options."""
    objective = Objective(bank, problem)
    return descend(
        objective,
        objective(bank.uniform_weights()),
        lambda point: _certified(point, objective, tol),
        lambda point, gap: _descend(point, objective, line_search_tol),
        tol,
        objective_tol,
        max_iter,
    )


def _certified(point: Point, objective: Objective, tol: float) -> tuple[Point, float]:
    """Certify a point, with a more accurate SVM where the SVM's own gap is most of the gap."""
    while True:
        bounds = objective.bounds(point, Simplex())
        gap_of_weights = (point.objective - bounds.lower) / point.objective
        if bounds.relative_gap <= tol or gap_of_weights > 0.5 * tol or not objective.tighten():
            return point, bounds.relative_gap
        point = objective(point.weights)


def _descend(point: Point, objective: Objective, precision: float) -> Point:
    """One iteration of Algorithm 1: a direction, its updates at the boundary, a line search.

    Returns `point` itself where nothing lower was found.
    """
    direction = reduced_gradient_direction(point.weights, point.gradient)
    while True:
        limit, blocking = _largest_step(point.weights, direction)
        if blocking is None or _slope(point, direction) >= 0:
            return point
        trial = objective(_step(point.weights, direction, limit, blocking))
        if trial.objective >= point.objective:
            return _line_search(point, trial, direction, limit, objective, precision)
        # J still decreases where weight `blocking` reaches zero: go on from there without it.
        point = trial
        direction = direction.copy()  # its share goes to the largest weight
        direction[int(np.argmax(point.weights))] += direction[blocking]
        direction[blocking] = 0.0


def reduced_gradient_direction(weights: Array, gradient: Array) -> Array:
    """Return the descent direction D (M,) of eq. 12, with sum D = 0.

    The largest weight, mu, is the one expressed through the others; a weight that is zero moves
    only if that decreases J.
    """
    mu = int(np.argmax(weights))
    reduced = gradient - gradient[mu]
    direction = np.where((weights <= 0) & (reduced > 0), 0.0, -reduced)
    direction[mu] = 0.0
    direction[mu] = -direction.sum()
    return direction


def _slope(point: Point, direction: Array) -> float:
    """Return the derivative of J along `direction`."""
    return float(point.gradient @ direction)


def _largest_step(weights: Array, direction: Array) -> tuple[float, int | None]:
    shrinking = np.flatnonzero(direction < 0)
    if len(shrinking) == 0:
        return 0.0, None
    steps = -weights[shrinking] / direction[shrinking]
    nearest = int(np.argmin(steps))
    return float(steps[nearest]), int(shrinking[nearest])


def _step(weights: Array, direction: Array, size: float, blocking: int) -> Array:
    """Return the weights after a step to where weight `blocking` is zero, summing to 1."""
    moved = weights + size * direction
    moved[blocking] = 0.0
    moved[moved < _ZERO_WEIGHT * moved.max()] = 0.0
    return moved / moved.sum()


def _line_search(
    start: Point,
    end: Point,
    direction: Array,
    limit: float,
    objective: Objective,
    precision: float,
) -> Point:
    """Minimise the convex J between `start`, where it decreases, and `end`, where it is no lower.

    Each SVM gives the slope of J along the direction with its value, so the zero of the slope is
    found by regula falsi (with the Illinois modification, that halves the slope kept at an end
    which stays). Returns the best point seen, `start` itself where none is lower.
    """
    low, low_slope = 0.0, _slope(start, direction)
    high, high_slope = limit, _slope(end, direction)
    enough = precision * abs(low_slope)
    best = start
    previous_slope = 0.0
    for _ in range(_MAX_LINE_SEARCH_STEPS):
        if not low_slope < 0 < high_slope:  # possible only where the SVM is inexact
            break
        size = low - low_slope * (high - low) / (high_slope - low_slope)
        share = size / limit
        weights = (1.0 - share) * start.weights + share * end.weights
        # The Gram matrix is linear in the weights, so it comes from the two ends without the bank.
        trial = objective(weights, (1.0 - share) * start.K + share * end.K)
        slope = _slope(trial, direction)
        if trial.objective < best.objective:
            best = trial
        if abs(slope) <= enough and best is not start:
            break
        if slope < 0:
            low, low_slope = size, slope
            high_slope *= 0.5 if previous_slope < 0 else 1.0
        else:
            high, high_slope = size, slope
            low_slope *= 0.5 if previous_slope > 0 else 1.0
        previous_slope = slope
    return best
