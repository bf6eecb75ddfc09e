"""Variable sparsity kernel learning by mirror descent, mirrorVSKL (Aflalo et al., JMLR 12, 2011).

The kernels come in groups j = 1 ... n of n_j kernels. VSKL_q, q >= 1, regularises with

    1/2 [ sum_j ( sum_k ||f_jk|| )^(2q) ]^(1/q)                                              (eq. 1)

which chooses few kernels within a group, and uses all groups. With q_jk = a' K_jk a, a = alpha o y,
and q* = q / (q - 1), problem (D) of the paper (Theorem 2.4) is to

    minimise over lambda, one simplex a group,   G(lambda) = max over alpha, gamma of
        f_lambda(alpha, gamma) = sum_i alpha_i - 1/2 sum_j (1 / gamma_j) sum_k lambda_jk q_jk

over 0 <= alpha <= C, y'alpha = 0, and gamma >= 0 with sum_j gamma_j^q* <= 1 (gamma <= 1 at q = 1).
G is convex with the subgradient -1/2 q_jk / gamma_j at the maximisers (Danskin).

- The oracle (Algorithm 2) computes G by block coordinate ascent: alpha from the SVM with the kernel
  sum_jk (lambda_jk / gamma_j) K_jk, gamma from the closed form of Proposition 3.3.
- The descent (Algorithm 3) is that of mirrors with the entropy on each simplex, lambda_jk times
  exp(-s_t dG/dlambda_jk), with s_t = A sqrt(log max_j n_j) / (||dG/dlambda||_inf sqrt(t)).

With one group f is that of the SVM, and the problem MKL's for every q. With groups of one kernel
nothing is left to descend on, and the first oracle is the solution; at q = 1 it is one SVM with the
sum of the kernels.

For many samples there is another method, that of `mklbench.optim.joint`: it finds lambda, gamma and
alpha together on factors of the kernels, and forms no matrix (n, n).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mklbench import iterations
from mklbench.iterations import History
from mklbench.kernels.base import Array, Bank
from mklbench.kernels.groups import GroupLists, Groups, check_grouping, groups_of
from mklbench.optim import joint_method, joint_search
from mklbench.optim.joint_method import METHODS, Method
from mklbench.optim.problem import ClassWeight, Problem
from mklbench.optim.svm_value import Objective, Point, check_bank, settled
from mklbench.optim.weight_sets import Grouped
from mklbench.penalties.mixed_norm import MixedNorm
from mklbench.solution import Solution
from mklbench.validation import check_choice, check_limits, check_number, check_positive_or_none

VERSION = 4
NEW_OPTIONS = ("method",)

# Held at once (`mklbench.optim.fit_memory`): LIBSVM's buffer, and a Gram matrix of the best, the
# last and the next point.
MATRICES = 5.0


# The factor A of the step size, divided by the square root of the number of groups.
_STEP_SIZE = 3.0
# The oracle is as accurate as this share of the gap that was certified last, or of the tolerance.
_ORACLE_TOL = 0.1
_MAX_ASCENTS = 50
# A share lambda_jk counts as 0 in combinations when it is this small beside its group's largest.
_NEGLIGIBLE = 1e-8


class _Answer(NamedTuple):
    """What the oracle found at some lambda.

    Attributes
    ----------
    point : Point
        The SVM at the kernel weights lambda_jk / gamma_j.
    gamma : ndarray of shape (n,)
        The best gamma for its alpha, up to the tolerance that of `point`.
    objective : float
        f_lambda at this alpha and gamma: never below the lower bound.
    gap : float
        The relative gap of problem (D) at the numbers of `point`; `objective` is within.
    unfinished : bool
        Whether LIBSVM came to its limit of iterations, so that the numbers are those of no optimum.
    """

    point: Point
    gamma: Array
    objective: float
    gap: float
    unfinished: bool


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 100.0,
    *,
    q: float = 2.0,
    groups: str | GroupLists = "bank",
    tol: float = 1e-2,
    objective_tol: float | None = None,
    max_iter: int = 1000,
    step_size: float | None = None,
    svm_tol: float = 1e-3,
    method: Method = "auto",
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Learn kernel weights lambda_jk / gamma_j, few within each group, over all groups.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples, of unit trace in the paper
        (`mklbench.kernels.unit_trace`).
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=100.0
        Box constraint.
    q : float, default=2.0
        >= 1, `math.inf` included; the larger, the more alike are the groups' norms.
    groups : str or GroupLists, default="bank"
        As in `mklbench.kernels.groups.groups_of`: "bank" for the bank's own groups, or one group of
        all kernels where it has none (then this is MKL); "one", "singletons" or "features"; or
        lists of kernel indices.
    tol : float, default=0.01
        Stop at this certified relative duality gap.
    objective_tol : float or None, default=None
        Stop as well where the objective of an iterate differs from that of the one
        before by less than this share of it; None for never. The paper has 1e-4.
    max_iter : int, default=1000
        Maximum number of steps of the descent.
    step_size : float or None, default=None
        The factor A, which the paper leaves open; 3 sqrt(n) for n groups if not given.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance; it is tightened by itself where it, not gamma, keeps the
        oracle from its accuracy.
    method : {"auto", "libsvm", "joint"}, default="auto"
        "libsvm" is the mirror descent; "joint" finds all together on factors of the kernels, to
        `tol` alone; "auto" takes the second as `mklbench.algorithms.mkl` does, unless
        `objective_tol` or `step_size` is given.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all.

    Returns
    -------
    Solution
        Of the iterate with the smallest certified gap. `weights` are lambda_jk / gamma_j, so that
        those of a group sum to 1 / gamma_j; `objective` is f_lambda(alpha, gamma), the value of
        problem (D) up to the accuracy of the oracle. Each entry of `history` has the objective and
        the gap of an iterate, the SVM calls so far ("n_svm_calls"), and the iterations of its block
        coordinate ascent ("ascents"). By the joint method it has an `expansion` and made no SVM
        calls.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, q < 1, or the groups are no partition.
    """
    check_choice("method", method, METHODS)
    q = check_q(q)
    tol = check_limits(tol, max_iter)
    check_positive_or_none("step_size", step_size)
    check_positive_or_none("objective_tol", objective_tol)
    check_grouping(groups)
    problem = Problem.of(y, C, class_weight, sample_weight, svm_tol)
    bank = check_bank("vskl", bank, len(problem.y))
    partition = groups_of(bank, groups)
    if method == "auto" and not (objective_tol is None and step_size is None):
        method = "libsvm"
    factors = joint_method.factors_for(bank, method, tol)
    if factors is not None:
        where = Grouped(partition, q)
        return joint_search.solve(factors, where, problem.loss, tol, max_iter)
    A = _STEP_SIZE * math.sqrt(len(partition)) if step_size is None else step_size
    rate = A * math.sqrt(math.log(partition.sizes.max()))
    penalty = MixedNorm(partition, q)
    return _descend(Objective(bank, problem), penalty, rate, tol, objective_tol, max_iter)


