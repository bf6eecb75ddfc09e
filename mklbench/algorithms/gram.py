"""GRAM: the weights of smallest radius-margin ratio (Lauriola, Polato & Aiolli 2017).

I. Lauriola, M. Polato, F. Aiolli, "Radius-margin ratio optimization for dot-product boolean kernel
learning", ICANN 2017. With R the radius of the smallest ball around the samples and D the squared
distance of the hulls of the classes (four times the squared hard margin),

    minimise over d >= 0   R^2(d) / D(d),   D(d) = min over gamma of  sum_m d_m q_m(gamma),

q_m = gamma' Y K_m Y gamma with gamma >= 0 of sum 1 over either class. The paper, and MKLpy 0.6,
descend from equal weights along the gradient in log d, with a fixed step and a fixed number of
steps or an end by validation. Here the minimum itself is found: the ratio does not depend on the
scale of d, so that it is to maximise D, which is concave, over the convex set d >= 0, R^2(d) <= 1;
and for all gamma and all beta of a ball (`mklbench.optim.radius`) no ratio is below

    min_m r_m(beta) / q_m(gamma),

by which the gap is certified.

No kernel separates all data. A ridge lam ||gamma||^2 beside gamma' Y K Y gamma, in units of the
squared radius, makes the margin soft, as in KOMD (`mklbench.algorithms.easymkl`), and D + the ridge
is still concave: at lam = 0 it is the paper's problem, which asks for separable classes. The
kernels are used at the scale they come in, on which neither the ratio nor the combination that
minimises it depends. The machine is an SVM with C on the combination; the margin is hard while
weights are learned only.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from mklbench import certify
from mklbench.algorithms.radius_margin import MATRICES as MATRICES
from mklbench.certify import Bounds
from mklbench.kernels.base import Array, Bank
from mklbench.optim.hulls import MEETING, Hulls
from mklbench.optim.machines import ClassWeight, Learner, after_first_stage
from mklbench.optim.radius import Evaluated, InUnitBall, PointAndBall, RadiusSearch
from mklbench.solution import Solution
from mklbench.validation import check_limits, check_not_negative

VERSION = 2


_HULLS_TOL = 1e-7
# The search is begun anew from its best point where it ends early.
_SEARCHES = 3


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 1.0,
    *,
    lam: float = 1e-3,
    tol: float = 1e-2,
    max_iter: int = 100,
    svm_tol: float = 1e-3,
    class_weight: ClassWeight = None,
) -> Solution:
    """Learn the kernel weights of smallest radius-margin ratio, and an SVM on their combination.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=1.0
        Box constraint of the SVM.
    lam : float, default=0.001
        The ridge in units of the squared radius, >= 0. At 0, as in the paper, equal weights have to
        separate the classes.
    tol : float, default=0.01
        Certified relative gap of the ratio at which to stop.
    max_iter : int, default=100
        Maximum number of evaluations, each of a ball and the closest points of two hulls.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance for the SVM at the end.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".

    Returns
    -------
    Solution
        `weights` are such that the combination has the mean diagonal 1; `objective` is the ratio
        R^2 / (D + ridge), and `gap` the larger of its relative gap and that of the SVM. The SVM
        calls are those of balls and hulls as well.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, all kernels are constant, or with
        lam=0 equal weights do not separate the classes.
    """
    check_not_negative("lam", lam)
    tol = check_limits(tol, max_iter)
    machine = Learner("svm", C, 1.0, 0.0, svm_tol, class_weight)
    bank, labels = machine.check("gram", bank, y)
    search = _RatioSearch(bank, labels, lam, tol)
    best = search.run(_SEARCHES, max_iter)
    weights = best.weights * len(labels) / float(best.weights @ bank.traces())
    solution, used = machine.learn(bank, labels, weights), (search.calls, search.seconds)
    objective, gap = best.bounds.upper, best.bounds.relative_gap
    return after_first_stage(solution, objective, gap, tol, search.history, *used)


class _RatioSearch(RadiusSearch[Bounds]):
    """The ratio and its gradient, for weights in units of the spread of each kernel."""

    def __init__(self, bank: Bank, y: Array, lam: float, tol: float) -> None:
        self.bank, self.lam = bank, lam
        self.hulls = Hulls(y, _HULLS_TOL)
        super().__init__(bank, tol, self.hulls)

    def evaluated(self, inside: InUnitBall) -> Evaluated[Bounds]:
        closest = self.hulls.ridged(inside.K, self.lam)
        forms, ridge = self.bank.quadratic_forms(closest.coefficients), self._ridge(closest.shares)
        bounds = certify.ratio_bounds(closest.bounds, inside.radii, forms, ridge)
        ratio = 1.0 / max(closest.squared_distance, MEETING)
        # What is sought is the largest D.
        pair = PointAndBall(closest.coefficients, -ridge, forms, inside.shares, inside.radii)
        return Evaluated(closest.bounds, bounds, bounds.upper, ratio, -(ratio**2) * forms, pair)

    def bounded(self, lowest: Bounds, point: Array, radii: Array) -> Bounds:
        forms = self.bank.quadratic_forms(point)
        return certify.ratio_bounds(lowest, radii, forms, self._ridge(point))

    def _ridge(self, shares: Array) -> float:
        return self.lam * float(shares @ shares)
