"""One machine on one kernel, whose weights are given: SVM, SVR or ridge regression, certified.

LIBSVM solves SVMs and SVRs on the Gram matrix. Of one kernel function there is another way for
SVMs: between n samples there are n^2 kernel values, of which an SVM with few support vectors looks
at a share. scikit-learn's LIBSVM computes them from dense features by BLAS; the optimum is that on
the Gram matrix, up to the stopping tolerance. What certifies it needs the kernel between the
samples and the support vectors only, in blocks of rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench import certify
from mklbench.certify import Loss, PrimalDualPoint, Squares, Tube
from mklbench.kernels.banks.function_bank import FunctionKernel
from mklbench.kernels.base import KernelOperator
from mklbench.kernels.euclidean import distances_of_products
from mklbench.kernels.functions import Gaussian
from mklbench.libsvm import SVM, SVR, fit_within_limit
from mklbench.optim.problem import Problem
from mklbench.optim.ridge import coefficients, hadamard_power, ridges
from mklbench.optim.svm_value import check_samples, fixed_weights
from mklbench.penalties.simple import Simplex
from mklbench.solution import Solution

Array = NDArray[np.float64]

# Bytes of one block of kernel values.
_BLOCK = 2**21
# Coefficients are at their bound from this share below it.
_AT_BOUND = 1e-12
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
    if (
        problem.sample_weight is None  # LIBSVM on features has no bound for each sample
        and isinstance(operator, FunctionKernel)
        and isinstance(operator.function, Gaussian)
    ):
        check_samples(operator, len(problem.y))
        (weight,) = fixed_weights(operator, weights)
        if weight > 0:
            return _train_on_features(operator, operator.function, problem, weight)
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
    """Solve a machine of n targets, with its loss, on the Gram matrix."""
    check_samples(operator, len(machine.y))
    fixed = fixed_weights(operator, weights)
    K = operator.gram(fixed)
    trained = machine.solve(K)
    outputs = K @ trained.dual_coef
    return _certified(
        fixed,
        loss,
        outputs,
        trained.dual_coef,
        trained.intercept,
        converged=machine.is_done(outputs, trained.dual_coef),
        svm_seconds=machine.seconds,
    )


def _certified(
    weights: Array,
    loss: Loss,
    outputs: Array,
    dual_coef: Array,
    intercept: float,
    *,
    converged: bool,
    svm_seconds: float,
) -> Solution:
    """Return the solution of a machine with the gap of its numbers; `outputs` (n,) are K a."""
    point = PrimalDualPoint.of_one_kernel(loss, outputs, dual_coef, intercept)
    bounds = certify.bounds(point, Simplex())
    return Solution(
        weights=weights,
        dual_coef=dual_coef,
        intercept=intercept,
        objective=bounds.lower,
        gap=bounds.relative_gap,
        n_svm_calls=1,
        n_iter=1,
        converged=converged,
        history=[{"objective": bounds.lower, "n_svm_calls": 1.0}],
        svm_seconds=svm_seconds,
    )


def _train_on_features(
    kernel: FunctionKernel, function: Gaussian, problem: Problem, weight: float
) -> Solution:
    """Train one SVM on weight * k, for a Gaussian k.

    With beta = weight * alpha it is the SVM on k alone with the bound weight * C.

    Parameters
    ----------
    kernel : FunctionKernel
        The kernel k, on n training samples.
    function : Gaussian
        Its function.
    problem : Problem
        The labels of these samples, without weights of samples.
    weight : float
        The kernel weight, > 0.
    """
    from sklearn.svm import SVC  # half a second, that a run does not need

    labels, upper = problem.y, np.asarray(problem.loss.box)
    machine = SVC(
        C=weight * problem.C,
        tol=problem.svm_tol,
        class_weight={float(label): factor for label, factor in problem.class_weight.items()},
        gamma=function.gamma,
    )
    seconds = fit_within_limit(machine, kernel.samples, labels)
    dual_coef = np.zeros(len(labels))
    dual_coef[machine.support_] = machine.dual_coef_[0] / weight
    at_bound = (
        np.abs(dual_coef) > (1.0 - _AT_BOUND) * upper
    )  # by all but the rounding of a division
    dual_coef[at_bound] = (labels * upper)[at_bound]
    intercept = float(machine.intercept_[0])
    return _certified(
        np.array([weight]),
        problem.loss,
        weight * _outputs(kernel, function, dual_coef),
        dual_coef,
        intercept,
        converged=bool((machine.n_iter_ < machine.max_iter).all()),
        svm_seconds=seconds,
    )


def _outputs(kernel: FunctionKernel, function: Gaussian, a: Array) -> Array:
    """Return K a (n,), for the kernel alone, from blocks of the columns with a_i != 0."""
    support = np.flatnonzero(a)
    X, vectors = kernel.samples, kernel.samples[support]
    outputs = np.empty(len(X))
    rows = max(1, _BLOCK // (8 * max(1, len(support))))
    for start in range(0, len(X), rows):
        few = slice(start, start + rows)
        # Products, as of training samples: what they lose is far below the tolerance.
        distances = distances_of_products(vectors, X[few])
        outputs[few] = function.of_distances(distances, out=distances).T @ a[support]
    return outputs
