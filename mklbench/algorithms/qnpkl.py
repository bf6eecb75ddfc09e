"""QN-PKL: products of Gaussians by a quasi-Newton descent (Picard, Thome, Cord & Rakotomamonjy,
ESANN 2012).

With K_gamma = exp(-sum_m gamma_m d_m(x, z)) and no regulariser on gamma,

    minimise over gamma >= 0   J(gamma) = max over 0 <= alpha <= C, y'alpha = 0 of
                               sum_i alpha_i - 1/2 A' K_gamma A,        A = alpha o y   (eq. 2-5),

whose gradient is dJ/dgamma_m = 1/2 A' (D_m o K) A; the paper's p (eq. 6) is its negative. The
problem is not convex (section 4): the result is a local minimum that depends on the start.

As nothing in J holds gamma back, a descent to its end overfits. The regulariser is where the
descent stops: a loose `tol`, or a number of `iterations` that is chosen by cross-validation as C
is. After 0 iterations it is the SVM with the kernel of the start. `PRINTED` are the options of
Algorithm 1 as it is printed, which has a tight tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mklbench import certify
from mklbench.iterations import History, begin, note
from mklbench.kernels.base import Array
from mklbench.kernels.continuous import Family
from mklbench.optim.problem import ClassWeight, Problem
from mklbench.optim.several import Several, iterations_of, one_of, path_of
from mklbench.optim.svm_value import Objective, Point, check_family, value_at_identity
from mklbench.solution import Solution
from mklbench.validation import (
    check_choice,
    check_count,
    check_flag,
    check_limits,
    check_positive,
    check_positive_or_choice,
)

VERSION = 2
CONVEX = False
NEW_OPTIONS = ("max_evals",)
FORMER_OPTIONS = {"initial_step": 1.0, "smallest_step": 1e-7}
# Held at once (`mklbench.optim.fit_memory`): LIBSVM's buffer, a point, the next and its gradient.
MATRICES = 5.0
# `solve_path` solves for several values of this option at the price of one.
PATH_OPTION = "iterations"


# Algorithm 1, with the numbers of the authors' library where the paper has none.
PRINTED: Mapping[str, Any] = {
    "start": "uniform",
    "initial_rate": 0.1,
    "tol": 1e-7,
    "shun_identity": False,
}

_STARTS = ("median", "uniform")
_VARIANTS = ("paper", "jkernelmachines")
# delta_0, the first step size along a direction, which is divided by 10 on failure, and the size
# below which steps have failed.
_FIRST_STEP, _SMALLEST_STEP = 1.0, 1e-7
# SVMs of one solve. With a box that does not bind, J goes on falling by its rounding.
_MAX_EVALS = 40_000
# The authors' library sets smaller parameters to zero, and keeps curvatures above it. It starts
# from parameters whose sum is 1; for others this is a share of their sum.
_NEGLIGIBLE = 1e-7
# A step leads towards K = I if it leaves at most this share of the kernel values off the diagonal.
_TOWARDS_IDENTITY = 0.25
# K counts as I where their J differ by at most this share, and its values off the diagonal are on
# average at most this share of those on it.
_AT_IDENTITY = 0.02


@one_of(PATH_OPTION)
def solve(
    family: Family,
    y: ArrayLike,
    C: float = 10.0,
    *,
    start: str | float = "median",
    width: float = 1.0,
    iterations: int | None = None,
    variant: str = "paper",
    tol: float = 1e-2,
    initial_rate: float | str = "auto",
    shun_identity: bool = True,
    max_iter: int = 1000,
    max_evals: int | None = None,
    svm_tol: float = 1e-3,
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Several:
    """Learn the parameters of a product of Gaussians (Algorithm 1).

    Two points of the printed algorithm are read as follows. Equation 7 divides the step of gamma by
    the difference of p, the negative gradient: for positive curvature the quotient is negative, and
    the step gamma + delta B p would ascend, so B is its negative here. And where the curvature is
    not positive, of which the paper says nothing, B is 1e-7 as in the authors' library.

    Parameters
    ----------
    family : Family
        The family of kernels on n training samples, M parameters gamma.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=10.0
        Box constraint.
    start : str or float, default="median"
        "median" for equal gamma with which the median of sum_m gamma_m d_m over pairs of
        training samples is 1 (`Family.median_parameters`); "uniform" for gamma = 1/M, as printed;
        a number > 0 is gamma itself.
    width : float, default=1.0
        Factor on the gamma of the start.
    iterations : int or None, default=None
        End after so many iterations, if not before; 0 leaves the kernel of the start.
        This is the regulariser of the problem; None for no such end.
    variant : str, default="paper"
        "paper" takes one successful step a direction (Algorithm 1). "jkernelmachines" is what
        the authors' library does: it goes on in the same direction, with the same step until that
        fails and then with smaller ones, until the step is negligible.
    tol : float, default=0.01
        Epsilon, the relative decrease of J in one iteration at which to end.
    initial_rate : float or str, default="auto"
        b_1, the first value of B. "auto" moves the parameter with the steepest slope by
        the mean of gamma, mean(gamma) / max |dJ/dgamma|: then nothing depends on the scale of the
        features.
    shun_identity : bool, default=True
        Whether a step towards K = I, a minimum of J that predicts the larger class, is
        shortened for as long as J is lower nearer to where it comes from.
    max_iter : int, default=1000
        Maximum number of iterations; fewer than `iterations` they are a limit, not an end.
    max_evals : int or None, default=None
        Maximum number of SVMs in all; 40,000 if not given.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all.

    Returns
    -------
    Solution
        `objective` is J(gamma), `gap` the KKT residual of `mklbench.certify.kkt_residual`.
        `converged` says that `tol` was met or `iterations` done, and that K is not the identity to
        the SVM; the residual says how near to a stationary point that is. Where the curvature is
        not positive the steps of 1e-7 end the descent early, and the residual stays large.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range.
    """
    if iterations is not None:
        check_count("iterations", iterations, 0)
    check_choice("variant", variant, _VARIANTS)
    tol = check_limits(tol, max_iter)
    most = _MAX_EVALS if max_evals is None else check_count("max_evals", max_evals)
    check_flag("shun_identity", shun_identity)
    problem = Problem.of(y, C, class_weight, sample_weight, svm_tol)
    check_positive("width", width)
    check_positive_or_choice("start", start, _STARTS)
    check_positive_or_choice("initial_rate", initial_rate, ("auto",))
    family = check_family("qnpkl", family)
    weights = _start(family, start) * width
    descent = _Descent(
        Objective(family, problem),
        variant == "paper",
        shun_identity,
        most,
        unit=1.0 if start == "uniform" else float(weights.sum()),
    )
    points = descent.points(weights, initial_rate, tol)
    return iterations_of(points, max_iter, descent.solution)


solve_path = path_of(solve, PATH_OPTION)


def _start(family: Family, start: str | float) -> Array:
    """Return the parameters (M,) from which a descent sets out."""
    if not isinstance(start, str):
        return np.full(family.n_kernels, float(start))
    return family.uniform_weights() if start == "uniform" else family.median_parameters()


@dataclass
class _Descent:
    """Algorithm 1 from one start.

    Attributes
    ----------
    objective : Objective
        J, one SVM a call.
    one_success : bool
        Whether an iteration ends with its first successful step.
    shun_identity : bool
        As in `solve`.
    most : int
        The limit on the SVMs.
    unit : float
        The sum of the parameters at the start, whose scale is that of all parameters.
    history : list of dict of str to float
        One entry an iterate.
    has_ended : bool
        Whether the last iterate has met the tolerance.
    """

    objective: Objective
    one_success: bool
    shun_identity: bool
    most: int
    unit: float
    history: History = field(default_factory=begin)
    has_ended: bool = False

    def points(
        self, weights: Array, initial_rate: float | str, tol: float
    ) -> Iterator[tuple[Point, bool]]:
        """Yield the iterates, the start first, each with whether the descent ends there."""
        point = self._noted(self.objective(weights))
        rate = np.full(len(weights), _first_rate(point, initial_rate))
        yield point, self.is_exhausted
        while not (self.has_ended or self.is_exhausted):
            following = self._noted(self.step(point, rate))
            decrease = (point.objective - following.objective) / abs(point.objective)
            exhausted = self.is_exhausted
            self.has_ended = decrease <= tol and not exhausted
            rate = _inverse_curvature(point, following, _NEGLIGIBLE * self.unit**2)
            point = following
            yield point, self.has_ended or exhausted

    def solution(self, point: Point, is_done: bool) -> Solution:
        """Return the iterate that has just been yielded as a `Solution`."""
        return self.objective.solution(
            point,
            gap=certify.kkt_residual(point.weights, point.gradient, point.objective),
            converged=(is_done or self.has_ended) and not self._is_identity(point),
            history=list(self.history),
        )

    def step(self, start: Point, rate: Array) -> Point:
        """Return where steps delta B p lead from a point; the point itself where none succeeds.

        delta is a tenth after a failure. The paper takes one step, its authors' library goes on in
        the same direction. Where none succeeds the paper keeps the last trial, whose step is below
        epsilon; keeping the better point changes gamma by less than that.
        """
        best, size = start, _FIRST_STEP
        while size > _SMALLEST_STEP and not self.is_exhausted:
            moved = best.weights - size * rate * start.gradient
            trial = self.objective(np.where(moved < _NEGLIGIBLE * self.unit, 0.0, moved))
            if not self.succeeds(trial, best):
                size /= 10.0
                continue
            best = trial
            if self.one_success:
                break
        return best

    @property
    def is_exhausted(self) -> bool:
        """Whether the limit on the SVMs has been reached."""
        return self.objective.machine.calls >= self.most

    def succeeds(self, trial: Point, point: Point) -> bool:
        """Tell whether a step from `point` has decreased J, and does not lead towards K = I."""
        if not trial.objective < point.objective:
            return False
        return not self.shun_identity or _off_diagonal(trial.K) > _TOWARDS_IDENTITY * (
            _off_diagonal(point.K)
        )

    def _noted(self, point: Point) -> Point:
        calls = self.objective.machine.calls
        note(self.history, point.weights, objective=point.objective, n_svm_calls=calls)
        return point

    def _is_identity(self, point: Point) -> bool:
        """Tell whether K is the identity to the SVM: all it can predict is the larger class."""
        machine = self.objective.machine
        upper, positive = machine.upper, machine.y > 0
        value = value_at_identity(
            *((int(rows.sum()), float(upper[rows].mean())) for rows in (positive, ~positive))
        )
        is_near = abs(point.objective - value) <= _AT_IDENTITY * value
        return is_near and _off_diagonal(point.K) <= _AT_IDENTITY


def _inverse_curvature(previous: Point, current: Point, smallest: float = _NEGLIGIBLE) -> Array:
    """Return the diagonal B of eq. 7: the step of each parameter over that of its gradient."""
    step = current.weights - previous.weights
    change = current.gradient - previous.gradient
    quotient = np.divide(step, change, out=np.zeros_like(step), where=change != 0)
    return np.maximum(quotient, smallest)


def _off_diagonal(K: Array) -> float:
    """Return the mean of the entries off the diagonal of a Gram matrix (n, n) of Gaussians."""
    n = len(K)
    return (float(K.sum()) - n) / (n * (n - 1))


def _first_rate(point: Point, initial_rate: float | str) -> float:
    """Return b_1; "auto" moves the parameter with the steepest slope by the mean of all."""
    if not isinstance(initial_rate, str):
        return initial_rate
    steepest = float(np.abs(point.gradient).max())
    return float(point.weights.mean()) / steepest if steepest > 0 else 1.0
