"""GMKL (Varma & Babu, ICML 2009): any differentiable combination of kernels, with a regulariser.

    minimise over d >= 0   T(d) = J(d) + r(d),
    J(d) = max over 0 <= alpha <= C, y'alpha = 0 of  sum_i alpha_i - 1/2 a' K_d a,   a = alpha o y,

by projected gradient descent with an Armijo rule, one SVM a trial. On a bank K_d is the weighted
sum of the base kernels and the problem is convex; on a family it is the product of Gaussians
exp(-sum_m d_m (x_m - z_m)^2), and the result is a local minimum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from mklbench import certify
from mklbench.iterations import begin, note
from mklbench.kernels.base import Array, Bank, KernelOperator
from mklbench.optim.problem import ClassWeight, Problem
from mklbench.optim.several import Several, iterations_of, one_of, path_of
from mklbench.optim.svm_value import Objective, Point, check_family
from mklbench.penalties.simple import L1, L2
from mklbench.solution import Solution
from mklbench.validation import check_choice, check_count, check_limits, check_positive

VERSION = 1
CONVEX = False
# Held at once (`mklbench.optim.fit_memory`): LIBSVM's buffer, a point, the next and its gradient.
MATRICES = 5.0
PATH_OPTION = "iterations"

_STARTS = ("random", "uniform", "median")


# The authors' code: sufficient decrease, change of the step after success and failure, and the
# weight below which a kernel counts as left out (there absolute, here beside the largest one, so
# that the result does not depend on the scale of the kernels).
_ARMIJO = 0.3
_GROWTH = 2.1
_SHRINK = 0.3
_NEGLIGIBLE = 1e-4
# A step that has shrunk to this fraction of the first one has failed.
_SMALLEST_STEP = 1e-12


_REGULARISERS: dict[str, type[L1] | type[L2]] = {"l1": L1, "l2": L2}


@one_of(PATH_OPTION)
def solve(
    operator: KernelOperator,
    y: ArrayLike,
    C: float = 10.0,
    *,
    regulariser: str = "l1",
    strength: float | None = None,
    start: str = "random",
    random_state: int | None = 0,
    iterations: int | None = None,
    tol: float = 1e-3,
    max_iter: int = 40,
    svm_tol: float = 1e-3,
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Several:
    """Learn the weights of a sum (bank) or a product (family) of kernels.

    Parameters
    ----------
    operator : KernelOperator
        A bank (sum) or a family (product) on n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=10.0
        Box constraint.
    regulariser : str, default="l1"
        "l1" for r(d) = strength * sum d, "l2" for r(d) = strength * ||d - 1||^2.
    strength : float or None, default=None
        Factor on the regulariser; 1 for l1 and 5 for l2 if not given, as in the authors'
        code.
    start : str, default="random"
        "random" for weights uniform at random in [0, 1), as in the authors' code; "uniform" for
        1/M; "median", of a family, for `Family.median_parameters`.
    random_state : int or None, default=0
        Seed of the random start; None starts at 1/M.
    iterations : int or None, default=None
        End after so many gradient steps, if not before; None for no such end.
    tol : float, default=0.001
        Stop when the certified gap (bank) or KKT residual (family) is at most this.
    max_iter : int, default=40
        Maximum number of gradient steps; fewer than `iterations` they are a limit, not an end.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all.

    Returns
    -------
    Solution
        `objective` is T(d); weights below 1e-4 of the largest are set to 0. `gap` is the relative
        duality gap on a bank, the KKT residual on a family.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range.
    """
    if iterations is not None:
        check_count("iterations", iterations, 0)
    check_choice("regulariser", regulariser, _REGULARISERS)
    kind = _REGULARISERS[regulariser]
    penalty = kind() if strength is None else kind(check_positive("strength", strength))
    tol = check_limits(tol, max_iter)
    if random_state is not None:
        check_count("random_state", random_state, minimum=0)
    check_choice("start", start, _STARTS)
    problem = Problem.of(y, C, class_weight, sample_weight, svm_tol)
    objective = Objective(operator, problem)

    def total(point: Point) -> float:
        return point.objective + penalty.of_weights(point.weights)

    def gradient(point: Point) -> Array:
        return point.gradient + penalty.gradient(point.weights)

    def gap(point: Point) -> float:
        if isinstance(operator, Bank):
            return objective.bounds(point, penalty).relative_gap
        return certify.kkt_residual(point.weights, gradient(point), total(point))

    history = begin()

    def noted(point: Point) -> Point:
        calls, weights = objective.machine.calls, point.weights
        note(history, weights, objective=total(point), gap=gap(point), n_svm_calls=calls)
        return point

    def points() -> Iterator[tuple[Point, bool]]:
        point = noted(objective(_start(operator, start, random_state)))
        # No weight moves further than the largest weight is.
        steepest = float(np.abs(gradient(point)).max()) or 1.0
        step = first_step = float(point.weights.max()) / steepest
        while history[-1]["gap"] > tol:
            yield point, False
            following, step = _armijo_step(
                objective, point, total, gradient(point), step, _SMALLEST_STEP * first_step
            )
            if following is point:
                break
            point = noted(following)
        yield point, True

    def solution(point: Point, is_done: bool) -> Solution:
        negligible = point.weights < _NEGLIGIBLE * point.weights.max()
        if point.weights[negligible].any():
            point = objective(np.where(negligible, 0.0, point.weights))
        final_gap = gap(point)
        return objective.solution(
            point,
            gap=final_gap,
            converged=is_done or final_gap <= tol,
            history=list(history),
            objective=total(point),
        )

    return iterations_of(points(), max_iter, solution)


solve_path = path_of(solve, PATH_OPTION)


def _start(operator: KernelOperator, start: str, random_state: int | None) -> Array:
    if start == "median":
        return check_family("gmkl start=median", operator).median_parameters()
    if start == "uniform" or random_state is None:
        return operator.uniform_weights()
    return np.random.default_rng(random_state).uniform(size=operator.n_kernels)


def _armijo_step(
    objective: Objective,
    point: Point,
    total: Callable[[Point], float],
    gradient: Array,
    step: float,
    smallest: float,
) -> tuple[Point, float]:
    """Return the next point and step size; `point` itself where no step decreases T enough."""
    current = total(point)
    while step > smallest:
        moved = np.maximum(0.0, point.weights - step * gradient)
        trial = objective(moved)
        if total(trial) <= current + _ARMIJO * float(gradient @ (moved - point.weights)):
            return trial, step * _GROWTH
        step *= _SHRINK
    return point, step
