"""Estimators of kernel weights in groups: ``VSKL(C=10).fit(X, y)``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mklbench.algorithms import ckl, vskl
from mklbench.estimators.learners import KernelLearner
from mklbench.estimators.methods import TakesMethod
from mklbench.estimators.weights import ClassWeights
from mklbench.kernels import Kernel
from mklbench.kernels.groups import GroupLists

__all__ = ["CKL", "VSKL"]


@dataclass(eq=False, repr=False)
class VSKL(TakesMethod, KernelLearner):
    """Kernels in groups, few of each and all groups (`mklbench.algorithms.vskl`).

    Parameters
    ----------
    kernel : str, callable or list, default="simplemkl"
        A bank, see `mklbench.estimators`.
    C : float, default=100.0
        Box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    q : float, default=2.0
        >= 1, `math.inf` included; the larger, the more alike are the groups' norms.
    groups : str or GroupLists, default="bank"
        "bank" for the bank's own groups, or one of all kernels where it has none; "one",
        "singletons" or "features"; or lists of kernel indices.
    tol : float, default=0.01
        Certified relative duality gap at which to stop.
    objective_tol : float or None, default=None
        Relative change of the objective at which to stop as well; None for never.
    max_iter : int, default=1000
        Maximum number of steps of the mirror descent.
    step_size : float or None, default=None
        Factor A of the step size; 3 times the square root of the number of groups if None.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    method : {"auto", "libsvm", "joint"}, default="auto"
        "libsvm" is the mirror descent; "joint" finds all together on factors, for many samples with
        kernels on single features; "auto" takes the second where it is faster and neither
        `objective_tol` nor `step_size` is given. `method_` says which it was.
    class_weight : ClassWeights, default=None
        Factors on C by class label, or "balanced" for classes that all weigh the same
        (`mklbench.estimators.weights`).
    verbose : int, default=0
        1 prints a line an iteration: J, its gap, active kernels, seconds.
    """

    _algorithm = vskl

    kernel: Kernel = "simplemkl"
    C: float = 100.0
    q: float = 2.0
    groups: str | GroupLists = "bank"
    tol: float = 1e-2
    objective_tol: float | None = None
    max_iter: int = 1000
    step_size: float | None = None
    svm_tol: float = 1e-3
    method: Literal["auto", "libsvm", "joint"] = "auto"
    class_weight: ClassWeights = None
    verbose: int = 0


@dataclass(eq=False, repr=False)
class CKL(KernelLearner):
    """Kernels in groups, few of each and few groups; l_p-norm MKL (`mklbench.algorithms.ckl`).

    Parameters
    ----------
    kernel : str, callable or list, default="simplemkl"
        A bank, see `mklbench.estimators`.
    C : float, default=100.0
        Box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    q : float, default=0.75
        1/2 <= q < 1, the smaller the sparser across groups. With groups of one kernel this is
        l_p-norm MKL, p = q / (1 - q).
    groups : str or GroupLists, default="bank"
        "bank" for the bank's own groups, or one of all kernels where it has none; "one",
        "singletons" or "features"; or lists of kernel indices.
    tol : float, default=0.01
        Certified relative duality gap at which to stop.
    objective_tol : float or None, default=None
        Relative change of the objective at which to stop as well; None for never.
    max_iter : int, default=1000
        Maximum number of changes of the weights.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : ClassWeights, default=None
        Factors on C by class label, or "balanced" for classes that all weigh the same
        (`mklbench.estimators.weights`).
    verbose : int, default=0
        1 prints a line an iteration: J, its gap, active kernels, seconds.
    """

    _algorithm = ckl

    kernel: Kernel = "simplemkl"
    C: float = 100.0
    q: float = 0.75
    groups: str | GroupLists = "bank"
    tol: float = 1e-2
    objective_tol: float | None = None
    max_iter: int = 1000
    svm_tol: float = 1e-3
    class_weight: ClassWeights = None
    verbose: int = 0
