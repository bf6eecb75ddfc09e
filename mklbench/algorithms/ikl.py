"""Infinite kernel learning, IKL (Gehler & Nowozin 2008): MKL on all members of a family.

The problem is MKL with the best finite choice of kernels from a set Theta (eq. 1). Its dual (eq. 2)
has one constraint for each member:

    maximise  sum_i alpha_i - lambda   over 0 <= alpha <= C, y'alpha = 0 and lambda
    such that T(theta; alpha) <= lambda for all theta in Theta,

    T(theta; alpha) = 1/2 a' K_theta a,        a = alpha o y.

A constraint is a kernel of the primal, so the constraints are generated one by one (Algorithm 1):

1. the restricted master, MKL on the kernels at hand, gives alpha, the weights and lambda
   (`mklbench.optim.restricted_master`);
2. the subproblem looks for kernels with T(theta; alpha) > lambda; on a bank all are priced, in a
   family a search finds local maxima (`mklbench.optim.kernel_search`);
3. the largest violators join with weight 0 (multiple pricing), after a decrease of the objective
   in the places of kernels without, and the master is solved again over all weights (totally
   corrective), from the weights before.

It ends where no violation is left that could lower the objective by more than the tolerance. On a
bank that is an exact solver of MKL: the gap is certified. In a family it is certified for the
kernels that were found and those the last search compared them with.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench import certify
from mklbench.algorithms import mkl, simplemkl
from mklbench.certify import Hinge, PrimalDualPoint
from mklbench.errors import InputError
from mklbench.kernels import Bank, Family, KernelOperator, KernelSubset, check_thetas
from mklbench.kernels.memory import Memory, Shape
from mklbench.libsvm import SVM
from mklbench.optim.fit_memory import at_changing_weights
from mklbench.optim.inner_svm import InnerSVM
from mklbench.optim.kernel_search import Found, KernelSearch, is_new
from mklbench.optim.last_resort import Seen
from mklbench.optim.restricted_master import FamilyMaster, MasterSolver, Restricted, on_bank
from mklbench.optim.svm_value import balanced, check_samples
from mklbench.penalties.simplex import Simplex
from mklbench.solution import Mixture, Solution
from mklbench.validation import check_choice, check_count, check_positive, real_array

VERSION = 2
EXACT = True

Array = NDArray[np.float64]

# The tolerance of a master in units of the gap before it, and its limits: far from the end it need
# not be exact, and at the end it may take this share of the tolerance.
_MASTER_TOL, _LOOSEST_MASTER, _TIGHTEST_MASTER = 0.1, 1e-2, 0.2
# A violator joins if it exceeds lambda by this share of the tolerance, in units of the objective.
_ACCEPTED = 0.1
# So many rounds, each of which lowers the objective by less than this share of it, end the search.
_PATIENCE, _LEAST_DECREASE = 5, 1e-5
# SVMs of a last resort.
_LAST_CALLS = 2
# Matrices (n, n) that a master and the certificate hold at once.
_MASTER_MATRICES = 4.5
# Kernels of a family that are kept, about: so many, and so many more for each of its parameters.
_KEPT, _KEPT_PER_PARAMETER, _MOST_KEPT = 10, 2, 100
# Of the kernels that the last search found, so many enter the certificate.
_RIVALS = 10


def bytes_needed(
    kernels: Memory,
    shape: Shape,
    n_problems: int = 1,
    *,
    max_iter: int = 100,
    pricing: int = 12,
    **options: object,
) -> float:
    """Return the bytes that `solve` takes beside the kernels.

    Of a family the kernels found are kept as halves. How many there will be nobody knows: more
    where there are more parameters.
    """
    kept = 0
    if kernels.is_family:
        likely = _KEPT + _KEPT_PER_PARAMETER * (kernels.n_kernels or 0)
        kept = min(likely, _MOST_KEPT, 1 + pricing * max_iter)
    return at_changing_weights(kernels, shape, _MASTER_MATRICES + 0.5 * kept)


def _simplemkl(bank: Bank, y: Array, C: float, *, start: Array, **options: Any) -> Solution:
    """Solve a master by SimpleMKL, which starts at its own weights."""
    return simplemkl.solve(bank, y, C, **options)


# Solvers of the restricted master problems.
_MASTERS: dict[str, Callable[..., Solution]] = {
    "mkl": mkl.solve_master,
    "simplemkl": _simplemkl,
}


def solve(
    kernels: KernelOperator,
    y: ArrayLike,
    C: float = 1.0,
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    pricing: int = 12,
    samples: int = 1000,
    master: str = "mkl",
    start: Mixture | ArrayLike | None = None,
    class_weight: Mapping[int, float] | str | None = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Learn which members of a family to combine, and how, or the weights of a bank.

    Parameters
    ----------
    kernels : KernelOperator
        A family with a bounded box, or a bank, on n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=1.0
        Box constraint.
    tol : float, default=0.001
        Stop at this relative duality gap (see `mklbench.certify.PrimalDualPoint.in_family` for
        what it means in a family).
    max_iter : int, default=100
        At most so many masters.
    pricing : int, default=12
        At most so many kernels join at once; 1 is Algorithm 1 to the letter.
    samples : int, default=1000
        So many random members of the family are looked at before the search in it ends, and
        the best of them are starts, too. The paper has none; without them a search takes a third
        of the time and now and then leaves a sparse kernel unseen, with most parameters 0.
    master : str, default="mkl"
        "mkl", the default exact solver, or "simplemkl", which the paper used.
    start : Mixture, array_like or None, default=None
        What to start from: the kernels of a family and their weights (`Mixture`), or weights
        (M,) of a bank. If not given, the one kernel that agrees best with the labels.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all.

    Returns
    -------
    Solution
        On a family `weights` (k,) are those of the kernels `thetas` (k, M), all positive; on a bank
        they are (M,). They sum to 1. `objective` is J, the value of the SVM's dual at the weights.
        Each entry of `history` has the objective, the gap, the number of kernels in the master and
        the SVM calls so far.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, or the box of the family is unbounded.
    """
    check_positive("tol", tol)
    check_count("max_iter", max_iter)
    check_count("pricing", pricing)
    check_count("samples", samples, minimum=0)
    machine = SVM(y, C, class_weight=class_weight, sample_weight=sample_weight)
    check_samples(kernels, len(machine.y))
    check_choice("master", master, _MASTERS)
    solver = MasterSolver(_MASTERS[master], C, machine.class_factors, machine.sample_weight)
    columns: _Columns = (
        _BankColumns(kernels, machine, solver, start)
        if isinstance(kernels, Bank)
        else _FamilyColumns(_check_bounded(kernels), machine, solver, start, samples)
    )
    history = _generate(columns, solver, tol, max_iter, pricing)
    gap = columns.certified_gap()
    if gap > tol and columns.resort(tol, gap):
        gap = columns.certified_gap()
    weights, thetas = columns.weights()
    return Solution(
        weights=weights,
        dual_coef=columns.restricted.dual_coef,
        intercept=columns.restricted.intercept,
        objective=columns.restricted.objective,
        gap=gap,
        n_svm_calls=solver.calls,
        n_iter=len(history) - 1,
        converged=gap <= tol,
        history=history,
        svm_seconds=solver.svm_seconds,
        thetas=thetas,
    )


