"""Late fusion: one machine on each kernel or each group of them, and the mean or vote of all.

The machines are learned independently. With f_j the decision function of machine j of k, that of
the fusion is

    f = 1/k sum_j f_j,

or with `vote` the majority of the signs of f_j, ties broken by the mean. A group of kernels, such
as those of one view, has one machine on their mean. With `folds` each machine has a C of its own,
chosen by cross-validation: late fusion of tuned machines.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from mklbench import grids
from mklbench.errors import InputError
from mklbench.kernels.banks.precomputed import PrecomputedBank
from mklbench.kernels.base import Array, Bank
from mklbench.kernels.groups import GroupLists, check_grouping, groups_of
from mklbench.optim.machines import ClassWeight, Learner, are_labels, losses_of_each
from mklbench.solution import Solution
from mklbench.validation import check_count, check_flag

VERSION = 1
NEW_OPTIONS = ("folds",)

COMBINES_ONCE = True
REGRESSION = True


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 1.0,
    *,
    vote: bool = False,
    groups: str | GroupLists = "singletons",
    folds: int | None = None,
    learner: str = "svm",
    lam: float = 1.0,
    epsilon: float = 0.1,
    svm_tol: float = 1e-3,
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Learn one machine on each kernel or group of kernels of a bank.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}; real targets for "krr" and "svr".
    C : float, default=1.0
        Box constraint of "svm" and "svr".
    vote : bool, default=False
        Whether the machines vote for a class; else their decision values are averaged.
    groups : str or GroupLists, default="singletons"
        The kernels of each machine, which has the mean of them: "singletons" for a machine a
        kernel, "bank" for one a group of the bank, "features" for one a feature; or lists of kernel
        indices.
    folds : int or None, default=None
        Number of folds, >= 2, by which each machine chooses its own C, or lam of "krr", from
        decades in units of its kernel, as a search does; None for the same one in all.
    learner : str, default="svm"
        What is learned on each, "svm", "krr" or "svr".
    lam : float, default=1.0
        The ridge lambda of "krr".
    epsilon : float, default=0.1
        Half the width of the tube of "svr", in units of y.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}`` or "balanced", of "svm".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all.

    Returns
    -------
    Solution
        `members` are the machines. `weights`, `dual_coef` and `objective` are the means of theirs,
        and `gap` is the largest. `history` has an entry a machine.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, or machines are to vote on real targets.
    """
    machine = Learner(learner, C, lam, epsilon, svm_tol, class_weight, sample_weight)
    check_grouping(groups)
    check_flag("vote", vote)
    if folds is not None:
        check_count("folds", folds, minimum=2)
    bank, targets = machine.check("late_fusion", bank, y)
    if vote and not are_labels(targets).all():
        raise InputError(
            "vote=true needs classes to vote for, but y has real targets: set vote=false."
        )
    chosen = groups_of(bank, groups)
    shares = [(chosen.owner == j) / chosen.sizes[j] for j in range(len(chosen))]
    members = tuple(_member(machine, bank, targets, share, folds) for share in shares)
    calls = np.cumsum([member.n_svm_calls for member in members])
    return Solution(
        weights=np.mean([member.weights for member in members], axis=0),
        dual_coef=np.mean([member.dual_coef for member in members], axis=0),
        intercept=float(np.mean([member.intercept for member in members])),
        objective=float(np.mean([member.objective for member in members])),
        gap=max(member.gap for member in members),
        n_svm_calls=int(calls[-1]),
        n_iter=len(members),
        converged=all(member.converged for member in members),
        history=[
            {"objective": member.objective, "n_svm_calls": float(so_far)}
            for member, so_far in zip(members, calls, strict=True)
        ],
        svm_seconds=sum(member.svm_seconds for member in members),
        members=members,
        vote=vote,
    )


def _member(machine: Learner, bank: Bank, y: Array, weights: Array, folds: int | None) -> Solution:
    """Return the machine at `weights` (M,), its C or lam the best in some folds if asked for."""
    if folds is None:
        return machine.learn(bank, y, weights)
    kernel = PrecomputedBank(bank.combine(weights)[None])
    option, unit = "lam" if machine.kind == "krr" else "C", grids.unit_of(kernel)
    values = [grids.resolved(option, c, unit) for c in grids.DECADES]
    tried = [replace(machine, C=value, lam=value) for value in values]
    found = [losses_of_each("late_fusion", kernel, y, one, folds, 0) for one in tried]
    losses, calls, seconds = zip(*found, strict=True)
    member = tried[int(np.argmin(losses))].learn(bank, y, weights)
    return replace(
        member,
        n_svm_calls=member.n_svm_calls + sum(calls),
        svm_seconds=member.svm_seconds + sum(seconds),
    )
