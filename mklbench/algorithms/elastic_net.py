"""MKL with the elastic net: between the sparse combination of kernels and their plain sum.

Over functions f_m in the spaces of the M kernels and an intercept b (Tomioka & Suzuki 2010)

    minimise  sum_m [ (1 - mix) ||f_m|| + mix/2 ||f_m||^2 ] + C sum_i max(0, 1 - y_i f(x_i)),

f = sum_m f_m + b. At mix = 1 this is the SVM on the sum of the kernels, and towards 0 the block l1
norm, which has the solutions of MKL at another C. As a function of kernel weights it is to

    minimise over 0 <= d_m < 1 / mix   J(d) + 1/2 sum_m (1 - mix)^2 d_m / (1 - mix d_m),

J being the value of the SVM with the kernel sum_m d_m K_m, and its dual is to

    maximise  sum_i alpha_i - 1/(2 mix) sum_m max(0, sqrt(a' K_m a) - (1 - mix))^2

over 0 <= alpha <= C, y'alpha = 0, a = alpha o y. A kernel has weight where sqrt(a' K_m a) exceeds
1 - mix: correlated kernels share it, of which MKL picks one.

SVMs and the best weights for their functions, d_m = ||f_m|| / (1 - mix + mix ||f_m||), are taken in
turn (`mklbench.optim.alternation`). Where that has not ended soon the joint method has the weights
and alpha at once (`mklbench.optim.joint`): at a large C the weights change slowly, and LIBSVM takes
long for each SVM. Where the kernels have exact factors with few columns it is the faster one from
the beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench import iterations
from mklbench.errors import InputError
from mklbench.kernels.base import Bank
from mklbench.kernels.row_factors import RowFactors
from mklbench.libsvm import SVMSolution
from mklbench.optim import (
    alternation,
    fallback,
    joint_method,
    local_model,
    svm_dual,
)
from mklbench.optim.alternation import alternate
from mklbench.optim.joint_method import METHODS, Method
from mklbench.optim.problem import Problem
from mklbench.optim.svm_value import Objective, Point, check_bank, check_samples
from mklbench.optim.weight_sets import ElasticBox, Given, WeightSet
from mklbench.penalties.elastic_net import ElasticNet
from mklbench.solution import Solution
from mklbench.validation import check_choice, check_count, check_tolerance

VERSION = 2

# Held at once (`mklbench.optim.fit_memory`): LIBSVM's buffer, a Gram matrix, the fallback's.
MATRICES = 6.0
NEW_OPTIONS = ("method",)

Array = NDArray[np.float64]

# Changes of the weights after which the joint method takes over.
_CHANGES = 100
# The relative gap of the SVM at the weights of the joint method.
_DOUBLE_PRECISION = 1e-11


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 1.0,
    *,
    mix: float = 0.5,
    tol: float = 1e-4,
    max_iter: int = 1000,
    svm_tol: float = 1e-3,
    method: Method = "auto",
    class_weight: Mapping[int, float] | str | None = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Learn kernel weights under the elastic net.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=1.0
        Box constraint.
    mix : float, default=0.5
        In (0, 1], the share of the squared norms: 1 for the plain sum of kernels, towards 0 for
        sparse weights.
    tol : float, default=0.0001
        Stop at this certified relative duality gap.
    max_iter : int, default=1000
        Maximum number of changes of the weights.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance; it is tightened by itself where it, not the weights,
        keeps the gap above `tol`.
    method : {"auto", "libsvm", "joint"}, default="auto"
        "libsvm" takes SVMs and weights in turn; "joint" finds all together on factors of the
        kernels; "auto" takes what is faster, the second as `mklbench.algorithms.mkl` does.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all.

    Returns
    -------
    Solution
        Of the iterate with the smallest certified gap. `objective` is J plus the price of the
        weights. Each entry of `history` has the objective and the gap of an iterate, and the SVM
        calls so far ("n_svm_calls"). With "joint", and "auto" on many samples, it has an
        `expansion`.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range.
    """
    if not isinstance(mix, Real) or isinstance(mix, bool) or not 0.0 < mix <= 1.0:
        raise InputError(f"mix={mix!r} is not accepted: it must be a number in (0, 1].")
    check_choice("method", method, METHODS)
    tol = check_tolerance("tol", tol)
    check_count("max_iter", max_iter)
    problem = Problem.of(y, C, class_weight, sample_weight, svm_tol)
    bank = check_bank("elastic_net", bank)
    check_samples(bank, len(problem.y))
    factors = joint_method.factors_for(bank, method, tol)
    if factors is not None:
        where = _weight_set(bank.n_kernels, float(mix))
        return joint_method.solve(factors, where, problem.loss, tol, max_iter)
    search = _Search(bank, Objective(bank, problem), float(mix), tol)
    return search.run(max_iter, alone=method == "libsvm" or mix == 1.0)


