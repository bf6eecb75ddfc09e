"""MEMO: weights of large margin and small complexity (Lauriola, Polato & Aiolli 2018).

I. Lauriola, M. Polato, F. Aiolli, "The minimum effort maximum output principle applied to multiple
kernel learning", ESANN 2018. The complexity is the spectral ratio trace(K) / ||K||_F, from 1 for a
kernel that is constant to sqrt(n) for the identity. Among combinations of one trace it is small
where ||K||_F is large, and with D the squared distance of the hulls of the classes

    maximise over mu >= 0, sum mu = 1   G(mu) = D(mu) + theta/2 mu' Q mu,
    D(mu) = min over gamma of  sum_m mu_m q_m(gamma),   Q_ml = <K_m, K_l>_F / mean_k ||K_k||_F^2,

q_m = gamma' Y K_m Y gamma with gamma >= 0 of sum 1 over either class. theta = 0 asks for the margin
alone, a large theta for the least complex kernel. The problem is stated as MKLpy 0.6, of the
paper's first author, and its documentation have it. The unit of theta is MKLpy's too, where before
0.6 Q was divided by the sum of the ||K_k||_F^2, in place of their mean. The kernels are taken at
mean diagonal 1, so that their scale does not matter.

MKLpy climbs from equal weights, with a fixed step for a fixed number of steps. Here a quasi-Newton
method climbs to an end: q + theta Q mu is the gradient, and no step towards another mu promises
more than max_m (q + theta Q mu)_m - (q + theta Q mu)' mu. At theta = 0 that is a duality gap, as D
is concave. mu' Q mu is convex, so that for theta > 0 it is a KKT residual, and there are several
maxima. The best is kept of those above equal weights, above the weights of the largest margin, and
above the least complex kernel alone.

As in `mklbench.algorithms.gram` a ridge lam ||gamma||^2 makes the margin soft where classes
overlap, and the machine is an SVM with C on the combination.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mklbench import certify, iterations
from mklbench.algorithms.radius_margin import MATRICES as MATRICES
from mklbench.certify import Bounds
from mklbench.kernels.base import Array, Bank
from mklbench.optim.hulls import MEETING, Hulls, unit_diagonals
from mklbench.optim.machines import ClassWeight, Learner, after_first_stage
from mklbench.optim.radius import Done, lbfgs
from mklbench.optim.several import Several, one_of, path_of
from mklbench.penalties.simple import Simplex
from mklbench.solution import Solution
from mklbench.validation import check_limits, check_not_negative

VERSION = 1
# `solve_path` solves for several values of this option at the price of one.
PATH_OPTION = "C"


_HULLS_TOL = 1e-7
# A climb is begun anew from where it is, where it ends early.
_CLIMBS = 3


@one_of(PATH_OPTION)
def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 1.0,
    *,
    theta: float = 0.0,
    lam: float = 1e-3,
    tol: float = 1e-2,
    max_iter: int = 300,
    svm_tol: float = 1e-3,
    class_weight: ClassWeight = None,
) -> Several:
    """Learn kernel weights of large margin and small complexity, and an SVM on their combination.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples, of whatever scale.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=1.0
        Box constraint of the SVM.
    theta : float, default=0.0
        >= 0, what a small complexity is worth beside the margin: to be chosen, as the margin falls
        with n and where classes overlap. The default, which is MKLpy's, asks for the margin alone.
    lam : float, default=0.001
        The ridge in units of the mean diagonal, >= 0. At 0, as in the paper, equal weights have to
        separate the classes.
    tol : float, default=0.01
        Relative gap of G, at theta > 0 its KKT residual, at which to stop.
    max_iter : int, default=300
        Maximum number of evaluations in all climbs, each of the closest points of two hulls.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance for the SVM at the end.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".

    Returns
    -------
    Solution
        `weights` are such that the combination has the mean diagonal 1: mu_m divided by the mean
        diagonal of kernel m. `objective` is G, and `gap` the larger of its own and that of the SVM.
        The SVM calls are those of the hulls as well.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, all kernels have the trace 0, or with
        lam=0 equal weights do not separate the classes.
    """
    check_not_negative("theta", theta)
    check_not_negative("lam", lam)
    tol = check_limits(tol, max_iter)
    machine = Learner("svm", C, 1.0, 0.0, svm_tol, class_weight)
    bank, labels = machine.check("memo", bank, y)
    search = _Ascent(bank, labels, theta, lam, tol, max_iter)
    best = search.maximum()

    def learned(C: float) -> Solution:
        solution = replace(machine, C=C).learn(bank, labels, best.weights * search.units)
        used = search.hulls.calls, search.hulls.seconds
        return after_first_stage(solution, best.objective, best.gap, tol, search.history, *used)

    return lambda Cs: [learned(each) for each in Cs]


solve_path = path_of(solve, PATH_OPTION)


class _Point(NamedTuple):
    """A point of the problem at one theta.

    Attributes
    ----------
    weights : ndarray of shape (M,)
        mu.
    value : float
        G at the closest points that were found, not below that of mu.
    gradient : ndarray of shape (M,)
        Of G.
    objective : float
        What G is known to be at least.
    gap : float
        Between that and what any step promises, relative.
    """

    weights: Array
    value: float
    gradient: Array
    objective: float
    gap: float


class _Ascent:
    """Climbs to maxima of G, with so many evaluations in all."""

    def __init__(
        self, bank: Bank, y: Array, theta: float, lam: float, tol: float, max_evals: int
    ) -> None:
        self.bank, self.theta, self.lam, self.tol = bank, theta, lam, tol
        self.units, M = unit_diagonals(bank), bank.n_kernels
        self._Q = np.zeros((M, M))
        if theta > 0:
            products = np.outer(self.units, self.units) * bank.inner_products()
            self._Q = products / products.diagonal().mean()
        self._left = max_evals
        self.hulls = Hulls(y, _HULLS_TOL)
        self.history = iterations.begin()

    def maximum(self) -> _Point:
        """Return the best maximum of those that are found."""
        equal = (self.units > 0) / np.count_nonzero(self.units)
        best = self._climb(equal, self.theta)
        if self.theta == 0:
            return best
        least_complex = np.eye(len(equal))[self._Q.diagonal().argmax()]
        for start, margin_first in ((equal, True), (least_complex, False)):
            if margin_first and self._left:
                start = self._climb(equal, 0.0).weights
            if self._left:
                found = self._climb(start, self.theta)
                best = max(best, found, key=lambda point: (point.gap <= self.tol, point.objective))
        return best

    def evaluate(self, mu: Array, theta: float) -> _Point:
        """Find the closest points at mu (M,), note them, and return the point at this theta."""
        K, has_begun = self.bank.gram(mu * self.units), len(self.history) > 0
        closest = self.hulls.ridged(K, self.lam, may_meet=has_begun)
        margins = self.units * self.bank.quadratic_forms(closest.coefficients)
        products = self._Q @ mu

        def at(theta: float) -> _Point:
            likeness = 0.5 * theta * float(mu @ products)
            value, gradient = closest.bounds.upper + likeness, margins + theta * products
            # No mu has a D above the plane of these closest points.
            plane = certify.frank_wolfe_bounds(-value, mu, -gradient, Simplex())
            least = closest.bounds.lower + likeness
            return _Point(mu, value, gradient, least, Bounds(-least, plane.lower).relative_gap)

        own, calls = at(self.theta), self.hulls.calls
        iterations.note(self.history, mu, objective=own.objective, gap=own.gap, n_svm_calls=calls)
        return at(theta)

    def _climb(self, start: Array, theta: float) -> _Point:
        """Climb at this theta, and return the point with the smallest gap.

        G is continued to all d >= 0 as total * G(d / total), total = sum d, and total - log of that
        is minimised: at theta = 0 a convex function, and its minimum has the total 1.
        """
        best: _Point | None = None

        def function(d: Array) -> tuple[float, Array]:
            nonlocal best
            total = float(d.sum())
            if not self._left or total <= 0:
                raise Done
            self._left -= 1
            point = self.evaluate(d / total, theta)
            if best is None or point.gap < best.gap:
                best = point
                if point.gap <= self.tol:
                    raise Done
            value = total * max(point.value, MEETING)
            slope = point.gradient - float(point.gradient @ point.weights)
            return total - np.log(value), 1.0 - 1.0 / total - slope / value

        for _ in range(_CLIMBS):
            if best is not None and (best.gap <= self.tol or not self._left):
                break
            lbfgs(function, start if best is None else best.weights, self._left)
        assert best is not None
        return best
