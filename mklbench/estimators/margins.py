"""Estimators of kernel weights by margins between the hulls of classes: ``EasyMKL(lam=0.1)``."""

from __future__ import annotations

from dataclasses import dataclass

from mklbench.estimators.learners import KernelLearner
from mklbench.estimators.weights import WithoutSampleWeight
from mklbench.kernels import Kernel

__all__ = ["GRAM", "MEMO", "EasyMKL", "RadiusMarginMKL"]


@dataclass(eq=False, repr=False)
class EasyMKL(WithoutSampleWeight, KernelLearner):
    """Weights from the margins at the sum of all kernels (`mklbench.algorithms.easymkl`).

    Parameters
    ----------
    kernel : str, callable or list, default="gaussians"
        A bank, see `mklbench.estimators`.
    lam : float, default=0.1
        lambda in [0, 1]: at 0 the margin is the largest, at 1 the machine is that of the centres of
        the classes.
    final_lam : float, "mklpy" or None, default=None
        That of the machine on the combination, or as MKLpy has it; `lam` if not given.
    unit_trace : bool, default=True
        Whether the kernels are divided by their mean diagonal first.
    tol : float, default=1e-06
        Relative gap to which both quadratic programmes are solved.
    verbose : int, default=0
        Prints nothing at any value: there are no iterations to tell of.

    Notes
    -----
    There are no weights of samples: the paper defines none.
    """

    _algorithm = "mklbench.algorithms.easymkl"

    kernel: Kernel = "gaussians"
    lam: float = 0.1
    final_lam: float | str | None = None
    unit_trace: bool = True
    tol: float = 1e-6
    verbose: int = 0


@dataclass(eq=False, repr=False)
class _Margin(WithoutSampleWeight, KernelLearner):
    """An SVM at weights by margins, to a tolerance of theirs."""

    kernel: Kernel = "gaussians"
    C: float = 3.0
    tol: float = 1e-2
    svm_tol: float = 1e-3
    verbose: int = 0


@dataclass(eq=False, repr=False)
class RadiusMarginMKL(_Margin):
    """Weights of large margin beside the radius of the data (`mklbench.algorithms.radius_margin`).

    Parameters
    ----------
    kernel : str, callable or list, default="gaussians"
        A bank, see `mklbench.estimators`.
    C : float, default=3.0
        Box constraint of the SVM, on samples in a ball of radius 1.
    tol : float, default=0.01
        Certified relative duality gap at which to stop.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance at the beginning.
    verbose : int, default=0
        1 prints a line an iteration: J, its gap, active kernels, seconds.
    max_iter : int, default=1000
        Maximum number of evaluations, each of a ball and an SVM.

    Notes
    -----
    There are no weights of samples: the paper defines none.
    """

    _algorithm = "mklbench.algorithms.radius_margin"

    max_iter: int = 1000


@dataclass(eq=False, repr=False)
class GRAM(_Margin):
    """Weights of smallest radius-margin ratio (`mklbench.algorithms.gram`).

    Parameters
    ----------
    kernel : str, callable or list, default="gaussians"
        A bank, see `mklbench.estimators`.
    C : float, default=3.0
        Box constraint of the SVM on the combination.
    tol : float, default=0.01
        Certified relative gap of the ratio at which to stop.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance for the SVM at the end.
    verbose : int, default=0
        1 prints a line an iteration: J, its gap, active kernels, seconds.
    lam : float, default=0.001
        The ridge in units of the squared radius; at 0 the margin is hard.
    max_iter : int, default=100
        Maximum number of evaluations, each of a ball and the closest points of two hulls.

    Notes
    -----
    There are no weights of samples: the paper defines none.
    """

    _algorithm = "mklbench.algorithms.gram"

    lam: float = 1e-3
    max_iter: int = 100


@dataclass(eq=False, repr=False)
class MEMO(_Margin):
    """Weights of large margin and small complexity (`mklbench.algorithms.memo`).

    Parameters
    ----------
    kernel : str, callable or list, default="gaussians"
        A bank, see `mklbench.estimators`.
    C : float, default=3.0
        Box constraint of the SVM on the combination.
    tol : float, default=0.01
        Relative gap at which to stop, for theta > 0 a KKT residual.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance for the SVM at the end.
    verbose : int, default=0
        1 prints a line an iteration: J, its gap, active kernels, seconds.
    theta : float, default=0.0
        >= 0, what a small complexity is worth beside the margin: 0 for the margin alone. Choose it
        by cross-validation, ``GridSearchCV(MEMO(), {"theta": [0, 0.001, 0.01, 0.1]})``.
    lam : float, default=0.001
        The ridge in units of the mean diagonal; at 0 the margin is hard.
    max_iter : int, default=300
        Maximum number of evaluations in all climbs, each of the closest points of two hulls.

    Notes
    -----
    There are no weights of samples: the paper defines none.
    """

    _algorithm = "mklbench.algorithms.memo"

    theta: float = 0.0
    lam: float = 1e-3
    max_iter: int = 300
