"""The function every algorithm here minimises: the SVM's optimal value as a function of its kernel.

    J(w) = max over 0 <= alpha <= C, y'alpha = 0 of  sum_i alpha_i - 1/2 a' K_w a,   a = alpha o y

The maximiser is unique in a' K_w a where it matters, so J is differentiable with the gradient of
the objective at fixed alpha (Danskin): -1/2 d(a' K_w a)/dw. For a bank that is -1/2 a' K_m a
(Rakotomamonjy et al. 2008, eq. 11), for a family it comes from `Family.gradient`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from mklbench import certify, iterations
from mklbench.certify import Bounds, Loss, PrimalDualPoint
from mklbench.errors import InputError, KindError
from mklbench.kernels.base import Array, Bank, KernelOperator
from mklbench.kernels.continuous import Family
from mklbench.libsvm import SVMSolution
from mklbench.optim.problem import Problem
from mklbench.penalties.base import Penalty
from mklbench.penalties.elastic_net import ElasticNet
from mklbench.penalties.mixed_norm import MixedNorm
from mklbench.penalties.simple import Simplex
from mklbench.solution import Solution
from mklbench.validation import real_array

# Below this LIBSVM, which keeps kernel values in single precision, gains nothing.
_SMALLEST_SVM_TOLERANCE = 1e-6
# In turns with weights the SVM is as accurate as this share of the gap that was certified last, or
# of the tolerance.
_SVM_TOL = 0.1
# A weight counts as 0 in combinations when it is this small beside the largest.
_NEGLIGIBLE = 1e-8
# Exact SVMs hardly ever lead to a gap that is so many times the smallest so far.
_ASTRAY = 2.0


@dataclass(frozen=True)
class Point:
    """Kernel weights (M,) of an operator, its Gram matrix (n, n) and SVM there, and J.

    `outputs` (n,) are K a: the decision values without the intercept.
    """

    operator: KernelOperator
    weights: Array
    K: Array
    trained: SVMSolution
    outputs: Array

    @cached_property
    def objective(self) -> float:
        """J, the SVM's dual value: sum alpha - 1/2 a' K a."""
        coef = self.trained.dual_coef
        return float(np.abs(coef).sum() - 0.5 * (coef @ self.outputs))

    @cached_property
    def gradient(self) -> Array:
        """dJ/dw (M,), computed when first asked for."""
        coef = self.trained.dual_coef
        if isinstance(self.operator, Bank):
            return -0.5 * self.operator.quadratic_forms(coef)
        return -0.5 * cast(Family, self.operator).gradient(self.weights, coef, self.K)

    @property
    def forms(self) -> Array:
        """The quadratic forms a' K_m a (M,) of a bank."""
        return -2.0 * self.gradient


