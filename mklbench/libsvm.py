"""The inner solver: LIBSVM on dense Gram matrices, without copies through Python objects.

LIBSVM takes a precomputed kernel as rows of ``svm_node`` (int32 index, float64 value) whose first
node holds the serial number of the sample. One NumPy structured array of that layout is kept for
the life of an `SVM` or an `SVR`; a solve fills its value column and passes pointers into it. LIBSVM
never reads the indices of a precomputed row, so they are left at zero.

Three traps are dealt with here. LIBSVM is built with OpenMP, and as many threads as cores make
small problems up to a thousand times slower on a busy machine: each call runs on one thread. Its
wrapper keeps it quiet by a Python function that it calls, in which Ctrl-C is lost: a function of C
takes its place. And LIBSVM decides itself which class is its positive one: coefficients and
intercept are returned for the class +1 whatever it chose.
"""

from __future__ import annotations

import ctypes
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np
from libsvm import svm as libsvm_api
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import ThreadpoolController

from mklbench.errors import InputError
from mklbench.validation import (
    check_labels,
    check_not_negative,
    check_positive,
    check_sample_weight,
    check_targets,
    real_array,
)

_NODE = np.dtype([("index", np.int32), ("value", np.float64)], align=True)
_CACHE_MEGABYTES = 200.0
# Beyond, squares of alpha overflow, and no arithmetic has the digits.
_LARGEST_C, _SMALLEST_TOL = 1e100, 1e-12
# At 2 the first point, alpha = 0, passes for the optimum of any C-SVC.
_LARGEST_TOL = 1.0
# LIBSVM measures the violation of the KKT conditions with kernel values in single precision; by
# those in double it may be this many times its tolerance, or, for what single precision cannot
# tell, this share of the largest target.
_ROUNDING, _SINGLE_PRECISION = 2.0, 1e-3
# LIBSVM keeps kernel values in single precision.
_LARGEST = float(np.finfo(np.float32).max)


# Factors on C by class -1 and +1, or "balanced".
ClassWeight = Mapping[int, float] | str | None


@dataclass(frozen=True)
class SVMSolution:
    """Solution of one SVM or SVR problem.

    Parameters
    ----------
    dual_coef : ndarray of shape (n,)
        alpha_i * y_i, or alpha_i - alpha*_i of a regression.
    support : ndarray of int of shape (n_support,)
        Ascending indices of the samples where it is not 0.
    intercept : float
        b of the decision function sum_i dual_coef_i K(x_i, .) + b.
    """

    dual_coef: NDArray[np.float64]
    support: NDArray[np.intp]
    intercept: float

    def dual_objective(self, K: NDArray[np.float64]) -> float:
        """Return sum alpha - 1/2 a' K a of an SVM.

        Parameters
        ----------
        K : ndarray of shape (n, n)
            The Gram matrix solved for.
        """
        a = self.dual_coef
        return float(np.abs(a).sum() - 0.5 * (a @ (K @ a)))


