"""MKL for regression: kernel weights on the simplex with the epsilon-insensitive loss.

The problem is that of SimpleMKL with the loss of epsilon-SVR (Rakotomamonjy et al. 2008, section
3.4): over functions f_m in the spaces of the M kernels and an intercept b

    minimise  1/2 (sum_m ||f_m||)^2 + C sum_i max(0, |y_i - sum_m f_m(x_i) - b| - epsilon),

which is, convex in the weights, to

    minimise over d >= 0, sum_m d_m = 1
    J(d) = max over |a_i| <= C, sum a = 0 of  a'y - epsilon sum_i |a_i| - 1/2 a' K_d a,

with K_d = sum_m d_m K_m and dJ/dd_m = -1/2 a' K_m a. Its dual has max_m a' K_m a in the place of
a' K_d a. How it is solved, to a certified gap in a handful of SVR calls, is in
`mklbench.optim.simplex_search`: the SVR is an SVM on either side of the tube
(`mklbench.optim.svm_dual`). For many samples there is the method of `mklbench.optim.joint`, which
forms no matrix (n, n).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from mklbench.certify import Tube
from mklbench.errors import InputError
from mklbench.kernels.base import Array, Bank
from mklbench.libsvm import SVR
from mklbench.libsvm.options import check_box
from mklbench.optim import joint_method, joint_search, svm_dual
from mklbench.optim.joint_method import METHODS, Method
from mklbench.optim.simplex_search import Search
from mklbench.optim.svm_dual import InnerSVM
from mklbench.optim.svm_value import check_bank
from mklbench.optim.weight_sets import one_sum
from mklbench.solution import Solution
from mklbench.validation import (
    check_choice,
    check_limits,
    check_not_negative,
    check_sample_weight,
    check_targets,
)

VERSION = 1
REGRESSION = True
NEW_OPTIONS = ("method",)
# As `mkl`, with a local model in up to n variables.
MATRICES = 4.0


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 100.0,
    *,
    epsilon: float = 0.1,
    tol: float = 1e-4,
    max_iter: int = 100,
    method: Method = "auto",
    start: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Learn the kernel weights of a bank for a regression, to a certified optimum.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples.
    y : array_like of shape (n,)
        Real targets, or labels in {-1, +1}.
    C : float, default=100.0
        Box constraint.
    epsilon : float, default=0.1
        Half the width of the tube in which errors cost nothing, in units of y, >= 0.
    tol : float, default=0.0001
        Stop at this certified relative duality gap.
    max_iter : int, default=100
        Maximum number of SVRs; for the joint method, of iterations.
    method : {"auto", "libsvm", "joint"}, default="auto"
        "libsvm" solves SVRs on Gram matrices; "joint" all together on factors of the kernels;
        "auto" takes the second as `mklbench.algorithms.mkl` does.
    start : array_like of shape (M,) or None, default=None
        Weights >= 0, not all zero, to start from, as in `mklbench.algorithms.mkl`. If not given,
        the kernels that agree best with the targets, with equal weights. The joint method has a
        start of its own.
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample: |a_i| <= C_i, the product of both.

    Returns
    -------
    Solution
        `weights` sum to 1 and have exact zeros, `dual_coef` is a. `objective` is the value of the
        SVR's dual at the returned weights and dual coefficients, which is J up to the gap. Each
        entry of `history` has J at the weights of one SVR and the gap between its primal value and
        the best lower bound so far. Where a tube holds all targets, no function is needed:
        `objective` and `gap` are 0. By the joint method the solution has an
        `expansion` and made no SVR calls.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, or a tube holds all targets of so many
        samples that the joint method is taken.
    """
    check_choice("method", method, METHODS)
    tol = check_limits(tol, max_iter)
    check_box("C", C)
    check_not_negative("epsilon", epsilon)
    targets = check_targets(y)
    limit: float | Array = C
    if sample_weight is not None:
        limit = C * check_sample_weight(sample_weight, len(targets))
    bank = check_bank("mkl_svr", bank, len(targets))
    # Tolerances are meant for targets of the size 1. With y, epsilon, C, a and b in units of the
    # scale the problem is the same, its value in units of the square.
    centre = float(targets.mean())
    unit = float(np.abs(targets - centre).max()) or 1.0
    scaled, box, tube = (targets - centre) / unit, C / unit, epsilon / unit
    factors = joint_method.factors_for(bank, method, tol)
    if factors is not None:
        if np.ptp(targets) <= 2.0 * epsilon:
            raise InputError(
                f"epsilon={epsilon:g} holds all targets, from {targets.min():g} to "
                f"{targets.max():g}: choose a smaller one."
            )
        loss = Tube(scaled, limit / unit, tube)
        found = joint_search.solve(factors, one_sum(bank.n_kernels), loss, tol, max_iter)
        return _in_units(found, unit, centre, limit)
    machine = SVR(scaled, box, epsilon=tube, sample_weight=sample_weight)
    svm = InnerSVM(bank, machine, svm_dual.of_targets(scaled, machine.upper, tube))
    search = Search(bank, svm, tol, max_iter, falls_back=True, unit=unit**2)
    return _in_units(search.run(start), unit, centre, limit)


def _in_units(solution: Solution, unit: float, centre: float, limit: float | Array) -> Solution:
    """Return the solution for targets as they were before they were scaled."""
    expansion = solution.expansion
    return replace(
        solution,
        dual_coef=np.clip(unit * solution.dual_coef, -limit, limit),  # rounding
        intercept=unit * solution.intercept + centre,
        objective=unit**2 * solution.objective,
        expansion=None if expansion is None else unit * expansion,
    )
