"""The uniform combination: the baseline that learned weights have to beat."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from mklbench.algorithms import svm
from mklbench.kernels.base import KernelOperator
from mklbench.solution import Solution

VERSION = svm.VERSION

bytes_needed = svm.bytes_needed


def solve(
    operator: KernelOperator,
    y: ArrayLike,
    C: float = 1.0,
    *,
    svm_tol: float = 1e-3,
    class_weight: Mapping[int, float] | str | None = None,
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
        LIBSVM's stopping tolerance.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all.

    Returns
    -------
    Solution
        As that of `mklbench.algorithms.svm.solve`.

    Raises
    ------
    InputError
        If an argument has the wrong shape or range.
    """
    return svm.solve(
        operator,
        y,
        C,
        svm_tol=svm_tol,
        class_weight=class_weight,
        sample_weight=sample_weight,
    )
