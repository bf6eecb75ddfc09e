"""Certificates of optimality, computed from a solution's numbers alone.

No algorithm grades itself: each returned gap is computed here from the weights, the dual
coefficients and the intercept. Every convex problem of the package is a loss and a penalty
(`mklbench.penalties`), and is bounded from both sides by `bounds`:

- from above by the primal value at (weights, dual_coef, intercept), which holds for any numbers;
- from below by the dual value at dual_coef, which holds for any that is feasible: alpha =
  y o dual_coef with 0 <= alpha <= C and y'alpha = 0 for an SVM. LIBSVM keeps both to rounding.

The relative gap (upper - lower) / upper therefore holds however inexact the inner solver was. It
bounds the objective that is reported, the dual value at the weights, as well: the upper bound is
nowhere below it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.kernels import Bank, Family, training_outputs
from mklbench.penalties.base import Penalty
from mklbench.solution import KernelMachine

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bounds:
    """An upper and a lower bound on the optimal value of a convex problem.

    Parameters
    ----------
    upper : float
        Upper bound on the optimal value, and on the objective that a solver reports.
    lower : float
        Lower bound on the optimal value.
    """

    upper: float
    lower: float

    @property
    def relative_gap(self) -> float:
        """(upper - lower) / upper, >= 0 up to rounding; 0 where both are 0."""
        if self.upper == self.lower:
            return 0.0
        return (self.upper - self.lower) / max(abs(self.upper), np.finfo(float).tiny)


class Loss(ABC):
    """A convex loss of the values f(x_i) + b of a function at the training samples."""

    @abstractmethod
    def value(self, decision: Array) -> float:
        """Return the loss at the values of a decision function.

        Parameters
        ----------
        decision : ndarray of shape (n,)
            The values f(x_i) + b at the training samples.
        """

    @abstractmethod
    def dual_value(self, dual_coef: Array) -> float:
        """Return the least of loss(u) + a'u over u (n,), for a feasible a.

        Parameters
        ----------
        dual_coef : ndarray of shape (n,)
            a, such that the minimum is finite.
        """

    def margin(self, decision: Array) -> float:
        """Return an s > 0 such that `decision` / s has no loss; 0 where none is known.

        Parameters
        ----------
        decision : ndarray of shape (n,)
            The values f(x_i) + b at the training samples.
        """
        return 0.0


@dataclass(frozen=True)
class Hinge(Loss):
    """That of the SVM, sum_i C_i max(0, 1 - y_i f(x_i)).

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels in {-1, +1}.
    box : float or array_like of shape (n,)
        The bound C on alpha, or one bound C_i a sample.
    """

    y: Array
    box: ArrayLike

    def value(self, decision: Array) -> float:
        """Return sum_i C_i max(0, 1 - y_i u_i).

        Parameters
        ----------
        decision : ndarray of shape (n,)
            u, the values f(x_i) + b at the training samples.
        """
        return hinge_loss(self.y * decision, self.box)

    def dual_value(self, dual_coef: Array) -> float:
        """Return sum alpha.

        Parameters
        ----------
        dual_coef : ndarray of shape (n,)
            alpha o y, with 0 <= alpha_i <= C_i.
        """
        return float(np.abs(dual_coef).sum())

    def margin(self, decision: Array) -> float:
        """Return the smallest margin y_i u_i, or 0 where one is not positive.

        Parameters
        ----------
        decision : ndarray of shape (n,)
            u, the values f(x_i) + b at the training samples.
        """
        return max(float((self.y * decision).min()), 0.0)


@dataclass(frozen=True)
class Tube(Loss):
    """That of epsilon-SVR, C sum_i max(0, |y_i - f(x_i)| - epsilon).

    Its dual is the maximum over |a_i| <= C, sum a = 0 of a'y - epsilon sum |a| - 1/2 a' K a.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Targets.
    C : float or ndarray of shape (n,)
        The bound on |a|, > 0, or one C_i for each sample.
    epsilon : float
        Half the width of the tube without loss, in units of y, >= 0.
    """

    y: Array
    C: float | Array
    epsilon: float

    def value(self, decision: Array) -> float:
        """Return C sum_i max(0, |y_i - u_i| - epsilon).

        Parameters
        ----------
        decision : ndarray of shape (n,)
            u, the values f(x_i) + b at the training samples.
        """
        excess = np.maximum(0.0, np.abs(self.y - decision) - self.epsilon)
        return float(self.C @ excess) if np.ndim(self.C) else float(self.C) * float(excess.sum())

    def dual_value(self, dual_coef: Array) -> float:
        """Return a'y - epsilon sum |a|.

        Parameters
        ----------
        dual_coef : ndarray of shape (n,)
            a, with |a_i| <= C.
        """
        return float(dual_coef @ self.y) - self.epsilon * float(np.abs(dual_coef).sum())


@dataclass(frozen=True)
class OneClass(Loss):
    """That of the one-class SVM, box sum_i max(0, rho - f(x_i)) - total rho, b = -rho.

    Its dual is the maximum over 0 <= a_i <= box, sum a = total of -1/2 a' K a.

    Parameters
    ----------
    box : float
        The bound on a, > 0.
    total : float
        The sum of a, > 0.
    rho : float
        The offset of the function.
    """

    box: float
    total: float
    rho: float

    def value(self, decision: Array) -> float:
        """Return box sum_i max(0, -u_i) - total rho.

        Parameters
        ----------
        decision : ndarray of shape (n,)
            u, the values f(x_i) - rho at the training samples.
        """
        return self.box * float(np.maximum(0.0, -decision).sum()) - self.total * self.rho

    def dual_value(self, dual_coef: Array) -> float:
        """Return 0, the least of the loss + a'f over f (n,) and rho.

        Parameters
        ----------
        dual_coef : ndarray of shape (n,)
            a, with 0 <= a_i <= box and the sum `total`.
        """
        return 0.0


@dataclass(frozen=True)
class Squares(Loss):
    """That of kernel ridge regression, 1/(2 lam) sum_i (y_i - f(x_i))^2.

    Cortes et al. 2009, eq. 5, have twice this problem: minimise ||f||^2 + 1/lam sum_i (y_i -
    f(x_i))^2, whose dual is the maximum over alpha of 2 alpha'y - alpha'(K + lam I) alpha.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Targets.
    lam : float or ndarray of shape (n,)
        The ridge lambda > 0, or one for each sample, lambda / w_i at its weight w_i.
    """

    y: Array
    lam: float | Array

    def value(self, decision: Array) -> float:
        """Return 1/(2 lam) sum_i (y_i - u_i)^2.

        Parameters
        ----------
        decision : ndarray of shape (n,)
            u, the values f(x_i) at the training samples.
        """
        squares = (self.y - decision) ** 2
        if np.ndim(self.lam):
            return 0.5 * float(np.sum(squares / self.lam))
        return 0.5 * float(np.sum(squares)) / float(self.lam)

    def dual_value(self, dual_coef: Array) -> float:
        """Return alpha'y - lam/2 alpha'alpha.

        Parameters
        ----------
        dual_coef : ndarray of shape (n,)
            alpha, any numbers.
        """
        if np.ndim(self.lam):
            return float(dual_coef @ self.y) - 0.5 * float(dual_coef @ (self.lam * dual_coef))
        return float(dual_coef @ self.y) - 0.5 * float(self.lam) * float(dual_coef @ dual_coef)


@dataclass(frozen=True)
class PrimalDualPoint:
    """A point of a learning problem and one of its dual, made of the same numbers.

    The functions are f_m = weights_m K_m a, with one a for all.

    Parameters
    ----------
    loss : Loss
        With the labels or targets.
    weights : ndarray of shape (M,)
        Kernel weights d >= 0.
    forms : ndarray of shape (M,)
        The quadratic forms q_m = a' K_m a of all kernels that there are.
    outputs : ndarray of shape (n,)
        sum_m d_m K_m a.
    dual_coef : ndarray of shape (n,)
        a: alpha o y of an SVM.
    intercept : float, default=0.0
        b.
    """

    loss: Loss
    weights: Array
    forms: Array
    outputs: Array
    dual_coef: Array
    intercept: float = 0.0

    @classmethod
    def on_bank(cls, bank: Bank, loss: Loss, machine: KernelMachine) -> PrimalDualPoint:
        """Return the point of a solution on a bank, from its weights, dual_coef and intercept.

        Parameters
        ----------
        bank : Bank
            The M base kernels on n training samples.
        loss : Loss
            With the labels or targets of these samples.
        machine : KernelMachine
            The solution, with weights (M,).
        """
        weights, a = machine.weights, machine.dual_coef
        outputs = bank.combine(weights) @ a
        return cls(loss, weights, bank.quadratic_forms(a), outputs, a, machine.intercept)

    @classmethod
    def in_family(
        cls, family: Family, loss: Loss, machine: KernelMachine, thetas: Array, rivals: Array
    ) -> PrimalDualPoint:
        """Return the point of a solution on members of a family, others having the weight 0.

        An upper bound then holds for the whole family, the lower one for the members and the rivals
        together (Gehler & Nowozin 2008, eq. 1 and 2). Over the family, T(theta) = 1/2 a' K_theta a
        can only be searched for its maximum, and the bound is as good as the rivals are. Gram
        matrices are formed one by one.

        Parameters
        ----------
        family : Family
            The family on n training samples, with M parameters.
        loss : Loss
            With the labels or targets of these samples.
        machine : KernelMachine
            The solution, with weights (k,).
        thetas : ndarray of shape (k, M)
            The parameters of its kernels.
        rivals : ndarray of shape (r, M)
            Those of kernels that might be better.
        """
        weights, a = machine.weights, machine.dual_coef
        support = np.flatnonzero(a)
        inside, nonzero = family.restrict(support), a[support]
        forms = np.array([nonzero @ inside.gram(theta) @ nonzero for theta in (*thetas, *rivals)])
        outputs = training_outputs(family, weights, thetas, a)
        padded = np.pad(weights, (0, len(rivals)))
        return cls(loss, padded, forms, outputs, a, machine.intercept)

    @classmethod
    def of_one_kernel(
        cls, loss: Loss, outputs: Array, dual_coef: Array, intercept: float = 0.0
    ) -> PrimalDualPoint:
        """Return the point of a plain kernel machine: one kernel K, with the weight 1.

        Parameters
        ----------
        loss : Loss
            With the labels or targets.
        outputs : ndarray of shape (n,)
            K a.
        dual_coef : ndarray of shape (n,)
            a: alpha o y of an SVM.
        intercept : float, default=0.0
            b.
        """
        norm = np.array([dual_coef @ outputs])
        return cls(loss, np.ones(1), norm, outputs, dual_coef, intercept)

    @property
    def objective(self) -> float:
        """The dual value at the weights: loss.dual_value(a) - 1/2 d'q."""
        return self.loss.dual_value(self.dual_coef) - 0.5 * float(self.weights @ self.forms)


