"""The radius of the smallest ball around the samples, as a function of the kernel weights.

With beta >= 0, sum beta = 1,

    R^2(d) = max over beta of  sum_m d_m r_m(beta),   r_m(beta) = beta' diag(K_m) - beta' K_m beta,

a maximum of linear functions: R^2 is convex and homogeneous, and its gradient at d is r at the beta
of the ball there. Problems that do not change when all weights are multiplied, because the margin
is measured in units of the radius, are therefore problems over the convex set d >= 0, R^2(d) <= 1,
and that set lies within d >= 0, r(beta)'d <= 1 for every beta.

The points of a search for a radius-margin optimum prove more together than each alone.

The value sought is a minimum over v >= 0 with R^2(v) <= 1. Each dual point of the machine bounds it
by a function linear in v, and each ball the set of v:

    J(v) >= c_j - v'q_j  for every dual point j,      r_k'v <= 1  for every ball k.

One pair alone proves c - max_m q_m / r_m. That is nothing where the ball of some weights has all
its samples in places that a kernel does not tell apart: r_m = 0, and equal samples make such balls
common. Mixtures of what has been seen prove more. With shares lam and mu >= 0,

    maximise  c'lam - 1'mu   subject to  sum_j lam_j q_j <= sum_k mu_k r_k,   1'lam = 1,

a linear programme; its multipliers are the v at which all the bounds are lowest. As q is convex in
the dual point and r concave in beta, the mixture of the points and that of the balls prove no less
as one pair, which is certified like any other.

A search begins by L-BFGS-B, which each point tells its own bounds. Where that has not closed the
gap soon, all of its points prove more together, and the weights at which these bounds are lowest
lead to the next.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from scipy.optimize import linprog, minimize

from mklbench import iterations
from mklbench.certify import Bounds
from mklbench.errors import InputError
from mklbench.kernels.base import Array, Bank
from mklbench.libsvm import Machine
from mklbench.optim.hulls import EnclosingBall, Hulls

At = TypeVar("At")

# A ball is a good deal smaller than what is asked of the problem around it.
_BALL_TOL = 1e-7
# A kernel whose samples differ by less of its trace is constant up to rounding.
_CONSTANT = 1e-12


@dataclass(frozen=True)
class InUnitBall:
    """Weights d in units of the squared radius, v = d / R^2(d): the ball there has the radius 1.

    Attributes
    ----------
    squared_radius : float
        R^2(d).
    weights : ndarray of shape (M,)
        v.
    K : ndarray of shape (n, n)
        sum_m v_m K_m.
    shares : ndarray of shape (n,)
        beta of the ball.
    radii : ndarray of shape (M,)
        r(beta), with v'r(beta) = 1 up to the tolerance of the ball.
    """

    squared_radius: float
    weights: Array
    K: Array
    shares: Array
    radii: Array

    def gradient(self, gradient: Array) -> Array:
        """Return the gradient (M,) at d of f(d / R^2(d)) from that of f at v."""
        tangent = gradient - float(gradient @ self.weights) * self.radii
        return tangent / self.squared_radius


class Radius:
    """The radius of the combinations of a bank.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples.

    Attributes
    ----------
    balls : EnclosingBall
        Its `calls` and `seconds` are those of all balls.
    units : ndarray of shape (M,)
        Weights at which each kernel has a mean squared distance from its mean sample of 1; 0 for
        constant ones.

    Raises
    ------
    InputError
        If all kernels are constant.
    """

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._diagonals = bank.diagonals()
        n = bank.n_samples
        self.balls = EnclosingBall(n, _BALL_TOL)
        spreads = self.radii(np.full(n, 1.0 / n))
        varies = spreads > _CONSTANT * np.abs(self._diagonals).mean(axis=1)
        if not varies.any():
            raise InputError(
                f"all {bank.n_kernels} kernels are constant, their samples all the same: choose "
                "kernels that are not."
            )
        self.units = np.divide(1.0, spreads, out=np.zeros_like(spreads), where=varies)

    def scaled(self, weights: Array) -> InUnitBall:
        """Return weights (M,) in units of the squared radius there."""
        K = self._bank.combine(weights)
        shares, bounds = self.balls.smallest(K)
        squared = bounds.upper
        return InUnitBall(squared, weights / squared, K / squared, shares, self.radii(shares))

    def radii(self, beta: Array) -> Array:
        """Return r(beta) (M,) for beta (n,) >= 0 with the sum 1."""
        return np.maximum(self._diagonals @ beta - self._bank.quadratic_forms(beta), 0.0)


class Done(Exception):
    """A function that is being minimised tells the search to end."""


def lbfgs(function: Callable[[Array], tuple[float, Array]], start: Array, max_evals: int) -> None:
    """Minimise a function of u (M,) >= 0 by L-BFGS-B, until it raises `Done` or it is at its end.

    Parameters
    ----------
    function : callable
        Returns the value and the gradient (M,) at u, and keeps what it has seen.
    start : ndarray of shape (M,)
        u to begin with.
    max_evals : int
        Maximum number of iterations.
    """
    options = {"maxiter": max_evals, "maxfun": max_evals, "ftol": 0.0, "gtol": 0.0}
    bounds = [(0.0, None)] * len(start)
    with contextlib.suppress(Done):
        minimize(function, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)


# The last points of a search, which are the nearest to its end.
_MOST = 500
# Shares of the ball with all samples alike in mixtures, beyond what the programme says: its
# tolerance would else show where another ball tells nothing apart.
_ALIKE = (0.0, 1e-6, 1e-4, 1e-3, 1e-2)


class PointAndBall(NamedTuple):
    """A dual point (n,), its c and q (M,), and the shares beta (n,) and r (M,) of a ball."""

    point: Array
    linear: float
    forms: Array
    shares: Array
    radii: Array


def together(
    pairs: Sequence[PointAndBall], units: Array
) -> tuple[Array, list[Array], Array] | None:
    """Return what dual points and balls prove together; None if the programme cannot be solved.

    Parameters
    ----------
    pairs : sequence of PointAndBall
        The points, of a convex set, and the balls.
    units : ndarray of shape (M,)
        Weights of the kernels at which the ball with all samples alike has r = 1, or 0.

    Returns
    -------
    point : ndarray of shape (n,)
        A mixture of dual points.
    shares : list of ndarray of shape (n,)
        beta, of which one proves the most with it.
    weights : ndarray of shape (M,)
        The v, in units of the kernels, at which the bounds are lowest.
    """
    linear = np.array([pair.linear for pair in pairs])
    forms = np.array([pair.forms for pair in pairs]) * units
    radii = np.array([*(pair.radii * units for pair in pairs), units > 0])
    unit = float(np.abs(linear).max()) or 1.0
    found = linprog(
        np.concatenate([-linear / unit, np.ones(len(radii))]),
        A_ub=np.hstack([forms.T / unit, -radii.T]),
        b_ub=np.zeros(len(units)),
        A_eq=np.concatenate([np.ones(len(pairs)), np.zeros(len(radii))])[None, :],
        b_eq=np.ones(1),
        bounds=(0.0, None),
    )
    if found.x is None:
        return None
    lam, mu = np.maximum(found.x[: len(pairs)], 0.0), np.maximum(found.x[len(pairs) :], 0.0)
    if not (lam.any() and mu.any()):
        return None
    n = len(pairs[0].shares)
    betas = np.array([*(pair.shares for pair in pairs), np.full(n, 1.0 / n)])
    point = (lam / lam.sum()) @ np.array([pair.point for pair in pairs])
    beta = (mu / mu.sum()) @ betas
    mixed = [(1.0 - share) * beta + share / n for share in _ALIKE]
    return point, mixed, -found.ineqlin.marginals


# The evaluations of L-BFGS-B. What needs more has a kink, where it goes on for hundreds in vain.
_FIRST = 30


class Evaluated(NamedTuple, Generic[At]):
    """What an algorithm knows of weights v, at which the ball has the radius 1.

    Attributes
    ----------
    at : object
        What it certifies the weights by.
    bounds : Bounds
        On the optimum.
    objective : float
        What its history says.
    value : float
        What is minimised.
    gradient : ndarray of shape (M,)
        Of the value, in v.
    pair : PointAndBall
        The dual point, and the ball.
    """

    at: At
    bounds: Bounds
    objective: float
    value: float
    gradient: Array
    pair: PointAndBall


class Candidate(NamedTuple, Generic[At]):
    """A point of a search.

    Attributes
    ----------
    u : ndarray of shape (M,)
        The weights in units of the kernels.
    weights : ndarray of shape (M,)
        v, at which the ball has the radius 1.
    at : object
        What the algorithm knows of it.
    bounds : Bounds
        On the optimum.
    """

    u: Array
    weights: Array
    at: At
    bounds: Bounds


class RadiusSearch(ABC, Generic[At]):
    """A function of the weights u = d / `radius.units`, which does not depend on their scale.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples.
    tol : float
        The certified relative gap asked for.
    machine : Machine or Hulls
        What is solved beside balls, with its `calls` and `seconds`.

    Attributes
    ----------
    radius : Radius
        That of the bank.
    best : Candidate or None
        The point with the smallest gap so far.
    history : list of dict
        An entry an evaluation.
    """

    def __init__(self, bank: Bank, tol: float, machine: Machine | Hulls) -> None:
        self.radius, self.tol, self._machine = Radius(bank), tol, machine
        self.best: Candidate[At] | None = None
        self.history = iterations.begin()
        self._pairs: deque[PointAndBall] = deque(maxlen=_MOST)
        self._lowest: Candidate[At] | None = None

    @property
    def gap(self) -> float:
        """The smallest gap so far."""
        return np.inf if self.best is None else self.best.bounds.relative_gap

    @property
    def calls(self) -> int:
        """Number of SVM problems solved, those for balls included."""
        return self._machine.calls + self.radius.balls.calls

    @property
    def seconds(self) -> float:
        """Wall-clock seconds spent inside LIBSVM."""
        return self._machine.seconds + self.radius.balls.seconds

    @abstractmethod
    def evaluated(self, inside: InUnitBall) -> Evaluated[At]:
        """Return what is known of weights at which the ball has the radius 1."""

    @abstractmethod
    def bounded(self, lowest: At, point: Array, radii: Array) -> Bounds:
        """Return the bounds by what is known of some weights, a dual point (n,) and r (M,)."""

    def tighten(self) -> bool:
        """Make evaluations more accurate; return False where that is not possible."""
        return True

    def run(self, n_searches: int, max_iter: int) -> Candidate[At]:
        """Return the best point.

        Parameters
        ----------
        n_searches : int
            The search is begun anew from its best point where it ends early, so often at most.
        max_iter : int
            Maximum number of evaluations.
        """
        first = min(_FIRST, max_iter)

        def logarithm(u: Array) -> tuple[float, Array]:
            if len(self.history) >= first or not u.any():
                raise Done
            value, gradient = self._visit(u)
            if self.gap <= self.tol:
                raise Done
            # A margin of nearly constant kernels may be below 0 by rounding: that is no logarithm,
            # and L-BFGS-B ends there.
            return float(np.log(value)) if value > 0.0 else np.nan, gradient / value

        for _ in range(n_searches):
            left = first - len(self.history)
            if left <= 0 or self.gap <= self.tol:
                break
            start = (self.radius.units > 0).astype(float)
            lbfgs(logarithm, start if self.best is None else self.best.u / self.best.u.max(), left)
            if not self.tighten():
                break
        if self.gap > self.tol:
            self._close_together(max_iter)
        assert self.best is not None
        return self.best

    def _visit(self, u: Array) -> tuple[float, Array]:
        """Return the value and its gradient at u (M,), and keep what is known there."""
        inside = self.radius.scaled(u * self.radius.units)
        found = self.evaluated(inside)
        here = Candidate(u, inside.weights, found.at, found.bounds)
        gap, calls = found.bounds.relative_gap, self.calls
        iterations.note(
            self.history, inside.weights, objective=found.objective, gap=gap, n_svm_calls=calls
        )
        self._pairs.append(found.pair)
        if self._lowest is None or here.bounds.upper < self._lowest.bounds.upper:
            self._lowest = here
        if here.bounds.relative_gap < self.gap:
            self.best = here
        return found.value, inside.gradient(found.gradient) * self.radius.units

    def _close_together(self, max_iter: int) -> None:
        """Certify the lowest point by what all points prove together, and add to these points.

        The next one is half way from there to where the bounds are lowest.
        """
        units = self.radius.units
        while (proved := together(self._pairs, units)) is not None:
            assert self._lowest is not None
            point, shares, lowest_at = proved
            weights = self._lowest.weights
            for beta in shares:
                bounds = self.bounded(self._lowest.at, point, self.radius.radii(beta))
                if bounds.relative_gap < self.gap:
                    self.best = self._lowest._replace(bounds=bounds)
            self.history[-1]["gap"] = self.gap
            if self.gap <= self.tol or len(self.history) >= max_iter:
                return
            here = np.divide(weights, units, out=np.zeros_like(units), where=units > 0)
            self._visit(0.5 * (here + lowest_at))
