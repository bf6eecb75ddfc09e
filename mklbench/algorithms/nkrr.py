"""NKRR: polynomial combinations of kernels, learned in kernel ridge regression.

Cortes, Mohri & Rostamizadeh, "Learning non-linear combinations of kernels", NIPS 2009:

    minimise over mu in M   F(mu) = y'(K_mu + lam I)^-1 y,    K_mu = (sum_k mu_k K_k)^d

    M = {mu >= 0, ||mu - mu_0|| <= radius},    norm 1 or 2,

the power taken entry by entry. The paper's equation 3 sums the monomials of degree d without their
multinomial coefficients, its equation 4, for d = 2, with them; we take those of equation 4, with
which the sum is a Hadamard power and no monomial need ever be formed. With
alpha = (K_mu + lam I)^-1 y (Proposition 1, there for d = 2),

    dF/dmu_k = -d alpha' (S^(d-1) o K_k) alpha = -d <W, K_k>,    S = sum_k mu_k K_k,
    W = (alpha alpha') o S^(d-1),

which is never positive: F falls along every weight, and its minimum is on the boundary of M. For
d = 1 the problem is convex, and so it is the linear combination of kernels with a bound on the
norm; beyond, the result is a point that satisfies the KKT conditions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from mklbench import certify, iterations
from mklbench.certify import PrimalDualPoint, Squares
from mklbench.errors import InputError
from mklbench.iterations import History
from mklbench.kernels.base import Array, Bank
from mklbench.optim.ridge import coefficients, hadamard_power, ridges
from mklbench.optim.svm_value import check_bank, fixed_weights
from mklbench.penalties.norm_ball import NormBall
from mklbench.solution import Solution
from mklbench.validation import (
    check_count,
    check_limits,
    check_not_negative,
    check_targets,
    real_array,
)

VERSION = 1
FORMER_OPTIONS = {"step": "line_search", "eta": 1.0}
REGRESSION = True
# Held at once (`mklbench.optim.fit_memory`): S of a point and of the next, and its power or W.
MATRICES = 2.5


# Sufficient decrease along the projected gradient, and how the step changes without and with it.
_ARMIJO = 1e-4
_SHRINK = 0.5
_GROWTH = 2.0
# A step that has shrunk to this fraction of the first one has failed: what is left is rounding.
_SMALLEST_STEP = 1e-12


def solve(
    bank: Bank,
    y: ArrayLike,
    lam: float = 1.0,
    *,
    degree: int = 2,
    radius: float = 1.0,
    norm: int = 2,
    mu0: float | ArrayLike = 1.0,
    tol: float = 1e-4,
    max_iter: int = 1000,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Learn the weights of a polynomial combination of kernels.

    Parameters
    ----------
    bank : Bank
        Base kernels on n training samples.
    y : array_like of shape (n,)
        Real targets, or labels in {-1, +1}.
    lam : float, default=1.0
        The ridge lambda > 0.
    degree : int, default=2
        d >= 1 of the combination; 1 for linear combinations.
    radius : float, default=1.0
        The paper's Lambda >= 0; 0 for the fixed weights mu_0.
    norm : int, default=2
        1 or 2, of the ball M.
    mu0 : float or array_like of shape (M,), default=1.0
        Its centre mu_0 >= 0, or one number for all kernels.
    tol : float, default=0.0001
        Stop at this certified gap.
    max_iter : int, default=1000
        Maximum number of steps.
    sample_weight : array_like of shape (n,) or None, default=None
        Weights w_i > 0 of the squared errors: the ridge of sample i is lam / w_i.

    Returns
    -------
    Solution
        `objective` is F(mu), `dual_coef` alpha. `gap` is the relative duality gap for degree 1,
        else the KKT residual `certify.frank_wolfe_bounds`. The descent starts on the boundary of M,
        where all weights exceed those of mu_0 by the same.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, K + lam I is singular to working
        precision, or the power of the kernel overflows.
    """
    if not isinstance(norm, int) or isinstance(norm, bool) or norm not in (1, 2):
        raise InputError(f"norm={norm!r} is not accepted: it must be 1 or 2.")
    check_not_negative("radius", radius)
    check_count("degree", degree)
    tol = check_limits(tol, max_iter)
    centre, targets = real_array("mu0", mu0), check_targets(y)
    each = ridges(lam, sample_weight, len(targets))
    bank = check_bank("nkrr", bank, len(targets))
    ball = NormBall(fixed_weights(bank, centre, "mu0"), radius, norm)
    problem = _RidgeProblem(bank, targets, each, degree, ball)
    point, history = _descend(problem, tol, max_iter)
    return Solution(
        weights=point.weights,
        dual_coef=point.alpha,
        intercept=0.0,
        objective=point.objective,
        gap=point.gap,
        n_svm_calls=0,
        n_iter=len(history) - 1,
        converged=point.gap <= tol,
        history=history,
        degree=degree,
    )


