"""The yardstick of the exact solvers: projected Newton on the kernel weights, written plainly.

This is the method as one would write it down in an afternoon: dense kernels, every kernel looked
at in every iteration, one SVM for every trial of the line search. With J the SVM's value at the
weights d and a = alpha o y its solution,

    dJ/dd_m = -1/2 a' K_m a,      d2J/dd_m dd_l = (K_m a)_F' P (K_l a)_F,

where F holds the support vectors strictly inside the box and P is the inverse of sum_m d_m K_m on
F, projected on sum = 0 (the equation of the SVM). The minimiser of the quadratic model over the
simplex is the direction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklbench import certify
from mklbench.certify import Bounds, Hinge, PrimalDualPoint
from mklbench.libsvm import SVM
from mklbench.penalties.simple import Simplex
from mklbench.solution import Solution

Array = NDArray[np.float64]

_SVM_TOLERANCE = 1e-5
_RIDGE = 1e-10  # in units of the mean of a diagonal
_MAX_TRIALS = 10


def solve(
    K: Array, y: Array, C: float = 100.0, *, tol: float = 1e-4, max_iter: int = 100
) -> Solution:
    """Solve the problem of `mklbench.algorithms.simplemkl` on Gram matrices `K` (M, n, n).

    Stops at the relative gap `tol`, after `max_iter` directions, or where no step along the
    direction lowers J. The result is that of an exact solver (`mklbench.algorithms`), but its gap
    is to the best lower bound seen, which another alpha than the returned one may have given.
    """
    machine = SVM(y, C, tol=_SVM_TOLERANCE)
    d = np.full(len(K), 1.0 / len(K))
    combined = np.tensordot(d, K, axes=1)
    trained = machine.solve(combined)
    history: list[dict[str, float]] = []
    lower = -np.inf
    while True:
        a = trained.dual_coef
        products = K @ a
        q = products @ a
        objective = np.abs(a).sum() - 0.5 * d @ q
        point = PrimalDualPoint(Hinge(y, C), d, q, d @ products, a, trained.intercept)
        bounds = certify.bounds(point, Simplex())
        lower = max(lower, bounds.lower)
        gap = Bounds(bounds.upper, lower).relative_gap
        history.append({"objective": objective, "gap": gap, "n_svm_calls": float(machine.calls)})
        if gap <= tol or len(history) > max_iter:
            break
        gradient = -0.5 * q
        H = _hessian(combined, products, a, C)
        direction = _simplex_minimum(H, gradient - H @ d) - d
        slope = gradient @ direction
        change = np.tensordot(direction, K, axes=1)
        step = 1.0
        for _ in range(_MAX_TRIALS):
            trial = combined + step * change
            following = machine.solve(trial)
            if following.dual_objective(trial) <= objective + 1e-4 * step * slope:
                break
            # The slope of J at both ends tells where it is about zero.
            b = following.dual_coef
            end_slope = -0.5 * b @ change @ b
            step *= min(0.5, max(0.1, slope / (slope - end_slope)))
        else:
            break
        d, combined, trained = d + step * direction, trial, following
    return Solution(
        d, trained.dual_coef, trained.intercept, objective, gap, machine.calls,
        len(history) - 1, gap <= tol, history, machine.seconds,
    )  # fmt: skip


def _hessian(combined: Array, products: Array, a: Array, C: float) -> Array:
    """Return the second derivatives of J (M, M)."""
    free = np.flatnonzero((np.abs(a) > 0) & (np.abs(a) < C))
    if len(free) == 0:
        return np.zeros((len(products), len(products)))
    K_free = combined[np.ix_(free, free)]
    K_free += _RIDGE * np.mean(np.diag(K_free)) * np.eye(len(free))
    G = products[:, free]
    solved = np.linalg.solve(K_free, np.column_stack([G.T, np.ones(len(free))]))
    inverse_G, inverse_one = solved[:, :-1], solved[:, -1]
    sums = G @ inverse_one
    return G @ inverse_G - np.outer(sums, sums) / inverse_one.sum()


def _simplex_minimum(H: Array, c: Array) -> Array:
    """Return the minimiser of 1/2 e'He + c'e over e >= 0, sum e = 1, by an active-set method."""
    e = np.zeros(len(c))
    positive = [int(np.argmin(0.5 * np.diag(H) + c))]
    e[positive] = 1.0
    for _ in range(3 * len(c)):
        slopes = H @ e + c
        entering = int(np.argmin(slopes))
        if entering in positive or e @ slopes - slopes[entering] <= 1e-9 * np.abs(slopes).max():
            break
        positive.append(entering)
        while True:
            m = len(positive)
            system = np.ones((m + 1, m + 1))
            system[:m, :m] = H[np.ix_(positive, positive)]
            system[:m, :m] += _RIDGE * max(np.trace(H) / len(H), 1e-300) * np.eye(m)
            system[m, m] = 0.0
            target = np.linalg.solve(system, np.append(-c[positive], 1.0))[:m]
            current = e[positive]
            blocked = np.flatnonzero(target <= 0)
            if len(blocked) == 0:
                e[positive] = target
                break
            steps = current[blocked] / (current[blocked] - target[blocked])
            e[positive] = current + steps.min() * (target - current)
            e[positive[blocked[np.argmin(steps)]]] = 0.0
            positive = [k for k in positive if e[k] > 0]
    return e / e.sum()