class _Columns(ABC):
    """The kernels at hand, which masters weigh and subproblems add to."""

    restricted: Restricted

    @abstractmethod
    def solve_master(self, tol: float) -> None:
        """Solve the master on the kernels at hand, and set `restricted`."""

    @abstractmethod
    def search(self, thorough: bool) -> float:
        """Solve the subproblem at the master's alpha, and return the largest T found."""

    @abstractmethod
    def extend(self, excess: float, count: int, drop: bool) -> bool:
        """Add the kernels found whose T exceeds lambda by `excess`, at most `count` of them.

        Those of weight 0 make room for them if `drop`. Returns whether any has been added.
        """

    @abstractmethod
    def certified_gap(self) -> float:
        """Return the relative gap of the last master, by `mklbench.certify`."""

    def resort(self, tol: float, gap: float) -> bool:
        """Put what else is at hand in the place of a master that has not closed the gap.

        Returns whether there was anything with a smaller one.
        """
        return False

    @abstractmethod
    def weights(self) -> tuple[Array, Array | None]:
        """Return the weights of the last master as a solution has them, and the thetas."""


def _generate(
    columns: _Columns, solver: MasterSolver, tol: float, max_iter: int, pricing: int
) -> list[dict[str, float]]:
    """Generate columns until the gap is at most `tol`, or no progress is made."""
    history: list[dict[str, float]] = []
    tightest, lowest, failures = _TIGHTEST_MASTER * tol, np.inf, 0
    master_tol = max(_LOOSEST_MASTER, tightest)
    while True:
        columns.solve_master(master_tol)
        restricted = columns.restricted
        for thorough in (False, True):
            gap = 1.0 - restricted.lower(columns.search(thorough)) / restricted.upper
            if gap > tol:
                break
        history.append(
            {
                "objective": restricted.objective,
                "gap": gap,
                "n_kernels": float(len(restricted.weights)),
                "n_svm_calls": float(solver.calls),
            }
        )
        progress = restricted.objective < lowest * (1.0 - _LEAST_DECREASE)
        failures = 0 if progress else failures + 1
        lowest = min(lowest, restricted.objective)
        if gap <= tol or len(history) == max_iter or failures == _PATIENCE:
            return history
        # Kernels leave after a decrease only: where alpha is not unique, as with kernels of low
        # rank, those that just joined with weight 0 may be needed together with the next.
        extended = columns.extend(_ACCEPTED * tol * restricted.upper, pricing, drop=progress)
        if not extended and master_tol <= tightest:
            return history
        master_tol = (
            max(min(_MASTER_TOL * gap, _LOOSEST_MASTER), tightest) if extended else tightest
        )


