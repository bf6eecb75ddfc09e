"""Certificates of what is a function of the kernel weights alone.

Its bounds need no function and no dual coefficients: a tangent plane (`frank_wolfe_bounds`), a
matrix that no combination of kernels is better aligned with, a ball around and a point between two
hulls (`ratio_bounds`). Where J is not convex there is the KKT residual.
"""

from __future__ import annotations

import math

import numpy as np

from mklbench.certify.duality import Bounds
from mklbench.penalties.base import Array, Penalty


def frank_wolfe_bounds(
    objective: float, weights: Array, gradient: Array, penalty: Penalty
) -> Bounds:
    """Bound the minimum of J over a set of weights by its tangent plane at a point of the set.

    J decreases by no more than max_v gradient'(weights - v) over v in the set if it is convex, as
    it is nowhere below the plane. For another J the relative gap is a KKT residual: it is 0 exactly
    where the KKT conditions hold, and does not depend on the units of the weights.

    Parameters
    ----------
    objective : float
        J at the weights.
    weights : ndarray of shape (M,)
        A point of the set.
    gradient : ndarray of shape (M,)
        dJ/dweights there.
    penalty : Penalty
        The set, as a penalty without a price. On a `NormBall` J falls along every weight.
    """
    steepest = float(gradient @ weights) + 2.0 * penalty.dual_value(-gradient)
    return Bounds(upper=objective, lower=objective - steepest)


def alignment_bounds(
    products: Array, alignments: Array, target_norm: float, weights: Array
) -> Bounds:
    """Bound the largest centred alignment of a combination of kernels with the target.

    For weights v >= 0 the alignment is v'c / (sqrt(v'Qv) ||y_c y_c'||_F), which no choice of v
    makes larger than ||W||_F / ||y_c y_c'||_F for a matrix W with <K_mc, W>_F >= c_m for all m:
    v'c <= <K_vc, W> <= ||K_vc|| ||W||. The upper bound is that at W = t K_vc with the smallest t
    that is enough, the lower one the alignment itself.

    Parameters
    ----------
    products : ndarray of shape (M, M)
        Q, the inner products <K_mc, K_lc>_F of the centred kernels.
    alignments : ndarray of shape (M,)
        c, those with the target, <K_mc, y_c y_c'>_F.
    target_norm : float
        ||y_c y_c'||_F.
    weights : ndarray of shape (M,)
        v.
    """
    with_combination = products @ weights
    norm = math.sqrt(max(float(weights @ with_combination), 0.0))
    positive = alignments > 0
    with np.errstate(divide="ignore"):
        ratios = alignments[positive] / np.maximum(with_combination[positive], 0.0)
    return Bounds(
        upper=min(1.0, float(ratios.max(initial=0.0)) * norm / target_norm),
        lower=float(weights @ alignments) / (norm * target_norm) if norm > 0 else 0.0,
    )


def semidefinite_alignment_bounds(
    products: Array, alignments: Array, target_norm: float, weights: Array, cuts: Array
) -> Bounds:
    """Bound the largest alignment of a positive semidefinite combination of kernels, of any signs.

    For a positive semidefinite Z, <K_v, Z>_F >= 0 for all v that are allowed. So v'c <= v'(c + s),
    s_m = <K_m, Z>_F, and with Q u = c + s that is <K_v, K_u>_F <= ||K_v|| ||K_u||.

    Parameters
    ----------
    products : ndarray of shape (M, M)
        Q, the inner products <K_m, K_l>_F.
    alignments : ndarray of shape (M,)
        c, those with the target, <K_m, y y'>_F.
    target_norm : float
        ||y y'||_F.
    weights : ndarray of shape (M,)
        v, which make a positive semidefinite combination.
    cuts : ndarray of shape (M,)
        s, of any Z.
    """
    values, vectors = np.linalg.eigh(products)
    kept = values > len(values) * np.finfo(float).eps * values[-1]
    along = vectors[:, kept].T @ (alignments + cuts)
    norm = math.sqrt(max(float(weights @ products @ weights), 0.0))
    lower = float(weights @ alignments) / (norm * target_norm) if norm > 0 else 0.0
    upper = float(np.linalg.norm(along / np.sqrt(values[kept]))) / target_norm
    return Bounds(upper=max(min(1.0, upper), lower), lower=lower)


def ratio_bounds(
    squared_distance: Bounds, radii: Array, forms: Array, ridge: float = 0.0
) -> Bounds:
    """Bound the smallest ratio R^2 / D of squared radius to squared distance of two hulls.

    R^2(d) >= d'r(beta) and D(d) <= d'q(gamma) + ridge, so that at R^2 = 1 no D is above
    max_m q_m / r_m + ridge.

    Parameters
    ----------
    squared_distance : Bounds
        Those of D at weights where the ball has the radius 1.
    radii : ndarray of shape (M,)
        r(beta) >= 0 of one ball, see `mklbench.optim.radius`.
    forms : ndarray of shape (M,)
        q(gamma) of points of the hulls.
    ridge : float, default=0.0
        lam ||gamma||^2, where that is a part of D.
    """
    upper = 1.0 / max(squared_distance.lower, np.finfo(float).tiny)
    with np.errstate(over="ignore"):
        largest = float(np.max(forms / np.maximum(radii, np.finfo(float).tiny))) + ridge
    return Bounds(upper=upper, lower=min(1.0 / largest, upper) if largest > 0 else 0.0)


def kkt_residual(weights: Array, gradient: Array, objective: float) -> float:
    """Return the relative violation of the KKT conditions of min J(weights), weights >= 0.

    The conditions are gradient >= 0 where a weight is 0 and gradient = 0 where it is positive. With
    weights in units of the largest one, u = w / max w, and J in units of its value, the residual is
    max_m |u_m - max(0, u_m - dJ/du_m / |J|)|: the length of a projected gradient step, which is 0
    exactly at a stationary point and does not depend on the units of the weights.

    Parameters
    ----------
    weights : ndarray of shape (M,)
        The point, >= 0.
    gradient : ndarray of shape (M,)
        dJ/dweights there.
    objective : float
        J there.
    """
    unit = float(weights.max()) or 1.0
    scaled = weights / unit
    slope = gradient * unit / max(abs(objective), np.finfo(float).tiny)
    return float(np.abs(scaled - np.maximum(0.0, scaled - slope)).max())