class Machine(ABC):
    """LIBSVM on one target vector, to be solved for many Gram matrices.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels or targets, an array of the machine's own.
    parameter : libsvm_api.svm_parameter
        Of LIBSVM.
    """

    def __init__(self, y: NDArray[np.float64], parameter: libsvm_api.svm_parameter) -> None:
        self.y = y
        self.calls = 0
        self.seconds = 0.0
        n = len(y)
        self._nodes = np.zeros((n, n + 2), dtype=_NODE)
        self._nodes["value"][:, 0] = np.arange(1, n + 1)
        self._nodes["index"][:, -1] = -1
        self.gram = self._nodes["value"][:, 1:-1]
        rows = self._nodes.ctypes.data + self._nodes.strides[0] * np.arange(n, dtype=np.uintp)
        self._row_pointers = rows.astype(np.uintp)
        self._problem = _problem(self.y, self._row_pointers)
        self._parameter = parameter
        self._tol = float(parameter.eps)

    @property
    def tol(self) -> float:
        """LIBSVM's stopping tolerance, where a solve is not given another."""
        return self._tol

    def solve(
        self, K: NDArray[np.float64] | None = None, *, tol: float | None = None
    ) -> SVMSolution:
        """Solve for one Gram matrix.

        Parameters
        ----------
        K : ndarray of shape (n, n) or None, default=None
            The Gram matrix; if not given, that which has been written into `gram`.
        tol : float or None, default=None
            LIBSVM's stopping tolerance, > 0; that of the machine if not given.

        Raises
        ------
        InputError
            If `K` has the wrong shape, or the Gram matrix holds what is no real number or too large
            for LIBSVM, which works in single precision; or `tol` is no number > 0.
        """
        self._parameter.eps = self._tol if tol is None else check_tol(tol)
        if K is not None:
            self._take(K)
        if not self.gram.diagonal().max() <= _LARGEST:  # no entry of a Gram matrix is larger
            _check_values(self.gram)
        self.calls += 1
        return self._trained()

    def _trained(self) -> SVMSolution:
        """Return LIBSVM's solution for what is in `gram`."""
        libsvm_api.libsvm.svm_set_print_string_function(_silence())
        with _openmp().limit(limits=1):
            started = perf_counter()
            model = libsvm_api.libsvm.svm_train(self._problem, self._parameter)
            self.seconds += perf_counter() - started
        try:
            return self._read(model.contents)
        finally:
            libsvm_api.libsvm.svm_free_and_destroy_model(ctypes.byref(model))

    def _as_scikit_learn_has_it(self) -> dict[str, Any]:
        return {"kernel": "precomputed", "tol": self._parameter.eps, "cache_size": _CACHE_MEGABYTES}

    def _fitted_by_sample(self, machine: Any, upper: NDArray[np.float64]) -> SVMSolution:
        """Return the solution of scikit-learn's LIBSVM, which takes a bound C_i for each sample."""
        K = np.ascontiguousarray(self.gram)
        started = perf_counter()
        machine.fit(K, self.y, sample_weight=upper)
        self.seconds += perf_counter() - started
        dual_coef = np.zeros(len(self.y))
        dual_coef[machine.support_] = np.clip(
            machine.dual_coef_[0], -upper[machine.support_], upper[machine.support_]
        )
        return SVMSolution(dual_coef, np.flatnonzero(dual_coef), float(machine.intercept_[0]))

    def _take(self, K: ArrayLike) -> None:
        """Write a Gram matrix into `gram`; the sum tells of NaN in the time of the copy."""
        given = real_array("K", K)
        if given.shape != self.gram.shape:
            raise InputError(
                f"K has shape {given.shape}, but there are {len(self.y)} labels: "
                f"pass a Gram matrix of shape {self.gram.shape}."
            )
        self.gram[...] = given
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(given.sum()):
                _check_values(given)

    def _read(self, model: libsvm_api.svm_model) -> SVMSolution:
        sign = self._sign(model)
        dual_coef = np.zeros(len(self.y))
        if model.l:
            indices = _view(model.sv_indices, ctypes.c_int * model.l, np.intc) - 1
            dual_coef[indices] = _view(model.sv_coef[0], ctypes.c_double * model.l, np.double)
            dual_coef *= sign
        return SVMSolution(dual_coef, np.flatnonzero(dual_coef), -sign * model.rho[0])

    def is_done(self, outputs: NDArray[np.float64], dual_coef: NDArray[np.float64]) -> bool:
        """Tell whether a solution of the last Gram matrix meets LIBSVM's stopping rule.

        The rule is `violation` <= `tol`, up to the rounding of LIBSVM's single precision, which
        must not be large itself. LIBSVM does not say whether it has come to its limit of
        max(10^7, 100 n) iterations instead.

        Parameters
        ----------
        outputs : ndarray of shape (n,)
            K a, the decision values without the intercept.
        dual_coef : ndarray of shape (n,)
            a.
        """
        enough = _ROUNDING * self.tol
        left = self.violation(outputs, dual_coef)
        if left <= enough or left > _SINGLE_PRECISION * float(np.abs(self.y).max()):
            return left <= enough
        as_libsvm_has_it = self.gram.astype(np.float32).astype(np.float64)
        return self.violation(as_libsvm_has_it @ dual_coef, dual_coef) <= enough

    def violation(self, outputs: NDArray[np.float64], dual_coef: NDArray[np.float64]) -> float:
        """Return the maximal violation of the KKT conditions, which LIBSVM brings below `tol`.

        It is the largest slope of the dual in a coefficient that may grow, minus the smallest in
        one that may shrink, as their sum is fixed; 0 where none may.

        Parameters
        ----------
        outputs : ndarray of shape (n,)
            K a, the decision values without the intercept.
        dual_coef : ndarray of shape (n,)
            a.
        """
        growing, shrinking = self._slopes(outputs, dual_coef)
        steepest = float(growing.max(initial=-np.inf)) - float(shrinking.min(initial=np.inf))
        return max(0.0, steepest)

    @abstractmethod
    def _slopes(
        self, outputs: NDArray[np.float64], a: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the slopes of the dual in the a_i that may grow, and in those that may shrink."""

    @abstractmethod
    def _sign(self, model: libsvm_api.svm_model) -> float:
        """Return the factor that makes LIBSVM's decision function ours."""


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
    class_factors : dict of int to float
        Factors on C by class, as numbers.
    sample_weight : ndarray of shape (n,) or None
        Factors on C by sample, if there are any.
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
        class_weight: Mapping[int, float] | str | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        labels = check_labels(y)
        parameter = _parameter("-s 0 -t 4 -q", C, check_tol_of_classes(tol))
        factors = class_factors(class_weight, labels)
        for label, factor in factors.items():
            check_box(f"C * class_weight[{label}]", C * factor)
        self.class_factors, self.sample_weight = factors, None
        self._uneven = False
        self.upper = C * np.where(labels > 0, factors[1], factors[-1])
        if sample_weight is not None:
            self.sample_weight = check_sample_weight(sample_weight, len(labels))
            self.upper = self.upper * self.sample_weight
            _one_if_equal("C * class_weight * sample_weight", self.upper)
            of_class = {label: self.upper[labels == label] for label in factors}
            self._uneven = any(np.ptp(bounds) > 0 for bounds in of_class.values())
            factors = {label: float(bounds[0]) / C for label, bounds in of_class.items()}
        parameter.nr_weight = len(factors)
        parameter.weight_label = (ctypes.c_int * len(factors))(*factors)
        parameter.weight = (ctypes.c_double * len(factors))(*factors.values())
        super().__init__(labels, parameter)

    def mean_bound(self, rows: NDArray[np.bool_]) -> float:
        """Return the mean of the bounds C_i of some samples.

        Parameters
        ----------
        rows : ndarray of bool of shape (n,)
            Which samples, at least one.
        """
        bounds = self.upper[rows]
        return float(bounds.mean() if self._uneven else bounds[0])

    def _trained(self) -> SVMSolution:
        if not self._uneven:
            return super()._trained()
        from sklearn.svm import SVC  # here, as it takes a second and most do without

        return self._fitted_by_sample(SVC(C=1.0, **self._as_scikit_learn_has_it()), self.upper)

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

        machine = OfScikitLearn(C=1.0, epsilon=self._parameter.p, **self._as_scikit_learn_has_it())
        return self._fitted_by_sample(machine, np.asarray(self.upper))

    def _slopes(
        self, outputs: NDArray[np.float64], a: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        slopes, C, epsilon = self.y - outputs, self.upper, self._parameter.p
        growing = slopes - np.where(a >= 0.0, epsilon, -epsilon)
        shrinking = slopes - np.where(a > 0.0, epsilon, -epsilon)
        return growing[a < C], shrinking[a > -C]

    def _sign(self, model: libsvm_api.svm_model) -> float:
        return 1.0


class OneClassSVM(Machine):
    """LIBSVM's one-class SVM (Schölkopf et al. 2001).

    Each solve is a cold start of

        max over a   -1/2 sum_ij a_i a_j K_ij
        subject to   0 <= a_i <= box,   sum_i a_i = nu n box.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    nu : float
        An upper bound on the share of samples outside, in (0, 1].
    box : float, default=1.0
        The bound on the coefficients, > 0; LIBSVM has 1.

    Attributes
    ----------
    gram : ndarray of shape (n, n)
        Writable view of the values LIBSVM reads, as that of `SVM`.
    calls : int
        Number of solves.
    seconds : float
        Wall-clock seconds spent inside ``svm_train``.
    """

    def __init__(self, n_samples: int, nu: float, *, box: float = 1.0) -> None:
        parameter = _parameter("-s 2 -t 4 -q", 1.0, 1e-3)
        parameter.nu = nu
        super().__init__(np.ones(n_samples), parameter)
        self.box = box

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
        found = super().solve(K, tol=max(own, _SMALLEST_TOL))
        return SVMSolution(self.box * found.dual_coef, found.support, self.box * found.intercept)

    def _slopes(
        self, outputs: NDArray[np.float64], a: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return -outputs[a < self.box], -outputs[a > 0.0]

    def _sign(self, model: libsvm_api.svm_model) -> float:
        return 1.0


def _check_values(K: NDArray[np.float64]) -> None:
    """Raise an InputError if `K` holds NaN, or a value that LIBSVM cannot hold."""
    refused = np.argwhere(~(np.abs(K) <= _LARGEST))
    if len(refused):
        row, column = refused[0]
        raise InputError(
            f"K holds {K[row, column]:g} at row {row}, column {column}: LIBSVM takes finite kernel "
            f"values up to {_LARGEST:.1g}, rescale the features or the Gram matrix."
        )


@cache
def _openmp() -> ThreadpoolController:
    # Looking the loaded libraries up takes milliseconds, limiting them microseconds.
    return ThreadpoolController().select(user_api="openmp")


@cache
def _silence() -> Any:
    """Return a function of C that takes the text LIBSVM would print, and does nothing with it."""
    library = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
    return libsvm_api.PRINT_STRING_FUN(ctypes.cast(library.strlen, ctypes.c_void_p).value)


def _problem(y: NDArray[np.float64], row_pointers: NDArray[np.uintp]) -> libsvm_api.svm_problem:
    # The wrapper's own constructor copies element by element, so the structure is filled in here.
    problem = libsvm_api.svm_problem.__new__(libsvm_api.svm_problem)
    problem.l = len(y)
    problem.y = y.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    problem.x = ctypes.cast(
        row_pointers.ctypes.data, ctypes.POINTER(ctypes.POINTER(libsvm_api.svm_node))
    )
    return problem


def class_factors(class_weight: ClassWeight, y: NDArray[np.float64]) -> dict[int, float]:
    """Return the factors on C of both classes.

    Parameters
    ----------
    class_weight : ClassWeight
        Factors by class, keys -1 and +1 or their text; a class left out has factor 1.
        "balanced" makes both classes weigh the same: n / (2 n_c) for the n_c samples of a class.
    y : ndarray of shape (n,)
        Labels in {-1, +1}.

    Raises
    ------
    InputError
        If it is neither, or a factor is no finite number > 0.
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        return {label: len(y) / (2.0 * np.count_nonzero(y == label)) for label in (-1, 1)}
    if not isinstance(class_weight, Mapping | None):
        raise InputError(
            f"class_weight={class_weight!r} is not accepted: give balanced, or factors by class as "
            "in {-1: 2, 1: 1}."
        )
    factors = {-1: 1.0, 1: 1.0}
    for label, factor in (class_weight or {}).items():
        known = {"-1": -1, "1": 1, "+1": 1}.get(str(label).removesuffix(".0"))
        if known is None:
            raise InputError(
                f"class_weight has the key {label!r}: the classes of a binary problem are -1 and 1."
            )
        factors[known] = check_positive(f"class_weight[{label}]", factor)
    return factors


def check_svm_options(
    C: float, svm_tol: float, class_weight: ClassWeight, sample_weight: ArrayLike | None = None
) -> None:
    """Raise an InputError for an option that `SVM` refuses whatever the labels."""
    check_box("C", C)
    check_tol_of_classes(svm_tol)
    class_factors(class_weight, np.array([-1.0, 1.0]))
    if sample_weight is not None:
        check_sample_weight(sample_weight, np.size(sample_weight))


def check_box(name: str, value: float) -> float:
    """Return a bound on alpha as a float if it is a number > 0 that LIBSVM can do."""
    if check_positive(name, value) > _LARGEST_C:
        raise InputError(
            f"{name}={value:g} is not accepted: LIBSVM's sums overflow, take at most "
            f"{_LARGEST_C:g}."
        )
    return float(value)


def check_tol(value: float) -> float:
    """Return LIBSVM's stopping tolerance as a float if it is a number > 0 that it can do."""
    if check_positive("svm_tol", value) < _SMALLEST_TOL:
        raise InputError(
            f"svm_tol={value:g} is not accepted: LIBSVM keeps kernel values in single precision, "
            f"take at least {_SMALLEST_TOL:g}."
        )
    return float(value)


def check_tol_of_classes(value: float) -> float:
    """Return LIBSVM's stopping tolerance as a float if the optimum for labels can meet it."""
    if check_tol(value) > _LARGEST_TOL:
        raise InputError(
            f"svm_tol={value:g} is not accepted: no weights at all would pass for an optimum, "
            f"take at most {_LARGEST_TOL:g}."
        )
    return float(value)


def _one_if_equal(name: str, bounds: NDArray[np.float64]) -> float | NDArray[np.float64]:
    """Return bounds (n,) on alpha, as one number if they are equal, if LIBSVM can do them."""
    for extreme in (bounds.min(), bounds.max()):
        check_box(name, float(extreme))
    return bounds if np.ptp(bounds) > 0 else float(bounds[0])


def _parameter(options: str, C: float, tol: float) -> libsvm_api.svm_parameter:
    parameter = libsvm_api.svm_parameter(options)
    parameter.C = check_box("C", C)
    parameter.eps = check_tol(tol)
    parameter.cache_size = _CACHE_MEGABYTES
    return parameter


def _view(pointer: Any, array_type: Any, dtype: type[np.generic]) -> NDArray[Any]:
    """Return a NumPy view of the C array behind `pointer`, to be copied before it is freed."""
    return np.frombuffer(array_type.from_address(ctypes.addressof(pointer.contents)), dtype)
