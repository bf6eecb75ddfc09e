"""What LIBSVM solves: the C-SVC, the epsilon-SVR and the one-class SVM.

Each says what LIBSVM is told, where its KKT conditions may be violated, and which sign its decision
function has. Where samples have bounds of their own, the LIBSVM inside of scikit-learn solves.
"""

from __future__ import annotations

import ctypes

import numpy as np
from libsvm import svm as libsvm_api
from numpy.typing import ArrayLike, NDArray

from mklbench.libsvm.binding import CACHE_MEGABYTES, Machine, SVMSolution
from mklbench.libsvm.options import (
    SMALLEST_TOL,
    ClassWeight,
    check_box,
    check_tol,
    check_tol_of_classes,
    class_factors,
    upper_bounds,
)
from mklbench.validation import check_labels, check_not_negative, check_sample_weight, check_targets


class SVM(Machine):
    """LIBSVM's C-SVC on one label vector.

    Each solve is a cold start of

        max over alpha   sum_i alpha_i - 1/2 sum_ij alpha_i alpha_j y_i y_j K_ij
        subject to       0 <= alpha_i <= C_i,   sum_i alpha_i y_i = 0.

    Parameters
    ----------
    y : array_like of shape (n,)
        Labels in {-1, +1}, both present.
    C : float, default=1.0
        Box constraint, > 0.
    tol : float, default=0.001
        LIBSVM's stopping tolerance on the maximal violation of the KKT conditions, > 0 and at
        most 1.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced" (`class_factors`).
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class. LIBSVM knows factors by class; where
        these are others within a class, the LIBSVM inside of scikit-learn solves, which has a C
        for each sample.

    Attributes
    ----------
    gram : ndarray of shape (n, n)
        Writable view of the values LIBSVM reads. Kernel code may write a Gram matrix
        straight into it (``np.exp(..., out=machine.gram)``) and then call ``solve()``.
    upper : ndarray of shape (n,)
        The bounds C_i.
    calls : int
        Number of solves.
    seconds : float
        Wall-clock seconds spent inside ``svm_train``.
    """

    def __init__(
        self,
        y: ArrayLike,
        C: float = 1.0,
        *,
        tol: float = 1e-3,
        class_weight: ClassWeight = None,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        labels = check_labels(y)
        parameter = _parameter("-s 0 -t 4 -q", C, check_tol_of_classes(tol))
        factors = class_factors(class_weight, labels)
        self._uneven = False
        self.upper = upper_bounds(labels, C, factors, sample_weight)
        if sample_weight is not None:
            of_class = {label: self.upper[labels == label] for label in factors}
            self._uneven = any(np.ptp(bounds) > 0 for bounds in of_class.values())
            factors = {label: float(bounds[0]) / C for label, bounds in of_class.items()}
        parameter.nr_weight = len(factors)
        parameter.weight_label = (ctypes.c_int * len(factors))(*factors)
        parameter.weight = (ctypes.c_double * len(factors))(*factors.values())
        super().__init__(labels, parameter)

    def _trained(self) -> SVMSolution:
        if not self._uneven:
            return super()._trained()
        from sklearn.svm import SVC  # here, as it takes a second and most do without

        return self._fitted_by_sample(SVC, self.upper, C=1.0)

    def _slopes(
        self, outputs: NDArray[np.float64], a: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        slopes, positive = self.y - outputs, self.y > 0
        may_grow = np.where(positive, a < self.upper, a < 0.0)
        may_shrink = np.where(positive, a > 0.0, a > -self.upper)
        return slopes[may_grow], slopes[may_shrink]

    def _sign(self, model: libsvm_api.svm_model) -> float:
        return 1.0 if model.label[0] == 1 else -1.0


class SVR(Machine):
    """LIBSVM's epsilon-SVR on one vector of real targets.

    Each solve is a cold start of

        max over a   sum_i a_i y_i - epsilon sum_i |a_i| - 1/2 sum_ij a_i a_j K_ij
        subject to   |a_i| <= C_i,   sum_i a_i = 0.

    Parameters
    ----------
    y : array_like of shape (n,)
        Real targets.
    C : float, default=1.0
        Box constraint, > 0.
    epsilon : float, default=0.1
        Half the width of the tube in which errors cost nothing, in units of y, >= 0.
    tol : float, default=0.001
        LIBSVM's stopping tolerance on the maximal violation of the KKT conditions, in units of
        y, > 0.
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, as in `SVM`.

    Attributes
    ----------
    upper : float or ndarray of shape (n,)
        The bound C, or the bounds C_i.
    gram : ndarray of shape (n, n)
        Writable view of the values LIBSVM reads, as that of `SVM`.
    calls : int
        Number of solves.
    seconds : float
        Wall-clock seconds spent inside ``svm_train``.
    """

    def __init__(
        self,
        y: ArrayLike,
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        tol: float = 1e-3,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        targets = check_targets(y)
        self.upper: float | NDArray[np.float64] = check_box("C", C)
        if sample_weight is not None:
            weights = check_sample_weight(sample_weight, len(targets))
            self.upper = _one_if_equal("C * sample_weight", self.upper * weights)
        largest = float(np.max(self.upper))
        parameter = _parameter("-s 3 -t 4 -q", largest, tol)
        parameter.p = check_not_negative("epsilon", epsilon)
        super().__init__(targets, parameter)

    def _trained(self) -> SVMSolution:
        if not np.ndim(self.upper):
            return super()._trained()
        from sklearn.svm import SVR as OfScikitLearn  # as in `SVM`

        upper, epsilon = np.asarray(self.upper), self._parameter.p
        return self._fitted_by_sample(OfScikitLearn, upper, C=1.0, epsilon=epsilon)

    def _slopes(
        self, outputs: NDArray[np.float64], a: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        slopes, C, epsilon = self.y - outputs, self.upper, self._parameter.p
        growing = slopes - np.where(a >= 0.0, epsilon, -epsilon)
        shrinking = slopes - np.where(a > 0.0, epsilon, -epsilon)
        return growing[a < C], shrinking[a > -C]


class OneClassSVM(Machine):
    """LIBSVM's one-class SVM (Schölkopf et al. 2001).

    Each solve is a cold start of

        max over a   -1/2 sum_ij a_i a_j K_ij
        subject to   0 <= a_i <= box w_i,   sum_i a_i = nu box sum_i w_i.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    nu : float
        An upper bound on the share of samples outside, in (0, 1].
    box : float, default=1.0
        The bound on the coefficients, > 0; LIBSVM has 1.
    sample_weight : array_like of shape (n,) or None, default=None
        Factors w_i > 0 on the bound by sample, 1 if not given. Where they differ, the LIBSVM inside
        of scikit-learn solves, as in `SVM`.

    Attributes
    ----------
    upper : float or ndarray of shape (n,)
        The bound, or the bounds box w_i.
    gram : ndarray of shape (n, n)
        Writable view of the values LIBSVM reads, as that of `SVM`.
    calls : int
        Number of solves.
    seconds : float
        Wall-clock seconds spent inside ``svm_train``.
    """

    def __init__(
        self,
        n_samples: int,
        nu: float,
        *,
        box: float = 1.0,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        parameter = _parameter("-s 2 -t 4 -q", 1.0, 1e-3)
        parameter.nu = nu
        super().__init__(np.ones(n_samples), parameter)
        self._factors: float | NDArray[np.float64] = 1.0
        if sample_weight is not None:
            factors = check_sample_weight(sample_weight, n_samples)
            self._factors = _one_if_equal("sample_weight", factors)
        # The unit in which LIBSVM solves; one factor for all is a part of it.
        self.box = box if np.ndim(self._factors) else box * float(self._factors)
        self.upper = self.box * self._factors if np.ndim(self._factors) else self.box

    def solve(
        self, K: NDArray[np.float64] | None = None, *, tol: float | None = None
    ) -> SVMSolution:
        """Solve for one Gram matrix, as `SVM` does.

        The intercept is -rho. It is infinite where all coefficients are at their bound, as any
        large rho is then optimal.

        Parameters
        ----------
        K : ndarray of shape (n, n) or None, default=None
            The Gram matrix; if not given, that which has been written into `gram`.
        tol : float or None, default=None
            Stopping tolerance on the outputs K a, > 0; 0.001 if not given.
        """
        own = (self.tol if tol is None else check_tol(tol)) / self.box
        found = super().solve(K, tol=max(own, SMALLEST_TOL))
        return SVMSolution(self.box * found.dual_coef, found.support, self.box * found.intercept)

    def _trained(self) -> SVMSolution:
        if not np.ndim(self._factors):
            return super()._trained()
        from sklearn.svm import OneClassSVM as OfScikitLearn  # as in `SVM`

        factors = np.asarray(self._factors)
        return self._fitted_by_sample(OfScikitLearn, factors, nu=self._parameter.nu)

    def _slopes(
        self, outputs: NDArray[np.float64], a: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return -outputs[a < self.upper], -outputs[a > 0.0]


def _one_if_equal(name: str, bounds: NDArray[np.float64]) -> float | NDArray[np.float64]:
    """Return bounds (n,) on alpha, as one number if they are equal, if LIBSVM can do them."""
    for extreme in (bounds.min(), bounds.max()):
        check_box(name, float(extreme))
    return bounds if np.ptp(bounds) > 0 else float(bounds[0])


def _parameter(options: str, C: float, tol: float) -> libsvm_api.svm_parameter:
    parameter = libsvm_api.svm_parameter(options)
    parameter.C = check_box("C", C)
    parameter.eps = check_tol(tol)
    parameter.cache_size = CACHE_MEGABYTES
    return parameter
