"""The radius of the smallest ball around the samples, as a function of the kernel weights.

With beta >= 0, sum beta = 1,

    R^2(d) = max over beta of  sum_m d_m r_m(beta),   r_m(beta) = beta' diag(K_m) - beta' K_m beta,

a maximum of linear functions: R^2 is convex and homogeneous, and its gradient at d is r at the beta
of the ball there. Problems that do not change when all weights are multiplied, because the margin
is measured in units of the radius, are therefore problems over the convex set d >= 0, R^2(d) <= 1,
and that set lies within d >= 0, r(beta)'d <= 1 for every beta.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from mklbench.errors import InputError
from mklbench.kernels.base import Bank
from mklbench.optim.hulls import EnclosingBall

Array = NDArray[np.float64]

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
        self._balls = EnclosingBall(n, _BALL_TOL)
        spreads = self.radii(np.full(n, 1.0 / n))
        varies = spreads > _CONSTANT * np.abs(self._diagonals).mean(axis=1)
        if not varies.any():
            raise InputError(
                f"all {bank.n_kernels} kernels are constant, their samples all the same: choose "
                "kernels that are not."
            )
        self.units = np.divide(1.0, spreads, out=np.zeros_like(spreads), where=varies)

    @property
    def calls(self) -> int:
        """Number of SVM problems solved for balls."""
        return self._balls.calls

    @property
    def seconds(self) -> float:
        """Wall-clock seconds spent inside LIBSVM for balls."""
        return self._balls.seconds

    def scaled(self, weights: Array) -> InUnitBall:
        """Return weights (M,) in units of the squared radius there."""
        K = self._bank.combine(weights)
        ball = self._balls.smallest(K)
        squared = ball.bounds.upper
        shares = ball.shares
        return InUnitBall(squared, weights / squared, K / squared, shares, self.radii(shares))

    def radii(self, beta: Array) -> Array:
        """Return r(beta) (M,) for beta (n,) >= 0 with the sum 1."""
        return np.maximum(self._diagonals @ beta - self._bank.quadratic_forms(beta), 0.0)


class _Done(Exception):
    """The search has been told to end."""


def minimise(
    evaluate: Callable[[Array], tuple[float, Array]], start: Array, max_evals: int
) -> None:
    """Minimise a function of weights u >= 0 that does not change when all are multiplied.

    L-BFGS-B with bounds, on the logarithm of a positive function. `evaluate` keeps what it has seen
    and ends the search by `stop`.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(u)`` returns the value, > 0 but for rounding, and the gradient (M,).
    start : ndarray of shape (M,)
        u to begin with.
    max_evals : int
        Maximum number of evaluations.
    """
    left = max_evals

    def logarithm(u: Array) -> tuple[float, Array]:
        nonlocal left
        if left == 0 or not u.any():
            raise _Done
        left -= 1
        value, gradient = evaluate(u)
        # A margin of nearly constant kernels may be below 0 by rounding: L-BFGS-B ends at NaN.
        return float(np.log(value)) if value > 0.0 else np.nan, gradient / value

    options = {"maxiter": max_evals, "maxfun": max_evals, "ftol": 0.0, "gtol": 0.0}
    try:
        minimize(
            logarithm,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * len(start),
            options=options,
        )
    except _Done:
        return


def stop() -> None:
    """End the search of `minimise` from within `evaluate`."""
    raise _Done
