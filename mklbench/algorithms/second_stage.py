"""The second stage of two-stage learning: a machine on the kernel that the first has learned."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.algorithms import krr, svm, svr
from mklbench.algorithms.objective import check_samples
from mklbench.errors import InputError, unknown
from mklbench.kernels.base import Bank
from mklbench.solution import Solution
from mklbench.validation import check_labels, check_targets

Array = NDArray[np.float64]

LEARNERS = ("svm", "krr", "svr")


def check_problem(
    learner: str, bank: Bank, y: ArrayLike, class_weight: Mapping[int, float] | None
) -> Array:
    """Return `y` (n,) as the targets of a learner, one a sample of the bank.

    Raises
    ------
    InputError
        If the learner is not known, or does not take such targets or class weights.
    """
    if learner not in LEARNERS:
        raise unknown("learner", learner, LEARNERS)
    targets = check_targets(y)
    check_samples(bank, len(targets))
    if learner == "svm":
        others = targets[~np.isin(targets, (-1.0, 1.0))]
        if len(others):
            raise InputError(
                f"y has the value {others[0]:g}, but learner=svm takes labels -1 and +1 only: "
                "choose learner=krr or learner=svr for real targets."
            )
        return check_labels(targets)
    if class_weight is not None:
        raise InputError(
            f"class_weight={dict(class_weight)} is not accepted with learner={learner}, which "
            "knows no classes: choose learner=svm."
        )
    return targets


def learn(
    learner: str,
    bank: Bank,
    y: Array,
    weights: Array,
    *,
    C: float,
    lam: float,
    epsilon: float,
    svm_tol: float,
    class_weight: Mapping[int, float] | None,
) -> Solution:
    """Return the solution of a learner on sum_m weights_m K_m, for what `check_problem` returned.

    Of the hyperparameters each learner takes its own: "svm" `C`, `svm_tol` and `class_weight`,
    "svr" `C`, `epsilon` and `svm_tol`, "krr" `lam`.
    """
    if learner == "krr":
        return krr.solve(bank, y, lam, weights=weights)
    if learner == "svr":
        return svr.solve(bank, y, C, epsilon=epsilon, weights=weights, svm_tol=svm_tol)
    return svm.solve(bank, y, C, weights=weights, svm_tol=svm_tol, class_weight=class_weight)