def _descend(
    objective: Objective,
    penalty: MixedNorm,
    rate: float,
    tol: float,
    objective_tol: float | None,
    max_iter: int,
) -> Solution:
    """Algorithm 3, with the steps rate / (||dG/dlambda||_inf sqrt(t)).

    It ends where LIBSVM does not solve an SVM within its limit of iterations: each takes seconds
    to minutes then, and what it leaves is no subgradient.
    """
    groups, history = penalty.groups, iterations.begin()
    logarithms = -np.log(groups.spread(groups.sizes.astype(float)))
    uniform = penalty.best_gamma(np.ones(len(groups)))
    answer = best = _ask(objective, penalty, history, np.exp(logarithms), uniform, 1.0)
    ended = False
    while best.gap > tol and len(history) <= max_iter and not (ended or answer.unfinished):
        slopes = 0.5 * np.maximum(answer.point.forms, 0.0) / groups.spread(answer.gamma)
        steepest = float(slopes.max()) or 1.0
        logarithms = logarithms + rate / math.sqrt(len(history)) * slopes / steepest
        logarithms -= groups.spread(groups.maxima(logarithms))
        before, accuracy = answer, max(tol, min(answer.gap, 1.0))
        shares = _on_simplices(logarithms, groups)
        answer = _ask(objective, penalty, history, shares, before.gamma, accuracy)
        if answer.gap < best.gap:
            best = answer
        ended = settled(before.objective, answer.objective, objective_tol)
    converged = best.gap <= tol or ended
    return objective.solution(
        best.point, gap=best.gap, converged=converged, history=history, objective=best.objective
    )


def _ask(
    objective: Objective,
    penalty: MixedNorm,
    history: History,
    shares: Array,
    gamma: Array,
    accuracy: float,
) -> _Answer:
    """Algorithm 2: maximise f_lambda at lambda = `shares` (M,), starting from `gamma` (n,).

    The block coordinate ascent in alpha and gamma ends where a new gamma would raise f_lambda by
    less than a tenth of `accuracy`, in units of its value; LIBSVM is made as accurate. What has
    been found is noted in the history.
    """
    groups, machine, ascents = penalty.groups, objective.machine, 1
    while True:
        point = objective.accurate(shares / groups.spread(gamma), _ORACLE_TOL * accuracy)
        unfinished = machine.is_at_limit(point.outputs, point.trained.dual_coef)
        D = groups.sums(shares * np.maximum(point.forms, 0.0))
        improved = penalty.best_gamma(D)
        increase = 0.5 * float((D / gamma - D / improved).sum())
        enough = increase <= _ORACLE_TOL * accuracy * point.objective
        if enough or unfinished or ascents == _MAX_ASCENTS:
            break
        gamma = improved
        ascents += 1
    value, bounds = point.objective + increase, objective.bounds(point, penalty)
    gap = replace(bounds, upper=max(bounds.upper, value)).relative_gap
    iterations.note(
        history,
        point.weights,
        objective=value,
        gap=gap,
        n_svm_calls=machine.calls,
        ascents=ascents,
    )
    return _Answer(point, improved, value, gap, unfinished)


def _on_simplices(logarithms: Array, groups: Groups) -> Array:
    """Return the shares (M,) proportional to exp(logarithms), whose maximum in a group is 0."""
    shares = np.exp(logarithms)
    shares[shares < _NEGLIGIBLE] = 0.0
    return shares / groups.spread(groups.sums(shares))


def check_q(q: float) -> float:
    """Return q as a float if it is a number >= 1, infinity included."""
    kind = "a number >= 1, inf included; for 1/2 <= q < 1 take ckl"
    return check_number("q", q, 1.0, math.inf, kind)
