"""Infinite kernel learning, IKL (Gehler & Nowozin 2008): MKL on all members of a family.

The problem is MKL with the best finite choice of kernels from a set Theta (eq. 1). Its dual (eq. 2)
has one constraint for each member:

    maximise  sum_i alpha_i - lambda   over 0 <= alpha <= C, y'alpha = 0 and lambda
    such that T(theta; alpha) <= lambda for all theta in Theta,

    T(theta; alpha) = 1/2 a' K_theta a,        a = alpha o y.

A constraint is a kernel of the primal, so the constraints are generated one by one (Algorithm 1),
on the kernels at hand of `mklbench.optim.kernel_columns`:

1. the restricted master, MKL on the kernels at hand, gives alpha, the weights and lambda;
2. the subproblem looks for kernels with T(theta; alpha) > lambda; on a bank all are priced, in a
   family a search finds local maxima (`mklbench.optim.kernel_search`);
3. the largest violators join with weight 0 (multiple pricing), after a decrease of the objective
   in place of those without, and the master is solved again over all weights (totally
   corrective), from the weights before;
4. in a family, the kernels with weight then move to where they are better, all together
   (`mklbench.optim.kernel_search`), and the master is solved on them: without that, kernel
   after kernel is added beside those at hand, and alpha swings.

It ends where no violation is left that could lower the objective by more than the tolerance. On a
bank that is an exact solver of MKL: the gap is certified. In a family T is not concave, and nobody
can tell for certain that no kernel was left out. Two numbers say what is known:

- `Solution.gap` is certified for the kernels found: those with weights, and the local maxima that
  the last search of the subproblem came to, whether they joined or not. The latter are needed: a
  master closes the gap among its own kernels at every round, so that without them any round would
  pass for the last.
- `Solution.family_gap` has besides these what an independent search of another kind found
  (`mklbench.optim.kernel_search`), which looks where the first has ended. What it finds beyond
  the tolerance joins, and generation goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from mklbench import iterations
from mklbench.algorithms import mkl, simplemkl
from mklbench.contract import takes_former_names
from mklbench.iterations import History
from mklbench.kernels.base import Array, Bank, KernelOperator
from mklbench.optim.kernel_columns import BankColumns, Columns, FamilyColumns, MasterSolver
from mklbench.optim.problem import ClassWeight, Problem
from mklbench.optim.svm_value import check_samples
from mklbench.solution import Mixture, Solution
from mklbench.validation import check_choice, check_count, check_limits

VERSION = 2

# Held at once (`mklbench.optim.fit_memory`): those of a master and of the certificate.
MATRICES = 4.5
EXACT = True
# What was recorded before there was an independent search, or one from products of kernels, or
# kernels that move, was made without.
NEW_OPTIONS = {
    "n_global_ascents": 0,
    "n_joint_steps": 0,
    "n_round_ascents": None,
    "n_product_starts": 0,
}


# The tolerance of a master in units of the gap before it, and its limits: far from the end it need
# not be exact, and at the end it may take this share of the tolerance.
_MASTER_TOL, _LOOSEST_MASTER, _TIGHTEST_MASTER = 0.1, 1e-2, 0.2
# A violator joins if it exceeds lambda by this share of the tolerance, in units of the objective.
_ACCEPTED = 0.1
# So many rounds, each of which lowers the objective by less than this share of it, end the search;
# where there is an independent one it is asked first, and as many rounds follow. Where alpha swings
# from round to round, a kernel may be missing that only the independent one sees.
_PATIENCE, _LEAST_DECREASE = 5, 1e-5


def _simplemkl(bank: Bank, problem: Problem, *, tol: float, start: Array) -> Solution:
    """Solve a master by SimpleMKL, which starts at its own weights."""
    return simplemkl.minimise(bank, problem, tol)


# Solvers of the restricted master problems.
_MASTERS: dict[str, Callable[..., Solution]] = {"mkl": mkl.solve_master, "simplemkl": _simplemkl}


@takes_former_names
def solve(
    kernels: KernelOperator,
    y: ArrayLike,
    C: float = 1.0,
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    pricing: int = 12,
    samples: int = 1000,
    n_global_ascents: int = 300,
    n_joint_steps: int = 8,
    n_round_ascents: int | None = None,
    n_product_starts: int = 15,
    master: str = "mkl",
    start: Mixture | ArrayLike | None = None,
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Learn which members of a family to combine, and how, or the weights of a bank.

    Parameters
    ----------
    kernels : KernelOperator
        A family with a bounded box, or a bank, on n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=1.0
        Box constraint.
    tol : float, default=0.001
        Stop where `gap`, and in a family `family_gap` as well, is at most this.
    max_iter : int, default=100
        Maximum number of rounds, each of a master, and of a second where kernels have moved.
    pricing : int, default=12
        Maximum number of kernels that join at once; 1 is Algorithm 1 to the letter.
    samples : int, default=1000
        So many random members of the family are looked at before the search in it ends, and
        the best of them are starts, too. The paper has none; without them a search takes a third
        of the time and now and then leaves a sparse kernel unseen, with most parameters 0.
    n_global_ascents : int, default=300
        So many times an independent search ascends, coordinate by coordinate, each time that the
        first one finds nothing more, or that the objective stands still: from random kernels,
        beside those at hand and anywhere, and from the lower end of the box. With 0 there is no
        such search: `family_gap` is then None, and `converged` says that the gap of the kernels
        found is at most `tol`, no more. In a family of one parameter, where all ascents were the
        same, so many values of it are priced. On a bank, where all kernels are priced, it plays no
        part.
    n_joint_steps : int, default=8
        Iterations of a descent in the parameters of all kernels with weight, after a master; it
        rests for a round after one that lowered the objective by little. The independent search
        then runs at every round, and twice as many kernels may join at once. With 0 kernels
        stay as they were found, which takes many more rounds. On a bank it plays no part.
    n_round_ascents : int or None, default=None
        Ascents of the independent search at a round. If not given, a twentieth of
        `n_global_ascents`; all of it where every feature has two values: an ascent is quick there,
        and a search in which hundreds of kernels are used needs many to end.
    n_product_starts : int, default=15
        So many times more does the independent search ascend when the first one finds nothing, from
        the best products of two or three kernels at hand. Where the labels depend on several groups
        of features together, the kernel of all of them is found from those of the groups.
    master : str, default="mkl"
        "mkl", the default exact solver, or "simplemkl", which the paper used.
    start : Mixture, array_like or None, default=None
        What to start from: the kernels of a family and their weights (`Mixture`), or weights
        (M,) of a bank. If not given, the one kernel that agrees best with the labels.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all.

    Returns
    -------
    Solution
        On a family `weights` (k,) are those of the kernels `thetas` (k, M), all positive; on a bank
        they are (M,). They sum to 1. `objective` is J, the value of the SVM's dual at the weights.
        `gap` is that of the kernels found, `family_gap` that with what an independent search found
        beyond them; `converged` says that both are at most `tol`.
        Each entry of `history` has the objective, the gap, the number of kernels in the master and
        the SVM calls so far.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, or the box of the family is unbounded.
    """
    tol = check_limits(tol, max_iter)
    check_count("pricing", pricing)
    check_count("samples", samples, minimum=0)
    check_count("n_global_ascents", n_global_ascents, minimum=0)
    check_count("n_joint_steps", n_joint_steps, minimum=0)
    if n_round_ascents is not None:
        check_count("n_round_ascents", n_round_ascents)
    check_count("n_product_starts", n_product_starts, minimum=0)
    check_choice("master", master, _MASTERS)
    problem = Problem.of(y, C, class_weight, sample_weight)
    check_samples(kernels, len(problem.y))
    solve_master = _MASTERS[master]
    if master == "mkl" and (n_joint_steps or isinstance(kernels, Bank)):
        # Where alpha is not unique, as with samples that are equal, that of an SVM proves little,
        # and so do those of the masters after it.
        solve_master = partial(mkl.solve_master, falls_back=True)
    solver = MasterSolver(solve_master, problem)
    columns: Columns
    if isinstance(kernels, Bank):
        columns = BankColumns(kernels, solver, start)
    else:
        ascents = n_global_ascents, n_round_ascents, n_product_starts
        columns = FamilyColumns(kernels, solver, start, samples, n_joint_steps, ascents)
    history = iterations.begin()
    _generate(columns, solver, tol, max_iter, pricing, history)
    gap, family_gap = columns.certified_gaps()
    weights, thetas = columns.weights()
    return Solution(
        weights=weights,
        dual_coef=columns.restricted.dual_coef,
        intercept=columns.restricted.intercept,
        objective=columns.restricted.objective,
        gap=gap,
        n_svm_calls=solver.calls,
        n_iter=len(history) - 1,
        converged=max(gap, family_gap or 0.0) <= tol,
        history=history,
        svm_seconds=solver.svm_seconds,
        thetas=thetas,
        family_gap=family_gap,
    )


