"""The columns of infinite kernel learning: the kernels at hand, of a bank or found in a family.

`mklbench.algorithms.ikl` solves a master on them, prices all kernels by the master's alpha, and has
the largest violators join. Here is what that means on a bank, where every kernel is priced, and in
a family, where a search finds local maxima, and another one looks for what that left out
(`mklbench.optim.kernel_search`).

The restricted master is MKL on the kernels at hand (Gehler & Nowozin 2008, Algorithm 1, line 4).
Any exact MKL solver can do it; what is added here is that a master on members of a family needs few
of the samples. A sample with margin y_i f(x_i) > 1 has alpha_i = 0 and could be left out without
changing the solution, so the master is solved on a working set: the support vectors of the master
before and the samples near the margin. Whoever is found within the margin afterwards joins, until
the rest adds nothing to the primal value. The time and the memory of a Gram matrix grow with the
square of the number of samples, so this is most of the time on data that can be separated well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench import certify
from mklbench.certify import PrimalDualPoint
from mklbench.errors import InputError
from mklbench.iterations import watched
from mklbench.kernels import Bank, Family, FamilyBank, KernelOperator, KernelSubset
from mklbench.kernels.base import Array
from mklbench.kernels.families import check_thetas, training_outputs
from mklbench.optim.kernel_search import (
    Found,
    IndependentSearch,
    KernelSearch,
    descend_together,
    distinct,
    is_new,
)
from mklbench.optim.problem import Problem
from mklbench.optim.svm_value import balanced, start_weights
from mklbench.penalties.simple import Simplex
from mklbench.solution import KernelMachine, Mixture, Solution

# Of the kernels that the last search of either kind found, so many enter the certificate. They are
# as many as rounding in single precision could put in the place of the best.
_RIVALS = 10
# Kernels move on the support vectors and the samples this near the margin, until an iteration
# lowers J by less than this share.
_BAND, _LEAST_DESCENT = 0.02, 2e-5
# After a descent of J by less than this share they rest for a round.
_WORTHWHILE = 3e-4
# Samples this far beyond the margin are in the working set, before they can be support vectors.
_MASTER_BAND = 0.1
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

        Their Gram matrices are kept for the next master: a kernel at the same index of the mixture
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
            near = (dual_coef != 0) | (margins < 1.0 + _MASTER_BAND)
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


class BankColumns:
    """Kernels of a bank: all of them are priced, at every master, and none moves.

    Attributes
    ----------
    restricted : Restricted
        The last master.
    """

    restricted: Restricted

    def __init__(self, bank: Bank, solver: MasterSolver, start: Mixture | ArrayLike | None) -> None:
        self._bank, self._solver = bank, solver
        if start is None:
            first = np.argmax(bank.quadratic_forms(balanced(solver.problem.y)))
            self._chosen, self._start = np.array([first]), np.ones(1)
        else:
            weights = start_weights(start, bank.n_kernels)
            self._chosen = np.flatnonzero(weights)
            self._start = weights[self._chosen]

    def solve_master(self, tol: float) -> None:
        """Solve the master on the kernels at hand, and set `restricted`."""
        bank = KernelSubset(self._bank, self._chosen)
        self.restricted = self._solver(bank, self._start, tol)
        self._prices = 0.5 * self._bank.quadratic_forms(self.restricted.dual_coef)

    def move(self, tol: float) -> None:
        """Do nothing."""

    def search(self, thorough: bool) -> float:
        """Return the largest T."""
        return float(self._prices.max())

    def search_globally(self) -> None:
        """Return nothing, as no kernel is left to look for."""

    def extend(self, excess: float, count: int, drop: bool) -> bool:
        """Add the kernels whose T exceeds lambda by `excess`, at most `count` of them.

        Those of weight 0 make room for them if `drop`. Returns whether any has been added.
        """
        by_price = np.argsort(-self._prices, kind="stable")
        violating = self._prices[by_price] > self.restricted.multiplier + excess
        joining = np.setdiff1d(by_price[violating], self._chosen, assume_unique=True)[:count]
        staying = (self.restricted.weights > 0) | (not drop)
        self._chosen = np.concatenate([self._chosen[staying], joining])
        self._start = np.pad(self.restricted.weights[staying], (0, len(joining)))
        return len(joining) > 0

    def certified_gaps(self) -> tuple[float, None]:
        """Return the relative gap of the last master, by `mklbench.certify`, and no other."""
        machine = replace(self.restricted, weights=self.weights()[0])
        point = PrimalDualPoint.on_bank(self._bank, self._solver.problem.loss, machine)
        return certify.bounds(point, Simplex()).relative_gap, None

    def weights(self) -> tuple[Array, None]:
        """Return the weights (M,) of the last master."""
        weights = np.zeros(self._bank.n_kernels)
        weights[self._chosen] = self.restricted.weights
        return weights, None


class FamilyColumns:
    """Members of a family: the subproblem is a search for local maxima of T.

    All is done in the family's own order of parameters, so that the result does not depend on the
    order in which the features were given: rounding would lead to other local maxima.

    Parameters
    ----------
    kernels : KernelOperator
        A family with a bounded box, on n training samples.
    solver : MasterSolver
        Of the masters, with the labels of these samples.
    start : Mixture, array_like or None
        Kernels with their weights; None for the one kernel that agrees best with the labels.
    samples, n_joint_steps : int
        As in `mklbench.algorithms.ikl.solve`.
    ascents : tuple of int, int or None, int
        Of the independent search: its own, those of a round, and those from products of kernels.

    Attributes
    ----------
    restricted : Restricted
        The last master.

    Raises
    ------
    InputError
        If the box of the family is unbounded, or `start` does not fit.
    """

    restricted: Restricted

    def __init__(
        self,
        kernels: KernelOperator,
        solver: MasterSolver,
        start: Mixture | ArrayLike | None,
        samples: int,
        n_joint_steps: int,
        ascents: tuple[int, int | None, int],
    ) -> None:
        family = cast(Family, kernels)  # what is no bank is a family
        if not np.isfinite(family.upper).all():
            raise InputError(
                f"ikl searches a bounded box, but {type(family).__name__} has parameters up to "
                f"{family.upper.max():g}: set kernel.gamma_max, or choose kernel=products."
            )
        self._family, self._order = family.in_own_order()
        self._solver = solver
        self._n_joint_steps, self._resting = n_joint_steps, False
        self._master = FamilyMaster(solver, self._family)
        self._search = KernelSearch(self._family, samples, moved=n_joint_steps > 0)
        self._found: list[Found] = []
        self._independent = IndependentSearch(self._family, *ascents) if ascents[0] else None
        self._beyond: list[Found] | None = None  # what it has found at the master's alpha
        if start is None:
            self._mixture = _first_kernel(self._family, solver.problem.y)
        else:
            given = _check_mixture(start, family)
            self._mixture = given._replace(thetas=given.thetas[:, self._order])

    def solve_master(self, tol: float) -> None:
        """Solve the master on the kernels at hand, and set `restricted`."""
        self.restricted = self._master.solve(self._mixture, tol)
        self._mixture = self._mixture._replace(weights=self.restricted.weights)
        self._beyond = None

    def move(self, tol: float) -> None:
        """Move the kernels with weight to where they are better, and solve the master again.

        Nothing happens where they cannot move, or that was not asked for.
        """
        before, mixture, known = self.restricted, self._mixture, self._weighted()
        if not self._n_joint_steps or len(known.weights) == 1 or self._resting:
            self._resting = False
            return
        near = self._master.margins < 1.0 + _BAND
        rows = np.flatnonzero((before.dual_coef != 0) | near)
        machine = self._solver.problem.take(rows).machine()
        self._mixture = descend_together(
            self._family.take(rows), machine, known, self._n_joint_steps, _LEAST_DESCENT
        )
        self._solver.calls += machine.calls
        self._solver.svm_seconds += machine.seconds
        self._master.change_all()
        self.solve_master(tol)
        descent = 1.0 - self.restricted.objective / before.objective
        self._resting = descent < _WORTHWHILE
        if descent < _LEAST_DESCENT:
            # Samples on which nothing moved count, or J is as low as it can be: alpha may then need
            # the kernels without weight, too.
            self._mixture, self.restricted, self._beyond = mixture, before, None

    def search(self, thorough: bool) -> float:
        """Solve the subproblem at the master's alpha, and return the largest T found."""
        a = self.restricted.dual_coef
        self._found = self._search.run(a, self._mixture, thorough)
        if self._n_joint_steps and self._independent is not None and not thorough:
            self._found = distinct([*self._found, *self._independent.run_round(a, self._mixture)])
        return self._found[0].price

    def search_globally(self) -> float | None:
        """Search once more, in another way, and return the largest T that either search found.

        None where that was not asked for.
        """
        if self._independent is None:
            return None
        a = self.restricted.dual_coef
        self._beyond = self._independent.run(a, self._mixture)
        # Priced as the certificate does, which decides in the end.
        support = np.flatnonzero(a)
        inside, nonzero = self._family.take(support), a[support]
        rivals = distinct([*self._found, *self._beyond])[:_RIVALS]
        return max(0.5 * float(nonzero @ inside.gram(theta) @ nonzero) for _, theta in rivals)

    def extend(self, excess: float, count: int, drop: bool) -> bool:
        """Add kernels found as `BankColumns.extend` does, twice as many where kernels move."""
        least = self.restricted.multiplier + excess
        if self._n_joint_steps:  # there are two searches
            count *= 2
        violators = [
            found
            for found in distinct([*self._found, *(self._beyond or ())])
            if found.price > least and is_new(found.theta, self._mixture.thetas)
        ]
        joining = [theta for _, theta in violators[:count]]
        self._search.keep(violators[count:])
        # New kernels take the indices of those that leave, so that the others keep theirs.
        weights, thetas = self._mixture
        free = np.flatnonzero((weights == 0) & drop)[: len(joining)]
        thetas = thetas.copy()
        for k, theta in zip(free, joining, strict=False):
            thetas[k] = theta
        more = joining[len(free) :]
        self._mixture = Mixture(np.pad(weights, (0, len(more))), np.array([*thetas, *more]))
        return len(joining) > 0

    def certified_gaps(self) -> tuple[float, float | None]:
        """Return the relative gaps of the last master, by `mklbench.certify`.

        The first is that of the kernels found, the second that with those of `search_globally`.
        """
        if self._independent is not None and self._beyond is None:
            self.search_globally()
        weights, thetas = self._weighted()
        loss = self._solver.problem.loss
        machine = replace(self.restricted, weights=weights)
        found = [theta for _, theta in self._found[:_RIVALS]]
        beyond = [theta for _, theta in (self._beyond or ())[:_RIVALS]]
        rivals = np.array([*found, *beyond])
        whole = PrimalDualPoint.in_family(self._family, loss, machine, thetas, rivals)
        count = len(thetas) + len(found)
        part = replace(whole, weights=whole.weights[:count], forms=whole.forms[:count])
        gap = certify.bounds(part, Simplex()).relative_gap
        if self._independent is None:
            return gap, None
        # What is summed with more zeros may be rounded to less.
        return gap, max(gap, certify.bounds(whole, Simplex()).relative_gap)

    def weights(self) -> tuple[Array, Array]:
        """Return the positive weights (k,) of the last master, and the thetas (k, M)."""
        weights, in_own_order = self._weighted()
        thetas = np.empty_like(in_own_order)
        thetas[:, self._order] = in_own_order
        return weights, thetas

    def _weighted(self) -> Mixture:
        """Return the kernels of positive weight, their parameters in the family's own order."""
        positive = self._mixture.weights > 0
        return Mixture(self._mixture.weights[positive], self._mixture.thetas[positive])


Columns = BankColumns | FamilyColumns


def _first_kernel(family: Family, y: Array) -> Mixture:
    """Return the one of the family's scales that agrees best with the labels.

    The agreement is the alignment <K, t t'> / ||K||_F (Cristianini et al. 2002), for labels t that
    give both classes the same weight; a constant kernel then has none.
    """
    targets = balanced(y)

    def alignment(theta: Array) -> float:
        K = family.gram(theta)
        return float(targets @ K @ targets) / float(np.linalg.norm(K))

    return Mixture(np.ones(1), max(family.scales(), key=alignment)[None, :])


def _check_mixture(start: Mixture | ArrayLike, family: Family) -> Mixture:
    if not isinstance(start, Mixture):
        raise InputError(
            "start is no Mixture: in a family give the kernels to start from with their weights."
        )
    thetas = check_thetas(family, start.thetas)
    return Mixture(start_weights(start.weights, len(thetas)), thetas)
