"""Radius-margin MKL with the exact radius (Do et al. 2009, Gai, Chen & Zhang 2010).

The bound on the error of an SVM grows with R^2 ||w||^2, R the radius of the smallest ball around
the samples, and weights that are learned change both. H. Do, A. Kalousis, A. Woznica and M. Hilario
("Margin and radius based multiple kernel learning", ECML PKDD 2009) therefore minimise the product,
with the radius replaced by the upper bound sum_m d_m R_m^2, which makes it MKL on kernels of unit
radius, and squared slacks. K. Gai, G. Chen and C. Zhang ("Learning kernels with radiuses of minimum
enclosing balls", NIPS 2010) have the radius itself and the hinge loss, as here:

    minimise over d >= 0   G(d) = min over w, b of  1/2 R^2(d) ||w||^2 + C sum_i xi_i = J(d/R^2(d)),
    J(v) = max over 0 <= alpha <= C, y'alpha = 0 of  sum_i alpha_i - 1/2 sum_m v_m a' K_m a,

a = alpha o y. G does not depend on the scale of d, nor of any kernel but for its share. With v = d
/ R^2(d), q_m = a' K_m a, and r = dR^2/dd from `mklbench.optim.radius`,

    dG/dd_m = ( -1/2 q_m + 1/2 (v'q) r_m ) / R^2(d).

J is convex and falls in v, R^2 is convex: it is the convex problem min J(v) over v >= 0, R^2(v) <=
1. For every alpha in the box and every beta of a ball, sum alpha - 1/2 max_m q_m / r_m(beta) is
below its minimum (`mklbench.penalties.simple`); that certifies the gap. Where R^2 has a kink, no
alpha and beta of one point of the search prove much, but mixtures of them do
(`mklbench.optim.radius`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from mklbench.certify import Bounds
from mklbench.kernels.base import Array, Bank
from mklbench.optim.problem import ClassWeight, Problem
from mklbench.optim.radius import Evaluated, InUnitBall, PointAndBall, RadiusSearch
from mklbench.optim.svm_value import Objective, Point, check_bank
from mklbench.penalties.simple import Budget
from mklbench.solution import Solution
from mklbench.validation import check_limits

VERSION = 2


# LIBSVM's buffers of the SVM and of the ball, the kernel as it is, scaled, of the best and of the
# lowest point, and with one more sample, and the system of the active set.
MATRICES = 10.0
# The search is begun anew from its best point, with a more accurate SVM, where it ends early.
_SEARCHES = 4


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 1.0,
    *,
    tol: float = 1e-2,
    max_iter: int = 1000,
    svm_tol: float = 1e-3,
    class_weight: ClassWeight = None,
) -> Solution:
    """Learn kernel weights that make the margin large beside the radius of the data.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples, of whatever scale.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=1.0
        Box constraint of the SVM, on samples in a ball of radius 1.
    tol : float, default=0.01
        Certified relative duality gap at which to stop.
    max_iter : int, default=1000
        Maximum number of evaluations, each of a ball and an SVM.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance at the beginning.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".

    Returns
    -------
    Solution
        `weights` v, at which the ball has the radius 1; `objective` is J there. The SVM calls are
        those of the balls as well.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, or all kernels are constant.
    """
    tol = check_limits(tol, max_iter)
    problem = Problem.of(y, C, class_weight, svm_tol=svm_tol)
    bank = check_bank("radius_margin", bank, len(problem.y))
    search = _RadiusMarginSearch(bank, Objective(bank, problem), tol)
    best = search.run(_SEARCHES, max_iter)
    solution = search.objective.solution(
        best.at, gap=search.gap, converged=search.gap <= tol, history=search.history
    )
    calls, seconds = search.calls, search.seconds
    n_iter = len(search.history)
    return replace(solution, n_svm_calls=calls, n_iter=n_iter, svm_seconds=seconds)


class _RadiusMarginSearch(RadiusSearch[Point]):
    """G and its gradient, for weights in units of the spread of each kernel."""

    def __init__(self, bank: Bank, objective: Objective, tol: float) -> None:
        super().__init__(bank, tol, objective.machine)
        self.objective = objective

    def tighten(self) -> bool:
        return self.objective.tighten()

    def evaluated(self, inside: InUnitBall) -> Evaluated[Point]:
        point = self.objective(inside.weights, inside.K)
        bounds = self.objective.bounds(point, Budget(inside.radii))
        J, a = point.objective, point.trained.dual_coef
        total, forms = float(np.abs(a).sum()), 0.5 * point.forms
        pair = PointAndBall(a, total, forms, inside.shares, inside.radii)
        return Evaluated(point, bounds, J, J, point.gradient, pair)

    def bounded(self, lowest: Point, point: Array, radii: Array) -> Bounds:
        return self.objective.bounds_by(lowest, point, Budget(radii))
