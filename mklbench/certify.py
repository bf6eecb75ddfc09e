"""Certificates of optimality, computed from a solution's numbers alone.

No algorithm grades itself: each returned gap is computed here from the weights, the dual
coefficients and the intercept. Every convex problem of the package is bounded from both sides:

- from above by the primal value at (weights, dual_coef, intercept), which holds for any numbers;
- from below by the dual value at alpha = y o dual_coef, which holds for any alpha with
  0 <= alpha <= C and y'alpha = 0. LIBSVM keeps both to rounding.

The relative gap (upper - lower) / upper therefore holds however inexact the inner solver was. It
bounds the objective that is reported, J at the weights, as well: the upper bound is nowhere below
it. Where the weights are free or on a set, J is a maximum over alpha that the primal value at the
same weights is never below. Only a mixed norm can be below, as it is that of the best weights for
the functions, not of those at hand; `mixed_norm_bounds` takes the larger of the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.kernels import Bank, Family, Groups, training_outputs

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bounds:
    """An upper and a lower bound on the optimal value of a convex problem.

    The upper one bounds the objective that a solver reports, too.
    """

    upper: float
    lower: float

    @property
    def relative_gap(self) -> float:
        """(upper - lower) / upper, >= 0 up to rounding; 0 where both are 0."""
        if self.upper == self.lower:
            return 0.0
        return (self.upper - self.lower) / abs(self.upper)


def svm_bounds(K: Array, y: Array, dual_coef: Array, intercept: float, box: ArrayLike) -> Bounds:
    """Bound the value of one SVM problem.

    Parameters
    ----------
    K : (n, n) Gram matrix.
    y : (n,) labels in {-1, +1}.
    dual_coef : (n,) alpha o y.
    intercept : b.
    box : the bound C on alpha, or one bound C_i a sample.
    """
    return bounds_at_outputs(K @ dual_coef, y, dual_coef, intercept, box)


def bounds_at_outputs(
    outputs: Array, y: Array, dual_coef: Array, intercept: float, box: ArrayLike
) -> Bounds:
    """Bound the value of one SVM problem, as `svm_bounds`, from its outputs K a (n,)."""
    norm = float(dual_coef @ outputs)
    return Bounds(
        upper=primal_value(norm, y * (outputs + intercept), box),
        lower=float(np.abs(dual_coef).sum()) - 0.5 * norm,
    )


def primal_value(norm: float, margins: Array, box: ArrayLike) -> float:
    """Return a value of the SVM's primal, 1/2 ||f||^2 + sum_i C_i max(0, 1 - y_i f(x_i)).

    Parameters
    ----------
    norm : ||f||^2 without the intercept.
    margins : (n,) y_i f(x_i).
    box : C, or one C_i a sample.

    Returns
    -------
    float
        The value at f; or at f divided by its smallest margin, where that is positive and the value
        lower. A huge C would else multiply the rounding of margins that are 1 on paper. The scaled
        function, intercept and all, predicts the same labels and has no loss: the bound then says
        how wide its margin is, and nothing about C times the loss of f as it is.
    """
    value = 0.5 * norm + hinge_loss(margins, box)
    smallest = float(margins.min())
    return min(value, 0.5 * norm / smallest**2) if smallest > 0 else value


def hinge_loss(margins: Array, box: ArrayLike) -> float:
    """Return sum_i C_i max(0, 1 - y_i f(x_i)) for `margins` (n,) and the bounds C or C_i."""
    return float(np.sum(np.asarray(box) * np.maximum(0.0, 1.0 - margins)))


def ridge_bounds(K: Array, y: Array, dual_coef: Array, lam: float) -> Bounds:
    """Bound the value of kernel ridge regression (Cortes et al. 2009, eq. 5).

    Minimise over functions f of the kernel ||f||^2 + 1/lam sum_i (y_i - f(x_i))^2; the dual is the
    maximum over alpha of 2 alpha'y - alpha'(K + lam I) alpha. Both are taken at alpha = `dual_coef`
    and f = sum_i alpha_i k(x_i, .), which may be any numbers.

    Parameters
    ----------
    K : (n, n) Gram matrix.
    y : (n,) targets.
    dual_coef : (n,) alpha.
    lam : the ridge lambda.
    """
    outputs = K @ dual_coef
    norm = float(dual_coef @ outputs)
    return Bounds(
        upper=norm + float(np.sum((y - outputs) ** 2)) / lam,
        lower=2.0 * float(dual_coef @ y) - norm - lam * float(dual_coef @ dual_coef),
    )


def svr_bounds(
    K: Array, y: Array, dual_coef: Array, intercept: float, C: float, epsilon: float
) -> Bounds:
    """Bound the value of one epsilon-SVR.

    Minimise 1/2 ||f||^2 + C sum_i max(0, |y_i - f(x_i)| - epsilon) over functions f of the kernel
    and an intercept; the dual is the maximum over |a_i| <= C, sum a = 0 of
    a'y - epsilon sum |a| - 1/2 a' K a.

    Parameters
    ----------
    K : (n, n) Gram matrix.
    y : (n,) targets.
    dual_coef : (n,) a.
    intercept : b.
    C, epsilon : box constraint, and half the width of the tube without loss.
    """
    outputs = K @ dual_coef
    norm = float(dual_coef @ outputs)
    excess = np.maximum(0.0, np.abs(y - outputs - intercept) - epsilon)
    return Bounds(
        upper=0.5 * norm + C * float(excess.sum()),
        lower=float(dual_coef @ y) - epsilon * float(np.abs(dual_coef).sum()) - 0.5 * norm,
    )


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
    products : (M, M) Q, the inner products <K_mc, K_lc>_F of the centred kernels.
    alignments : (M,) c, those with the target, <K_mc, y_c y_c'>_F.
    target_norm : ||y_c y_c'||_F.
    weights : (M,) v.
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


def simplex_programme_bounds(products: Array, alignments: Array, weights: Array) -> Bounds:
    """Bound the minimum of 1/2 d'Qd - c'd over the simplex d >= 0, sum d = 1.

    The lower bound is the least value of the tangent plane at `weights` on the simplex, below which
    a convex function is nowhere. Parameters are as in `alignment_bounds`.
    """
    gradient = products @ weights - alignments
    value = 0.5 * float(weights @ (gradient - alignments))
    return Bounds(upper=value, lower=value - float(weights @ gradient) + float(gradient.min()))


def norm_ball_bounds(
    y: Array,
    dual_coef: Array,
    lam: float,
    outputs: Array,
    forms: Array,
    centre: Array,
    radius: float,
    norm: int,
) -> Bounds:
    """Bound the value of linear combinations in kernel ridge regression (NKRR with d = 1).

    Minimise `ridge_bounds`' problem over the weights mu >= 0 with ||mu - centre|| <= radius as
    well. Its dual is the maximum over alpha of

        2 alpha'y - lam alpha'alpha - max_mu sum_m mu_m alpha' K_m alpha.

    Parameters
    ----------
    y, dual_coef, lam : as in `ridge_bounds`.
    outputs : (n,) the combination of the kernels times `dual_coef`.
    forms : (M,) the alpha' K_m alpha.
    centre, radius, norm : (M,) mu_0 >= 0, the bound, and 1 or 2 for its norm.
    """
    given = 2.0 * float(dual_coef @ y) - lam * float(dual_coef @ dual_coef)
    return Bounds(
        upper=float(dual_coef @ outputs) + float(np.sum((y - outputs) ** 2)) / lam,
        lower=given - _largest_product(forms, centre, radius, norm),
    )


def norm_ball_residual(
    weights: Array, gradient: Array, objective: float, centre: Array, radius: float, norm: int
) -> float:
    """Return the relative violation of the KKT conditions of min J(weights) over a `NormBall`.

    It is the most that J would decrease within the ball if it were linear, max_v gradient'
    (weights - v), as a share of |J|. That is >= 0, and 0 exactly where the KKT conditions hold; it
    does not depend on the units of the weights, and for a convex J it bounds how far its value is
    above the minimum.

    Parameters
    ----------
    weights, gradient : (M,) a point of the ball, and dJ/dweights there, <= 0 up to rounding.
    objective : J there.
    centre, radius, norm : as in `norm_ball_bounds`.
    """
    steepest = _largest_product(-gradient, centre, radius, norm)
    return (float(gradient @ weights) + steepest) / max(abs(objective), np.finfo(float).tiny)


def _largest_product(slopes: Array, centre: Array, radius: float, norm: int) -> float:
    """Return max_v slopes'v over v >= 0 with ||v - centre|| <= radius, for `slopes` (M,) >= 0."""
    slopes = np.maximum(slopes, 0.0)  # rounding
    dual_norm = {1: math.inf, 2: 2}[norm]
    return float(slopes @ centre) + radius * float(np.linalg.norm(slopes, dual_norm))


