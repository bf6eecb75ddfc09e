"""Scikit-learn estimators of regressions: ``NKRR(lam=0.1).fit(X, y)``, and classifiers by sign.

The classifiers fit -1 and +1, one-versus-rest for more than two classes, and predict the class with
the largest value. There is no intercept: centre the targets, and the features for linear kernels.
The parameter ``kernel`` is as in `mklbench.estimators`.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from mklbench.estimators.base import estimator
from mklbench.estimators.learners import KernelLearner, KernelRegressor
from mklbench.kernels import Kernel

__all__ = ["KRR", "NKRR", "KRRClassifier", "NKRRClassifier"]


@estimator
class _KRR:
    """Parameters of ridge regression, of classes and of real targets.

    Parameters
    ----------
    kernel : str, callable or list
        See `mklbench.estimators`.
    lam : float
        The ridge lambda > 0.
    weights : float, array_like of shape (M,) or None
        Kernel weights >= 0, or one number for all; 1/M each if None.
    degree : int
        Of the kernel (sum_m weights_m K_m)^degree.
    verbose : int
        Prints nothing at any value: there are no iterations to tell of.
    """

    _algorithm = "mklbench.algorithms.krr"

    kernel: Kernel = "gaussian"
    lam: float = 1.0
    weights: float | ArrayLike | None = None
    degree: int = 1
    verbose: int = 0


@estimator
class KRR(_KRR, KernelRegressor):
    """Kernel ridge regression at fixed kernel weights (`mklbench.algorithms.krr`)."""


@estimator
class KRRClassifier(_KRR, KernelLearner):
    """The classifier by the sign of a kernel ridge regression (`KRR`)."""

    lam: float = 0.5


@estimator
class _NKRR:
    """Parameters of NKRR, of classes and of real targets.

    Parameters
    ----------
    kernel : str, callable or list
        A bank, see `mklbench.estimators`; the paper's is
        "linear_features".
    degree : int
        d >= 1 of the combination.
    radius : float
        How far the weights may go from `mu0`; 0 for the weights `mu0`.
    norm : int
        1 or 2, in which that is measured.
    mu0 : float or array_like of shape (M,)
        Weights >= 0, or one number for all.
    tol : float
        Certified gap or KKT residual at which to stop.
    max_iter : int
        Maximum number of steps.
    """

    _algorithm = "mklbench.algorithms.nkrr"

    kernel: Kernel = "feature_gaussians"
    lam: float = 1.0
    degree: int = 2
    radius: float = 1.0
    norm: int = 2
    mu0: float | ArrayLike = 1.0
    tol: float = 1e-4
    max_iter: int = 1000
    verbose: int = 0


@estimator
class NKRR(_NKRR, KernelRegressor):
    """Polynomial combinations of kernels in ridge regression (`mklbench.algorithms.nkrr`).

    Parameters
    ----------
    lam : float
        The ridge lambda > 0.
    """


@estimator
class NKRRClassifier(_NKRR, KernelLearner):
    """The classifier by the sign of `NKRR`.

    Parameters
    ----------
    lam : float
        The ridge lambda > 0. The kernel is the square of a sum, and so is its scale.
    """

    lam: float = 100.0
