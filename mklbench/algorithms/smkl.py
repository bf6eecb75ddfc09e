"""SMKL: at most k kernels, by alternating best responses (Bertsimas et al. 2025).

With J(d) the SVM's value at the kernel sum_m d_m K_m (`mklbench.optim.svm_value`) it is

    minimise  J(d) + lam ||d||^2   over d >= 0, sum d = 1, with at most k entries other than 0.

The method of the paper answers an SVM with the weights that are best at its alpha, which is a
projection (`mklbench.certify.sparse.best_weights`), and these with an SVM, until the objective has
not fallen by `tol` in three rounds. That ends in a point that depends on the start; the best one is
returned. The authors start at random, here the start is d = 1/M.

``method="exact"`` finds the optimum of few kernels. Each alpha bounds J from below by a function
linear in d, the same for all sets of k kernels. The set whose bound is lowest is asked for its d,
an SVM there makes the next cut, and the search ends when the lowest bound meets the best objective.
It takes kernels that are positive semidefinite, as an SVM on others has no certified value.

The gap of either is that to the largest lower bound of the problem: of all sets where the optimum
is looked for, and else of the relaxation in which lam ||d||^2 is its convex hull over these d. That
relaxation is the semidefinite one of the paper, without a semidefinite matrix.
"""

from __future__ import annotations

import heapq
import itertools
import math
from typing import Literal

import clarabel
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky

from mklbench import iterations
from mklbench.certify import Bounds
from mklbench.certify.sparse import best_weights, cut_bound
from mklbench.errors import InputError
from mklbench.kernels.base import Array, Bank
from mklbench.optim.conic import conic_optimum
from mklbench.optim.problem import ClassWeight, Problem
from mklbench.optim.svm_value import Objective, Point, bounds_alone, check_bank
from mklbench.solution import Solution
from mklbench.validation import check_choice, check_count, check_limits, check_positive

VERSION = 1

Method = Literal["alternating", "exact"]

