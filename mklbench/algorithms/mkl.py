"""The default exact solver of MKL: SVM solutions that lead from one local model to the next.

The problem is that of SimpleMKL (Rakotomamonjy et al. 2008), convex in the weights:

    minimise over d >= 0, sum_m d_m = 1
    J(d) = max over 0 <= alpha <= C, y'alpha = 0 of  sum_i alpha_i - 1/2 a' K_d a,   a = alpha o y,

with K_d = sum_m d_m K_m. How it is solved, to a certified gap in a handful of SVM calls, is in
`mklbench.optim.simplex_search`.

With `p` > 1 the simplex becomes the ball of the l_p norm, d >= 0, sum_m d_m^p <= 1 (Kloft et al.
2011, problem 9), and weights are the more alike the larger p; at infinity all are 1. The primal
regulariser is then 1/2 (sum_m ||f_m||^r)^(2/r), r = 2 p / (p + 1), and the dual one 1/2 times the
l_p* norm of the a' K_m a, p* = p / (p - 1). SVMs and the best weights for their functions are taken
in turn (`mklbench.optim.alternation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError
from mklbench.kernels.base import Bank
from mklbench.kernels.groups import groups_of
from mklbench.libsvm import SVM, check_svm_options
from mklbench.optim import side_by_side
from mklbench.optim.alternation import alternate
from mklbench.optim.inner_svm import InnerSVM
from mklbench.optim.simplex_search import Search, given_weights
from mklbench.optim.svm_value import Objective, check_bank
from mklbench.penalties.mixed_norm import MixedNorm, power_sum
from mklbench.solution import Solution
from mklbench.validation import check_count, check_positive

VERSION = 1
NEW_OPTIONS = ("p",)
EXACT = True
# Held at once (`mklbench.optim.fit_memory`): LIBSVM's buffer, a sum of kernels, a local model.
MATRICES = 3.5

Array = NDArray[np.float64]

# SVMs of a master.
_MASTER_CALLS = 100
# For p > 1: LIBSVM's tolerance at first, and the least weight beside the largest at a start.
_SVM_TOL, _SMALLEST_START = 1e-3, 1e-3


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 100.0,
    *,
    p: float | None = None,
    tol: float = 1e-4,
    max_iter: int = 100,
    start: ArrayLike | None = None,
    class_weight: Mapping[int, float] | str | None = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Learn the kernel weights of a bank to a certified optimum.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=100.0
        Box constraint.
    p : float or None, default=None
        Of the l_p norm of the weights, >= 1, infinity included; None is 1, the simplex.
    tol : float, default=0.0001
        Stop at this certified relative duality gap.
    max_iter : int, default=100
        At most so many SVMs; for p > 1 so many changes of the weights.
    start : array_like of shape (M,) or None, default=None
        Weights >= 0, not all zero, to start from: those of a similar problem, for instance
        of another C, or of a bank with fewer kernels, with 0 for each that is new. If not given,
        the kernels that agree best with the labels, with equal weights.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all.

    Returns
    -------
    Solution
        `weights` sum to 1 and have exact zeros; for p > 1 their l_p norm is 1. `objective` is the
        value of the SVM's dual at the returned weights and dual coefficients, which is J up to the
        gap. Each entry of `history` has J at the weights of one SVM and the gap between its primal
        value and the best lower bound so far; the last gap is no larger than that of what is
        returned. For p > 1 it has an entry an iterate, with the gap there.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range.
    """
    if check_norm(p) > 1.0:
        return _in_a_ball(
            bank, y, C, check_norm(p), tol, max_iter, start, class_weight, sample_weight
        )
    return _solve(bank, y, C, tol, max_iter, start, class_weight, sample_weight, resort=True)


def check_norm(p: float | None) -> float:
    """Return the p of an l_p norm as a float, 1 for None, if it is a number >= 1."""
    if p is None:
        return 1.0
    if not isinstance(p, Real) or isinstance(p, bool) or not p >= 1.0:
        raise InputError(f"p={p!r} is not accepted: it must be a number >= 1, inf included.")
    return float(p)


def solve_master(
    bank: Bank,
    y: Array,
    C: float,
    *,
    tol: float,
    start: Array,
    class_weight: Mapping[int, float] | str | None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Solve one of a series of problems as `solve` does, or give it up.

    Where the gap does not close, the next master or the end of the series makes up for it.
    """
    return _solve(bank, y, C, tol, _MASTER_CALLS, start, class_weight, sample_weight, resort=False)


def _in_a_ball(
    bank: Bank,
    y: ArrayLike,
    C: float,
    p: float,
    tol: float,
    max_iter: int,
    start: ArrayLike | None,
    class_weight: Mapping[int, float] | str | None,
    sample_weight: ArrayLike | None,
) -> Solution:
    """Solve for weights in the ball of the l_p norm: each kernel is a group of its own."""
    check_positive("tol", tol)
    check_count("max_iter", max_iter)
    check_svm_options(C, _SVM_TOL, class_weight)
    bank = check_bank("mkl", bank)
    objective = Objective(bank, y, C, _SVM_TOL, class_weight, sample_weight)
    penalty = MixedNorm(groups_of(bank, "singletons"), p / (p + 1.0) if p < np.inf else 1.0)
    weights = np.ones(bank.n_kernels)
    if start is not None:  # a weight of 0 would stay there
        given = given_weights(start, bank.n_kernels)
        weights = np.maximum(given, _SMALLEST_START * given.max())
    weights = weights / power_sum(weights, p)
    (solution,) = side_by_side.run(
        bank, [alternate(objective, penalty, weights, tol, None, max_iter)]
    )
    return solution


def _solve(
    bank: Bank,
    y: ArrayLike,
    C: float,
    tol: float,
    max_iter: int,
    start: ArrayLike | None,
    class_weight: Mapping[int, float] | str | None,
    sample_weight: ArrayLike | None,
    resort: bool,
) -> Solution:
    check_positive("tol", tol)
    check_count("max_iter", max_iter)
    bank = check_bank("mkl", bank)
    machine = SVM(y, C, class_weight=class_weight, sample_weight=sample_weight)
    svm = InnerSVM(bank, machine)
    search = Search(bank, svm, tol, max_iter, resort)
    best = search.run(start)
    return Solution(
        weights=best.weights,
        dual_coef=best.dual_coef,
        intercept=best.intercept,
        objective=best.objective,
        gap=best.gap,
        n_svm_calls=svm.calls,
        n_iter=len(search.history) - 1,
        converged=best.gap <= tol,
        history=search.history,
        svm_seconds=machine.seconds,
    )
