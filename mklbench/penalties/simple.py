"""Penalties of a few lines each: regularisers of GMKL, the simplex, given weights, a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mklbench.penalties.base import Array, Penalty

# What is feasible may be beyond its limit by this share, which is rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class L1(Penalty):
    """The price r(d) = strength * sum d (Varma & Babu 2009).

    P(f, d) is 1/2 sum_m ||f_m||^2 / d_m + strength sum_m d_m, at its least sqrt(2 strength) sum_m
    ||f_m||, where d_m = ||f_m|| / sqrt(2 strength). D(q) is 0 where q_m <= 2 strength for all m,
    and infinite elsewhere.

    Attributes
    ----------
    strength : float
        A number > 0; 1 in the authors' code.
    """

    strength: float = 1.0

    def of_weights(self, weights: Array) -> float:
        """Return r(d) for `weights` d (M,)."""
        return self.strength * float(weights.sum())

    def gradient(self, weights: Array) -> Array:
        """Return dr/dd (M,)."""
        return np.full_like(weights, self.strength)

    def dual_value(self, forms: Array) -> float:
        """Return 0 where 1/2 max_m q_m <= strength, infinity elsewhere."""
        return 0.0 if 0.5 * float(forms.max()) <= self.strength * (1.0 + _ROUNDING) else math.inf

    def shrink(self, forms: Array) -> float:
        """Return the largest s <= 1 with 1/2 s^2 max_m q_m <= strength."""
        largest = float(forms.max())
        return min(1.0, math.sqrt(2.0 * self.strength / largest)) if largest > 0 else 1.0


@dataclass(frozen=True)
class L2(Penalty):
    """The price r(d) = strength * ||d - 1||^2 (Varma & Babu 2009).

    P(f, d) is 1/2 sum_m ||f_m||^2 / d_m + r(d), at its least where d_m^2 (d_m - 1) is
    ||f_m||^2 / (4 strength). D(q) = 1/2 d'q - r(d) at d_m = 1 + q_m / (4 strength).

    Attributes
    ----------
    strength : float
        A number > 0; 5 in the authors' code.
    """

    strength: float = 5.0

    def of_weights(self, weights: Array) -> float:
        """Return r(d) for `weights` d (M,)."""
        return self.strength * float(((weights - 1.0) ** 2).sum())

    def gradient(self, weights: Array) -> Array:
        """Return dr/dd (M,)."""
        return self.strength * (2.0 * (weights - 1.0))

    def dual_value(self, forms: Array) -> float:
        """Return 1/2 sum_m q_m + sum_m q_m^2 / (16 strength)."""
        best = 1.0 + forms / (4.0 * self.strength)
        return 0.5 * float(best @ forms) - self.of_weights(best)


@dataclass(frozen=True)
class Simplex(Penalty):
    """The set d >= 0, sum d = 1 (Rakotomamonjy et al. 2008, eq. 10 and 14).

    P(f, d) is 1/2 sum_m ||f_m||^2 / d_m, at its least 1/2 (sum_m ||f_m||)^2, where d_m is the share
    of ||f_m|| in the sum. D(q) = 1/2 max_m q_m. On one kernel, whose weight is 1, this is the
    penalty of a plain kernel machine.
    """

    def dual_value(self, forms: Array) -> float:
        """Return 1/2 max_m q_m."""
        return 0.5 * float(forms.max())


@dataclass(frozen=True)
class Fixed(Penalty):
    """The set of one point, the weights that are given.

    P(f, d) is 1/2 sum_m ||f_m||^2 / d_m at these d, and D(q) = 1/2 d'q.

    Attributes
    ----------
    weights : ndarray of shape (M,)
        d >= 0.
    """

    weights: Array

    def dual_value(self, forms: Array) -> float:
        """Return 1/2 d'q."""
        return 0.5 * float(self.weights @ forms)


# A kernel that costs nothing would have any weight.
_CHEAPEST = 1e-300


@dataclass(frozen=True)
class Budget(Penalty):
    """The set d >= 0, sum_m prices_m d_m <= 1.

    P(f, d) is 1/2 sum_m ||f_m||^2 / d_m, at its least 1/2 (sum_m sqrt(prices_m) ||f_m||)^2.
    D(q) = 1/2 max_m q_m / prices_m. With prices that are all 1 it is the simplex.

    Parameters
    ----------
    prices : ndarray of shape (M,)
        One a kernel, > 0.
    """

    prices: Array

    def dual_value(self, forms: Array) -> float:
        """Return 1/2 max_m q_m / prices_m."""
        return 0.5 * float((forms / np.maximum(self.prices, _CHEAPEST)).max())
