"""A local model of MKL, in which every kernel is replaced by its rank-one part.

Let a be the SVM's solution at the weights d. Applied to a, a kernel and its rank-one part

    g_m g_m',   g_m = K_m a / sqrt(a' K_m a),

are the same, and K_m - g_m g_m' is positive semidefinite (Cauchy-Schwarz). The model lets the
weights of the rank-one parts vary and holds the rest where it is:

    J~(e) = value of the SVM with the kernel  B + sum_m e_m g_m g_m',
    B     = sum_m d_m (K_m - g_m g_m').

At e = d it agrees with J in its value, its gradient and, while no alpha meets or leaves a bound,
its second derivatives: there, its Hessian is that of the free support vectors. Unlike that Hessian
it knows the bounds of every alpha, and unlike any quadratic function of the weights it knows that
the norms of functions are homogeneous, so that its minimiser is a good step from far away as well.

By duality, to minimise J~ over the simplex is one quadratic programme,

    maximise    sum alpha - 1/2 a' B a - 1/2 tau^2      over alpha and tau, a = alpha o y,
    subject to  -tau <= g_m' a <= tau,   0 <= alpha <= C,   y'alpha = 0,

whose multipliers divided by tau are the weights. At the current a, g_m' a = sqrt(a' K_m a), so that
the lower side is left out until a solution violates it. The alpha is feasible for MKL's own dual,
too, and so bounds MKL's value from below.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mklbench.kernels.base import Array, Indices
from mklbench.optim import interior_point
from mklbench.optim.interior_point import Programme
from mklbench.optim.svm_dual import SVMDual
from mklbench.solution import KernelMachine

# A constraint is violated from this multiple of tau on.
_BEYOND = 1.001


@dataclass(frozen=True)
class Expansion:
    """Where the model is made: the SVM's solution at some weights.

    Attributes
    ----------
    K : ndarray of shape (n, n)
        Gram matrix at the weights.
    dual : SVMDual
        That of the SVM, in v variables alpha.
    dual_coef : ndarray of shape (n,)
        a, the SVM's solution.
    intercept : float
        b.
    weights : ndarray of shape (w,)
        Weights of the kernels that take part; all others have weight zero.
    products : ndarray of shape (w, n)
        K_m a of these kernels.
    norms : ndarray of shape (w,)
        sqrt(a' K_m a) of these kernels, > 0.
    """

    K: Array
    dual: SVMDual
    dual_coef: Array
    intercept: float
    weights: Array
    products: Array
    norms: Array


def minimise(
    at: Expansion, rows: NDArray[np.bool_], tol: float, near: bool = False
) -> KernelMachine:
    """Minimise the model over the weights.

    Parameters
    ----------
    at : Expansion
        Where the model is made.
    rows : ndarray of bool of shape (v,)
        The variables alpha that may change; it must hold all that are free.
    tol : float
        Accuracy of the quadratic programme, see `interior_point.maximise`.
    near : bool, default=False
        Whether to try first if the alpha at bounds and the kernels with weight stay the same.

    Returns
    -------
    KernelMachine
        Weights (w,) on the simplex, with exact zeros, and the SVM's solution that the model expects
        there. It is feasible for the SVM up to rounding.
    """
    kept = np.flatnonzero(rows)
    alpha = at.dual.alpha(at.dual_coef)
    programme = _programme(at, kept)
    if at.weights.any():
        multipliers = at.weights * np.sqrt(at.weights @ at.norms**2)
    else:  # those with weight do not see the solution
        multipliers = np.full(len(at.norms), at.norms.mean())
    point = interior_point.maximise_near(programme, alpha[kept], multipliers, tol) if near else None
    if point is None:
        point = _interior_solution(programme, at, alpha[kept], multipliers, tol)
    reached = programme.offset + programme.X.T @ point.alpha
    if reached.min() < -_BEYOND * point.multipliers.sum():  # some g_m' a is below -tau
        X, offset = programme.X, programme.offset
        both = np.concatenate([offset, -offset])
        programme = replace(programme, X=np.hstack([X, -X]), offset=both)
        multipliers = 0.5 * np.concatenate([multipliers, multipliers])
        point = _interior_solution(programme, at, alpha[kept], multipliers, tol)
    alpha[kept] = _on_bounds(point, programme.upper)
    weights = np.where(point.multipliers > 0.1 * point.slack, point.multipliers, 0.0)
    if not weights.any():  # the programme could not be solved
        weights = point.multipliers
    weights = weights.reshape(-1, len(at.norms)).sum(axis=0)
    return KernelMachine(
        weights=weights / weights.sum(),
        dual_coef=at.dual.dual_coef(_balanced(alpha, at.dual)),
        intercept=point.intercept,
    )


def _interior_solution(
    programme: Programme, at: Expansion, alpha: Array, multipliers: Array, tol: float
) -> interior_point.InteriorPoint:
    unit = float(np.abs(at.dual_coef).mean())
    start = interior_point.interior(programme, alpha, multipliers, at.intercept, unit)
    return interior_point.maximise(programme, start, tol)


def _programme(at: Expansion, kept: Indices) -> Programme:
    """Return the quadratic programme in the variables alpha that are `kept`."""
    dual, alpha = at.dual, at.dual.alpha(at.dual_coef)
    fixed = np.setdiff1d(np.flatnonzero(alpha), kept, assume_unique=True)
    y, rows, others = dual.signs[kept], dual.samples[kept], dual.samples[fixed]
    X = (at.products[:, rows] / at.norms[:, None] * y).T
    Q = at.K[rows][:, rows] * y
    Q *= y[:, None]
    Q -= (X * at.weights) @ X.T
    a = dual.signs[fixed] * alpha[fixed]
    offset = at.products[:, others] @ a / at.norms
    pull = y * (at.K[np.ix_(rows, others)] @ a) - X @ (at.weights * offset)
    return Programme(
        Q=Q,
        X=X,
        p=dual.linear[kept] - pull,
        y=y,
        upper=dual.upper[kept],
        offset=offset,
        balance=dual.total - float(a.sum()),
    )


def _on_bounds(point: interior_point.InteriorPoint, upper: Array) -> Array:
    """Return alpha with the values that tend to a bound put on it."""
    unit = float(point.alpha.mean())
    alpha = np.where(point.alpha < unit * point.at_zero, 0.0, point.alpha)
    return np.where(upper - alpha < unit * point.at_upper, upper, alpha)


def _balanced(alpha: Array, dual: SVMDual) -> Array:
    """Return alpha whose signed sum is the total, changed where there is most room."""
    y, upper = dual.signs, dual.upper
    excess = float(y @ alpha) - dual.total
    room = np.minimum(alpha, upper - alpha)
    roomiest = int(np.argmax(room))
    balanced = alpha.copy()
    if abs(excess) <= room[roomiest]:
        balanced[roomiest] -= y[roomiest] * excess
        return balanced
    # No alpha is free enough: shrink the heavier side, or let all grow where there is one alone.
    heavier = y * excess > 0
    weight = float(alpha[heavier].sum())
    if weight > 0:
        balanced[heavier] *= (weight - abs(excess)) / weight
    else:
        balanced += (upper - alpha) * (abs(excess) / float((upper - alpha).sum()))
    return balanced
