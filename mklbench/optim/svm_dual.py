"""The dual of a support vector machine: for classes, for real targets, for one class.

All three are one quadratic programme in variables alpha that are bounded from both sides,

    maximise    p'alpha - 1/2 a' K a,     a_i = sum of s_v alpha_v over the variables v of sample i,
    subject to  0 <= alpha <= upper,      s'alpha = total,

with signs s_v of -1 or +1. What searches for kernel weights know of a machine is this programme, so
that one search serves all of them.

- Classes (C-SVC): one variable a sample, s = y, p = 1, total = 0.
- Real targets (epsilon-SVR): two variables a sample, one for either side of the tube. Those above
  have s = 1 and p_i = y_i - epsilon, those below s = -1 and p_i = -y_i - epsilon; total = 0.
- One class: one variable a sample, s = 1, p = 0, total > 0.

`InnerSVM` solves it inside MKL at changing weights, to the accuracy that the search for them needs:
LIBSVM's tolerance follows the gap. It keeps kernel values in single precision, so that its outputs
K a are off by their rounding, which grows with alpha: no tolerance is asked for that is below it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mklbench import certify
from mklbench.certify import Bounds, Hinge, Loss, OneClass, PrimalDualPoint, Tube
from mklbench.kernels.base import Array, Bank, Indices
from mklbench.libsvm import Machine
from mklbench.optim.svm_value import balanced, bounds_alone, check_samples
from mklbench.penalties.simple import Simplex
from mklbench.solution import KernelMachine


@dataclass(frozen=True)
class SVMDual:
    """The programme above, on n samples.

    Attributes
    ----------
    samples : ndarray of int of shape (v,)
        The sample of each variable.
    signs : ndarray of shape (v,)
        s, -1 or +1.
    linear : ndarray of shape (v,)
        p.
    upper : ndarray of shape (v,)
        The bounds of alpha, > 0.
    total : float
        What s'alpha is.
    floor : float
        A value below the optimum for any kernel weights, that of alpha = 0 where that is feasible.
    direction : ndarray of shape (n,)
        The a that a search begins with: what it would be, up to a factor, for tiny bounds.
    loss : callable
        ``loss(intercept)`` is the loss whose dual this is, at that intercept.
    epsilon : float or None, default=None
        Half the distance between the margins of a sample's two variables; None where it has one.
    """

    samples: Indices
    signs: Array
    linear: Array
    upper: Array
    total: float
    floor: float
    direction: Array
    loss: Callable[[float], Loss]
    epsilon: float | None = None

    @property
    def largest_sum(self) -> float:
        """The largest sum of alpha that the constraints allow."""
        above, below = (float(self.upper[self.signs == side].sum()) for side in (1, -1))
        return self.total + 2.0 * min(below, above - self.total)

    def alpha(self, dual_coef: Array) -> Array:
        """Return the alpha (v,) of a (n,), of a sample's two variables at least one 0."""
        return np.maximum(self.signs * dual_coef[self.samples], 0.0)

    def dual_coef(self, alpha: Array) -> Array:
        """Return the a (n,) of alpha (v,)."""
        weights = self.signs * alpha
        return np.bincount(self.samples, weights, len(self.direction)).astype(float, copy=False)

    def distances(self, decision: Array) -> Array:
        """Return how far each variable (v,) is from its margin, < 0 where it has no loss.

        Parameters
        ----------
        decision : ndarray of shape (n,)
            f(x_i) + b. The loss is sum_v upper_v max(0, distance_v), but for a term linear in b.
        """
        return self.linear - self.signs * decision[self.samples]

    def best_intercept(self, outputs: Array) -> float:
        """Return the b at which outputs f (n,) have the least loss.

        The slope of the loss grows by upper_v where a variable meets its margin, at b = s_v p_v -
        f_i; it is least where the slope turns positive, or in the middle of where it is 0.
        """
        margins = self.signs * self.linear - outputs[self.samples]
        order = np.argsort(margins, kind="stable")
        initial = float(self.upper[self.signs > 0].sum()) - self.total
        slopes = np.cumsum(self.upper[order]) - initial
        turning = np.searchsorted(slopes, [-_FLAT * slopes[-1], _FLAT * slopes[-1]])
        first, last = np.minimum(turning, len(order) - 1)
        return 0.5 * float(margins[order[first]] + margins[order[last]])


# Slopes that are this small beside the largest are 0 up to rounding.
_FLAT = 1e-12


def of_classes(y: Array, upper: Array) -> SVMDual:
    """Return the dual of the SVM on labels in {-1, +1} with bounds C_i, both (n,)."""
    hinge = Hinge(y, upper)
    return SVMDual(
        samples=np.arange(len(y)),
        signs=y,
        linear=np.ones(len(y)),
        upper=upper,
        total=0.0,
        floor=0.0,
        # All alpha of a class are equal, and either class weighs the same.
        direction=balanced(y),
        loss=lambda intercept: hinge,
    )