def _generate(
    columns: Columns,
    solver: MasterSolver,
    tol: float,
    max_iter: int,
    pricing: int,
    history: History,
) -> None:
    """Generate columns until both gaps are at most `tol`, or no progress is made."""
    tightest, lowest, failures = _TIGHTEST_MASTER * tol, np.inf, 0
    master_tol = max(_LOOSEST_MASTER, tightest)
    while True:
        columns.solve_master(master_tol)
        columns.move(master_tol)
        restricted = columns.restricted
        for thorough in (False, True):
            gap = 1.0 - restricted.lower(columns.search(thorough)) / restricted.upper
            if gap > tol:
                break
        iterations.note(
            history,
            restricted.weights,
            objective=restricted.objective,
            gap=gap,
            n_kernels=len(restricted.weights),
            n_svm_calls=solver.calls,
        )
        if gap <= tol and (price := columns.search_globally()) is not None:
            gap = 1.0 - restricted.lower(price) / restricted.upper
        progress = restricted.objective < lowest * (1.0 - _LEAST_DECREASE)
        failures = 0 if progress else failures + 1
        lowest = min(lowest, restricted.objective)
        if gap <= tol or len(history) == max_iter:
            return
        if failures == 2 * _PATIENCE or (
            failures == _PATIENCE and columns.search_globally() is None
        ):
            return
        # Kernels leave after a decrease only: where alpha is not unique, as with kernels of low
        # rank, those that just joined with weight 0 may be needed together with the next.
        excess = _ACCEPTED * tol * restricted.upper
        extended = columns.extend(excess, pricing, drop=progress)
        if not extended and master_tol <= tightest:
            # The master has not closed the gap among its kernels; others may be missing, too.
            if columns.search_globally() is None or not columns.extend(
                excess, pricing, drop=progress
            ):
                return
            extended = True
        master_tol = (
            max(min(_MASTER_TOL * gap, _LOOSEST_MASTER), tightest) if extended else tightest
        )
