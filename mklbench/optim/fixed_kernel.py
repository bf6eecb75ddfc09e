"""One machine on one kernel, whose weights are given: SVM, SVR or ridge regression, certified."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench import certify
from mklbench.certify import Loss, PrimalDualPoint, Squares, Tube
from mklbench.kernels.base import KernelOperator
from mklbench.libsvm import SVM, SVR
from mklbench.optim.problem import Problem
from mklbench.optim.ridge import coefficients, hadamard_power, ridges
from mklbench.optim.svm_value import check_samples, fixed_weights
from mklbench.penalties.simple import Simplex
from mklbench.solution import Solution

Array = NDArray[np.float64]

# A ridge regression is solved at this relative gap, which is rounding and nothing else.
_SOLVED = 1e-6


def train_svm(
    operator: KernelOperator, problem: Problem, weights: ArrayLike | None = None
) -> Solution:
    """Train one SVM on the kernel of a bank or a family at fixed weights.

    Parameters
    ----------
    operator : KernelOperator
        The bank or the family on the n training samples.
    problem : Problem
        The labels of these samples.
    weights : array_like of shape (M,) or None, default=None
        Kernel weights or parameters theta, >= 0; 1/M each if not given.

    Raises
    ------
    InputError
        If the operator has another number of samples, or the weights have the wrong shape or range.
    """
    return _train(problem.machine(), problem.loss, operator, weights)


def train_svr(
    operator: KernelOperator,
    y: ArrayLike,
    C: float,
    epsilon: float,
    svm_tol: float,
    sample_weight: ArrayLike | None,
    weights: ArrayLike | None = None,
) -> Solution:
    """Do so for one epsilon-SVR, on targets `y` (n,), as `mklbench.libsvm.SVR` takes them."""
    machine = SVR(y, C, epsilon=epsilon, tol=svm_tol, sample_weight=sample_weight)
    return _train(machine, Tube(machine.y, machine.upper, float(epsilon)), operator, weights)


def train_ridges(
    operator: KernelOperator,
    targets: Array,
    lams: Sequence[float],
    sample_weight: ArrayLike | None,
    weights: float | ArrayLike | None = None,
    degree: int = 1,
) -> list[Solution]:
    """Do so for a kernel ridge regression at each lambda, on K entry by entry to a power."""
    check_samples(operator, len(targets))
    mu = fixed_weights(operator, weights)
    K = hadamard_power(operator.gram(mu), degree)
    each = (ridges(lam, sample_weight, len(targets)) for lam in lams)
    return [_ridge_solution(K, targets, ridge, mu, degree) for ridge in each]


def _ridge_solution(
    K: Array, y: Array, lam: float | Array, weights: Array, degree: int
) -> Solution:
    """Return a ridge regression with the gap of its numbers.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The Gram matrix.
    y : ndarray of shape (n,)
        Targets.
    lam : float or ndarray of shape (n,)
        lambda, of each sample where these have weights.
    weights : ndarray of shape (M,)
        Of the kernels in K.
    degree : int
        d of the kernel.
    """
    alpha = coefficients(K, y, lam)
    point = PrimalDualPoint.of_one_kernel(Squares(y, lam), K @ alpha, alpha)
    bounds = certify.bounds(point, Simplex())
    objective = 2.0 * bounds.lower
    return Solution(
        weights=weights,
        dual_coef=alpha,
        intercept=0.0,
        objective=objective,
        gap=bounds.relative_gap,
        n_svm_calls=0,
        n_iter=1,
        converged=bounds.relative_gap <= _SOLVED,
        history=[{"objective": objective, "n_svm_calls": 0.0}],
        degree=degree,
    )


def _train(
    machine: SVM | SVR, loss: Loss, operator: KernelOperator, weights: ArrayLike | None
) -> Solution:
    """Solve a machine of n targets, with its loss, on the Gram matrix; certify its numbers."""
    check_samples(operator, len(machine.y))
    fixed = fixed_weights(operator, weights)
    K = operator.gram(fixed)
    trained = machine.solve(K)
    a, intercept = trained.dual_coef, trained.intercept
    outputs = K @ a
    bounds = certify.bounds(PrimalDualPoint.of_one_kernel(loss, outputs, a, intercept), Simplex())
    return Solution(
        weights=fixed,
        dual_coef=a,
        intercept=intercept,
        objective=bounds.lower,
        gap=bounds.relative_gap,
        n_svm_calls=1,
        n_iter=1,
        converged=machine.is_done(outputs, a),
        history=[{"objective": bounds.lower, "n_svm_calls": 1.0}],
        svm_seconds=machine.seconds,
    )
