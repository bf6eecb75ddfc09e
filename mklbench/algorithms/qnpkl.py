"""QN-PKL: products of Gaussians by a quasi-Newton descent (Picard, Thome, Cord & Rakotomamonjy,
ESANN 2012).

With K_gamma = exp(-sum_m gamma_m d_m(x, z)) and no regulariser on gamma,

    minimise over gamma >= 0   J(gamma) = max over 0 <= alpha <= C, y'alpha = 0 of
                               sum_i alpha_i - 1/2 A' K_gamma A,        A = alpha o y   (eq. 2-5),

whose gradient is dJ/dgamma_m = 1/2 A' (D_m o K) A; the paper's p (eq. 6) is its negative. The
problem is not convex (section 4): the result is a local minimum that depends on the start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench import certify
from mklbench.algorithms.objective import Objective, Point, check_family
from mklbench.kernels.base import KernelOperator
from mklbench.solution import Solution
from mklbench.validation import check_choice, check_count, check_positive

VERSION = 1
NEW_OPTIONS = ("max_evals",)
# Held at once (`mklbench.algorithms.memory`): LIBSVM's buffer, a point, the next and its gradient.
MATRICES = 5.0

Array = NDArray[np.float64]

# The authors' library sets smaller parameters to zero, and keeps curvatures above it.
_NEGLIGIBLE = 1e-7
# SVMs of one solve. With a box that does not bind, J goes on falling by its rounding.
_MAX_EVALS = 40_000


def solve(
    family: KernelOperator,
    y: ArrayLike,
    C: float = 1.0,
    *,
    variant: str = "paper",
    tol: float = 1e-7,
    initial_rate: float = 0.1,
    initial_step: float = 1.0,
    max_iter: int = 1000,
    max_evals: int | None = None,
    svm_tol: float = 1e-3,
    class_weight: Mapping[int, float] | str | None = None,
) -> Solution:
    """Learn the parameters of a product of Gaussians (Algorithm 1).

    Two points of the printed algorithm are read as follows. Equation 7 divides the step of gamma by
    the difference of p, the negative gradient: for positive curvature the quotient is negative, and
    the step gamma + delta B p would ascend, so B is its negative here. And where the curvature is
    not positive, of which the paper says nothing, B is 1e-7 as in the authors' library.

    Parameters
    ----------
    family : the family of kernels on n training samples, M parameters gamma.
    y : (n,) labels in {-1, +1}.
    C : box constraint.
    variant : "paper" takes one successful step a direction (Algorithm 1). "jkernelmachines" is what
        the authors' library does: it goes on in the same direction, with the same step until that
        fails and then with smaller ones, until the step is negligible.
    tol : epsilon, the threshold on the relative decrease of J and on the step size.
    initial_rate : b_1, the first value of B.
    initial_step : delta_0, the first step size along a direction; it is divided by 10 on failure.
    max_iter : at most so many directions.
    max_evals : at most so many SVMs in all; 40,000 if not given.
    svm_tol : LIBSVM's stopping tolerance.
    class_weight : factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".

    Returns
    -------
    Solution
        `objective` is J(gamma), `gap` the KKT residual of `mklbench.certify.kkt_residual`.
        `converged` says that the paper's stopping rule was met; the residual says how near to a
        stationary point that is. Where the curvature is not positive the steps of 1e-7 end the
        descent early, and the residual stays large.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range.
    """
    family = check_family("qnpkl", family)
    check_choice("variant", variant, _SEARCHES)
    search = _SEARCHES[variant]
    check_positive("tol", tol)
    check_positive("initial_rate", initial_rate)
    check_positive("initial_step", initial_step)
    check_count("max_iter", max_iter)
    most = _MAX_EVALS if max_evals is None else check_count("max_evals", max_evals)
    objective = Objective(family, y, C, svm_tol, class_weight)

    point = objective(family.uniform_weights())
    rate = np.full(family.n_kernels, initial_rate)
    history = [{"objective": point.objective, "n_svm_calls": 1.0}]
    converged = False
    while not converged and len(history) <= max_iter and objective.machine.calls < most:
        following = search(objective, point, rate, initial_step, tol, most)
        decrease = (point.objective - following.objective) / abs(point.objective)
        converged = decrease <= tol and objective.machine.calls < most
        rate = _inverse_curvature(point, following)
        point = following
        history.append(
            {"objective": point.objective, "n_svm_calls": float(objective.machine.calls)}
        )
    residual = certify.kkt_residual(point.weights, point.gradient, point.objective)
    return objective.solution(point, gap=residual, converged=converged, history=history)


def _step(point: Point, rate: Array, size: float, start: Point | None = None) -> Array:
    """Return gamma + delta B p, with p taken at `start`, and negligible parameters set to zero."""
    descent = -(start or point).gradient
    moved = point.weights + size * rate * descent
    return np.where(moved < _NEGLIGIBLE, 0.0, moved)


def _first_success(
    objective: Objective, point: Point, rate: Array, initial_step: float, tol: float, most: int
) -> Point:
    """The inner loop of Algorithm 1: shrink the step until J decreases; `point` if it never does.

    The paper keeps the last trial then, whose step is below epsilon; keeping the better point
    changes gamma by less than that.
    """
    size = initial_step
    while True:
        trial = objective(_step(point, rate, size))
        if trial.objective < point.objective:
            return trial
        size /= 10.0
        if size < tol or objective.machine.calls >= most:
            return point


def _until_negligible(
    objective: Objective, point: Point, rate: Array, initial_step: float, tol: float, most: int
) -> Point:
    """The line search of the authors' library: repeat each step size until it fails."""
    best = point
    size = initial_step
    while size > tol and objective.machine.calls < most:
        trial = objective(_step(best, rate, size, start=point))
        if trial.objective < best.objective:
            best = trial
        else:
            size /= 10.0
    return best


_SEARCHES: dict[str, Callable[[Objective, Point, Array, float, float, int], Point]] = {
    "paper": _first_success,
    "jkernelmachines": _until_negligible,
}


def _inverse_curvature(previous: Point, current: Point) -> Array:
    """Return the diagonal B of eq. 7: the step of each parameter over that of its gradient."""
    step = current.weights - previous.weights
    change = current.gradient - previous.gradient
    quotient = np.divide(step, change, out=np.zeros_like(step), where=change != 0)
    return np.maximum(quotient, _NEGLIGIBLE)
