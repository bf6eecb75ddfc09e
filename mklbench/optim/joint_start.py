"""The start of the joint method: Newton's method on smoothed hinges.

In a window of width w around its corner a hinge max(0, rho) is replaced by (rho + w/2)^2 / (2 w).
What is sought is the least of

    price of d + 1/2 o' S_d^-1 o + sum_i C_i hinge_w(rho_i) - mu sum_j log x_j,    A x = 1,

over the function B o + b and the weights d(x), which is convex in both; v = S_d^-1 o are its
coefficients. Alpha_i = C_i hinge_w'(rho_i) are the dual variables of the smoothed loss, and at its
optimum v = B' Y alpha. A step is that of `mklbench.optim.joint` with Theta = C / w within
the window and 0 outside, for which few rows are needed, and as long as makes the sum least.

The window is narrowed with the steps. The more samples there are, the smoother is the sum, however
narrow the window. Where the smoothing costs less than the gap asked for
the points are certified as they are. Where fewer samples than columns would be left in the window,
Newton's method has no sample of the curvature any more, and the interior-point method goes on
(`mklbench.optim.joint`), which from here takes a few long steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from mklbench.kernels.row_factors import RowFactors
from mklbench.optim.joint import (
    CentralPath,
    Change,
    Iterate,
    NewtonSystem,
    carefully,
    coefficients,
    iterate_of,
    longest,
    prices_of,
)
from mklbench.optim.row_blocks import UNFLAGGED, Engine
from mklbench.optim.weight_sets import Given, WeightSet

Array = NDArray[np.float64]

# The first window, in units of the mean size of what is wanted.
_WIDEST = 4.0
# A window is at most so much narrower than the one before, and wider, and no narrower than so many
# of the changes of the function that are ahead. It keeps this share of the hinges of the one before
# and as many as there are columns; the last is the ratio of the widths that are tried.
_NARROWER, _WIDER, _CHANGES, _KEPT, _SLIGHTLY = 0.25, 2.0, 2.0, 0.1, 1.3
# The share of the gap asked for that the smoothing may cost.
_COST = 0.25
# The start is over where the sum falls along a step by less than this share and the window cannot
# be made narrower, or by no more than rounding, or after so many steps, or so many short ones. What
# v lacks of t, which the gap has as well, needs steps along which the sum hardly falls.
_SETTLED, _ROUNDING, _MOST, _MOST_SHORT = 1.5e-2, 1e-12, 30, 6
# mu, in units of the sum: at first, at most in units of the last decrease, and at least in units of
# the gap asked for.
_FIRST, _OF_DECREASE, _LEAST = 0.1, 0.3, 0.05
# Of a step to where a weight would be 0; how many steps are tried, and by how much one is shorter
# than the other before and after one is of use.
_SHARE, _TRIED, _SHORTER, _LITTLE = 0.9, 10, 2.0, 1.6
# After a step shorter than the first all samples count by this share as if within the window, by
# so many times as much after another, and by so much less after one longer than the second.
_SHORT, _LONG, _OUTSIDE, _MORE = 0.1, 0.5, 0.01, 10.0
# Complementarity that the interior-point method sets out with: a share of the gap within limits, in
# units of the upper bound. A gap above 10 is that of t and v alone, which alpha far inside their
# bounds would widen.
_OF_GAP, _ENTERED, _MOST_ENTERED = 0.3, 0.01, 3.0


class SmoothedPath:
    """The way to the function and the weights at which the interior-point method sets out.

    Weights over which there is a largest to be sought stay where they are.

    Attributes
    ----------
    factors : RowFactors
        The kernels.
    engine : Engine
        The samples.
    weight_set : WeightSet
        Where the weights may be.
    width : float
        That of the window; 0 before the first, and once the interior-point method has set out.
    """

    def __init__(
        self,
        factors: RowFactors,
        engine: Engine,
        weight_set: WeightSet,
        x: Array,
        expansion: Array,
        intercept: float,
        width: float = 0.0,
    ) -> None:
        self.factors, self.engine, self.weight_set = factors, engine, weight_set
        self._all_x, self._moves = x, bool((weight_set.signs > 0).all())
        self._set = weight_set if self._moves else Given(weight_set.weights(x))
        self.x = x if self._moves else self._set.start
        self.v, self.b, self.width = expansion, intercept, width
        self._outputs = factors.expanded(weight_set.weights(x), expansion)
        self._entered = 0.0
        engine.each("take", self._outputs, intercept)

    def points(self, tol: float) -> Iterator[Iterate]:
        """Yield one point after the other, of the start and of the interior-point method.

        Parameters
        ----------
        tol : float
            The relative gap asked for.
        """
        yield from self.iterates(tol)
        yield from self.central(self._entered).iterates()

    def iterates(self, tol: float) -> Iterator[Iterate]:
        """Yield the points of the start.

        Parameters
        ----------
        tol : float
            The relative gap asked for.
        """
        few = self.factors.rank
        widest = _WIDEST * (self.engine.total("scale") / self.factors.n_samples or 1.0)
        first_mu = tol if self.width else _FIRST
        of_first = self.width = self.width or widest
        k, levels = max(1, len(self.x)), np.zeros(len(self._set.sums))
        first, n_short, outside, double = None, 0, 0.0, False
        for _ in range(_MOST):
            smooth = partial(self.engine.total, "smooth", self.width)
            at, double = carefully(smooth, double, self.factors, self._set.weights(self.x))
            point = iterate_of(self.factors, self._set, self.x, self.b, self.v, at)
            if not np.isfinite(point.gap):
                return
            yield replace(point, x=self._every_x())
            upper = abs(point.upper)
            entered = min(max(_ENTERED, _OF_GAP * point.gap), _MOST_ENTERED)
            self._entered = entered * upper / at.n_pairs
            if first is None:
                mu = first_mu * upper / k
                z, first = mu / self.x, at
            slopes = self._set.slopes(self.x, 0.5 * self.factors.forms(self.v))
            prices = slopes - levels @ self._set.sums + mu / self.x
            if outside:
                share = outside * of_first / self.width
                at.products = at.products + share * first.products
                at.column_sums = at.column_sums + share * first.column_sums
                at.theta += share * first.theta
            try:
                system = NewtonSystem(self.factors, at, self._set, self.x, z, self.v)
                change = system.solve(at.projected, at.labelled, prices)
            except LinAlgError:
                return
            del at, system  # Their matrices make room for the next.
            falls, squares, total = self.engine.total("along", change.outputs, change.intercept)
            falls += slopes @ change.x + mu * (change.x / self.x).sum() - self.v @ change.outputs
            loss, cost, inside = self.engine.total("ahead", 0.0, self.width)
            narrowest = self.width * min(1.0, (_COST * tol * upper / cost) ** 0.5)
            narrower = max(narrowest, self.width / _SLIGHTLY)
            settled = falls < _SETTLED * upper and self._inside(0.0, narrower) < few
            if settled or falls < _ROUNDING * upper:
                return
            step, decrease = self._searched(change, mu, loss)
            if step < _SHORT:
                n_short, outside = n_short + 1, max(_MORE * outside, _OUTSIDE)
                if n_short == _MOST_SHORT:
                    return
            elif step > _LONG:
                outside /= _MORE
            ahead = _CHANGES * (squares / total) ** 0.5
            width = min(_WIDER * self.width, max(_NARROWER * self.width, ahead, narrowest))
            while width < widest and self._inside(step, width) < max(few, _KEPT * inside):
                width *= _SLIGHTLY
            self.width = min(width, widest)
            dz = (mu - z * change.x) / self.x - z
            z = z + min(step, _SHARE * longest(z, dz)) * dz
            levels = levels + step * change.levels
            self.engine.each("go", step)
            self.x = self.x + step * change.x
            self.b += step * change.intercept
            self._outputs = self._outputs + step * change.outputs
            self.v = self._coefficients(self.x, self._outputs)
            mu = max(min(mu, _OF_DECREASE * decrease / k), _LEAST * tol * upper / k)
            z = np.maximum(z, 0.1 * mu / self.x)

    def central(self, mu: float, dual_coef: Array | None = None) -> CentralPath:
        """Return the path of the interior-point method from here.

        Alpha is that of the smoothed loss or of `dual_coef`, and of the central path near its
        bounds.

        Parameters
        ----------
        mu : float
            Of the central path.
        dual_coef : ndarray of shape (n,), optional
            a, of a path that goes on with other factors.
        """
        x = self._every_x()
        self.engine.each("enter", mu, self.width, dual_coef)
        self.width = 0.0
        prices, levels = prices_of(self.factors, self.weight_set, x, self.v, mu)
        return CentralPath(
            self.factors, self.engine, self.weight_set, self.v, x, prices, self.b, levels
        )

    def _every_x(self) -> Array:
        return self.x if self._moves else self._all_x

    def _inside(self, step: float, width: float) -> float:
        """Return how many hinges are in a window after a step."""
        return float(self.engine.total("ahead", step, width)[2])

    def _coefficients(self, x: Array, outputs: Array) -> Array:
        """Return S_d^-1 o."""
        cores = self.factors.combined(self._set.weights(x))
        pairs = zip(cores, self.factors.columns, strict=True)
        return np.concatenate([coefficients(core, outputs[columns]) for core, columns in pairs])

    @np.errstate(**UNFLAGGED)
    def _searched(self, change: Change, mu: float, loss: float) -> tuple[float, float]:
        """Return the step that makes the sum least, about, and by how much it does.

        `loss` is the smoothed one of no step.
        """

        def value(x: Array, v: Array, loss: float) -> float:
            penalty = self._set.penalty.value(self._set.weights(x), self.factors.forms(v))
            return float(penalty + loss - mu * np.log(x).sum())

        before = least = value(self.x, self.v, loss)
        best, step = 0.0, min(1.0, _SHARE * longest(self.x, change.x))
        for _ in range(_TRIED):
            x = self.x + step * change.x
            v = self._coefficients(x, self._outputs + step * change.outputs)
            found = value(x, v, self.engine.total("ahead", step, self.width)[0])
            if found < least:
                best, least = step, found
            elif best:
                break
            step /= _LITTLE if best else _SHORTER
        return best, before - least