def of_targets(y: Array, C: float | Array, epsilon: float) -> SVMDual:
    """Return the dual of epsilon-SVR on real targets (n,), with a bound C or bounds C_i (n,)."""
    tube, n = Tube(y, C, epsilon), len(y)
    return SVMDual(
        samples=np.tile(np.arange(n), 2),
        signs=np.repeat([1.0, -1.0], n),
        linear=np.concatenate([y, -y]) - epsilon,
        upper=np.tile(np.broadcast_to(C, n), 2),
        total=0.0,
        floor=0.0,
        # At a tiny C those of a ridge regression, whose loss is smooth: y without its mean.
        direction=y - y.mean() if np.ndim(C) == 0 else C * (y - C @ y / np.sum(C)),
        loss=lambda intercept: tube,
        epsilon=epsilon,
    )


def of_one_class(n_samples: int, box: float | Array, total: float, floor: float) -> SVMDual:
    """Return the dual of the one-class SVM with 0 <= a <= box, sum a = total, above a floor.

    The box is one number or one for each sample, (n,).
    """
    upper = np.array(np.broadcast_to(box, n_samples), dtype=np.float64)
    return SVMDual(
        samples=np.arange(n_samples),
        signs=np.ones(n_samples),
        linear=np.zeros(n_samples),
        upper=upper,
        total=total,
        floor=floor,
        direction=total * (upper / upper.sum()),
        loss=lambda intercept: OneClass(box, total, -intercept),
    )


# LIBSVM's tolerance in units of the gap, and its limits.
_TOL, _LOOSEST, _TIGHTEST = 1e-3, 1e-2, 1e-6
# It stays above the rounding of single precision, up to this one.
_SINGLE_PRECISION, _COARSEST = 2.0**-24, 0.1


@dataclass(frozen=True)
class Trained(KernelMachine):
    """The SVM at some weights.

    Attributes
    ----------
    outputs : ndarray of shape (n,)
        K a.
    objective : float
        The SVM's dual value, J up to the accuracy of the solution.
    bounds : Bounds
        On J, with the SVM's primal value as the upper one; or on the optimum of MKL, once all
        kernels are priced.
    """

    outputs: Array
    objective: float
    bounds: Bounds

    @property
    def gap(self) -> float:
        """The relative gap between the bounds."""
        return self.bounds.relative_gap


class InnerSVM:
    """The SVM of a bank and a label vector, or another machine that LIBSVM solves.

    Parameters
    ----------
    bank : Bank
        The kernels.
    machine : Machine
        LIBSVM on the labels or targets; its buffer holds the Gram matrix at the last weights.
    dual : SVMDual
        What the machine solves. Its margins and outputs K a are to be of the size 1, as tolerances
        are in these units.

    Raises
    ------
    InputError
        If the labels do not fit the bank.
    """

    def __init__(self, bank: Bank, machine: Machine, dual: SVMDual) -> None:
        check_samples(bank, len(machine.y))
        self._bank = bank
        self.machine, self.dual, self.gram = machine, dual, machine.gram
        self._weights: Array | None = None
        # Of alpha: the last sum, at first the largest that the bounds allow.
        self._total = dual.largest_sum

    def combine(self, weights: Array) -> None:
        """Write the Gram matrix at `weights` (M,) into LIBSVM's buffer, unless it is there."""
        if weights is not self._weights:
            self._bank.combine(weights, out=self.gram)
            self._weights = weights

    def train(self, weights: Array, gap: float, expected: KernelMachine | None = None) -> Trained:
        """Solve the SVM.

        Parameters
        ----------
        weights : ndarray of shape (M,)
            Of the kernels.
        gap : float
            Relative gap of the search; the tolerance follows it.
        expected : KernelMachine or None, default=None
            The solution that a model expects there. It is taken where it is closer to the
            optimum than what was found.
        """
        self.combine(weights)
        tol = float(np.clip(_TOL * gap, _TIGHTEST, _LOOSEST))
        rounding = _SINGLE_PRECISION * self._total * float(self.gram.diagonal().max())
        solution = self.machine.solve(tol=max(tol, min(rounding, _COARSEST)))
        self._total = float(np.abs(solution.dual_coef).sum())
        intercept = solution.intercept
        if not np.isfinite(intercept):  # LIBSVM has left it open
            intercept = self.dual.best_intercept(self.gram @ solution.dual_coef)
        trained = self._at(weights, solution.dual_coef, intercept)
        if expected is None:
            return trained
        alternative = self._at(weights, expected.dual_coef, expected.intercept)
        return min(trained, alternative, key=lambda at: at.bounds.upper - at.objective)

    def certified(
        self, weights: Array, dual_coef: Array, intercept: float, forms: Array
    ) -> Trained:
        """Certify a solution of MKL with the quadratic forms (M,) of all kernels.

        The weights (M,) are those whose Gram matrix is at hand.
        """
        outputs = self.gram @ dual_coef
        loss = self.dual.loss(intercept)
        point = PrimalDualPoint(loss, weights, forms, outputs, dual_coef, intercept)
        bounds = certify.bounds(point, Simplex())
        return Trained(weights, dual_coef, intercept, outputs, point.objective, bounds)

    def _at(self, weights: Array, dual_coef: Array, intercept: float) -> Trained:
        outputs = self.gram @ dual_coef
        bounds = bounds_alone(self.dual.loss(intercept), outputs, dual_coef, intercept)
        return Trained(weights, dual_coef, intercept, outputs, bounds.lower, bounds)
