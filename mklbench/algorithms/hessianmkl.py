"""HessianMKL: Newton's method on the kernel weights (Chapelle & Rakotomamonjy, NIPS workshop 2008).

The problem is that of SimpleMKL (`mklbench.algorithms.simplemkl`),

    minimise over d >= 0, sum_m d_m = 1
    J(d) = max over 0 <= alpha <= C, y'alpha = 0 of  sum_i alpha_i - 1/2 a' K_d a,   a = alpha o y.

J has the gradient -1/2 a' K_m a, and second derivatives wherever no alpha is about to reach or to
leave a bound. Let F be the free support vectors, 0 < alpha_i < C. Their margins stay at 1 as d
changes, K_FF a_F + K_FB a_B + b = y_F with sum a = 0, which gives the change of a_F with d_l, and

    d2 J / dd_m dd_l = (K_m a)_F' P (K_l a)_F,   P = K_FF^-1 - K_FF^-1 1 1' K_FF^-1 / 1' K_FF^-1 1.

Each iteration minimises the quadratic model of J over the simplex, a quadratic programme in the M
weights, and goes towards its solution as far as J decreases enough, one SVM a trial.
"""

from __future__ import annotations

import clarabel
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg import cholesky, solve_triangular

from mklbench.kernels.base import Array, Bank
from mklbench.optim.conic import conic_optimum
from mklbench.optim.problem import ClassWeight, Problem
from mklbench.optim.svm_value import Objective, Point, check_bank, descend
from mklbench.penalties.simple import Simplex
from mklbench.solution import Solution
from mklbench.validation import check_limits, check_positive_or_none

VERSION = 2
EXACT = True
# Held at once (`mklbench.optim.fit_memory`): LIBSVM's buffer, a point and the next.
MATRICES = 4.0


# The SVM is as accurate as this share of the gap that was certified last, or of the tolerance.
_SVM_TOL = 0.1
# Added to the diagonal of K_FF, in units of its mean: it need not be regular.
_RIDGE = 1e-8
_PROGRAMME_TOL = 1e-10
# Armijo's share of the slope, the shortest and longest cut of a step, and the number of trials.
_ARMIJO, _CUTS, _TRIALS = 1e-4, (0.1, 0.5), 8
# A weight is zero when it is this small beside the largest one.
_ZERO_WEIGHT = 1e-6


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 100.0,
    *,
    tol: float = 1e-2,
    objective_tol: float | None = None,
    max_iter: int = 200,
    svm_tol: float = 1e-3,
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Learn the kernel weights of a bank by Newton's method.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples. An iteration takes O(M^3) time beyond that of
        the SVM, and O(M n) memory.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=100.0
        Box constraint.
    tol : float, default=0.01
        Stop at this certified relative duality gap.
    objective_tol : float or None, default=None
        Stop as well where an iteration has changed the objective by less than this
        share of it; None for never.
    max_iter : int, default=200
        Maximum number of Newton steps.
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
        `weights` sum to 1. `objective` is J, the value of the SVM's dual at the weights. Each entry
        of `history` has the objective and the gap after a step, and the SVM calls so far
        ("n_svm_calls").

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range.
    """
    tol = check_limits(tol, max_iter)
    check_positive_or_none("objective_tol", objective_tol)
    problem = Problem.of(y, C, class_weight, sample_weight, svm_tol)
    bank = check_bank("hessianmkl", bank, len(problem.y))
    objective = Objective(bank, problem)

    def certified(point: Point) -> tuple[Point, float]:
        return point, objective.bounds(point, Simplex()).relative_gap

    def step(point: Point, gap: float) -> Point:
        """Go to the minimum of the quadratic model, or less far, or nowhere if nothing helps."""
        root = hessian_root(bank, point, objective.machine.upper)
        target = minimise_on_simplex(root, point.gradient, point.weights)
        slope = float(point.gradient @ (target - point.weights))
        share = 1.0
        for _ in range(_TRIALS):
            weights = (1.0 - share) * point.weights + share * target
            trial = objective.accurate(weights, _SVM_TOL * max(tol, min(gap, 1.0)))
            rise = trial.objective - point.objective
            if rise <= min(_ARMIJO * share * slope, 0.0):
                return trial
            # The minimum of the parabola through both values and the slope.
            lowest = -0.5 * share * slope / (rise - share * slope)
            share *= float(np.clip(lowest, *_CUTS))
        return point

    start = objective.accurate(bank.uniform_weights(), _SVM_TOL)
    return descend(objective, start, certified, step, tol, objective_tol, max_iter)


def hessian_root(bank: Bank, point: Point, upper: Array) -> Array:
    """Return R (f, M) with R'R the second derivatives of J at a point with f free support vectors.

    `upper` (n,) are the bounds on alpha.
    """
    coef = point.trained.dual_coef
    free = np.flatnonzero((coef != 0) & (np.abs(coef) < upper))
    M = bank.n_kernels
    if len(free) == 0:
        return np.zeros((0, M))
    products = bank.products(coef, np.arange(M))[:, free]
    K = point.K[np.ix_(free, free)]
    K[np.diag_indices(len(free))] += _RIDGE * K.diagonal().mean()
    factor = cholesky(K, lower=True)
    root = solve_triangular(factor, products.T, lower=True)
    ones = solve_triangular(factor, np.ones(len(free)), lower=True)
    root -= np.outer(ones, ones @ root) / (ones @ ones)
    return root


def minimise_on_simplex(root: Array, gradient: Array, weights: Array) -> Array:
    """Return the d (M,) on the simplex that minimises g'(d - w) + 1/2 ||R (d - w)||^2.

    `root` is R (f, M). The variables of the programme are d and z = R d, so that its system is
    sparse but for R.

    Raises
    ------
    ArithmeticError
        If the solver, Clarabel, finds no solution.
    """
    f, M = root.shape
    linear = gradient - root.T @ (root @ weights)
    # On the simplex a constant in the linear term does not matter; the unit is that of the model.
    unit = float(np.ptp(linear)) + float((root**2).sum(axis=0).max(initial=0.0)) or 1.0
    scaled = sparse.csc_matrix(root / np.sqrt(unit))
    objective = sparse.block_diag([sparse.csc_matrix((M, M)), sparse.identity(f)], format="csc")
    costs = np.concatenate([(linear - linear.min()) / unit, np.zeros(f)])
    sums = sparse.bmat([[np.ones((1, M)), None], [scaled, -sparse.identity(f)]])
    signs = sparse.hstack([-sparse.identity(M), sparse.csc_matrix((M, f))])
    parts = [
        (sums, np.append(1.0, np.zeros(f)), clarabel.ZeroConeT(1 + f)),
        (signs, np.zeros(M), clarabel.NonnegativeConeT(M)),
    ]
    solved = conic_optimum(objective, costs, parts, _PROGRAMME_TOL)
    if solved.status not in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
        raise ArithmeticError(f"the quadratic programme of HessianMKL: {solved.status}")
    found = np.array(solved.x[:M])
    found = np.where(found < _ZERO_WEIGHT * found.max(), 0.0, found)
    return found / found.sum()
