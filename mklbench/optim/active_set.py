"""Newton's method on the optimality conditions of a programme whose active set is nearly known.

Near the optimum of MKL the same support vectors are free, and the same kernels have weight, from
one model to the next. Then one system of linear equations in the free alpha and in the multipliers
of these kernels takes the place of the ten of the interior-point method, and its solution is exact.
Where the sets were not right, they are exchanged for those that the solution asks for (the primal-
dual active set method of Hintermüller, Ito & Kunisch 2002), which ends soon or, far from the
optimum, not at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgesv

from mklbench.optim.interior_point import Iterate, Programme

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_EXCHANGES = 6


@dataclass(frozen=True)
class _Sets:
    """Masks: free alpha, alpha at the upper bound (n,), kernels whose constraint binds (w,)."""

    free: Mask
    at_upper: Mask
    binding: Mask

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Sets) and all(
            np.array_equal(mine, theirs)
            for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True)
        )


def maximise(programme: Programme, alpha: Array, multipliers: Array, tol: float) -> Iterate | None:
    """Solve a programme from a nearly known active set.

    Parameters
    ----------
    programme : Programme
        The programme.
    alpha, multipliers : ndarray
        (n,) and (w,), which are on their bounds where the solution is expected
        to be.
    tol : float
        How far, in units of the margin and of tau, an inequality may be violated.

    Returns
    -------
    Iterate or None
        The solution, with zeros in its pairs; None where it was not found.
    """
    upper = programme.upper
    sets = _Sets((alpha > 0) & (alpha < upper), alpha >= upper, multipliers > 0)
    for _ in range(_EXCHANGES):
        solved = _solve(programme, sets)
        if solved is None:
            return None
        alpha, multipliers, intercept = solved
        tau = float(multipliers.sum())
        violation = programme.p - programme.Q @ alpha - programme.X @ multipliers
        violation -= intercept * programme.y
        slack = tau - programme.offset - programme.X.T @ alpha
        exact = np.abs(violation[sets.free]).max() <= tol
        exact &= np.abs(slack[sets.binding]).max() <= tol * tau
        if not exact:  # the equations are singular
            return None
        proposed = _Sets(
            free=np.where(
                sets.free,
                (alpha >= 0) & (alpha <= upper),
                np.where(sets.at_upper, violation < -tol, violation > tol),
            ),
            at_upper=np.where(sets.free, alpha > upper, sets.at_upper & (violation >= -tol)),
            binding=np.where(sets.binding, multipliers >= 0, slack < -tol * tau),
        )
        if proposed == sets:
            violation[sets.free] = 0.0
            slack[sets.binding] = 0.0
            primal = [alpha, upper - alpha, np.maximum(slack, 0.0)]
            dual = [np.maximum(-violation, 0.0), np.maximum(violation, 0.0), multipliers]
            pairs = np.array([np.concatenate(primal), np.concatenate(dual)])
            return Iterate(pairs, intercept, len(alpha))
        sets = proposed
    return None


def _solve(programme: Programme, sets: _Sets) -> tuple[Array, Array, float] | None:
    """Return alpha, the multipliers and the intercept that meet the equations of the sets."""
    free, binding = np.flatnonzero(sets.free), np.flatnonzero(sets.binding)
    f, k = len(free), len(binding)
    if f == 0 or k == 0:
        return None
    alpha = np.where(sets.at_upper, programme.upper, 0.0)
    X, y, Q = programme.X[:, binding], programme.y, programme.Q[free]
    equations = np.zeros((f + k + 1, f + k + 1))
    equations[:f, :f] = Q[:, free]
    equations[:f, f:-1] = X[free]
    equations[f:-1, :f] = X[free].T
    equations[f:-1, f:-1] = -1.0  # tau is the sum of the multipliers
    equations[:f, -1] = equations[-1, :f] = y[free]
    right = np.empty(f + k + 1)
    right[:f] = programme.p[free] - Q @ alpha
    right[f:-1] = -programme.offset[binding] - X.T @ alpha
    right[-1] = programme.balance - y @ alpha
    _, _, solution, failed = dgesv(equations, right)
    if failed or not np.isfinite(solution).all():
        return None
    alpha[free] = solution[:f]
    multipliers = np.zeros(len(programme.offset))
    multipliers[binding] = solution[f:-1]
    return alpha, multipliers, float(solution[-1])