class Objective:
    """J on one bank or family and one label vector; each call solves one SVM.

    Parameters
    ----------
    operator : KernelOperator
        The bank or family on n training samples.
    problem : Problem
        The labels and what the loss of each counts.

    Attributes
    ----------
    machine : object
        LIBSVM on the labels.
    svm_tol : float
        Its tolerance at the next call, which `tighten` makes smaller.

    Raises
    ------
    InputError
        If the labels do not fit the operator.
    """

    def __init__(self, operator: KernelOperator, problem: Problem) -> None:
        self.machine, self.loss = problem.machine(), problem.loss
        self.operator = operator
        self.svm_tol = self.machine.tol
        check_samples(operator, len(self.machine.y))

    def __call__(self, weights: Array, K: Array | None = None) -> Point:
        """Solve the SVM at `weights` (M,); `K` is their Gram matrix where the caller has it."""
        if K is None:
            K = self.operator.gram(weights)
        trained = self.machine.solve(K, tol=self.svm_tol)
        return Point(self.operator, weights, K, trained, K @ trained.dual_coef)

    def accurate(self, weights: Array, tol: float) -> Point:
        """Solve the SVM at `weights` to this relative duality gap of its own, or as far as it goes.

        LIBSVM's tolerance is tightened where that is needed, for all that comes after as well.
        """
        K = None
        while True:
            point = self(weights, K)
            a, intercept = point.trained.dual_coef, point.trained.intercept
            own = bounds_alone(self.loss, point.outputs, a, intercept)
            if own.relative_gap <= tol or not self.tighten():
                return point
            K = point.K

    def bounds(self, point: Point, penalty: Penalty) -> Bounds:
        """Bound the value of learning the weights of a bank with a penalty, at `point`."""
        return certify.bounds(self._pair(point), penalty)

    def bounds_by(self, point: Point, dual_coef: Array, penalty: Penalty) -> Bounds:
        """Bound the same value from above at `point`, and from below at another a (n,).

        The penalty has to be that of a set of weights in which those of `point` are.
        """
        bank = cast(Bank, self.operator)
        primal = self._pair(point)
        dual = replace(primal, forms=bank.quadratic_forms(dual_coef), dual_coef=dual_coef)
        return Bounds(certify.bounds(primal, penalty).upper, certify.bounds(dual, penalty).lower)

    def _pair(self, point: Point) -> PrimalDualPoint:
        a, intercept = point.trained.dual_coef, point.trained.intercept
        return PrimalDualPoint(self.loss, point.weights, point.forms, point.outputs, a, intercept)

    @property
    def is_tightest(self) -> bool:
        """Whether LIBSVM gains nothing from a smaller tolerance than that of the next call."""
        return self.svm_tol <= _SMALLEST_SVM_TOLERANCE

    def tighten(self) -> bool:
        """Make the SVM ten times more accurate; return False where that is no longer possible."""
        if self.is_tightest:
            return False
        self.svm_tol /= 10.0
        return True

    def solution(
        self,
        point: Point,
        *,
        gap: float,
        converged: bool,
        history: list[dict[str, float]],
        objective: float | None = None,
    ) -> Solution:
        """Return `point` as a `Solution`; `history` has one entry for the start and each iteration.

        `objective` is J at the point where not given.
        """
        return Solution(
            weights=point.weights,
            dual_coef=point.trained.dual_coef,
            intercept=point.trained.intercept,
            objective=point.objective if objective is None else objective,
            gap=float(gap),
            n_svm_calls=self.machine.calls,
            n_iter=len(history) - 1,
            converged=bool(converged),
            history=history,
            svm_seconds=self.machine.seconds,
        )


def bounds_alone(loss: Loss, outputs: Array, dual_coef: Array, intercept: float = 0.0) -> Bounds:
    """Bound the value of a machine on one kernel, at its outputs K a (n,), a (n,) and intercept."""
    forms = np.array([dual_coef @ outputs])
    point = PrimalDualPoint(loss, np.ones(1), forms, outputs, dual_coef, intercept)
    return certify.bounds(point, Simplex())


def descend(
    objective: Objective,
    point: Point,
    certified: Callable[[Point], tuple[Point, float]],
    step: Callable[[Point, float], Point],
    tol: float,
    objective_tol: float | None,
    max_iter: int,
) -> Solution:
    """Return where steps lead from a point, until the certified gap is at most `tol`.

    Where an inexact SVM hides any further decrease it is made more accurate.

    Parameters
    ----------
    objective : Objective
        J.
    point : Point
        Where to begin.
    certified : callable
        Returns a point, or the same with a more accurate SVM, and its relative gap.
    step : callable
        Returns the point after one with this gap, the point itself where nothing is lower.
    tol : float
        The gap asked for.
    objective_tol : float or None
        It ends as well where a step changes J by less than this share of it.
    max_iter : int
        Maximum number of steps.
    """
    history = iterations.begin()
    while True:
        point, gap = certified(point)
        calls, weights = objective.machine.calls, point.weights
        iterations.note(history, weights, objective=point.objective, gap=gap, n_svm_calls=calls)
        ended = len(history) > 1 and settled(
            history[-2]["objective"], point.objective, objective_tol
        )
        if gap <= tol or ended or len(history) > max_iter:
            break
        following = step(point, gap)
        if following is point:
            if not objective.tighten():
                break
            following = objective(point.weights)
        point = following
    return objective.solution(point, gap=gap, converged=gap <= tol or ended, history=history)