class _BankColumns(_Columns):
    """Kernels of a bank: all of them are priced, at every master."""

    def __init__(
        self, bank: Bank, machine: SVM, solver: MasterSolver, start: Mixture | ArrayLike | None
    ) -> None:
        self._bank = bank
        self._machine = machine
        self._solver = solver
        self._svm = InnerSVM(bank, machine)
        self._seen = Seen(bank, self._svm)
        if start is None:
            first = np.argmax(bank.quadratic_forms(balanced(machine.y)))
            self._chosen, self._start = np.array([first]), np.ones(1)
        else:
            weights = _check_start(start, bank.n_kernels)
            self._chosen = np.flatnonzero(weights)
            self._start = weights[self._chosen]

    def solve_master(self, tol: float) -> None:
        bank = KernelSubset(self._bank, self._chosen)
        self.restricted = on_bank(self._solver, bank, self._machine.y, self._start, tol)
        self._prices = 0.5 * self._bank.quadratic_forms(self.restricted.dual_coef)
        self._seen.note(self.weights()[0], self.restricted.upper)
        self._seen.note_alpha(
            self.restricted.dual_coef, self.restricted.lower(float(self._prices.max()))
        )

    def search(self, thorough: bool) -> float:
        return float(self._prices.max())

    def extend(self, excess: float, count: int, drop: bool) -> bool:
        by_price = np.argsort(-self._prices, kind="stable")
        violating = self._prices[by_price] > self.restricted.multiplier + excess
        joining = np.setdiff1d(by_price[violating], self._chosen, assume_unique=True)[:count]
        staying = (self.restricted.weights > 0) | (not drop)
        self._chosen = np.concatenate([self._chosen[staying], joining])
        self._start = np.pad(self.restricted.weights[staying], (0, len(joining)))
        return len(joining) > 0

    def certified_gap(self) -> float:
        loss = Hinge(self._machine.y, self._machine.upper)
        machine = replace(self.restricted, weights=self.weights()[0])
        point = PrimalDualPoint.on_bank(self._bank, loss, machine)
        return certify.bounds(point, Simplex()).relative_gap

    def resort(self, tol: float, gap: float) -> bool:
        best = self._seen.best(tol, _LAST_CALLS)
        self._solver.calls += self._svm.calls
        self._solver.svm_seconds += self._machine.seconds
        if best is None or best.gap >= gap:
            return False
        prices = 0.5 * self._bank.quadratic_forms(best.dual_coef)
        self._chosen = np.arange(self._bank.n_kernels)
        self.restricted = Restricted(
            best.weights, best.dual_coef, best.intercept, prices, best.upper
        )
        return True

    def weights(self) -> tuple[Array, None]:
        weights = np.zeros(self._bank.n_kernels)
        weights[self._chosen] = self.restricted.weights
        return weights, None


