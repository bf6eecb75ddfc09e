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
    kernel : name or callable, see the module's docstring.
    C : box constraint.
    weights : (M,) kernel weights >= 0; 1/M each if None.
    svm_tol : LIBSVM's stopping tolerance.
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
    kernel : name or callable, see the module's docstring.
    C : box constraint.
    svm_tol : LIBSVM's stopping tolerance.
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
    kernel : name or callable of a bank, see the module's docstring.
    C : box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    tol : certified relative duality gap at which to stop.
    max_iter : at most so many SVM calls.
    warm_start : whether `fit` starts at the weights of the fit before, if that had the same
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
    kernel : name or callable of a bank, see the module's docstring.
    C : box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    tol : certified relative duality gap at which to stop.
    objective_tol : relative change of the objective at which to stop as well; None for never.
    max_iter : at most so many descent directions.
    line_search_tol : a line search ends where the slope of the objective has shrunk to this.
    svm_tol : LIBSVM's stopping tolerance.
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
    kernel : name or callable of a bank, see the module's docstring.
    C : box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    tol : certified relative duality gap at which to stop.
    objective_tol : relative change of the objective at which to stop as well; None for never.
    max_iter : at most so many Newton steps.
    svm_tol : LIBSVM's stopping tolerance.
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