@dataclass(frozen=True)
class _RidgeProblem:
    """F on one bank and one vector of targets; each call factorises one matrix."""

    bank: Bank
    y: Array
    lam: float | Array
    degree: int
    ball: NormBall

    def __call__(self, weights: Array) -> _Evaluation:
        S = self.bank.combine(weights)
        K = hadamard_power(S, self.degree)
        alpha = coefficients(K, self.y, self.lam, overwrite=K is not S)
        return _Evaluation(self, weights, S, alpha, float(alpha @ self.y))


@dataclass(frozen=True)
class _Evaluation:
    """Weights mu (M,), S = sum_k mu_k K_k (n, n), alpha (n,) and F there."""

    problem: _RidgeProblem
    weights: Array
    S: Array
    alpha: Array
    objective: float

    @cached_property
    def gradient(self) -> Array:
        """dF/dmu (M,), computed when first asked for."""
        degree, bank = self.problem.degree, self.problem.bank
        if degree == 1:
            return -bank.quadratic_forms(self.alpha)
        W = self.S ** (degree - 1)
        W *= self.alpha
        W *= self.alpha[:, None]
        return -degree * bank.inner_products_with(W)

    @cached_property
    def gap(self) -> float:
        """The duality gap for degree 1, else the KKT residual."""
        problem, mu, gradient = self.problem, self.weights, self.gradient
        if problem.degree > 1:
            bounds = certify.frank_wolfe_bounds(self.objective, mu, gradient, problem.ball)
        else:
            loss, outputs = Squares(problem.y, problem.lam), self.S @ self.alpha
            point = PrimalDualPoint(loss, mu, -gradient, outputs, self.alpha)
            bounds = certify.bounds(point, problem.ball)
        return bounds.relative_gap


def _descend(problem: _RidgeProblem, tol: float, max_iter: int) -> tuple[_Evaluation, History]:
    """Descend until the gap is at most `tol`, or no step decreases F.

    The steps are those of projected gradients, of the size of Barzilai and Borwein made smaller
    until F decreases. Algorithm 1 as printed has fixed steps, which need a size for each problem.
    """
    point = problem(problem.ball.even())
    history = iterations.begin()
    length = float(np.linalg.norm(point.gradient))
    size = first_size = problem.ball.radius / length if length > 0 else 1.0
    while True:
        objective, gap = point.objective, point.gap
        iterations.note(history, point.weights, objective=objective, gap=gap, n_svm_calls=0.0)
        if gap <= tol or len(history) > max_iter:
            return point, history
        following, size = _step(problem, point, size, _SMALLEST_STEP * first_size)
        if following is point:
            return point, history
        # Barzilai & Borwein: the inverse curvature of F along the step, where that is positive.
        moved = following.weights - point.weights
        curvature = float(moved @ (following.gradient - point.gradient))
        size = float(moved @ moved) / curvature if curvature > 0 else _GROWTH * size
        point = following


def _step(
    problem: _RidgeProblem, point: _Evaluation, size: float, smallest: float
) -> tuple[_Evaluation, float]:
    """Return the next point and the size of the step; `point` itself where none decreases F."""
    while size > smallest:
        weights = problem.ball.project(point.weights - size * point.gradient)
        trial = problem(weights)
        decrease = float(point.gradient @ (point.weights - weights))
        if trial.objective <= point.objective - _ARMIJO * decrease:
            return trial, size
        size *= _SHRINK
    return point, size
