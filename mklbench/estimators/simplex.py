"""Estimators of kernel weights that are fixed, or on the simplex: ``SimpleMKL(C=10).fit(X, y)``."""

from __future__ import annotations

from numpy.typing import ArrayLike

from mklbench.algorithms import hessianmkl, mkl, simplemkl, svm, uniform
from mklbench.estimators.base import KernelLearner
from mklbench.kernels import KernelBuilder

__all__ = ["MKL", "HessianMKL", "KernelSVC", "SimpleMKL", "UniformMKL"]


class KernelSVC(KernelLearner):
    """Support vector machine at fixed kernel weights (`mklbench.algorithms.svm`).

    Parameters
    ----------
    kernel : str or KernelBuilder, default="gaussian"
        Name or callable, see `mklbench.estimators`.
    C : float, default=1.0
        Box constraint.
    weights : array_like of shape (M,) or None, default=None
        Kernel weights >= 0; 1/M each if None.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    """

    _algorithm = svm

    def __init__(
        self,
        kernel: str | KernelBuilder = "gaussian",
        C: float = 1.0,
        weights: ArrayLike | None = None,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.weights = weights
        self.svm_tol = svm_tol


class UniformMKL(KernelLearner):
    """The uniform combination of kernels (`mklbench.algorithms.uniform`).

    Parameters
    ----------
    kernel : str or KernelBuilder, default="feature_gaussians"
        Name or callable, see `mklbench.estimators`.
    C : float, default=1.0
        Box constraint.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    """

    _algorithm = uniform

    def __init__(
        self,
        kernel: str | KernelBuilder = "feature_gaussians",
        C: float = 1.0,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.svm_tol = svm_tol


class MKL(KernelLearner):
    """Sparse convex combination of kernels by the default exact solver (`mklbench.algorithms.mkl`).

    Parameters
    ----------
    kernel : str or KernelBuilder, default="simplemkl"
        Name or callable of a bank, see `mklbench.estimators`.
    C : float, default=100.0
        Box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    tol : float, default=0.0001
        Certified relative duality gap at which to stop.
    max_iter : int, default=100
        At most so many SVM calls.
    warm_start : bool, default=False
        Whether `fit` starts at the weights of the fit before, if that had the same
        classes; kernels behind those it had start at 0, and with fewer kernels it starts from
        nothing. The result is the same to within `tol`, but found sooner on a path of C or with a
        kernel more each time.
    """

    _algorithm = mkl

    def __init__(
        self,
        kernel: str | KernelBuilder = "simplemkl",
        C: float = 100.0,
        tol: float = 1e-4,
        max_iter: int = 100,
        warm_start: bool = False,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start


class SimpleMKL(KernelLearner):
    """Sparse convex combination of kernels (`mklbench.algorithms.simplemkl`).

    Parameters
    ----------
    kernel : str or KernelBuilder, default="simplemkl"
        Name or callable of a bank, see `mklbench.estimators`.
    C : float, default=100.0
        Box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    tol : float, default=0.01
        Certified relative duality gap at which to stop.
    objective_tol : float or None, default=None
        Relative change of the objective at which to stop as well; None for never.
    max_iter : int, default=500
        At most so many descent directions.
    line_search_tol : float, default=0.1
        A line search ends where the slope of the objective has shrunk to this.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    """

    _algorithm = simplemkl

    def __init__(
        self,
        kernel: str | KernelBuilder = "simplemkl",
        C: float = 100.0,
        tol: float = 1e-2,
        objective_tol: float | None = None,
        max_iter: int = 500,
        line_search_tol: float = 0.1,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.tol = tol
        self.objective_tol = objective_tol
        self.max_iter = max_iter
        self.line_search_tol = line_search_tol
        self.svm_tol = svm_tol


class HessianMKL(KernelLearner):
    """Sparse convex combination of kernels by Newton's method (`mklbench.algorithms.hessianmkl`).

    Parameters
    ----------
    kernel : str or KernelBuilder, default="simplemkl"
        Name or callable of a bank, see `mklbench.estimators`.
    C : float, default=100.0
        Box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    tol : float, default=0.01
        Certified relative duality gap at which to stop.
    objective_tol : float or None, default=None
        Relative change of the objective at which to stop as well; None for never.
    max_iter : int, default=200
        At most so many Newton steps.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    """

    _algorithm = hessianmkl

    def __init__(
        self,
        kernel: str | KernelBuilder = "simplemkl",
        C: float = 100.0,
        tol: float = 1e-2,
        objective_tol: float | None = None,
        max_iter: int = 200,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.tol = tol
        self.objective_tol = objective_tol
        self.max_iter = max_iter
        self.svm_tol = svm_tol
