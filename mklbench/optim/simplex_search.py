"""The search for weights on the simplex, from one local model of the machine to the next.

What it minimises is the value J of a machine's dual (`mklbench.optim.svm_dual`) as a function of
the kernel weights. Each iteration

1. solves the machine at the weights, by LIBSVM;
2. minimises the local model made there (`mklbench.optim.local_model`), which agrees with J to
   second order, over the weights of a working set of kernels; the result is the next weights and
   the alpha to be expected there;
3. prices all kernels at that alpha: q_m = a' K_m a gives MKL's dual value at alpha, a lower bound
   on the optimum, and the kernels that the working set lacks.

It ends when weights and alpha are certified together (`certify.bounds`). Because the model is
convex and has J's gradient, its minimiser is a descent direction: where the full step does not
decrease J, a shorter one does. Near the optimum full steps converge quadratically, so that a
handful of machines suffices. The accuracy is not limited by LIBSVM, which keeps kernel values in
single precision: the alpha that the model expects is computed in double precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench import iterations
from mklbench.certify import Bounds
from mklbench.kernels.base import Array, Bank, Indices
from mklbench.optim import joint_method, local_model
from mklbench.optim.local_model import Expansion
from mklbench.optim.svm_dual import InnerSVM, Trained
from mklbench.optim.svm_value import start_weights
from mklbench.solution import KernelMachine, Solution

# Kernels with positive weight at the start, and those that join a working set beyond the double of
# the ones with weight.
_FIRST_KERNELS, _FURTHER_KERNELS = 60, 20
# The tolerance of a model in units of the gap, and its limits.
_MODEL_TOL, _LOOSEST_MODEL, _TIGHTEST_MODEL = 1e-4, 1e-2, 1e-11
# From this gap on, a model's active set may be that of the point where it is made.
_NEAR = 0.3
# A kernel whose price is this small beside the largest one takes no part in a model.
_NEGLIGIBLE = 1e-16
# Samples whose alpha may change in a model: so many, and so many more a free support vector.
_ROWS, _ROWS_PER_FREE = 300, 3
# Progress is to bring the gap, or far from the optimum J itself, down to this share of the best.
_SMALLER_GAP, _LOWER_VALUE = 0.7, 0.9
# That of a regression, where functions of tiny weights may lower J late and by much.
_LOWER_VALUE_OF_TARGETS = 0.999
# So many iterations without progress, each with a wider and tighter model, end the search.
_PATIENCE = 5
# Values of J that differ by less are equal.
_ROUNDING = 1e-12
# The fallback is to make the gap smaller by this share of it.
_LEAST_GAIN = 1e-6
# Steps tried along one direction, each shorter than the one before.
_STEPS = 4


@dataclass(frozen=True)
class _Step:
    """Weights (M,) to go to, the slope of J towards them, and the SVM solution expected there."""

    weights: Array
    slope: float
    expected: KernelMachine | None


class Search:
    """The state of one solve: what has been priced and certified so far.

    Values are noted in the history times `unit`, as those of a machine whose numbers are scaled.
    """

    def __init__(
        self,
        bank: Bank,
        svm: InnerSVM,
        tol: float,
        max_iter: int,
        falls_back: bool,
        unit: float = 1.0,
    ) -> None:
        self.history = iterations.begin()
        self._bank, self._unit = bank, unit
        self._svm = svm
        self._tol = tol
        self._max_iter = max_iter
        self._falls_back = falls_back
        self._lower_value = _LOWER_VALUE if svm.dual.epsilon is None else _LOWER_VALUE_OF_TARGETS
        self._floor = svm.dual.floor
        self._prices = np.zeros(bank.n_kernels)
        self._lower = -np.inf
        self._gap = np.inf
        self._failures = 0
        nothing = np.empty(0)
        self._best = Trained(nothing, nothing, 0.0, nothing, np.inf, Bounds(1.0, -np.inf))

    def run(self, start: ArrayLike | None) -> Solution:
        """Return the best certified candidate, when it is good enough or none better in sight."""
        if start is None:
            # The agreement y'K_m y with the labels or targets, with either class weighing the
            # same, is the price at the SVM's solution when all alpha of a class are equal, as they
            # are for a small C.
            self._prices = self._bank.quadratic_forms(self._svm.dual.direction)
            weights = self._equal_on_top()
        else:
            weights = _on_simplex(start_weights(start, self._bank.n_kernels))
        trained = self._svm.train(weights, self._gap)
        if start is not None:
            self._certify(trained.weights, trained.dual_coef, trained.intercept)
        smallest_gap = lowest = np.inf
        while True:
            self._assess(trained)
            if self._finished():
                break
            progress = self._gap <= _SMALLER_GAP * smallest_gap or trained.bounds.upper <= _scaled(
                lowest, self._lower_value
            )
            self._failures = 0 if progress else self._failures + 1
            if self._failures == _PATIENCE:
                break
            smallest_gap, lowest = min(smallest_gap, self._gap), min(lowest, trained.bounds.upper)
            step = self._next(trained)
            if self._finished():
                break
            trained = self._descend(trained, step)
        if self._falls_back and not self._finished():
            kernels = self._working_set(self._best.weights)
            for candidate in joint_method.candidates(self._bank, self._svm, kernels, self._tol):
                if candidate.gap < self._best.gap * (1.0 - _LEAST_GAIN):
                    self._best = candidate
                if self._finished():
                    break
        if self._best.gap < self.history[-1]["gap"] * (1.0 - _LEAST_GAIN):
            self._record(self._best.weights, self._best.objective, self._best.gap)
        return Solution(
            weights=self._best.weights,
            dual_coef=self._best.dual_coef,
            intercept=self._best.intercept,
            objective=self._best.objective,
            gap=self._best.gap,
            n_svm_calls=self._svm.machine.calls,
            n_iter=len(self.history) - 1,
            converged=self._best.gap <= self._tol,
            history=self.history,
            svm_seconds=self._svm.machine.seconds,
        )

    def _equal_on_top(self) -> Array:
        """Return equal weights on the kernels with the largest prices."""
        weights = np.zeros(self._bank.n_kernels)
        weights[self._bank.top_k(self._prices, _FIRST_KERNELS)] = 1.0
        return _on_simplex(weights)

    def _assess(self, trained: Trained) -> None:
        """Bound the gap at new weights, and certify them with the SVM's solution if that may do."""
        self._gap = Bounds(trained.bounds.upper, self._lower).relative_gap
        if self._gap <= self._tol or self._failures or self._svm.machine.calls >= self._max_iter:
            self._certify(trained.weights, trained.dual_coef, trained.intercept)
            self._gap = Bounds(trained.bounds.upper, self._lower).relative_gap
        self._record(trained.weights, trained.objective, self._gap)

    def _record(self, weights: Array, objective: float, gap: float) -> None:
        iterations.note(
            self.history,
            weights,
            objective=self._unit * objective,
            gap=gap,
            n_svm_calls=self._svm.machine.calls,
        )

    def _certify(self, weights: Array, dual_coef: Array, intercept: float) -> None:
        """Price all kernels at `dual_coef` and certify it with `weights`, whose K is at hand."""
        prices = self._bank.quadratic_forms(dual_coef)
        candidate = self._svm.certified(weights, dual_coef, intercept, prices)
        self._prices = prices
        self._lower = max(self._lower, candidate.bounds.lower)
        if candidate.gap < self._best.gap:
            self._best = candidate

    def _finished(self) -> bool:
        return self._best.gap <= self._tol or self._svm.machine.calls >= self._max_iter

    def _next(self, trained: Trained) -> _Step:
        """Return the step that the local model proposes, certified with what it expects."""
        kernels = self._working_set(trained.weights)
        products = self._bank.products(trained.dual_coef, kernels)
        prices = products @ trained.dual_coef
        taking_part = prices > _NEGLIGIBLE * prices.max()
        if not taking_part.any():
            # K a = 0 for the kernels at hand: the step is to others.
            self._certify(trained.weights, trained.dual_coef, trained.intercept)
            weights = self._equal_on_top()
            return _Step(weights, -0.5 * float((weights - trained.weights) @ self._prices), None)
        kernels, products, prices = kernels[taking_part], products[taking_part], prices[taking_part]
        at = Expansion(
            K=self._svm.gram,
            dual=self._svm.dual,
            dual_coef=trained.dual_coef,
            intercept=trained.intercept,
            weights=trained.weights[kernels],
            products=products,
            norms=np.sqrt(prices),
        )
        tol = np.clip(_MODEL_TOL * self._gap, _TIGHTEST_MODEL, _LOOSEST_MODEL) * 0.1**self._failures
        prediction = local_model.minimise(at, self._rows(trained), float(tol), self._gap <= _NEAR)
        weights = np.zeros(self._bank.n_kernels)
        weights[kernels] = prediction.weights
        weights = _on_simplex(weights)
        self._svm.combine(weights)
        self._certify(weights, prediction.dual_coef, prediction.intercept)
        slope = -0.5 * float((prediction.weights - at.weights) @ prices)
        return _Step(weights, slope, prediction)

    def _working_set(self, weights: Array) -> Indices:
        """Return the kernels with positive weight and those whose price may earn them one."""
        support = np.flatnonzero(weights)
        further = self._bank.top_k(self._prices, len(support) + _FURTHER_KERNELS)
        return np.union1d(support, further)

    def _rows(self, trained: Trained) -> NDArray[np.bool_]:
        """Return the variables alpha that may change: a mask (v,).

        At fixed weights and intercept, an optimal function is within sqrt(2 gap) of this one in its
        norm, and so within sqrt(2 gap K_ii) at sample i (the gap-safe rule of Fercoq et al. 2015):
        whoever is further than that from the margin stays at its bound. Of the others the nearest
        take part, as the model's time grows with the cube of their number. Both limits are wider
        after steps that have failed.
        """
        dual = self._svm.dual
        alpha = dual.alpha(trained.dual_coef)
        free = (alpha > 0) & (alpha < dual.upper)
        gap = min(self._gap, 1.0) * max(abs(trained.bounds.upper), -self._floor)
        diagonal = np.maximum(self._svm.gram.diagonal(), 0.0)[dual.samples]
        reach = np.sqrt(2.0 * gap * diagonal) * 3.0**self._failures
        distances = np.abs(dual.distances(trained.outputs + trained.intercept))
        distance = np.where(free, 0.0, distances)
        count = int((_ROWS + _ROWS_PER_FREE * free.sum()) * 1.5**self._failures)
        rows = np.zeros(len(alpha), dtype=bool)
        rows[np.argsort(distance, kind="stable")[:count]] = True
        rows &= distance <= reach
        return rows if rows.any() else ~rows

    def _descend(self, start: Trained, step: _Step) -> Trained:
        """Solve the SVM at the end of a step, or nearer to its start where J has not decreased.

        Returns `start` where no shorter step helps.
        """
        weights, expected, share = step.weights, step.expected, 1.0
        for _ in range(_STEPS):
            trained = self._svm.train(weights, self._gap, expected)
            # Below the lower bound the machine has failed: its dual value is no upper bound.
            if self._floor <= trained.objective <= _scaled(start.bounds.upper, 1.0 + _ROUNDING):
                return trained
            if self._svm.machine.calls >= self._max_iter:
                break
            # The minimiser of the parabola through both values and the slope.
            rise = trained.objective - start.objective - share * step.slope
            lowest = -0.5 * share * step.slope / rise if rise > 0 else 0.5
            share *= float(np.clip(lowest, 0.25, 0.75))
            weights = _on_simplex((1.0 - share) * start.weights + share * step.weights)
            expected = None
        self._svm.combine(start.weights)
        return start


def _scaled(value: float, factor: float) -> float:
    """Return a value of either sign raised by a factor, or lowered by one below 1."""
    return value * factor if value > 0 else value / factor


def _on_simplex(weights: Array) -> Array:
    """Return the weights divided by their sum, so that their sum is 1 to the last bit.

    They are rounded to multiples of 2^-50, whose sums are exact.
    """
    scaled = np.round(weights / weights.sum() * 2.0**50) / 2.0**50
    scaled[np.argmax(scaled)] += 1.0 - scaled.sum()
    return scaled
