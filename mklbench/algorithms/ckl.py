"""Composite kernel learning, CKL(1, 2q) with 1/2 <= q < 1, and with it l_p-norm MKL.

The problem is that of VSKL (Aflalo et al. 2011, eq. 1; `mklbench.algorithms.vskl`) on the other
side of q = 1, where it is sparse across groups as well (Szafranski, Grandvalet & Rakotomamonjy,
ICML 2008). With t_j = sum_k ||f_jk|| the norms of the groups and rho = q / (1 - q), the regulariser
has the variational form

    ( sum_j t_j^(2q) )^(1/q) = min over eta >= 0, sum_j eta_j^rho <= 1 of  sum_j t_j^2 / eta_j,
    t_j^2 = min over lambda_j on the simplex of  sum_k ||f_jk||^2 / lambda_jk,

so that kernel jk has the weight d_jk = eta_j lambda_jk, and the problem is to

    minimise J(d) over d >= 0 with sum_j ( sum_k d_jk )^rho <= 1,

J being the value of the SVM with the kernel sum_jk d_jk K_jk. It is convex for q >= 1/2. Each
iteration solves that SVM and takes the d of the two minima, in closed form from the lengths
||f_jk|| = d_jk sqrt(a' K_jk a), which never increases the primal value.

One group is MKL for every q, and so is every grouping at q = 1/2. Groups of one kernel are l_p-norm
MKL with sum_m d_m^p <= 1, p = rho (Kloft et al. 2011).
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from mklbench.kernels.base import Bank
from mklbench.kernels.groups import GroupLists, check_grouping, groups_of
from mklbench.optim.problem import ClassWeight, Problem
from mklbench.optim.svm_value import Objective, alternate, check_bank
from mklbench.penalties.mixed_norm import MixedNorm
from mklbench.solution import Solution
from mklbench.validation import check_limits, check_number, check_positive_or_none

VERSION = 2

# Held at once (`mklbench.optim.fit_memory`): LIBSVM's buffer, and a Gram matrix of the best, the
# last and the next point.
MATRICES = 5.0


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 100.0,
    *,
    q: float = 0.75,
    groups: str | GroupLists = "bank",
    tol: float = 1e-2,
    objective_tol: float | None = None,
    max_iter: int = 1000,
    svm_tol: float = 1e-3,
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Learn kernel weights that are sparse within groups, and the more across them the smaller q.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=100.0
        Box constraint.
    q : float, default=0.75
        1/2 <= q < 1. Groups of one kernel are l_p-norm MKL with p = q / (1 - q).
    groups : str or GroupLists, default="bank"
        As in `mklbench.kernels.groups.groups_of`: "bank" for the bank's own groups, or one group of
        all kernels where it has none (then this is MKL); "one", "singletons" or "features"; or
        lists of kernel indices.
    tol : float, default=0.01
        Stop at this certified relative duality gap.
    objective_tol : float or None, default=None
        Stop as well where the objective of an iterate differs from that of the one
        before by less than this share of it; None for never.
    max_iter : int, default=1000
        Maximum number of changes of the weights.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance; it is tightened by itself where it, not the weights,
        keeps the gap above `tol`.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all.

    Returns
    -------
    Solution
        Of the iterate with the smallest certified gap. `weights` are d_jk = eta_j lambda_jk with
        sum_j (sum_k d_jk)^rho = 1; `objective` is J, the value of the SVM's dual at the weights.
        Each entry of `history` has the objective and the gap of an iterate, and the SVM calls so
        far ("n_svm_calls").

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, q is not in [1/2, 1), or the groups are
        no partition.
    """
    q = check_number(
        "q", q, 0.5, 1.0, "at least 1/2 and below 1, for q >= 1 take vskl", open_above=True
    )
    tol = check_limits(tol, max_iter)
    check_positive_or_none("objective_tol", objective_tol)
    check_grouping(groups)
    problem = Problem.of(y, C, class_weight, sample_weight, svm_tol)
    bank = check_bank("ckl", bank, len(problem.y))
    penalty = MixedNorm(groups_of(bank, groups), q)
    start = penalty.best_weights(1.0 / penalty.groups.spread(penalty.groups.sizes.astype(float)))
    return alternate(Objective(bank, problem), penalty, start, tol, objective_tol, max_iter)
