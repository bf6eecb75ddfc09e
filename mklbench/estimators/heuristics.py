"""Estimators of kernel weights by a formula: ``PWMK(C=10).fit(X, y)``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mklbench.algorithms import f_heuristic, pwmk
from mklbench.estimators.learners import KernelLearner
from mklbench.estimators.two_stage import _WithFolds, _WithLearner
from mklbench.estimators.weights import ClassWeights
from mklbench.kernels import Kernel

__all__ = ["PWMK", "FHeuristic"]


@dataclass(eq=False, repr=False)
class PWMK(_WithFolds):
    """Kernels weighted by what each is worth alone (`mklbench.algorithms.pwmk`).

    Parameters
    ----------
    kernel : str, callable or list, default="gaussians"
        A bank, see `mklbench.estimators`.
    C : float, default=3.0
        Box constraint, of the machines on single kernels as well.
    delta : float, default=0.0
        The threshold as a share of the smallest accuracy, in [0, 1]; at 1 the worst kernel is left
        out.
    folds : int, default=5
        Number of folds in which the kernels are tried.
    random_state : int, RandomState or None, default=0
        Seed of the folds; None for others at each fit.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : ClassWeights, default=None
        Factors on C by class label, or "balanced" for classes that all weigh the same
        (`mklbench.estimators.weights`).
    verbose : int, default=0
        Prints nothing at any value: there are no iterations to tell of.

    Notes
    -----
    A `sample_weight` of 2 is a factor on C, or on the squared error, of each machine. Held-out rows
    count once, whatever they weigh, so that it is not the row twice.
    """

    _algorithm = pwmk

    kernel: Kernel = "gaussians"
    C: float = 3.0
    delta: float = 0.0
    folds: int = 5
    random_state: int | np.random.RandomState | None = 0
    svm_tol: float = 1e-3
    class_weight: ClassWeights = None
    verbose: int = 0


class FHeuristic(_WithLearner, KernelLearner):
    """Kernels weighted by their alignment, not centred (`mklbench.algorithms.f_heuristic`).

    Parameters
    ----------
    kernel : str, callable or list, default="gaussians"
        A bank, see `mklbench.estimators`.
    C : float, default=3.0
        Box constraint of "svm" and "svr".
    learner : str, default="svm"
        What is learned on the sum, "svm", "krr" or "svr".
    lam : float, default=1.0
        The ridge lambda of "krr".
    epsilon : float, default=0.1
        Half the width of the tube of "svr".
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : ClassWeights, default=None
        Factors on C by class label, or "balanced" for classes that all weigh the same
        (`mklbench.estimators.weights`).
    verbose : int, default=0
        Prints nothing at any value: there are no iterations to tell of.

    Notes
    -----
    A `sample_weight` of 2 is a factor on C, or on the squared error, of the machine. The alignments
    count every row that is not left out once, so that it is not the row twice.
    """

    _algorithm = f_heuristic
