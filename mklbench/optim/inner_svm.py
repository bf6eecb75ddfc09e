"""The SVM inside MKL at changing weights, to the accuracy that the search for them needs.

LIBSVM's tolerance follows the gap. It keeps kernel values in single precision, so that its outputs
K a are off by their rounding, which grows with alpha; where that is too much, the SVM is solved in
double precision instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklbench import certify
from mklbench.certify import Bounds, PrimalDualPoint
from mklbench.kernels.base import Bank
from mklbench.libsvm import SVM, Machine, SVMSolution
from mklbench.optim import local_model, svm_dual
from mklbench.optim.svm_dual import SVMDual
from mklbench.optim.svm_value import check_samples
from mklbench.penalties.simple import Simplex
from mklbench.solution import KernelMachine

Array = NDArray[np.float64]

# LIBSVM's tolerance in units of the gap, and its limits.
_TOL, _LOOSEST, _TIGHTEST = 1e-3, 1e-2, 1e-6
# Loss that LIBSVM's tolerance may leave in a regression, in units of the gap.
_AT_STAKE = 0.3
# It stays above the rounding of single precision, up to this one.
_SINGLE_PRECISION, _COARSEST = 2.0**-24, 0.1
# Failures after which the rounding must not exceed the tolerance that the gap asks for.
_FAILURES = 2
_DOUBLE_PRECISION = 1e-11


@dataclass(frozen=True)
class Trained(KernelMachine):
    """The SVM at some weights.

    Attributes
    ----------
    outputs : ndarray of shape (n,)
        K a.
    objective : float
        The SVM's dual value, J up to the accuracy of the solution.
    bounds : Bounds
        On J, with the SVM's primal value as the upper one; or on the optimum of MKL, once all
        kernels are priced.
    """

    outputs: Array
    objective: float
    bounds: Bounds

    @property
    def upper(self) -> float:
        """The upper bound, which is one on J and on the optimum of MKL alike."""
        return self.bounds.upper

    @property
    def gap(self) -> float:
        """The relative gap between the bounds."""
        return self.bounds.relative_gap


class InnerSVM:
    """The SVM of a bank and a label vector, or another machine that LIBSVM solves.

    Parameters
    ----------
    bank : Bank
        The kernels.
    machine : Machine
        LIBSVM on the labels or targets; its buffer holds the Gram matrix at the last weights.
    dual : SVMDual or None, default=None
        What the machine solves; if not given, it is an `SVM`. Its margins and outputs K a are to
        be of the size 1, as tolerances are in these units.

    Raises
    ------
    InputError
        If the labels do not fit the bank.
    """

    def __init__(self, bank: Bank, machine: Machine, dual: SVMDual | None = None) -> None:
        check_samples(bank, len(machine.y))
        self._bank = bank
        self._machine = machine
        if dual is None:
            assert isinstance(machine, SVM)
            dual = svm_dual.of_classes(machine.y, machine.upper)
        self.dual, self.gram = dual, machine.gram
        self._weights: Array | None = None
        self._calls_in_double = 0
        # Of alpha: the last sum, at first the largest that the bounds allow.
        self._total = dual.largest_sum
        # Bounds of the free alpha in units of the value, at the last solution.
        self._at_stake = 0.0
        self._last = np.zeros(bank.n_samples)

    @property
    def calls(self) -> int:
        """Number of SVMs solved, by LIBSVM or in double precision."""
        return self._machine.calls + self._calls_in_double

    @property
    def seconds(self) -> float:
        """Wall-clock seconds spent inside LIBSVM."""
        return self._machine.seconds

    def combine(self, weights: Array) -> None:
        """Write the Gram matrix at `weights` (M,) into LIBSVM's buffer, unless it is there."""
        if weights is not self._weights:
            self._bank.combine(weights, out=self.gram)
            self._weights = weights

    def train(
        self, weights: Array, gap: float, failures: int, expected: KernelMachine | None = None
    ) -> Trained:
        """Solve the SVM.

        Parameters
        ----------
        weights : ndarray of shape (M,)
            .
        gap : float
            Relative gap of the search; the tolerance follows it.
        failures : int
            Steps of the search that have led nowhere; after some, rounding counts as well.
        expected : KernelMachine or None, default=None
            The solution that a model expects there. It is taken where it is closer to the
            optimum than what was found.
        """
        self.combine(weights)
        tol = float(np.clip(_TOL * gap, _TIGHTEST, _LOOSEST))
        rounding = self._rounding()
        if self._at_stake * max(tol, rounding) > _AT_STAKE * gap:
            start = self._last if expected is None else expected.dual_coef
            trained = self.in_double_precision(weights, start)
        elif expected is not None and rounding > (tol if failures > _FAILURES else _LOOSEST):
            start = expected.dual_coef
            if len(start) > local_model.ALL_AT_ONCE:  # it pays to be near
                start = self._machine.solve(tol=_COARSEST).dual_coef
            trained = self.in_double_precision(weights, start)
        else:
            solution = self._machine.solve(tol=max(tol, min(rounding, _COARSEST)))
            self._total = float(np.abs(solution.dual_coef).sum())
            trained = self._solved(weights, solution)
        self._note_stakes(trained)
        if expected is not None:
            alternative = self._at(weights, expected.dual_coef, expected.intercept)
            if alternative.upper - alternative.objective < trained.upper - trained.objective:
                return alternative
        return trained

    def in_double_precision(self, weights: Array, dual_coef: Array) -> Trained:
        """Solve the SVM at `weights` without LIBSVM, from an inexact solution."""
        self.combine(weights)
        self._calls_in_double += 1
        exact, intercept = local_model.solve_svm(self.gram, self.dual, dual_coef, _DOUBLE_PRECISION)
        return self._at(weights, exact, intercept)

    def certified(
        self, weights: Array, dual_coef: Array, intercept: float, forms: Array
    ) -> Trained:
        """Certify a solution of MKL with the quadratic forms (M,) of all kernels.

        The weights (M,) are those whose Gram matrix is at hand.
        """
        outputs = self.gram @ dual_coef
        loss = self.dual.loss(intercept)
        point = PrimalDualPoint(loss, weights, forms, outputs, dual_coef, intercept)
        bounds = certify.bounds(point, Simplex())
        return Trained(weights, dual_coef, intercept, outputs, point.objective, bounds)

    def _note_stakes(self, trained: Trained) -> None:
        """Note what is lost where LIBSVM leaves all targets of free alpha missed by 1.

        Smooth functions of a small norm may meet targets by large alpha that nearly cancel. The
        bounds then multiply LIBSVM's tolerance, and it needs very long for one that is tight.
        """
        if self.dual.epsilon is not None and trained.objective > 0:
            self._last = trained.dual_coef
            alpha = self.dual.alpha(trained.dual_coef)
            free = (alpha > 0) & (alpha < self.dual.upper)
            self._at_stake = float(self.dual.upper[free].sum()) / trained.objective

    def _rounding(self) -> float:
        """Return the rounding of LIBSVM's outputs K a, for alpha of the size of the last."""
        return _SINGLE_PRECISION * self._total * float(self.gram.diagonal().max())

    def _solved(self, weights: Array, solution: SVMSolution) -> Trained:
        """Return a solution of LIBSVM, with an intercept where it has left that open."""
        intercept = solution.intercept
        if not np.isfinite(intercept):
            intercept = self.dual.best_intercept(self.gram @ solution.dual_coef)
        return self._at(weights, solution.dual_coef, intercept)

    def _at(self, weights: Array, dual_coef: Array, intercept: float) -> Trained:
        outputs = self.gram @ dual_coef
        loss = self.dual.loss(intercept)
        alone = PrimalDualPoint.of_one_kernel(loss, outputs, dual_coef, intercept)
        bounds = certify.bounds(alone, Simplex())
        return Trained(weights, dual_coef, intercept, outputs, bounds.lower, bounds)
