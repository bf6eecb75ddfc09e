"""The SVM inside MKL at changing weights, to the accuracy that the search for them needs.

LIBSVM's tolerance follows the gap. It keeps kernel values in single precision, so that its outputs
K a are off by their rounding, which grows with alpha: no tolerance is asked for that is below it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklbench import certify
from mklbench.certify import Bounds, PrimalDualPoint
from mklbench.kernels.base import Bank
from mklbench.libsvm import SVM, Machine
from mklbench.optim import svm_dual
from mklbench.optim.svm_dual import SVMDual
from mklbench.optim.svm_value import bounds_alone, check_samples
from mklbench.penalties.simple import Simplex
from mklbench.solution import KernelMachine

Array = NDArray[np.float64]

# LIBSVM's tolerance in units of the gap, and its limits.
_TOL, _LOOSEST, _TIGHTEST = 1e-3, 1e-2, 1e-6
# It stays above the rounding of single precision, up to this one.
_SINGLE_PRECISION, _COARSEST = 2.0**-24, 0.1


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
        # Of alpha: the last sum, at first the largest that the bounds allow.
        self._total = dual.largest_sum

    @property
    def calls(self) -> int:
        """Number of SVMs solved."""
        return self._machine.calls

    @property
    def seconds(self) -> float:
        """Wall-clock seconds spent inside LIBSVM."""
        return self._machine.seconds

    def combine(self, weights: Array) -> None:
        """Write the Gram matrix at `weights` (M,) into LIBSVM's buffer, unless it is there."""
        if weights is not self._weights:
            self._bank.combine(weights, out=self.gram)
            self._weights = weights

    def train(self, weights: Array, gap: float, expected: KernelMachine | None = None) -> Trained:
        """Solve the SVM.

        Parameters
        ----------
        weights : ndarray of shape (M,)
            Of the kernels.
        gap : float
            Relative gap of the search; the tolerance follows it.
        expected : KernelMachine or None, default=None
            The solution that a model expects there. It is taken where it is closer to the
            optimum than what was found.
        """
        self.combine(weights)
        tol = float(np.clip(_TOL * gap, _TIGHTEST, _LOOSEST))
        rounding = _SINGLE_PRECISION * self._total * float(self.gram.diagonal().max())
        solution = self._machine.solve(tol=max(tol, min(rounding, _COARSEST)))
        self._total = float(np.abs(solution.dual_coef).sum())
        intercept = solution.intercept
        if not np.isfinite(intercept):  # LIBSVM has left it open
            intercept = self.dual.best_intercept(self.gram @ solution.dual_coef)
        trained = self._at(weights, solution.dual_coef, intercept)
        if expected is not None:
            alternative = self._at(weights, expected.dual_coef, expected.intercept)
            if alternative.upper - alternative.objective < trained.upper - trained.objective:
                return alternative
        return trained

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

    def _at(self, weights: Array, dual_coef: Array, intercept: float) -> Trained:
        outputs = self.gram @ dual_coef
        bounds = bounds_alone(self.dual.loss(intercept), outputs, dual_coef, intercept)
        return Trained(weights, dual_coef, intercept, outputs, bounds.lower, bounds)
