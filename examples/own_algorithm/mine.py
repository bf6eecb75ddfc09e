"""Kernels weighted by how well each of them alone separates the classes, to a power."""

import numpy as np
from numpy.typing import ArrayLike

from mklbench.algorithms import svm
from mklbench.kernels import Bank
from mklbench.optim.problem import Problem
from mklbench.optim.svm_value import balanced, check_bank
from mklbench.solution import Solution
from mklbench.validation import check_not_negative

VERSION = 1
OPTIONS_FIRST = True
MATRICES = 3


def solve(
    bank: Bank, y: ArrayLike, C: float = 1.0, *, power: float = 1.0, svm_tol: float = 1e-3
) -> Solution:
    """Train an SVM with weights proportional to the distance between the class means, ^ power.

    Parameters
    ----------
    bank : Bank
        M kernels on n training samples.
    y : array of shape (n,)
        Labels -1 and +1.
    C : float
        Box constraint.
    power : float
        0 gives all kernels the same weight; the larger it is, the more the best one counts.
    svm_tol : float
        LIBSVM's stopping tolerance.
    """
    check_not_negative("power", power)
    labels = Problem.of(y, C, svm_tol=svm_tol).y
    check_bank("mine", bank, len(labels))
    # ||mean of one class - mean of the other||^2 in the space of each kernel, in units of its trace
    distances = np.maximum(bank.quadratic_forms(balanced(labels)), 0.0) / bank.traces()
    weights = (distances / distances.max()) ** power
    return svm.solve(bank, labels, C, weights=weights / weights.sum(), svm_tol=svm_tol)