def bounds(point: PrimalDualPoint, penalty: Penalty) -> Bounds:
    """Bound the value of the problem with the loss of `point` and this penalty.

    The primal is taken at f, or at f divided by its smallest margin, where that is positive and the
    value lower. A huge C would else multiply the rounding of margins that are 1 on paper. The
    scaled function, intercept and all, predicts the same labels and has no loss: the bound then
    says how wide its margin is, and nothing about C times the loss of f as it is.

    The dual is taken at a, or at what `Penalty.shrink` makes of it.

    Parameters
    ----------
    point : PrimalDualPoint
        The loss, and the numbers at which primal and dual are taken.
    penalty : Penalty
        The price of the kernel weights, or the set they are in.
    """
    loss, weights, forms = point.loss, point.weights, point.forms
    decision = point.outputs + point.intercept
    regulariser = penalty.value(weights, forms)
    upper = regulariser + loss.value(decision)
    margin = loss.margin(decision)
    if margin > 0:
        upper = min(upper, penalty.value(weights, forms / margin**2))
    if regulariser < 0.5 * float(weights @ forms):
        # Of a mixed norm: that of the best weights for the functions, not of those at hand.
        upper = max(upper, point.objective)
    share = penalty.shrink(forms)
    lower = loss.dual_value(share * point.dual_coef) - penalty.dual_value(share**2 * forms)
    return Bounds(upper, lower)


def hinge_loss(margins: Array, box: ArrayLike) -> float:
    """Return sum_i C_i max(0, 1 - y_i f(x_i)).

    Parameters
    ----------
    margins : ndarray of shape (n,)
        y_i f(x_i).
    box : float or array_like of shape (n,)
        The bound C on alpha, or one bound C_i a sample.
    """
    return float(np.sum(np.asarray(box) * np.maximum(0.0, 1.0 - margins)))


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
