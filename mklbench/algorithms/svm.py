"""The support vector machine at fixed kernel weights (Cortes & Vapnik 1995).

With the kernel K_d = sum_m d_m K_m of given weights d, or a member of a family,

    maximise over 0 <= alpha <= C, y'alpha = 0   sum_i alpha_i - 1/2 a' K_d a,   a = alpha o y,

by LIBSVM (Chang & Lin 2011). The label of a new sample z is the sign of sum_i a_i k_d(x_i, z) + b.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from mklbench.kernels.base import KernelOperator
from mklbench.optim.machines import train_svm
from mklbench.optim.problem import ClassWeight, Problem
from mklbench.solution import Solution
from mklbench.validation import real_array

VERSION = 1

COMBINES_ONCE = True


def solve(
    operator: KernelOperator,
    y: ArrayLike,
    C: float = 1.0,
    *,
    weights: ArrayLike | None = None,
    svm_tol: float = 1e-3,
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Train one SVM on a bank or a family whose weights are given.

    With a bank of one kernel this is the plain SVM; with weights 1/M on a bank the uniform sum of
    kernels, on a family of products the uniform product.

    Parameters
    ----------
    operator : KernelOperator
        The bank or the family on the n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=1.0
        Box constraint.
    weights : array_like of shape (M,) or None, default=None
        Kernel weights or parameters theta, >= 0; 1/M each if not given.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all.

    Returns
    -------
    Solution
        `objective` is the value of the SVM's dual and `gap` its relative duality gap. `converged`
        says that the KKT conditions hold to `svm_tol`, up to rounding (`mklbench.libsvm`): where C
        or the kernel values are huge, LIBSVM may end before.

    Raises
    ------
    InputError
        If an argument has the wrong shape or range.
    """
    problem = Problem.of(y, C, class_weight, sample_weight, svm_tol)
    given = None if weights is None else real_array("weights", weights)
    return train_svm(operator, problem, given)
