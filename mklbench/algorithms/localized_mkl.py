"""Localized MKL: kernel weights that differ from sample to sample (Goenen & Alpaydin 2008).

M. Goenen, E. Alpaydin, "Localized multiple kernel learning", ICML 2008. A gating function gives
each kernel a weight at each sample, a softmax of M linear functions,

    eta_m(x) = exp(v_m' phi(x) + v_m0) / sum_k exp(v_k' phi(x) + v_k0),

and the SVM is learned on the locally combined kernel

    k(x, z) = sum_m eta_m(x) k_m(x, z) eta_m(z).

Its dual value J is a function of the gating that is not convex. At the SVM's a = alpha o y, with
the scores s_m(x) = v_m' phi(x) + v_m0 and g_im = a_i eta_m(x_i) sum_j k_m(x_i, x_j) eta_m(x_j) a_j,

    dJ / ds_m(x_i) = -g_im + eta_m(x_i) sum_k g_ik,
    dJ / dv_m = sum_i dJ / ds_m(x_i) phi(x_i),    dJ / dv_m0 = sum_i dJ / ds_m(x_i),

which are the derivatives of the paper's section 2.2. Steps of descent with a line search, of which
each trial is an SVM, go on from eta = 1/M.

Here phi is the feature map of a kernel, the mean of all kernels unless told otherwise, at mean
diagonal 1. The v_m that descent reaches are combinations of the phi(x_i), so that Gram matrices are
all that is needed. On a linear kernel this is the paper's gating, linear in the features; on
Gaussians it is linear in their feature space.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from mklbench import iterations
from mklbench.certify import Bounds
from mklbench.kernels.base import Array, Bank
from mklbench.libsvm import SVM, SVMSolution
from mklbench.optim.problem import ClassWeight, Problem
from mklbench.optim.svm_value import bounds_alone, check_bank, fixed_weights
from mklbench.solution import Solution
from mklbench.validation import check_limits, real_array

VERSION = 1

CONVEX = False
IS_SVM = False


# Of the line search: the share of the decrease along the gradient that is asked for, the factors on
# a step that is refused and on the next after one that is not, and the smallest step, of the first.
_ARMIJO, _SHRINK, _GROWTH, _SMALLEST = 1e-4, 0.25, 2.0, 1e-6


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 1.0,
    *,
    gating: ArrayLike | None = None,
    tol: float = 1e-3,
    max_iter: int = 50,
    svm_tol: float = 1e-3,
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Learn an SVM on locally combined kernels, and the gating function.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=1.0
        Box constraint.
    gating : array_like of shape (M,) or None, default=None
        Weights of the kernels in that of the gating function; 1/M each if not given.
    tol : float, default=1e-3
        It ends where a step decreases J by less than this share of it.
    max_iter : int, default=50
        Maximum number of steps.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all.

    Returns
    -------
    Solution
        `members` are a machine a kernel and `gates` what weights them. `weights` are the means of
        eta_m over the training samples, `dual_coef` a. `objective` is J and `gap` that of the SVM
        at the gating found, of which nothing is certified. `converged` says that the last step was
        small, or that there was none that decreased J.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range.
    """
    tol = check_limits(tol, max_iter)
    given = None if gating is None else real_array("gating", gating)
    problem = Problem.of(y, C, class_weight, sample_weight, svm_tol)
    bank = check_bank("localized_mkl", bank, len(problem.y))
    of_gate = fixed_weights(bank, given, "gating")
    gate_kernel = bank.combine(of_gate)
    unit = float(gate_kernel.diagonal().mean()) or 1.0
    gate_kernel /= unit
    search = _GatingSearch(bank, problem, problem.machine(), gate_kernel)
    point, history, ended = search.descend(tol, max_iter)
    a, eta, calls = point.trained.dual_coef, point.eta, search.machine.calls
    single = Solution(
        weights=eta.mean(axis=0),
        dual_coef=a,
        intercept=point.trained.intercept,
        objective=point.objective,
        gap=point.bounds.relative_gap,
        n_svm_calls=calls,
        n_iter=len(history) - 1,
        converged=ended,
        history=history,
        svm_seconds=search.machine.seconds,
    )
    coefficients, offsets = point.gate[:-1].T, point.gate[-1]
    alone = replace(single, history=[], svm_seconds=0.0)
    return replace(
        single,
        members=tuple(
            replace(alone, weights=unit_vector, dual_coef=a * share, intercept=0.0)
            for unit_vector, share in zip(np.eye(bank.n_kernels), eta.T, strict=True)
        ),
        gates=tuple(
            replace(alone, weights=of_gate / unit, dual_coef=c, intercept=float(offset))
            for c, offset in zip(coefficients, offsets, strict=True)
        ),
    )


