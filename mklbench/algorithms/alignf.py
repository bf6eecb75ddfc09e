"""ALIGNF: the combination of largest alignment (Cortes, Mohri & Rostamizadeh 2012).

The first stage maximises the centred alignment of sum_m d_m K_m with the targets over d >= 0. With
Q and c of `mklbench.optim.alignment` the maximiser is that of

    minimise over v >= 0   v'Qv - 2 v'c,

up to its length: least squares ||A v - b|| in non-negative variables, with A'A = Q and A'b = c. The
second stage learns on sum_m d_m K_m, as for ALIGN (`mklbench.algorithms.align`).

In Rousu's lecture of 2017 the programme has the further constraint sum_m d_m = 1, which moves the
minimum to another point, one that depends on the scales of the kernels and of y. It is the
programme "simplex". As A d - b = (A - b 1') d there, its minimiser is the point of least norm in a
convex hull, and min over u >= 0 of ||(A - b 1') u||^2 + s^2 (sum u - 1)^2 has it as u / sum u, at
any s > 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls

from mklbench import certify
from mklbench.kernels.base import Array, Bank
from mklbench.optim.alignment import Alignment
from mklbench.optim.machines import ClassWeight, Learner, after_first_stage
from mklbench.penalties.simple import Simplex
from mklbench.solution import Solution
from mklbench.validation import check_choice

VERSION = 2

COMBINES_ONCE = True
REGRESSION = True


PROGRAMMES = ("alignment", "simplex")

_STEPS_A_KERNEL = 30
# Added to the products of kernels at unit norm. Where kernels are equal or depend on each other
# several weights are optimal up to rounding; with it the shortest is, and the alignment is within
# 1e-8 of the largest.
_RIDGE = 1e-8
# A programme is solved at this relative gap, rounding included.
_SOLVED = 1e-6


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 1.0,
    *,
    learner: str = "svm",
    programme: str = "alignment",
    lam: float = 1.0,
    epsilon: float = 0.1,
    svm_tol: float = 1e-3,
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Combine the kernels of a bank to the largest alignment with the targets, and learn on that.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples. Q takes O(M^2) memory, and is kept with the
        bank for other targets and hyperparameters.
    y : array_like of shape (n,)
        Labels in {-1, +1}; real targets for "krr" and "svr".
    C : float, default=1.0
        Box constraint of "svm" and "svr".
    learner : str, default="svm"
        The second stage, "svm", "krr" or "svr".
    programme : str, default="alignment"
        "alignment", or "simplex" as the lecture prints it.
    lam : float, default=1.0
        The ridge lambda of "krr".
    epsilon : float, default=0.1
        Half the width of the tube of "svr", in units of y.
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
        `weights` have unit 2-norm, or with "simplex" the sum 1; `objective` is the alignment of
        their combination with the targets, and `gap` the larger of the relative duality gaps of
        the programme and of the second stage. `converged` says that the second stage has, and that
        the programme is solved to 1e-6.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, or no kernel a positive alignment.
    """
    check_choice("programme", programme, PROGRAMMES)
    machine = Learner(learner, C, lam, epsilon, svm_tol, class_weight, sample_weight)
    bank, targets = machine.check("alignf", bank, y)
    alignment = Alignment.of(bank, targets)
    if programme == "alignment":
        weights = most_aligned(alignment)
        gap = alignment.bounds(weights).relative_gap
    else:
        weights = least_on_simplex(alignment)
        gap = programme_bounds(alignment, weights).relative_gap
    solution, reached = machine.learn(bank, targets, weights), alignment.bounds(weights).lower
    return after_first_stage(solution, reached, gap, _SOLVED, [{"objective": reached}])


def most_aligned(alignment: Alignment) -> Array:
    """Return the v (M,) of unit 2-norm that minimises v'Qv - 2 v'c over v >= 0, up to its length.

    Where kernels are equal several do; of these it is the shortest at unit norms of the kernels, in
    which equal kernels have equal weights.
    """
    A, b, used = _least_squares(alignment)
    k = len(used)
    system = np.vstack([A, np.sqrt(_RIDGE) * np.eye(k)])
    found, _ = nnls(system, np.append(b, np.zeros(k)), maxiter=_STEPS_A_KERNEL * k)
    v = np.zeros(len(alignment.with_target))
    v[used] = found / alignment.norms[used]
    return v / np.linalg.norm(v)


def least_on_simplex(alignment: Alignment) -> Array:
    """Return the d (M,) that minimises 1/2 d'Qd - c'd over the simplex d >= 0, sum d = 1."""
    A, b, used = _least_squares(alignment)
    columns = np.zeros((len(A), len(alignment.with_target)))  # 0 for a constant kernel
    columns[:, used] = A * alignment.norms[used]
    hull = columns - alignment.target_norm * b[:, None]
    unit = float(np.linalg.norm(hull, axis=0).max())
    system = np.vstack([hull / unit, np.ones(hull.shape[1])])
    right = np.append(np.zeros(len(hull)), 1.0)
    u, _ = nnls(system, right, maxiter=_STEPS_A_KERNEL * len(right))
    return u / u.sum()


def programme_bounds(alignment: Alignment, weights: Array) -> certify.Bounds:
    """Bound the minimum of 1/2 d'Qd - c'd over the simplex, at `weights` d (M,)."""
    gradient = alignment.products @ weights - alignment.with_target
    value = 0.5 * float(weights @ (gradient - alignment.with_target))
    return certify.frank_wolfe_bounds(value, weights, gradient, Simplex())


def _least_squares(alignment: Alignment) -> tuple[Array, Array, NDArray[np.intp]]:
    """Return A (r, k), b (r,) and the k kernels that are not constant.

    A'A are the products of the kernels at unit norm and A'b their alignments with a target of unit
    norm; r is the rank, which equal kernels make smaller than k.
    """
    norms = alignment.norms
    used = np.flatnonzero(norms)
    scaled = alignment.products[np.ix_(used, used)] / np.outer(norms[used], norms[used])
    eigenvalues, vectors = np.linalg.eigh(scaled)
    kept = eigenvalues > len(used) * np.finfo(float).eps * eigenvalues[-1]
    roots, vectors = np.sqrt(eigenvalues[kept]), vectors[:, kept]
    return roots[:, None] * vectors.T, vectors.T @ alignment.of_each()[used] / roots, used
