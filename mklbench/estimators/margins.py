"""Estimators of kernel weights by margins between the hulls of classes: ``EasyMKL(lam=0.1)``."""

from __future__ import annotations

from mklbench.estimators.base import estimator
from mklbench.estimators.learners import KernelLearner
from mklbench.estimators.weights import WithoutSampleWeight
from mklbench.kernels import Kernel

__all__ = ["GRAM", "MEMO", "EasyMKL", "RadiusMarginMKL"]


@estimator
class EasyMKL(WithoutSampleWeight, KernelLearner):
    """Weights from the margins at the sum of all kernels (`mklbench.algorithms.easymkl`).

    Parameters
    ----------
    lam : float
        lambda in [0, 1]: at 0 the margin is the largest, at 1 the machine is that of the centres of
        the classes.
    final_lam : float, "mklpy" or None
        That of the machine on the combination, or as MKLpy has it; `lam` if not given.
    unit_trace : bool
        Whether the kernels are divided by their mean diagonal first.
    tol : float
        Relative gap to which both quadratic programmes are solved.
    verbose : int
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


@estimator
class _Margin(WithoutSampleWeight, KernelLearner):
    """An SVM at weights by margins, to a tolerance of theirs.

    Parameters
    ----------
    C : float
        Box constraint of the SVM on the combination.
    svm_tol : float
        LIBSVM's stopping tolerance for the SVM at the end.
    """

    kernel: Kernel = "gaussians"
    C: float = 3.0
    tol: float = 1e-2
    svm_tol: float = 1e-3
    verbose: int = 0


@estimator
class RadiusMarginMKL(_Margin):
    """Weights of large margin beside the radius of the data (`mklbench.algorithms.radius_margin`).

    Parameters
    ----------
    C : float
        Box constraint of the SVM, on samples in a ball of radius 1.
    svm_tol : float
        LIBSVM's stopping tolerance at the beginning.
    max_iter : int
        Maximum number of evaluations, each of a ball and an SVM.

    Notes
    -----
    There are no weights of samples: the paper defines none.
    """

    _algorithm = "mklbench.algorithms.radius_margin"

    max_iter: int = 1000


@estimator
class GRAM(_Margin):
    """Weights of smallest radius-margin ratio (`mklbench.algorithms.gram`).

    Parameters
    ----------
    tol : float
        Certified relative gap of the ratio at which to stop.
    lam : float
        The ridge in units of the squared radius; at 0 the margin is hard.
    max_iter : int
        Maximum number of evaluations, each of a ball and the closest points of two hulls.

    Notes
    -----
    There are no weights of samples: the paper defines none.
    """

    _algorithm = "mklbench.algorithms.gram"

    lam: float = 1e-3
    max_iter: int = 100


@estimator
class MEMO(_Margin):
    """Weights of large margin and small complexity (`mklbench.algorithms.memo`).

    Parameters
    ----------
    tol : float
        Relative gap at which to stop, for theta > 0 a KKT residual.
    theta : float
        >= 0, what a small complexity is worth beside the margin: 0 for the margin alone. Choose it
        by cross-validation, ``GridSearchCV(MEMO(), {"theta": [0, 0.001, 0.01, 0.1]})``.
    lam : float
        The ridge in units of the mean diagonal; at 0 the margin is hard.
    max_iter : int
        Maximum number of evaluations in all climbs, each of the closest points of two hulls.

    Notes
    -----
    There are no weights of samples: the paper defines none.
    """

    _algorithm = "mklbench.algorithms.memo"

    theta: float = 0.0
    lam: float = 1e-3
    max_iter: int = 300
