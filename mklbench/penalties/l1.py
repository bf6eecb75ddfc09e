"""A price on the sum of the weights: the l1 regulariser of GMKL."""

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

    def value(self, weights: Array, forms: Array) -> float:
        """Return 1/2 d'q + strength * sum d."""
        return super().value(weights, forms) + self.of_weights(weights)

    def dual_value(self, forms: Array) -> float:
        """Return 0 where 1/2 max_m q_m <= strength, infinity elsewhere."""
        return 0.0 if 0.5 * float(forms.max()) <= self.strength * (1.0 + _ROUNDING) else math.inf

    def best_weights(self, lengths: Array) -> Array:
        """Return ||f_m|| / sqrt(2 strength)."""
        return lengths / math.sqrt(2.0 * self.strength)

    def shrink(self, forms: Array) -> float:
        """Return the largest s <= 1 with 1/2 s^2 max_m q_m <= strength."""
        largest = float(forms.max())
        return min(1.0, math.sqrt(2.0 * self.strength / largest)) if largest > 0 else 1.0