def alternate(
    objective: Objective,
    penalty: ElasticNet | MixedNorm,
    weights: Array,
    tol: float,
    objective_tol: float | None,
    max_iter: int,
    history: iterations.History | None = None,
    patient: bool = True,
) -> Solution:
    """Take SVMs and closed-form weights in turn, for a penalty whose best weights are known.

    At fixed weights the best functions are those of an SVM, f_m = d_m K_m a. At fixed functions the
    best weights are known in closed form (`MixedNorm.best_weights`). Neither ever increases the
    primal value, and the dual value of each SVM bounds it from below (Kloft et al. 2011, Algorithm
    1).

    It goes from weights (M,) until a certified relative gap is at most `tol`.

    Where `objective_tol` is not None, it ends as well where the objective of an iterate differs
    from that of the one before by less than this share of it; or after `max_iter` changes of the
    weights. The solution is that of the iterate with the smallest gap. It goes on with the
    `history` of a search that it is a step of. Unless it is to be `patient` it ends where LIBSVM
    has been made as accurate as it can be, or is so inaccurate that the gap grows: each SVM takes
    long then, and gains little.
    """
    machine = objective.machine
    best, smallest_gap, accuracy = None, np.inf, 1.0
    history = iterations.begin() if history is None else history
    before = len(history)
    while True:
        used = np.where(weights < _NEGLIGIBLE * weights.max(), 0.0, weights)
        point = objective.accurate(used, _SVM_TOL * accuracy)
        gap = objective.bounds(point, penalty).relative_gap
        price = penalty.of_weights(used)
        total = point.objective + price
        iterations.note(history, used, objective=total, gap=gap, n_svm_calls=machine.calls)
        if best is None or gap < smallest_gap:
            best, smallest_gap = point, gap
        ended = len(history) > before + 1 and settled(
            history[-2]["objective"], history[-1]["objective"], objective_tol
        )
        if gap <= tol or ended or len(history) > before + max_iter:
            break
        if not patient and (objective.is_tightest or gap > _ASTRAY * smallest_gap):
            break
        weights = penalty.best_weights(weights * np.sqrt(np.maximum(point.forms, 0.0)))
        accuracy = max(tol, min(gap, 1.0))
    return objective.solution(
        best,
        gap=smallest_gap,
        converged=smallest_gap <= tol or ended,
        history=history,
        objective=best.objective + penalty.of_weights(best.weights),
    )


def settled(before: float, now: float, objective_tol: float | None) -> bool:
    """Tell whether an objective has changed by less than `objective_tol` of it; never at None."""
    return objective_tol is not None and abs(now - before) < objective_tol * abs(before)