def mkl_bounds(
    bank: Bank,
    y: Array,
    weights: Array,
    dual_coef: Array,
    intercept: float,
    box: ArrayLike,
    K: Array | None = None,
    q: Array | None = None,
) -> Bounds:
    """Bound the value of MKL with weights on the simplex (Rakotomamonjy et al. 2008, eq. 10, 14).

    Minimise over d >= 0, sum d = 1 the SVM's value; its dual is the maximum over alpha of
    sum alpha - 1/2 max_m q_m with q_m = (alpha o y)' K_m (alpha o y).

    Parameters are as in `svm_bounds`, with the bank and its weights (M,); `K` is their combination
    and `q` (M,) the quadratic forms, where the caller has them.
    """
    if q is None:
        q = bank.quadratic_forms(dual_coef)
    decision = (bank.combine(weights) if K is None else K) @ dual_coef + intercept
    return Bounds(
        upper=primal_value(float(weights @ q), y * decision, box),
        lower=float(np.abs(dual_coef).sum()) - 0.5 * float(q.max()),
    )


def mixed_norm_bounds(
    bank: Bank,
    groups: Groups,
    q: float,
    y: Array,
    weights: Array,
    dual_coef: Array,
    intercept: float,
    box: ArrayLike,
    outputs: Array | None = None,
    forms: Array | None = None,
) -> Bounds:
    """Bound the value of VSKL, q >= 1, and CKL, 1/2 <= q < 1 (Aflalo et al. 2011, eq. 1).

    Minimise over the functions f_m in the spaces of the kernels, and an intercept,

        1/2 [ sum_j ( sum_{m in group j} ||f_m|| )^(2q) ]^(1/q) + sum_i C_i max(0, 1 - y_i f(x_i)),

    half the square of a norm: l_2q over the groups of l_1 within them. Its dual norm is l_s over
    the groups of the maximum within them, s = 2q / (2q - 1), so that the dual is the maximum over
    alpha of

        sum alpha - 1/2 [ sum_j ( max_{m in group j} q_m )^p ]^(1/p),   p = q / (2q - 1),

    with q_m = a' K_m a, a = alpha o y. The upper bound is the value at f_m = weights_m K_m a, which
    has ||f_m|| = weights_m sqrt(q_m), for any weights >= 0, or the SVM's dual value at the weights
    and alpha, which solvers report, where that is larger; the lower one that at alpha.

    Parameters are as in `mkl_bounds`, with the groups of the kernels and q, infinity included;
    `outputs` (n,) are the combination times `dual_coef` and `forms` (M,) the q_m, where the caller
    has them.
    """
    if forms is None:
        forms = bank.quadratic_forms(dual_coef)
    if outputs is None:
        outputs = bank.combine(weights) @ dual_coef
    forms = np.maximum(forms, 0.0)  # rounding
    norms = groups.sums(weights * np.sqrt(forms))
    primal = primal_value(power_sum(norms**2, q), y * (outputs + intercept), box)
    total = float(np.abs(dual_coef).sum())
    return Bounds(
        upper=max(primal, total - 0.5 * float(weights @ forms)),
        lower=total - 0.5 * power_sum(groups.maxima(forms), dual_exponent(q)),
    )


