"""Support vector regression at fixed kernel weights: epsilon-SVR by LIBSVM.

    minimise over f, b   1/2 ||f||^2 + C sum_i max(0, |y_i - f(x_i) - b| - epsilon)

f = sum_i a_i k(x_i, .) with |a_i| <= C, where a maximises a'y - epsilon sum |a| - 1/2 a' K a over
sum a = 0, and K is the Gram matrix of a bank or a family at its weights.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from mklbench.kernels.base import KernelOperator
from mklbench.optim.machines import train_svr
from mklbench.solution import Solution
from mklbench.validation import real_array

VERSION = 1

COMBINES_ONCE = True
REGRESSION = True


def solve(
    operator: KernelOperator,
    y: ArrayLike,
    C: float = 1.0,
    *,
    epsilon: float = 0.1,
    weights: ArrayLike | None = None,
    svm_tol: float = 1e-3,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Train one SVR on a bank or a family whose weights are given.

    Parameters
    ----------
    operator : KernelOperator
        The bank or the family on the n training samples.
    y : array_like of shape (n,)
        Real targets, or labels in {-1, +1}.
    C : float, default=1.0
        Box constraint.
    epsilon : float, default=0.1
        Half the width of the tube in which errors cost nothing, in units of y, >= 0.
    weights : array_like of shape (M,) or None, default=None
        Kernel weights or parameters theta, >= 0; 1/M each if not given.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance, in units of y.
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample.

    Returns
    -------
    Solution
        `dual_coef` is a, `objective` the value of the dual and `gap` its relative duality gap.
        `converged` is as in `mklbench.algorithms.svm`.

    Raises
    ------
    InputError
        If an argument has the wrong shape or range.
    """
    given = None if weights is None else real_array("weights", weights)
    return train_svr(operator, y, C, epsilon, svm_tol, sample_weight, given)
