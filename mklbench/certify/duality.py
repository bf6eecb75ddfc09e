"""Duality gaps: both sides of a convex problem at the same numbers.

Every convex problem of the package is a loss (`mklbench.certify.losses`) and a penalty
(`mklbench.penalties`), and is bounded from both sides by `bounds`:

- from above by the primal value at (weights, dual_coef, intercept), which holds for any numbers;
- from below by the dual value at dual_coef, which holds for any that is feasible: alpha =
  y o dual_coef with 0 <= alpha <= C and y'alpha = 0 for an SVM. LIBSVM keeps both to rounding.

The relative gap (upper - lower) / upper therefore holds however inexact the inner solver was. It
bounds the objective that is reported, the dual value at the weights, as well: the upper bound is
nowhere below it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mklbench.certify.losses import Loss
from mklbench.kernels import Bank, Family
from mklbench.kernels.families import training_outputs
from mklbench.penalties.base import Array, Penalty
from mklbench.solution import KernelMachine


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
        inside, nonzero = family.take(support), a[support]
        forms = np.array([nonzero @ inside.gram(theta) @ nonzero for theta in (*thetas, *rivals)])
        outputs = training_outputs(family, weights, thetas, a)
        padded = np.pad(weights, (0, len(rivals)))
        return cls(loss, padded, forms, outputs, a, machine.intercept)

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
