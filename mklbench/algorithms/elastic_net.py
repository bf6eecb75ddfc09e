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
turn (`mklbench.optim.svm_value`). Where that has not ended soon the joint method has the weights
and alpha at once (`mklbench.optim.joint`): at a large C the weights change slowly, and LIBSVM takes
long for each SVM. Where the kernels have exact factors with few columns it is the faster one from
the beginning.
"""

from __future__ import annotations

from functools import partial
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from mklbench import iterations
from mklbench.kernels.base import Array, Bank
from mklbench.libsvm import SVMSolution
from mklbench.optim import joint_method, joint_search, svm_dual
from mklbench.optim.joint_method import METHODS, Method
from mklbench.optim.problem import ClassWeight, Problem
from mklbench.optim.svm_value import Objective, Point, alternate, check_bank
from mklbench.optim.weight_sets import ElasticBox, Given
from mklbench.penalties.elastic_net import ElasticNet
from mklbench.solution import Solution
from mklbench.validation import check_choice, check_limits, check_number

VERSION = 2

# Held at once (`mklbench.optim.fit_memory`): LIBSVM's buffer, a Gram matrix, the fallback's.
MATRICES = 6.0
NEW_OPTIONS = ("method",)


# Changes of the weights after which the joint method takes over.
_CHANGES = 100


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
    class_weight: ClassWeight = None,
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
    mix = check_number("mix", mix, 0.0, 1.0, "a number in (0, 1]", open_below=True)
    check_choice("method", method, METHODS)
    tol = check_limits(tol, max_iter)
    problem = Problem.of(y, C, class_weight, sample_weight, svm_tol)
    bank = check_bank("elastic_net", bank, len(problem.y))
    factors = joint_method.factors_for(bank, method, tol)
    if factors is not None:
        where = ElasticBox(bank.n_kernels, mix) if mix < 1.0 else Given(np.ones(bank.n_kernels))
        return joint_search.solve(factors, where, problem.loss, tol, max_iter)
    objective, penalty = Objective(bank, problem), ElasticNet(mix)
    history = iterations.begin()

    def in_turn(start: Array, changes: int, patient: bool) -> Solution:
        return alternate(objective, penalty, start, tol, None, changes, history, patient)

    start = penalty.best_weights(np.ones(bank.n_kernels))
    if method == "libsvm" or mix == 1.0:
        return in_turn(start, max_iter, patient=True)
    found = None
    if joint_method.narrow_factors(bank, tol) is None:
        found = in_turn(start, min(max_iter, _CHANGES), patient=False)
    if found is None or not found.converged:
        found = _jointly(objective, penalty, history, found, tol)
    left = max_iter - found.n_iter
    return found if found.converged or left <= 0 else in_turn(found.weights, left, patient=True)


def _jointly(
    objective: Objective,
    penalty: ElasticNet,
    history: iterations.History,
    found: Solution | None,
    tol: float,
) -> Solution:
    """Return what the joint method comes to, or `found` where that has the smaller gap.

    At its weights comes the SVM first, and then the alpha that came with them: it may be one of
    many that solve the SVM, and the one that proves the weights.
    """
    bank, machine = cast(Bank, objective.operator), objective.machine
    dual = svm_dual.of_classes(machine.y, machine.upper)
    kernels = np.arange(bank.n_kernels) if found is None else np.flatnonzero(found.weights)
    where = partial(ElasticBox, mix=penalty.mix)
    for weights, own, _ in joint_method.searches(bank, dual, kernels, where, tol):
        points = [objective(weights)]
        for a in (joint_method.at_bounds(own, dual), own):
            outputs = points[0].K @ a
            trained = SVMSolution(a, np.flatnonzero(a), dual.best_intercept(outputs))
            points.append(Point(bank, weights, points[0].K, trained, outputs))
        for point in points:
            gap = objective.bounds(point, penalty).relative_gap
            if found is None or (gap < found.gap and not found.converged):
                value, calls = point.objective + penalty.of_weights(weights), machine.calls
                iterations.note(history, weights, objective=value, gap=gap, n_svm_calls=calls)
                found = objective.solution(
                    point, gap=gap, converged=gap <= tol, history=history, objective=value
                )
        if found is not None and found.converged:
            break
    assert found is not None  # there is room for factors with few columns
    return found