def dual_exponent(q: float) -> float:
    """Return q / (2q - 1), from infinity at q = 1/2 to 1/2 at q = infinity."""
    if q == 0.5:
        return math.inf
    return 0.5 if q == math.inf else q / (2.0 * q - 1.0)


def power_sum(values: Array, exponent: float) -> float:
    """Return (sum_j values_j^exponent)^(1/exponent) for `values` >= 0, their maximum at infinity.

    The values are scaled by the largest, as their powers might overflow.
    """
    largest = float(values.max())
    if largest <= 0.0 or exponent == math.inf:
        return largest
    return largest * float(((values / largest) ** exponent).sum()) ** (1.0 / exponent)


def family_bounds(
    family: Family,
    y: Array,
    weights: Array,
    thetas: Array,
    dual_coef: Array,
    intercept: float,
    box: ArrayLike,
    rivals: Array,
) -> Bounds:
    """Bound the value of MKL over members of a family (Gehler & Nowozin 2008, eq. 1 and 2).

    The upper bound holds for the whole family. The lower one holds for MKL on the kernels `thetas`
    and `rivals` together: over the family, T(theta) = 1/2 a' K_theta a can only be searched for its
    maximum, and the bound is as good as the rivals are. Gram matrices are formed one by one.

    Parameters are as in `mkl_bounds`, with the weights (k,) of the kernels `thetas` (k, M), and
    the parameters `rivals` (r, M) of the kernels that might be better.
    """
    support = np.flatnonzero(dual_coef)
    machine, a = family.restrict(support), dual_coef[support]
    prices = np.array([a @ machine.gram(theta) @ a for theta in (*thetas, *rivals)])
    outputs = training_outputs(family, weights, thetas, dual_coef)
    norm = float(weights @ prices[: len(weights)])
    return Bounds(
        upper=primal_value(norm, y * (outputs + intercept), box),
        lower=float(np.abs(a).sum()) - 0.5 * float(prices.max()),
    )


