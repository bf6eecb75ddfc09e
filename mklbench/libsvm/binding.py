"""LIBSVM on one buffer: from a dense Gram matrix to coefficients and an intercept.

LIBSVM takes a precomputed kernel as rows of ``svm_node`` (int32 index, float64 value) whose first
node holds the serial number of the sample. One NumPy structured array of that layout is kept for
the life of a `Machine`; a solve fills its value column and passes pointers into it. LIBSVM
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
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np
from libsvm import svm as libsvm_api
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import ThreadpoolController

from mklbench.errors import InputError
from mklbench.libsvm.options import check_tol
from mklbench.validation import real_array

_NODE = np.dtype([("index", np.int32), ("value", np.float64)], align=True)
# Of LIBSVM's cache of kernel rows.
CACHE_MEGABYTES = 200.0
# LIBSVM measures the violation of the KKT conditions with kernel values in single precision; by
# those in double it may be this many times its tolerance, or, for what single precision cannot
# tell, this share of the largest target.
_ROUNDING, _SINGLE_PRECISION = 2.0, 1e-3
# LIBSVM keeps kernel values in single precision.
_LARGEST = float(np.finfo(np.float32).max)


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

    Attributes
    ----------
    tol : float
        LIBSVM's stopping tolerance, where a solve is not given another.
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
        self.tol = float(parameter.eps)

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
        self._parameter.eps = self.tol if tol is None else check_tol(tol)
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

    def _fitted_by_sample(
        self, kind: type[Any], upper: NDArray[np.float64], **options: float
    ) -> SVMSolution:
        """Return the solution of scikit-learn's LIBSVM, which takes a bound C_i for each sample.

        It has no limit of iterations unless it is told. That it came to it is not warned of: a
        violation of the KKT conditions shows it.
        """
        from sklearn.exceptions import ConvergenceWarning  # half a second, that a run does not need

        machine = kind(
            kernel="precomputed",
            tol=self._parameter.eps,
            cache_size=CACHE_MEGABYTES,
            max_iter=max(10**7, 100 * len(self.y)),
            **options,
        )
        K = np.ascontiguousarray(self.gram)
        started = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
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
        most = max(_ROUNDING * self.tol, _SINGLE_PRECISION * float(np.abs(self.y).max()))
        if self.violation(outputs, dual_coef) > most:
            return False
        return not self.is_at_limit(outputs, dual_coef)

    def is_at_limit(self, outputs: NDArray[np.float64], dual_coef: NDArray[np.float64]) -> bool:
        """Tell whether LIBSVM came to its limit of iterations at the last Gram matrix.

        By the kernel values that it has itself: where these are too coarse for the Gram matrix,
        `is_done` is false as well, but LIBSVM ended by its own rule.

        Parameters
        ----------
        outputs : ndarray of shape (n,)
            K a, the decision values without the intercept.
        dual_coef : ndarray of shape (n,)
            a.
        """
        enough = _ROUNDING * self.tol
        if self.violation(outputs, dual_coef) <= enough:
            return False
        # Row by row, as a copy of the Gram matrix would take its memory.
        rounded = np.array([row.astype(np.float32) @ dual_coef for row in self.gram])
        return self.violation(rounded, dual_coef) > enough

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

    def _sign(self, model: libsvm_api.svm_model) -> float:
        """Return the factor that makes LIBSVM's decision function ours."""
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


def _view(pointer: Any, array_type: Any, dtype: type[np.generic]) -> NDArray[Any]:
    """Return a NumPy view of the C array behind `pointer`, to be copied before it is freed."""
    return np.frombuffer(array_type.from_address(ctypes.addressof(pointer.contents)), dtype)