def _weight_set(n_kernels: int, mix: float) -> WeightSet:
    """Return where the weights are."""
    return ElasticBox(n_kernels, mix) if mix < 1.0 else Given(np.ones(n_kernels))


class _Search:
    """SVMs and weights in turn, and the joint method where these take long."""

    def __init__(self, bank: Bank, objective: Objective, mix: float, tol: float) -> None:
        self._bank, self._objective, self._mix, self._tol = bank, objective, mix, tol
        self._penalty = ElasticNet(mix)
        self._dual = svm_dual.of_classes(objective.machine.y, objective.machine.upper)
        self._history = iterations.begin()

    def _weight_set(self, n_kernels: int) -> WeightSet:
        return _weight_set(n_kernels, self._mix)

    def run(self, max_iter: int, alone: bool) -> Solution:
        """Return the best that is found; `alone` is without the joint method."""
        start = self._penalty.best_weights(np.ones(self._bank.n_kernels))
        if alone:
            return self._in_turn(start, max_iter)
        factors = fallback.narrow_factors(self._bank)
        best = None if factors is None else self._best_of(self._on_factors(factors))
        if best is not None and best.converged:
            return best
        in_turn = self._in_turn(start, min(max_iter, _CHANGES), patient=False)
        best = _better(best, in_turn)
        if factors is None and not best.converged:
            kernels = np.flatnonzero(in_turn.weights)
            found = fallback.searches(self._bank, self._dual, kernels, self._weight_set, self._tol)
            jointly = self._best_of(
                (weights, (fallback.at_bounds(own, self._dual), own)) for weights, own, _ in found
            )
            best = best if jointly is None else _better(best, jointly)
        left = max_iter - in_turn.n_iter
        if best.converged or left <= 0:
            return best
        return _better(best, self._in_turn(in_turn.weights, left))

    def _in_turn(self, start: Array, max_iter: int, patient: bool = True) -> Solution:
        """Return what SVMs and weights in turn come to from weights (M,)."""
        steps = alternate(
            self._objective, self._penalty, start, self._tol, None, max_iter, self._history, patient
        )
        (solution,) = alternation.run(self._bank, [steps])
        return solution

    def _on_factors(self, factors: RowFactors) -> Iterator[tuple[Array, tuple[Array, ...]]]:
        """Yield weights (M,) and a (n,)."""
        where, loss = self._weight_set(self._bank.n_kernels), self._objective.loss
        found = fallback.search(factors, where, loss, self._tol)
        yield found.weights, (found.dual_coef,)

    def _best_of(self, candidates: Iterable[tuple[Array, tuple[Array, ...]]]) -> Solution | None:
        """Return the first that is good enough, else the best; None of none.

        At the weights of each comes the SVM first, and then the alpha that came with them: it may
        be one of many that solve the SVM, and the one that proves the weights.
        """
        best: tuple[float, Point] | None = None
        for weights, duals in candidates:
            K = self._bank.gram(weights)
            exact, _ = local_model.solve_svm(K, self._dual, duals[0], _DOUBLE_PRECISION)
            for own in (exact, *duals):
                outputs = K @ own
                intercept = self._dual.best_intercept(outputs)
                trained = SVMSolution(own, np.flatnonzero(own), intercept)
                point = Point(self._bank, weights, K, trained, outputs)
                gap = self._objective.bounds(point, self._penalty).relative_gap
                if best is None or gap < best[0]:
                    best = gap, point
                if gap <= self._tol:
                    break
            if best is not None and best[0] <= self._tol:
                break
        if best is None:
            return None
        gap, point = best
        objective = point.objective + self._penalty.of_weights(point.weights)
        iterations.note(
            self._history,
            point.weights,
            objective=objective,
            gap=gap,
            n_svm_calls=self._objective.machine.calls,
        )
        return self._objective.solution(
            point,
            gap=gap,
            converged=gap <= self._tol,
            history=self._history,
            objective=objective,
        )


def _better(first: Solution | None, second: Solution) -> Solution:
    """Return that of the smaller gap, with what both have taken: the second counts on."""
    if first is None or second.gap < first.gap:
        return second
    return replace(
        first,
        n_iter=second.n_iter,
        n_svm_calls=second.n_svm_calls,
        svm_seconds=second.svm_seconds,
    )