def l1_gmkl_bounds(
    bank: Bank,
    y: Array,
    weights: Array,
    dual_coef: Array,
    intercept: float,
    box: ArrayLike,
    strength: float,
    K: Array | None = None,
) -> Bounds:
    """Bound the value of GMKL with r(d) = strength * sum d on a bank.

    The dual is the maximum of sum alpha over the alpha with 1/2 q_m <= strength for all m; the
    alpha at hand is scaled down until it is feasible. Parameters are as in `mkl_bounds`.
    """
    q = bank.quadratic_forms(dual_coef)
    decision = (bank.combine(weights) if K is None else K) @ dual_coef + intercept
    largest = float(q.max())
    shrink = min(1.0, math.sqrt(2.0 * strength / largest)) if largest > 0 else 1.0
    return Bounds(
        upper=primal_value(float(weights @ q), y * decision, box) + strength * float(weights.sum()),
        lower=shrink * float(np.abs(dual_coef).sum()),
    )


def l2_gmkl_bounds(
    bank: Bank,
    y: Array,
    weights: Array,
    dual_coef: Array,
    intercept: float,
    box: ArrayLike,
    strength: float,
    K: Array | None = None,
) -> Bounds:
    """Bound the value of GMKL with r(d) = strength * ||d - 1||^2 on a bank.

    For any alpha the minimum over d >= 0 of r(d) - 1/2 d'q is at d_m = 1 + q_m / (4 strength).
    Parameters are as in `mkl_bounds`.
    """
    q = bank.quadratic_forms(dual_coef)
    decision = (bank.combine(weights) if K is None else K) @ dual_coef + intercept
    regulariser = strength * float(np.sum((weights - 1.0) ** 2))
    best = 1.0 + q / (4.0 * strength)
    dual_regulariser = strength * float(np.sum((best - 1.0) ** 2)) - 0.5 * float(best @ q)
    return Bounds(
        upper=primal_value(float(weights @ q), y * decision, box) + regulariser,
        lower=float(np.abs(dual_coef).sum()) + dual_regulariser,
    )


def kkt_residual(weights: Array, gradient: Array, objective: float) -> float:
    """Return the relative violation of the KKT conditions of min J(weights), weights >= 0.

    The conditions are gradient >= 0 where a weight is 0 and gradient = 0 where it is positive. With
    weights in units of the largest one, u = w / max w, and J in units of its value, the residual is
    max_m |u_m - max(0, u_m - dJ/du_m / |J|)|: the length of a projected gradient step, which is 0
    exactly at a stationary point and does not depend on the units of the weights.
    """
    unit = float(weights.max()) or 1.0
    scaled = weights / unit
    slope = gradient * unit / max(abs(objective), np.finfo(float).tiny)
    return float(np.abs(scaled - np.maximum(0.0, scaled - slope)).max())