# Rounds without a fall of the objective after which the paper's method ends.
_PATIENCE = 3
# Sets of kernels that the exact method looks at, in seconds.
_MOST_SETS = 10_000
# A kernel is positive semidefinite up to this share of its mean diagonal.
_SEMIDEFINITE = 1e-8
_CONIC_TOL = 1e-9


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 10.0,
    *,
    lam: float = 0.1,
    cardinality: int = 3,
    method: Method = "alternating",
    tol: float = 1e-2,
    max_iter: int = 50,
    svm_tol: float = 1e-3,
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Learn weights of at most `cardinality` kernels.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=10.0
        Box constraint.
    lam : float, default=0.1
        Factor > 0 on the squared norm of the weights: the larger, the more alike they are.
    cardinality : int, default=3
        The largest number k of kernels with a weight.
    method : {"alternating", "exact"}, default="alternating"
        "alternating" is the paper's; "exact" finds the optimum, of at most 10,000 sets of k
        kernels.
    tol : float, default=0.01
        "alternating" ends when three rounds have not lowered the objective by this; "exact" at
        this relative gap.
    max_iter : int, default=50
        Maximum number of rounds, or of SVMs of "exact".
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class.

    Returns
    -------
    Solution
        `objective` is J(d) + lam ||d||^2 and `gap` how far above the problem's optimum it may be.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, or "exact" has too many sets of kernels
        or a kernel that is not positive semidefinite.
    """
    check_positive("lam", lam)
    check_count("cardinality", cardinality)
    check_choice("method", method, ("alternating", "exact"))
    tol = check_limits(tol, max_iter)
    problem = Problem.of(y, C, class_weight, sample_weight, svm_tol)
    bank = check_bank("smkl", bank, len(problem.y))
    search = _SparseSearch(Objective(bank, problem), lam, min(cardinality, bank.n_kernels))
    return (search.alternate if method == "alternating" else search.search)(tol, max_iter)


class _SparseSearch:
    """The objective, the cuts of all SVMs so far, and the point of the least objective."""

    def __init__(self, objective: Objective, lam: float, cardinality: int) -> None:
        self._objective, self._lam, self._k = objective, lam, cardinality
        self._totals: list[float] = []
        self._forms: list[Array] = []
        self._best: Point | None = None
        self._value, self._upper = math.inf, math.inf
        self._history = iterations.begin()

    def alternate(self, tol: float, max_iter: int) -> Solution:
        """Return the best point of alternating best responses (Algorithm 1 of the paper)."""
        bank = self._objective.operator
        forms = self._train(np.full(bank.n_kernels, 1.0 / bank.n_kernels)).forms
        without = 0
        for _ in range(max_iter):
            before = self._value
            forms = self._train(best_weights(forms, self._lam, self._k)).forms
            without = without + 1 if before - self._value < tol else 0
            if without == _PATIENCE:
                break
        return self._solution(self._relaxation(), without == _PATIENCE)

    def search(self, tol: float, max_iter: int) -> Solution:
        """Return the optimum over all sets of k kernels, to a relative gap."""
        bank = self._objective.operator
        if math.comb(bank.n_kernels, self._k) > _MOST_SETS:
            raise InputError(
                f"method=exact has {math.comb(bank.n_kernels, self._k)} sets of "
                f"cardinality={self._k} among {bank.n_kernels} kernels, and takes {_MOST_SETS} at "
                "most: choose method=alternating, or fewer kernels."
            )
        for m, weights in enumerate(np.eye(bank.n_kernels)):
            _check_semidefinite(bank.gram(weights), m)
        sets = itertools.combinations(range(bank.n_kernels), self._k)
        # Bound, cuts then known, kernels (of which no two sets are the same), their best weights.
        waiting = [(-math.inf, -1, chosen, np.zeros(self._k)) for chosen in sets]
        self._train(np.full(bank.n_kernels, 1.0 / bank.n_kernels))
        lower = -math.inf
        for _ in range(max_iter):
            while waiting[0][1] != len(self._totals):  # that bound is of fewer cuts
                chosen = waiting[0][2]
                bound, best = self._under_cuts(list(chosen))
                heapq.heapreplace(waiting, (bound, len(self._totals), chosen, best))
            lower, _, chosen, best = waiting[0]
            if self._closed(lower, tol):
                break
            weights = np.zeros(bank.n_kernels)
            weights[list(chosen)] = best
            self._train(weights)
        return self._solution(lower, self._closed(lower, tol))

    def _closed(self, lower: float, tol: float) -> bool:
        return self._best is not None and self._upper - lower <= tol * abs(self._upper)

    def _train(self, weights: Array) -> Point:
        """Return the SVM at some weights (M,), whose alpha is a cut from then on.

        The point is a candidate for the best one where no more than k weights are other than 0.
        """
        point = self._objective(weights)
        self._totals.append(float(np.abs(point.trained.dual_coef).sum()))
        self._forms.append(point.forms)
        norm = self._lam * float(weights @ weights)
        if np.count_nonzero(weights) <= self._k and point.objective + norm < self._value:
            a, b = point.trained.dual_coef, point.trained.intercept
            own = bounds_alone(self._objective.loss, point.outputs, a, b)
            self._best, self._value = point, point.objective + norm
            self._upper = max(own.upper + norm, self._value)
        lowest, calls = min(self._value, point.objective + norm), self._objective.machine.calls
        iterations.note(self._history, weights, objective=lowest, n_svm_calls=calls)
        return point

    def _under_cuts(self, chosen: list[int]) -> tuple[float, Array]:
        """Return a lower bound of some kernels alone, and their best weights under all cuts."""
        forms = np.array(self._forms)[:, chosen]
        weights, shares = _least_of_cuts(np.array(self._totals), forms, self._lam)
        total = float(shares @ np.array(self._totals))
        return cut_bound(total, shares @ forms, self._lam, len(chosen)), weights

    def _relaxation(self) -> float:
        """Return the lower bound of the relaxation, as far as the cuts know it."""
        totals, forms = np.array(self._totals), np.array(self._forms)
        bounds = [
            cut_bound(total, q, self._lam, self._k)
            for total, q in zip(self._totals, self._forms, strict=True)
        ]
        shares = _least_of_cuts(totals, forms, self._lam, self._k)[1]
        mixed = cut_bound(float(shares @ totals), shares @ forms, self._lam, self._k)
        return max(*bounds, mixed)

    def _solution(self, lower: float, converged: bool) -> Solution:
        assert self._best is not None
        lower = max(lower, self._lam / self._k)  # J >= 0, and k equal weights have the least norm
        return self._objective.solution(
            self._best,
            gap=Bounds(self._upper, min(lower, self._value)).relative_gap,
            converged=converged,
            history=self._history,
            objective=self._value,
        )


def _least_of_cuts(
    totals: Array, forms: Array, lam: float, cardinality: int | None = None
) -> tuple[Array, Array]:
    """Return the d (k,) of the simplex where max_j (s_j - 1/2 q_j'd) + lam ||d||^2 is least.

    With a cardinality the squared norm is its convex hull over d of so many entries, the least of
    sum_m d_m^2 / z_m over 0 <= z <= 1, sum z = cardinality. The second result are the shares (c,)
    of the cuts, their multipliers.
    """
    n_cuts, k = forms.shape
    scale = max(float(np.abs(totals).max()), 1.0)
    # The variables are d, the largest cut t and, with a cardinality, z and w >= d^2 / z.
    hull = 0 if cardinality is None else 2 * k
    n = k + 1 + hull
    x = sparse.identity(n, format="csr")
    d, t, z, w = x[:k], x[k], x[k + 1 : 2 * k + 1], x[2 * k + 1 :]
    cuts = sparse.csr_matrix(-0.5 * forms / scale) @ d - sparse.vstack([t] * n_cuts)
    parts = [
        (d.sum(axis=0), np.ones(1), clarabel.ZeroConeT(1)),
        (cuts, -totals / scale, clarabel.NonnegativeConeT(n_cuts)),
        (-d, np.zeros(k), clarabel.NonnegativeConeT(k)),
    ]
    quadratic = np.zeros(n)
    linear = np.zeros(n)
    linear[k] = 1.0
    if cardinality is None:
        quadratic[:k] = 2.0 * lam / scale
    else:
        linear[2 * k + 1 :] = lam / scale
        parts += [
            (z, np.ones(k), clarabel.NonnegativeConeT(k)),
            (z.sum(axis=0), np.array([float(cardinality)]), clarabel.NonnegativeConeT(1)),
        ]
        for m in range(k):  # d^2 <= w z
            rows = sparse.vstack([-w[m] - z[m], z[m] - w[m], -2.0 * d[m]])
            parts.append((rows, np.zeros(3), clarabel.SecondOrderConeT(3)))
    found = conic_optimum(sparse.diags(quadratic, format="csc"), linear, parts, _CONIC_TOL)
    shares = np.maximum(np.array(found.z)[1 : n_cuts + 1], 0.0)
    weights = np.maximum(np.array(found.x)[:k], 0.0)
    return weights / weights.sum(), shares / shares.sum()


def _check_semidefinite(K: Array, m: int) -> None:
    """Raise an InputError unless a Gram matrix (n, n) is positive semidefinite."""
    try:
        cholesky(K + _SEMIDEFINITE * np.trace(K) / len(K) * np.eye(len(K)), check_finite=False)
    except LinAlgError:
        raise InputError(
            f"kernel {m} is not positive semidefinite, and method=exact needs kernels that are: "
            "leave it out, or choose method=alternating."
        ) from None
