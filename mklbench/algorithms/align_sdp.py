"""The semidefinite alignment problem: weights of either sign (Lanckriet et al. 2004).

    maximise over v   A(sum_m v_m K_m, y y')   such that   sum_m v_m K_m is positive semidefinite,

with the alignment A(K, L) = <K, L>_F / (||K||_F ||L||_F) of Cristianini et al. 2001, as Rousu's
lecture of 2017 prints it before ALIGN and ALIGNF, which need v >= 0 and centre the kernels first
(`mklbench.kernels.CentredBank` does that here).

With Q and c the inner products of the kernels and with the target, it is up to the length of v

    minimise  1/2 v'Qv - c'v   such that   x' K_v x = sum_m v_m x' K_m x >= 0   for all x:

a quadratic programme of M variables with infinitely many constraints. It is solved by cutting
planes: the constraints at hand give a v, the eigenvectors of K_v with negative eigenvalues the next
constraints. The Gram matrix is n x n, and a conic solver (Clarabel was tried) takes the n (n + 1)
/ 2 entries of the cone: 17 s for 4 kernels on 40 samples, where this takes 0.1 s. The multipliers
of the cuts make the matrix Z of `mklbench.certify.semidefinite_alignment_bounds`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cholesky
from scipy.optimize import nnls

from mklbench import certify, iterations
from mklbench.errors import InputError
from mklbench.iterations import History
from mklbench.kernels import PrecomputedBank
from mklbench.kernels.base import Array, Bank
from mklbench.optim.alignment import require_aligned
from mklbench.optim.machines import ClassWeight, Learner, after_first_stage
from mklbench.optim.several import Several, one_of, path_of
from mklbench.solution import Solution
from mklbench.validation import check_limits

VERSION = 2

# Held at once (`mklbench.optim.fit_memory`): LIBSVM's buffer, or inner products.
MATRICES = 4.0
COMBINES_ONCE = True
REGRESSION = True
SIGNED = True
# `solve_path` solves for several values of this option at the price of one.
PATH_OPTION = "C"


# So many kernels have cutting planes to learn in seconds.
LARGEST_BANK = 200
# An eigenvalue that is negative by less of the largest one is 0: single precision, in which LIBSVM
# keeps kernel values, has no more digits.
_SEMIDEFINITE = 1e-7
_CUTS_AT_ONCE = 30
_HALVINGS = 40
_STEPS_A_CUT = 30


@one_of(PATH_OPTION)
def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 1.0,
    *,
    learner: str = "svm",
    lam: float = 1.0,
    epsilon: float = 0.1,
    tol: float = 1e-3,
    max_iter: int = 200,
    svm_tol: float = 1e-3,
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Several:
    """Combine kernels, some with a negative weight, to the largest alignment, and learn on that.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples, positive semidefinite; at most 200, as the number
        of constraints grows with them.
    y : array_like of shape (n,)
        Labels in {-1, +1}; real targets for "krr" and "svr".
    C : float, default=1.0
        Box constraint of "svm" and "svr".
    learner : str, default="svm"
        What is learned on the combination, "svm", "krr" or "svr".
    lam : float, default=1.0
        The ridge lambda of "krr".
    epsilon : float, default=0.1
        Half the width of the tube of "svr", in units of y.
    tol : float, default=0.001
        Relative gap of the alignment at which to stop.
    max_iter : int, default=200
        Maximum number of rounds of new constraints.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}`` or "balanced", of "svm".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all. Alignments
        have all samples alike.

    Returns
    -------
    Solution
        `weights` are such that the combination has the mean diagonal 1; `objective` is its
        alignment with the targets, and `gap` the larger of the relative gap of that and of the
        second stage. The smallest eigenvalue of the combination is not below -1e-7 of the largest.
        `converged` says that the second stage has, and that the first is solved to `tol`.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, there are more kernels than 200, or none
        has a positive alignment.
    """
    tol = check_limits(tol, max_iter)
    machine = Learner(learner, C, lam, epsilon, svm_tol, class_weight, sample_weight)
    bank, targets = machine.check("align_sdp", bank, y)
    if bank.n_kernels > LARGEST_BANK:
        raise InputError(
            f"align_sdp takes banks of at most {LARGEST_BANK} kernels, and this has "
            f"{bank.n_kernels}: choose fewer, or alignf, whose weights are not negative."
        )
    history = iterations.begin()
    weights, gap = _most_aligned(bank, targets, tol, max_iter, history)
    K = bank.combine(weights)
    diagonal = float(K.diagonal().mean())
    # The machines take weights >= 0; the combination is one kernel to them.
    combination = PrecomputedBank(K[None] / diagonal)

    def learned(C: float) -> Solution:
        solution = replace(machine, C=C).learn(combination, targets, np.ones(1))
        solution = replace(solution, weights=weights / diagonal)
        return after_first_stage(solution, history[-1]["objective"], gap, tol, history)

    return lambda Cs: [learned(each) for each in Cs]


solve_path = path_of(solve, PATH_OPTION)


def _most_aligned(
    bank: Bank, y: Array, tol: float, max_iter: int, history: History
) -> tuple[Array, float]:
    """Return weights (M,) of the kernels as they come in, and the gap of their alignment.

    What is reached on the way is noted in `history`. The variables u, with root'Q root = I and
    v = root u, are those of kernels of unit norm: ||K_v||_F = ||u||.
    """
    products = bank.inner_products()
    norms = np.sqrt(np.maximum(products.diagonal(), 0.0))
    norms = np.where(norms > 0, norms, 1.0)
    products = products / np.outer(norms, norms)
    alignments = bank.target_alignments(y) / norms
    require_aligned(alignments, "zero")
    values, vectors = np.linalg.eigh(products)
    kept = values > len(values) * np.finfo(float).eps * values[-1]
    root = vectors[:, kept] / np.sqrt(values[kept])
    target = root.T @ alignments
    cuts = np.empty((0, len(alignments)))  # x' K_m x, at unit norms
    safe = np.maximum(alignments, 0.0)  # a combination that is allowed
    while True:
        planes = cuts @ root
        lengths = np.linalg.norm(planes, axis=1)
        multipliers = np.zeros(len(cuts))
        if len(cuts):
            most = _STEPS_A_CUT * len(cuts)
            multipliers, _ = nnls((planes / lengths[:, None]).T, -target, maxiter=most)
            multipliers /= lengths
        asked = root @ (target + planes.T @ multipliers)
        allowed, eigenvectors = _allowed(bank, norms, products, asked, safe)
        bounds = certify.semidefinite_alignment_bounds(
            products, alignments, float(y @ y), allowed, cuts.T @ multipliers
        )
        gap = bounds.relative_gap
        iterations.note(history, allowed, objective=bounds.lower, gap=gap, n_svm_calls=0.0)
        if gap <= tol or len(eigenvectors) == 0 or len(history) >= max_iter:
            return allowed / norms, gap
        safe = allowed
        new = np.array([bank.quadratic_forms(x) / norms for x in eigenvectors])
        cuts = np.concatenate([cuts, new])


def _allowed(
    bank: Bank, norms: Array, products: Array, asked: Array, safe: Array
) -> tuple[Array, Array]:
    """Return the weights nearest to those asked for, from `safe` ones, that are allowed.

    With them the eigenvectors (k, n) of what is asked for with the most negative eigenvalues.
    """
    K_asked, K_safe = (bank.combine(v / norms) for v in (asked, safe))
    eigenvalues, vectors = np.linalg.eigh(K_asked)
    negative = np.flatnonzero(eigenvalues < -_SEMIDEFINITE * eigenvalues[-1])[:_CUTS_AT_ONCE]
    if not len(negative):
        return asked, vectors.T[:0]
    # Of unit norm both, so that a share is one of the way.
    asked_norm, safe_norm = (float(np.sqrt(v @ products @ v)) for v in (asked, safe))
    asked, K_asked = asked / asked_norm, K_asked / asked_norm
    safe, K_safe = safe / safe_norm, K_safe / safe_norm
    top = vectors[:, -1]
    there, beyond = 0.0, 1.0
    for _ in range(_HALVINGS):
        if beyond - there <= 1e-3 * (1.0 - there):
            break
        middle = 0.5 * (there + beyond)
        if _is_allowed((1 - middle) * K_safe + middle * K_asked, top):
            there = middle
        else:
            beyond = middle
    return (1 - there) * safe + there * asked, vectors.T[negative]


def _is_allowed(K: Array, top: Array) -> bool:
    """Tell whether no eigenvalue of K (n, n) is negative, up to `_SEMIDEFINITE` of the largest.

    By a Cholesky factor, which costs a quarter of the eigenvalues. The largest one is at least
    top'K top for every `top` (n,) of length 1. K is overwritten.
    """
    K[np.diag_indices_from(K)] += _SEMIDEFINITE * float(top @ K @ top)
    try:
        cholesky(K.T, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True
