"""VSKL as one conic programme: the QCQP of Aflalo et al. 2011 (eq. 13), for few samples.

The problem is that of `mklbench.algorithms.vskl`. Equation (13) is its oracle at given lambda. Of
all lambda, the least sum_k lambda_jk q_jk is bounded by each q_jk alone, so that with one
constraint a kernel the programme is the whole of problem (D):

    maximise    sum_i alpha_i - sum_j v_j   over 0 <= alpha <= C, y'alpha = 0, v and gamma >= 0
    subject to  a' K_jk a <= 2 gamma_j v_j  for all j and k,   a = alpha o y,
                sum_j gamma_j^q* <= 1       (gamma <= 1 at q = 1).

As in the paper the constraints of the kernels are second-order cones,

    a' K_jk a + (gamma_j - v_j)^2 / 2 <= (gamma_j + v_j)^2 / 2,

whose multipliers hold lambda_jk. The last one is linear at q = infinity, the case of the paper, and
at q = 1; else it is a power cone a group. Clarabel, an interior-point method, solves it. It holds a
factor of every kernel at once: this is a reference for small problems, and `vskl` the algorithm.
"""

from __future__ import annotations

import math
from dataclasses import replace

import clarabel
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg import eigh

from mklbench.algorithms.vskl import check_q
from mklbench.errors import InputError
from mklbench.kernels.base import Array, Bank
from mklbench.kernels.groups import GroupLists, check_grouping, groups_of
from mklbench.optim.conic import conic_optimum
from mklbench.optim.problem import Problem
from mklbench.optim.svm_value import Objective, check_bank
from mklbench.penalties.mixed_norm import MixedNorm
from mklbench.solution import Solution
from mklbench.validation import check_positive

VERSION = 1


# Numbers in all Gram matrices: a minute of Clarabel.
_MOST_NUMBERS = 2_000_000
# Of Clarabel, and of LIBSVM, which keeps kernel values in single precision.
_CONIC_TOL, _SVM_TOL = 1e-9, 1e-6
# Eigenvalues of a kernel and shares in a group count as 0 this small beside the largest.
_NO_RANK, _NO_SHARE = 1e-13, 1e-8


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 100.0,
    *,
    q: float = math.inf,
    groups: str | GroupLists = "bank",
    tol: float = 1e-4,
) -> Solution:
    """Learn the kernel weights lambda_jk / gamma_j of VSKL by a conic solver.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples, with n^2 M <= 2,000,000.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=100.0
        Box constraint.
    q : float, default=inf
        >= 1, `math.inf` included.
    groups : str or GroupLists, default="bank"
        As in `mklbench.algorithms.vskl`.
    tol : float, default=0.0001
        The certified relative duality gap that counts as converged.

    Returns
    -------
    Solution
        Clarabel's weights with the SVM at them, whose numbers `gap` is made of; `objective` is
        f_lambda(alpha, gamma), as of `vskl`, and `n_iter` the iterations of Clarabel.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, or the problem is too large.
    """
    q = check_q(q)
    check_positive("tol", tol)
    check_grouping(groups)
    problem = Problem.of(y, C, svm_tol=_SVM_TOL)
    bank = check_bank("vskl_qcqp", bank, len(problem.y))
    penalty = MixedNorm(groups_of(bank, groups), q)
    objective = Objective(bank, problem)
    size = bank.n_samples**2 * bank.n_kernels
    if size > _MOST_NUMBERS:
        raise InputError(
            f"the kernels have {size} numbers, {bank.n_kernels} matrices of {bank.n_samples} "
            f"samples, and vskl_qcqp is for {_MOST_NUMBERS} at most: take vskl, or fewer samples."
        )
    shares, gamma, n_iter = _optimum(bank, objective.machine.y, C, penalty)
    point = objective(shares / penalty.groups.spread(gamma))
    D = penalty.groups.sums(shares * point.forms)
    value = point.objective + 0.5 * float((D / gamma - D / penalty.best_gamma(D)).sum())
    bounds = objective.bounds(point, penalty)
    gap = replace(bounds, upper=max(bounds.upper, value)).relative_gap
    history = [{"objective": value, "gap": gap, "n_svm_calls": 1.0}]
    solution = objective.solution(
        point, gap=gap, converged=gap <= tol, history=history, objective=value
    )
    return replace(solution, n_iter=n_iter)


def _optimum(bank: Bank, y: Array, C: float, penalty: MixedNorm) -> tuple[Array, Array, int]:
    """Return lambda (M,), gamma (J,) and the number of Clarabel's iterations.

    Its variables are a, gamma, v, and u where power cones say that gamma_j^q* <= u_j.
    """
    groups, q = penalty.groups, penalty.q
    n, J, is_power = len(y), len(groups), 1.0 < q < math.inf
    x = sparse.identity(n + (3 if is_power else 2) * J, format="csr")
    a, gamma, v, u = x[:n], x[n : n + J], x[n + J : n + 2 * J], x[n + 2 * J :]
    parts = []  # A, b and the cone that b - A x is in
    for j, unit in zip(groups.owner, np.eye(bank.n_kernels), strict=True):
        values, vectors = eigh(bank.combine(unit))
        kept = values > _NO_RANK * values[-1]
        root = sparse.csr_matrix((vectors[:, kept] * np.sqrt(2.0 * values[kept])).T)
        rows = sparse.vstack([-gamma[j] - v[j], v[j] - gamma[j], root @ a])
        parts.append((rows, np.zeros(rows.shape[0]), clarabel.SecondOrderConeT(rows.shape[0])))
    alpha, over_J = sparse.diags(y) @ a, (u if is_power else gamma).sum(axis=0)
    parts += [
        (a.sum(axis=0), np.zeros(1), clarabel.ZeroConeT(1)),
        (sparse.vstack([-alpha, alpha]), np.repeat([0.0, C], n), clarabel.NonnegativeConeT(2 * n)),
        (gamma, np.ones(J), clarabel.NonnegativeConeT(J))
        if q == 1
        else (over_J, np.ones(1), clarabel.NonnegativeConeT(1)),
    ]
    for j in range(J if is_power else 0):
        sides = sparse.vstack([-u[j], 0.0 * u[j], -gamma[j]])
        parts.append((sides, np.array([0.0, 1.0, 0.0]), clarabel.PowerConeT(1.0 - 1.0 / q)))
    nothing, linear = sparse.csc_matrix((x.shape[1],) * 2), v.sum(axis=0).A1 - y @ a
    # To equilibrate costs twice the iterations, and digits.
    found = conic_optimum(nothing, linear, parts, _CONIC_TOL, equilibrate=False)
    solution, multipliers = np.array(found.x), np.array(found.z)
    starts = np.cumsum([0, *(len(side) for _, side, _ in parts)])[: bank.n_kernels]
    shares = multipliers[starts] - multipliers[starts + 1]
    shares[shares < _NO_SHARE * groups.spread(groups.maxima(shares))] = 0.0
    D = 2.0 * (gamma @ solution) * (v @ solution)
    return shares / groups.spread(groups.sums(shares)), penalty.best_gamma(D), found.iterations