class _FamilyColumns(_Columns):
    """Members of a family: the subproblem is a search for local maxima of T.

    All is done in the family's own order of parameters, so that the result does not depend on the
    order in which the features were given: rounding would lead to other local maxima.
    """

    def __init__(
        self,
        family: Family,
        machine: SVM,
        solver: MasterSolver,
        start: Mixture | ArrayLike | None,
        samples: int,
    ) -> None:
        self._family, self._order = family.in_own_order()
        self._machine = machine
        self._master = FamilyMaster(solver, self._family, machine)
        self._search = KernelSearch(self._family, samples)
        self._found: list[Found] = []
        if start is None:
            self._mixture = _first_kernel(self._family, machine.y)
        else:
            given = _check_mixture(start, family)
            self._mixture = given._replace(thetas=given.thetas[:, self._order])

    def solve_master(self, tol: float) -> None:
        self.restricted = self._master.solve(self._mixture, tol)
        self._mixture = self._mixture._replace(weights=self.restricted.weights)

    def search(self, thorough: bool) -> float:
        self._found = self._search.run(self.restricted.dual_coef, self._mixture, thorough)
        return self._found[0].price

    def extend(self, excess: float, count: int, drop: bool) -> bool:
        least = self.restricted.multiplier + excess
        violators = [
            found
            for found in self._found
            if found.price > least and is_new(found.theta, self._mixture.thetas)
        ]
        joining = [theta for _, theta in violators[:count]]
        self._search.keep(violators[count:])
        # New kernels take the places of those that leave, so that the others keep theirs.
        weights, thetas = self._mixture
        places = np.flatnonzero((weights == 0) & drop)[: len(joining)]
        thetas = thetas.copy()
        for place, theta in zip(places, joining, strict=False):
            thetas[place] = theta
        more = joining[len(places) :]
        self._mixture = Mixture(np.pad(weights, (0, len(more))), np.array([*thetas, *more]))
        return len(joining) > 0

    def certified_gap(self) -> float:
        weights, thetas = self._weighted()
        loss = Hinge(self._machine.y, self._machine.upper)
        machine = replace(self.restricted, weights=weights)
        rivals = np.array([theta for _, theta in self._found[:_RIVALS]])
        point = PrimalDualPoint.in_family(self._family, loss, machine, thetas, rivals)
        return certify.bounds(point, Simplex()).relative_gap

    def weights(self) -> tuple[Array, Array]:
        weights, in_own_order = self._weighted()
        thetas = np.empty_like(in_own_order)
        thetas[:, self._order] = in_own_order
        return weights, thetas

    def _weighted(self) -> Mixture:
        """Return the kernels of positive weight, their parameters in the family's own order."""
        positive = self._mixture.weights > 0
        return Mixture(self._mixture.weights[positive], self._mixture.thetas[positive])


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


def _check_bounded(kernels: KernelOperator) -> Family:
    family = cast(Family, kernels)  # what is no bank is a family
    if not np.isfinite(family.upper).all():
        raise InputError(
            f"ikl searches a bounded box, but {type(family).__name__} has parameters up to "
            f"{family.upper.max():g}: set kernel.gamma_max, or choose kernel=products."
        )
    return family


def _check_start(start: Mixture | ArrayLike, n_kernels: int) -> Array:
    weights = real_array("start", start)
    if weights.shape != (n_kernels,) or not (weights >= 0).all() or not weights.any():
        raise InputError(
            f"start has shape {weights.shape}: give one weight >= 0 for each of the {n_kernels} "
            "kernels, some > 0."
        )
    return weights


def _check_mixture(start: Mixture | ArrayLike, family: Family) -> Mixture:
    if not isinstance(start, Mixture):
        raise InputError(
            "start is no Mixture: in a family give the kernels to start from with their weights."
        )
    thetas = check_thetas(family, start.thetas)
    return Mixture(_check_start(start.weights, len(thetas)), thetas)
