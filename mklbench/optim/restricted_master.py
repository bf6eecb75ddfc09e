"""The restricted master problem of column generation: MKL on the kernels found so far.

Gehler & Nowozin 2008, Algorithm 1, line 4. Any exact MKL solver can do it; what is added here is
that a master on members of a family needs few of the samples. A sample with margin y_i f(x_i) > 1
has alpha_i = 0 and could be left out without changing the solution, so the master is solved on a
working set: the support vectors of the master before and the samples near the margin. Whoever is
found within the margin afterwards joins, until the rest adds nothing to the primal value. The time
and the memory of a Gram matrix grow with the square of the number of samples, so this is most of
the time on data that can be separated well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklbench import certify
from mklbench.iterations import watched
from mklbench.kernels import Bank, Family, FamilyBank
from mklbench.kernels.mixtures import training_outputs
from mklbench.libsvm import SVM
from mklbench.optim.problem import Problem
from mklbench.solution import KernelMachine, Mixture, Solution

Array = NDArray[np.float64]

# Samples this far beyond the margin are in the working set, before they can be support vectors.
_BAND = 0.1
# It shrinks, and the Gram matrices are computed anew, when it could be this much smaller.
_MUCH_SMALLER = 0.7
# So much, where they are computed anew in any case.
_SMALLER = 0.95
# After so many working sets for one master none shrinks, so that the next ones end.
_WORKING_SETS = 20
# Samples outside of the working set may add this share of the tolerance to the primal value.
_OUTSIDE = 0.1


@dataclass(frozen=True)
class Restricted(KernelMachine):
    """The solution of a restricted master problem, with weights (k,) of the kernels at hand.

    Attributes
    ----------
    prices : ndarray of shape (k,)
        T = 1/2 a' K a of the kernels at hand.
    upper : float
        Value of the primal problem at these numbers.
    """

    prices: Array
    upper: float

    @property
    def multiplier(self) -> float:
        """The lambda of Gehler & Nowozin 2008, eq. 2: the largest price."""
        return float(self.prices.max())

    @property
    def objective(self) -> float:
        """J, the value of the SVM's dual at the weights."""
        return float(np.abs(self.dual_coef).sum() - self.weights @ self.prices)

    def lower(self, price: float) -> float:
        """Return MKL's dual value with kernels of price up to `price`, a lower bound on J."""
        return float(np.abs(self.dual_coef).sum()) - max(self.multiplier, price)


class MasterSolver:
    """An exact MKL solver, with what it has used so far.

    Parameters
    ----------
    solve : callable
        The core of an exact solver, called (bank, problem, tol=, start=).
    problem : Problem
        That of all samples.
    """

    def __init__(self, solve: Callable[..., Solution], problem: Problem) -> None:
        self._solve = solve
        self.problem = problem
        self.calls = 0
        self.svm_seconds = 0.0

    def __call__(
        self, bank: Bank, start: Array, tol: float, rows: NDArray[np.intp] | None = None
    ) -> Restricted:
        """Solve a master on kernels that are there already.

        Parameters
        ----------
        bank : Bank
            The kernels at hand.
        start : ndarray of shape (k,)
            Weights to start from.
        tol : float
            Relative duality gap.
        rows : ndarray of int of shape (n,) or None, default=None
            Which of all samples these are; all if not given.
        """
        problem = self.problem if rows is None else self.problem.take(rows)
        with watched(None):  # a round is what is told, not the iterations of its master
            solution = self._solve(bank, problem, tol=tol, start=start)
        self.calls += solution.n_svm_calls
        self.svm_seconds += solution.svm_seconds
        a, intercept = solution.dual_coef, solution.intercept
        prices = 0.5 * bank.quadratic_forms(a)
        upper = float(np.abs(a).sum() - prices.max()) / (1.0 - solution.gap)
        return Restricted(solution.weights, a, intercept, prices, upper)

    def note(self, machine: SVM) -> None:
        """Count what an SVM beside the masters has used."""
        self.calls += machine.calls
        self.svm_seconds += machine.seconds


class FamilyMaster:
    """Master problems on members of a family, each on a working set of the samples.

    Parameters
    ----------
    solver : MasterSolver
        The MKL solver.
    family : Family
        On the n training samples.

    Attributes
    ----------
    working_set : ndarray of int
        Indices of the samples that the next master begins with.
    margins : ndarray of shape (n,)
        y_i f(x_i) of all samples at the last master.
    """

    def __init__(self, solver: MasterSolver, family: Family) -> None:
        self._solver = solver
        self._family = family
        self._y, self._box = solver.problem.y, np.asarray(solver.problem.loss.box)
        self.working_set: NDArray[np.intp] = np.arange(len(self._y))
        self._bank: FamilyBank | None = None
        self.margins = np.zeros(len(self._y))
        self._near = np.ones(len(self._y), dtype=bool)

    def solve(self, mixture: Mixture, tol: float) -> Restricted:
        """Solve the master on the kernels of `mixture` from its weights, to the gap `tol`.

        Their Gram matrices are kept for the next master: a kernel that has its place in the mixture
        still is not computed again.
        """
        tried = 0
        while True:
            bank = self._bank_of(mixture.thetas)
            inside = self._solver(bank, mixture.weights, tol, self.working_set)
            dual_coef = np.zeros(len(self._y))
            dual_coef[self.working_set] = inside.dual_coef
            outside = np.delete(np.arange(len(self._y)), self.working_set)
            margins = self._margins(bank, inside, dual_coef, outside)
            added = certify.hinge_loss(margins[outside], self._box[outside])
            complete = added <= _OUTSIDE * tol * inside.upper
            near = (dual_coef != 0) | (margins < 1.0 + _BAND)
            tried += 1
            if tried > _WORKING_SETS:
                near[self.working_set] = True
            if not complete or near.sum() < _MUCH_SMALLER * len(self.working_set):
                self.working_set, self._bank = np.flatnonzero(near), None
            if complete:
                self.margins, self._near = margins, near
                return Restricted(
                    inside.weights, dual_coef, inside.intercept, inside.prices, inside.upper + added
                )

    def change_all(self) -> None:
        """Expect a master whose kernels are all new, so that the working set may shrink."""
        if self._near.sum() < _SMALLER * len(self.working_set):
            self.working_set, self._bank = np.flatnonzero(self._near), None

    def _bank_of(self, thetas: Array) -> FamilyBank:
        if self._bank is None:
            self._bank = FamilyBank(self._family.take(self.working_set), thetas)
        else:
            self._bank.update(thetas)
        return self._bank

    def _margins(
        self, bank: FamilyBank, inside: Restricted, dual_coef: Array, outside: NDArray[np.intp]
    ) -> Array:
        """Return y_i f(x_i) (n,) for all samples, those `outside` of the working set included."""
        outputs = np.empty(len(self._y))
        outputs[self.working_set] = bank.combine(inside.weights) @ inside.dual_coef
        if len(outside):
            outputs[outside] = training_outputs(
                self._family, inside.weights, bank.thetas, dual_coef, outside
            )
        return self._y * (outputs + inside.intercept)
