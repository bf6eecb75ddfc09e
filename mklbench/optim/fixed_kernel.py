"""A machine of LIBSVM on one kernel, whose weights are given: its solution, certified."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench import certify
from mklbench.certify import Loss, PrimalDualPoint
from mklbench.kernels.base import KernelOperator
from mklbench.libsvm import SVM, SVR
from mklbench.optim.svm_value import check_samples, fixed_weights
from mklbench.penalties.simplex import Simplex
from mklbench.solution import Solution

Array = NDArray[np.float64]


def train(
    machine: SVM | SVR, loss: Loss, operator: KernelOperator, weights: ArrayLike | None
) -> Solution:
    """Solve a machine on the kernel of a bank or a family at fixed weights.

    Parameters
    ----------
    machine : SVM or SVR
        Not yet solved, of n targets.
    loss : Loss
        That of the machine.
    operator : KernelOperator
        The bank or the family on the n training samples.
    weights : array_like of shape (M,) or None
        Kernel weights or parameters theta, >= 0; 1/M each if not given.

    Raises
    ------
    InputError
        If the operator has another number of samples, or the weights have the wrong shape or range.
    """
    check_samples(operator, len(machine.y))
    fixed = fixed_weights(operator, weights)
    K = operator.gram(fixed)
    trained = machine.solve(K)
    outputs = K @ trained.dual_coef
    return certified(
        fixed,
        loss,
        outputs,
        trained.dual_coef,
        trained.intercept,
        converged=machine.is_done(outputs, trained.dual_coef),
        svm_seconds=machine.seconds,
    )


def certified(
    weights: Array,
    loss: Loss,
    outputs: Array,
    dual_coef: Array,
    intercept: float,
    *,
    converged: bool,
    svm_seconds: float,
) -> Solution:
    """Return the solution of one machine on one kernel, with the gap of its numbers.

    Parameters
    ----------
    weights : ndarray of shape (M,)
        Kernel weights or parameters theta of the kernel K.
    loss : Loss
        With the labels or targets.
    outputs : ndarray of shape (n,)
        K a.
    dual_coef : ndarray of shape (n,)
        a: alpha o y of an SVM.
    intercept : float
        b.
    converged : bool
        Whether the stopping rule of the machine is met.
    svm_seconds : float
        Wall-clock seconds spent inside LIBSVM.
    """
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