def value_at_identity(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Return J where the kernel matrix is the identity, what is left when a kernel degenerates.

    All samples of a class then have one alpha. With s the sum of the alphas of either class, the
    dual is 2 s - s^2 / 2 (1 / n_1 + 1 / n_2), and the box bounds s by n_1 C_1 and n_2 C_2.

    Parameters
    ----------
    first, second : tuple of float, float
        n_k and C_k of the two classes: their samples, or shares of all for J per
        sample, and the bounds on their alphas.
    """
    (n_1, C_1), (n_2, C_2) = first, second
    curvature = 1.0 / n_1 + 1.0 / n_2
    total = min(2.0 / curvature, n_1 * C_1, n_2 * C_2)
    return 2.0 * total - 0.5 * total**2 * curvature


def balanced(y: Array) -> Array:
    """Return the labels (n,) divided by the size of their class: both classes weigh the same."""
    positive = y > 0
    return np.where(positive, 1.0 / positive.sum(), -1.0 / (~positive).sum())


def check_samples(operator: KernelOperator, n_labels: int) -> None:
    """Raise an InputError unless there is one label for each training sample of `operator`."""
    check_operator(operator)
    if operator.n_samples != n_labels:
        raise InputError(
            f"y has {n_labels} labels, but the kernels are on {operator.n_samples} samples: "
            "give one label a sample."
        )


def check_operator(operator: object) -> None:
    """Raise a KindError unless `operator` is a bank or a family."""
    if not isinstance(operator, KernelOperator):
        raise KindError(
            f"the kernels are given as {type(operator).__name__}, not as a bank or a family: make "
            "one by mklbench.kernels, such as precomputed(K) of Gram matrices."
        )


def fixed_weights(
    operator: KernelOperator, weights: float | ArrayLike | None, name: str = "weights"
) -> Array:
    """Return given weights (M,), one number standing for all of them; 1/M each for None.

    `name` is what the option is called.

    Raises
    ------
    InputError
        If one of them is not a number >= 0, or there is not one for each kernel.
    """
    if weights is None:
        return operator.uniform_weights()
    return _checked_weights(name, weights, operator.n_kernels)


def start_weights(start: ArrayLike, n_kernels: int) -> Array:
    """Return weights (M,) to start from, as they were given.

    Raises
    ------
    InputError
        If there is not one >= 0 for each kernel, or all are 0.
    """
    weights = _checked_weights("start", start, n_kernels)
    if not weights.any():
        raise InputError("start has only weights of 0: give some > 0.")
    return weights


def _checked_weights(name: str, given: float | ArrayLike, n_kernels: int) -> Array:
    weights = np.array(real_array(name, given))
    if weights.ndim == 0:
        weights = np.full(n_kernels, weights)
    if weights.shape != (n_kernels,):
        raise InputError(
            f"{name} has shape {weights.shape}, but there are {n_kernels} kernels: give one weight "
            "a kernel."
        )
    refused = weights[~((weights >= 0) & (weights < np.inf))]
    if len(refused):
        raise InputError(f"{name} has the entry {refused[0]:g}: kernel weights are numbers >= 0.")
    return weights


def check_bank(algorithm: str, operator: KernelOperator, n_labels: int | None = None) -> Bank:
    """Return `operator` if it is a bank, and has a sample for each label where there are any."""
    check_operator(operator)
    if not isinstance(operator, Bank):
        raise KindError(
            f"{algorithm} needs a bank of kernels, but {type(operator).__name__} is a family: "
            "choose one such as kernel=feature_gaussians, simplemkl or precomputed."
        )
    if n_labels is not None:
        check_samples(operator, n_labels)
    return operator


def check_family(algorithm: str, operator: KernelOperator) -> Family:
    """Return `operator` if it is a family."""
    check_operator(operator)
    if not isinstance(operator, Family):
        raise KindError(
            f"{algorithm} needs a continuous family of kernels, but {type(operator).__name__} is a "
            "bank: choose kernel=product."
        )
    return operator


def product_hessian(X: Array, gamma: Array, a: Array) -> Array:
    """Return -1/2 a' (D_k o D_l o K_gamma) a for every two features: Picard et al. 2012, eq. 9.

    Parameters
    ----------
    X : ndarray of shape (n, M)
        Samples; D_m are the squared distances in feature m.
    gamma : ndarray of shape (M,)
        Parameters of the kernel exp(-sum_m gamma_m D_m).
    a : ndarray of shape (n,)
        alpha o y.

    Returns
    -------
    ndarray of shape (M, M)
    """
    D = ((X[:, None] - X) ** 2).reshape(-1, X.shape[1])
    K = np.exp(-(D @ gamma))
    return -0.5 * (D * (np.outer(a, a).ravel() * K)[:, None]).T @ D
