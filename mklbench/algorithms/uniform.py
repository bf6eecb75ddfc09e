"""The uniform combination: the baseline that learned weights have to beat.

One SVM (`mklbench.algorithms.svm`) on the mean of all kernels, d_m = 1/M: the kernel of the joined
feature maps. It is often as good as learned weights (Gehler & Nowozin, "On feature combination for
multiclass object classification", ICCV 2009).

    K = 1/M sum_m K_m

For many samples there is the method of `mklbench.optim.joint`, which forms no matrix (n, n).
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from mklbench.algorithms import svm
from mklbench.kernels.base import KernelOperator
from mklbench.optim import joint_method, joint_search
from mklbench.optim.joint_method import METHODS, Method
from mklbench.optim.machines import train_svm
from mklbench.optim.problem import ClassWeight, Problem
from mklbench.optim.svm_value import check_samples
from mklbench.optim.weight_sets import Given
from mklbench.solution import Solution
from mklbench.validation import check_choice

VERSION = svm.VERSION
NEW_OPTIONS = ("method",)
COMBINES_ONCE = True

# Iterations of the joint method.
_ITERATIONS = 100


def solve(
    operator: KernelOperator,
    y: ArrayLike,
    C: float = 1.0,
    *,
    svm_tol: float = 1e-3,
    method: Method = "auto",
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Train one SVM with all weights 1/M: the mean of a bank, the uniform product of a family.

    Parameters
    ----------
    operator : KernelOperator
        The bank or the family on the n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=1.0
        Box constraint.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance; of the joint method the certified relative duality gap.
    method : {"auto", "libsvm", "joint"}, default="auto"
        "libsvm" solves an SVM on the Gram matrix, "joint" one on factors of the kernels; "auto"
        takes the second as `mklbench.algorithms.mkl` does.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all.

    Returns
    -------
    Solution
        As that of `mklbench.algorithms.svm.solve`; by the joint method it has an `expansion` and
        made no SVM calls, and `converged` says that its gap is no larger than `svm_tol`.

    Raises
    ------
    InputError
        If an argument has the wrong shape or range.
    """
    check_choice("method", method, METHODS)
    problem = Problem.of(y, C, class_weight, sample_weight, svm_tol)
    check_samples(operator, len(problem.y))
    factors = joint_method.factors_for(operator, method, svm_tol)
    if factors is not None:
        where = Given(operator.uniform_weights())
        return joint_search.solve(factors, where, problem.loss, svm_tol, _ITERATIONS)
    return train_svm(operator, problem)