def gated_kernel(bank: Bank, eta: Array) -> Array:
    """Return sum_m eta_m(x_i) k_m(x_i, x_j) eta_m(x_j) (n, n), for `eta` (n, M)."""
    K = np.zeros((bank.n_samples, bank.n_samples))
    term = np.empty_like(K)
    for unit_vector, share in zip(np.eye(bank.n_kernels), eta.T, strict=True):
        term = bank.combine(unit_vector, term)
        term *= share
        term *= share[:, None]
        K += term
    return K


def score_gradient(bank: Bank, a: Array, eta: Array) -> Array:
    """Return dJ / ds_m(x_i) (n, M) at the SVM's a (n,), for `eta` (n, M)."""
    scaled = a[:, None] * eta
    outputs = [bank.products(column, [m])[0] for m, column in enumerate(scaled.T)]
    forms = scaled * np.column_stack(outputs)
    return eta * forms.sum(axis=1, keepdims=True) - forms


@dataclass(frozen=True)
class _Gated:
    """A gating function, coefficients of phi(x_i) and offsets (n + 1, M), and the SVM there."""

    gate: Array
    eta: Array
    trained: SVMSolution
    bounds: Bounds

    @property
    def objective(self) -> float:
        return self.bounds.lower


@dataclass(frozen=True)
class _GatingSearch:
    bank: Bank
    problem: Problem
    machine: SVM
    gate_kernel: Array

    def __call__(self, gate: Array) -> _Gated:
        """Return the SVM at a gating function."""
        eta = softmax(self._scores(gate), axis=1)
        K = gated_kernel(self.bank, eta)
        trained = self.machine.solve(K)
        a, intercept = trained.dual_coef, trained.intercept
        return _Gated(gate, eta, trained, bounds_alone(self.problem.loss, K @ a, a, intercept))

    def _scores(self, gate: Array) -> Array:
        return self.gate_kernel @ gate[:-1] + gate[-1]

    def descend(self, tol: float, max_iter: int) -> tuple[_Gated, iterations.History, bool]:
        """Return the last point, the history, and whether the descent has ended by itself."""
        point = self(np.zeros((self.bank.n_samples + 1, self.bank.n_kernels)))
        history = iterations.begin()
        size, ended = 0.0, False
        while True:
            iterations.note(
                history, point.eta.mean(axis=0), objective=point.objective,
                gap=point.bounds.relative_gap, n_svm_calls=self.machine.calls,
            )  # fmt: skip
            if ended or len(history) > max_iter:
                return point, history, ended
            following, size = self._step(point, size)
            ended = point.objective - following.objective < tol * point.objective
            point = following

    def _step(self, point: _Gated, size: float) -> tuple[_Gated, float]:
        """Return the point after a step and the size of the next; `point` where none descends."""
        slopes = score_gradient(self.bank, point.trained.dual_coef, point.eta)
        direction = np.vstack([slopes, slopes.sum(axis=0)])
        change = self._scores(direction)  # of the scores, along the gradient
        first = 1.0 / max(float(np.abs(change).max()), np.finfo(float).tiny)
        size = size or first
        decrease = float(np.vdot(slopes, change))
        while size > _SMALLEST * first:
            trial = self(point.gate - size * direction)
            if trial.objective <= point.objective - _ARMIJO * size * decrease:
                return trial, _GROWTH * size
            size *= _SHRINK
        return point, size
