"""Estimators of the parameters of a family of kernels: ``QNPKL(C=10).fit(X, y)``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mklbench.algorithms import gmkl, ikl, qnpkl
from mklbench.estimators.early_end import EndsEarly
from mklbench.estimators.learners import KernelLearner
from mklbench.estimators.reading import one_or_all
from mklbench.estimators.weights import ClassWeights
from mklbench.kernels import Kernel

__all__ = ["GMKL", "IKL", "QNPKL"]

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class GMKL(EndsEarly):
    """Regularised sum or product of kernels (`mklbench.algorithms.gmkl`).

    It is ended early, as its descent of a product leads to K = I, where nothing is predicted.

    Parameters
    ----------
    kernel : str, callable or list, default="product"
        A family (product) or a bank (sum), see `mklbench.estimators`.
    C : float or "cv", default="cv"
        Box constraint; by default chosen by cross-validation (`EndsEarly`).
    regulariser : str, default="l1"
        "l1" or "l2".
    strength : float or None, default=None
        Factor on the regulariser; None for that of the authors' code.
    start : str, default="uniform"
        "random", "uniform" or, of a family, "median" weights to start from.
    random_state : int or None, default=0
        Seed of a random start; None starts at 1/M.
    iterations : int, "cv" or None, default="cv"
        End after so many gradient steps; None for no such end. By default chosen by
        cross-validation.
    tol : float, default=0.001
        Certified gap or KKT residual at which to stop.
    max_iter : int, default=40
        Maximum number of gradient steps.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : ClassWeights, default=None
        Factors on C by class label, or "balanced" for classes that all weigh the same
        (`mklbench.estimators.weights`).
    verbose : int, default=0
        1 prints a line an iteration: J, its gap, active kernels, seconds.
    """

    _algorithm = gmkl

    kernel: Kernel = "product"
    C: float | Literal["cv"] = "cv"
    regulariser: str = "l1"
    strength: float | None = None
    start: str = "uniform"
    random_state: int | None = 0
    iterations: int | Literal["cv"] | None = "cv"
    tol: float = 1e-3
    max_iter: int = 40
    svm_tol: float = 1e-3
    class_weight: ClassWeights = None
    verbose: int = 0


@dataclass(eq=False, repr=False)
class IKL(KernelLearner):
    """Sparse combination of the best members of a family of kernels (`mklbench.algorithms.ikl`).

    Standardise the features first: the box of "products" is made for that scale.

    Parameters
    ----------
    kernel : str, callable or list, default="products"
        A family with a bounded box, or of a bank, see `mklbench.estimators`.
    C : float, default=1.0
        Box constraint.
    tol : float, default=0.001
        Relative duality gap at which to stop, of the kernels found (`gap_`) and with what an
        independent search finds beyond them (`family_gap_`).
    max_iter : int, default=100
        Maximum number of restricted master problems.
    pricing : int, default=12
        Maximum number of kernels that join at once.
    samples : int, default=1000
        Random members of the family looked at before the search ends.
    explore : int, default=300
        Ascents of an independent search, each time that nothing more is found; 0 for no such
        search.
    slide : int, default=8
        Iterations of a descent in the parameters of all kernels with weight, after a master; 0 for
        none.
    look : int or None, default=None
        Ascents of the independent search at every round. If not given a twentieth of `explore`, or
        all of it where every feature has two values.
    multiply : int, default=15
        Ascents of the independent search from products of kernels at hand; 0 for none.
    master : str, default="mkl"
        "mkl" or "simplemkl".
    class_weight : ClassWeights, default=None
        Factors on C by class label, or "balanced" for classes that all weigh the same
        (`mklbench.estimators.weights`).
    verbose : int, default=0
        1 prints a line a master problem: J, its gap, active kernels, seconds.
    """

    _algorithm = ikl

    kernel: Kernel = "products"
    C: float = 1.0
    tol: float = 1e-3
    max_iter: int = 100
    pricing: int = 12
    samples: int = 1000
    explore: int = 300
    slide: int = 8
    look: int | None = None
    multiply: int = 15
    master: str = "mkl"
    class_weight: ClassWeights = None
    verbose: int = 0

    @property
    def family_gap_(self) -> float | Array | None:
        """The gap with what an independent search found beyond, a number, or one a class.

        None where no such search was made: on a bank, or with ``explore=0``.
        """
        gaps = [s.family_gap for s in self.solutions_ if s.family_gap is not None]
        return one_or_all(gaps) if gaps else None


@dataclass(eq=False, repr=False)
class QNPKL(EndsEarly):
    """Product of Gaussians by quasi-Newton descent, ended early (`mklbench.algorithms.qnpkl`).

    The number of `iterations` is the regulariser.

    Parameters
    ----------
    kernel : str, callable or list, default="product"
        A family, see `mklbench.estimators`.
    C : float or "cv", default="cv"
        Box constraint; by default chosen by cross-validation (`EndsEarly`).
    start : str or float, default="median"
        "median" or "uniform" parameters to start from, or the value of all.
    width : float, default=1.0
        Factor on the parameters of the start.
    iterations : int, "cv" or None, default="cv"
        End after so many iterations; None for no such end. By default chosen by cross-validation.
    variant : str, default="paper"
        "paper" or "jkernelmachines".
    tol : float, default=0.01
        Relative decrease of the objective at which to end.
    initial_rate : float or str, default="auto"
        First diagonal entry of the inverse Hessian, or "auto".
    initial_step : float, default=1.0
        First step size along a direction.
    smallest_step : float, default=1e-07
        Steps below this size have failed.
    shun_identity : bool, default=True
        Whether steps towards K = I are shortened.
    max_iter : int, default=1000
        Maximum number of directions.
    max_evals : int or None, default=None
        Maximum number of SVMs in all; 40,000 if None.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : ClassWeights, default=None
        Factors on C by class label, or "balanced" for classes that all weigh the same
        (`mklbench.estimators.weights`).
    verbose : int, default=0
        1 prints a line an iteration: J, active kernels, seconds.
    """

    _algorithm = qnpkl

    kernel: Kernel = "product"
    C: float | Literal["cv"] = "cv"
    start: str | float = "median"
    width: float = 1.0
    iterations: int | Literal["cv"] | None = "cv"
    variant: str = "paper"
    tol: float = 1e-2
    initial_rate: float | str = "auto"
    initial_step: float = 1.0
    smallest_step: float = 1e-7
    shun_identity: bool = True
    max_iter: int = 1000
    max_evals: int | None = None
    svm_tol: float = 1e-3
    class_weight: ClassWeights = None
    verbose: int = 0
