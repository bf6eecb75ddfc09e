"""The default exact solver of MKL: SVM solutions that lead from one local model to the next.

The problem is that of SimpleMKL (Rakotomamonjy et al. 2008), convex in the weights:

    minimise over d >= 0, sum_m d_m = 1
    J(d) = max over 0 <= alpha <= C, y'alpha = 0 of  sum_i alpha_i - 1/2 a' K_d a,   a = alpha o y,

with K_d = sum_m d_m K_m. How it is solved, to a certified gap in a handful of SVM calls, is in
`mklbench.optim.simplex_search`.

For many samples there is another method (`mklbench.optim.joint`), which forms no matrix (n, n): it
finds weights, alpha and intercept together on factors of the kernels, and is certified for the
kernels themselves (`mklbench.optim.joint_search`).

With `p` > 1 the simplex becomes the ball of the l_p norm, d >= 0, sum_m d_m^p <= 1 (Kloft et al.
2011, problem 9), and weights are the more alike the larger p; at infinity all are 1. The primal
regulariser is then 1/2 (sum_m ||f_m||^r)^(2/r), r = 2 p / (p + 1), and the dual one 1/2 times the
l_p* norm of the a' K_m a, p* = p / (p - 1). SVMs and the best weights for their functions are taken
in turn (`mklbench.optim.svm_value`), or all is found together by the joint method, too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mklbench.kernels.base import Bank
from mklbench.kernels.groups import groups_of
from mklbench.optim import joint_method, joint_search
from mklbench.optim.joint_method import METHODS, Method
from mklbench.optim.problem import ClassWeight, Problem
from mklbench.optim.simplex_search import Search
from mklbench.optim.svm_dual import InnerSVM, of_classes
from mklbench.optim.svm_value import Objective, alternate, check_bank, start_weights
from mklbench.optim.weight_sets import Ball, Given, WeightSet, one_sum
from mklbench.penalties.mixed_norm import MixedNorm, power_sum
from mklbench.solution import Solution
from mklbench.validation import check_choice, check_limits, check_number

VERSION = 1

# Held at once (`mklbench.optim.fit_memory`): LIBSVM's buffer and the sum of Gram matrices.
MATRICES = 3.0
NEW_OPTIONS = ("p", "method")
EXACT = True


# SVMs of a master.
_MASTER_CALLS = 100
# For p > 1: the least weight beside the largest at a start.
_SMALLEST_START = 1e-3


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 100.0,
    *,
    p: float | None = None,
    tol: float = 1e-4,
    max_iter: int = 100,
    method: Method = "auto",
    start: ArrayLike | None = None,
    class_weight: ClassWeight = None,
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
        Maximum number of SVMs; for p > 1, of changes of the weights; for the
        joint method, of iterations.
    method : {"auto", "libsvm", "joint"}, default="auto"
        "libsvm" solves SVMs on Gram matrices; "joint" all together on factors of the kernels;
        "auto" takes the second where there are factors and it is faster
        (`mklbench.optim.joint_search.pays`), from 4,000 samples on. A `Solution` by the joint
        method has an `expansion` and made no SVM calls. Of kernels on several features
        only inner products have factors: others may be approximated by a linear kernel on the
        features of scikit-learn's `Nystroem` (docs/scale.md).
    start : array_like of shape (M,) or None, default=None
        Weights >= 0, not all zero, to start from: those of a similar problem, for instance
        of another C, or of a bank with fewer kernels, with 0 for each that is new. If not given,
        the kernels that agree best with the labels, with equal weights. The joint method has a
        start of its own.
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
    check_choice("method", method, METHODS)
    norm = 1.0 if p is None else check_number("p", p, 1.0, np.inf, "a number >= 1, inf included")
    tol = check_limits(tol, max_iter)
    problem = Problem.of(y, C, class_weight, sample_weight)
    bank = check_bank("mkl", bank, len(problem.y))
    factors = joint_method.factors_for(bank, method, tol)
    if factors is not None:
        where: WeightSet = one_sum(bank.n_kernels)
        if norm > 1.0:
            n = bank.n_kernels
            where = Ball(n, norm) if norm < np.inf else Given(np.ones(n))
        return joint_search.solve(factors, where, problem.loss, tol, max_iter)
    if norm > 1.0:
        return _in_a_ball(bank, problem, norm, tol, max_iter, start)
    return solve_master(bank, problem, tol=tol, start=start, max_iter=max_iter, falls_back=True)


def solve_master(
    bank: Bank,
    problem: Problem,
    *,
    tol: float,
    start: ArrayLike | None,
    max_iter: int = _MASTER_CALLS,
    falls_back: bool = False,
) -> Solution:
    """Solve one of a series of problems as `solve` does on Gram matrices, or give it up.

    Where SVMs do not close the gap, the joint method does with `falls_back`; else the next master
    or the end of the series makes up for it.
    """
    machine = problem.machine()
    svm = InnerSVM(bank, machine, of_classes(machine.y, machine.upper))
    return Search(bank, svm, tol, max_iter, falls_back).run(start)


def _in_a_ball(
    bank: Bank, problem: Problem, p: float, tol: float, max_iter: int, start: ArrayLike | None
) -> Solution:
    """Solve for weights in the ball of the l_p norm: each kernel is a group of its own."""
    objective = Objective(bank, problem)
    penalty = MixedNorm(groups_of(bank, "singletons"), p / (p + 1.0) if p < np.inf else 1.0)
    weights = np.ones(bank.n_kernels)
    if start is not None:  # a weight of 0 would stay there
        given = start_weights(start, bank.n_kernels)
        weights = np.maximum(given, _SMALLEST_START * given.max())
    weights = weights / power_sum(weights, p)
    return alternate(objective, penalty, weights, tol, None, max_iter)
