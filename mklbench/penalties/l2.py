"""A price on the distance of the weights from 1: the l2 regulariser of GMKL."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mklbench.penalties.base import Array, Penalty, rise_above


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

    def value(self, weights: Array, forms: Array) -> float:
        """Return 1/2 d'q + strength * ||d - 1||^2."""
        return super().value(weights, forms) + self.of_weights(weights)

    def dual_value(self, forms: Array) -> float:
        """Return 1/2 sum_m q_m + sum_m q_m^2 / (16 strength)."""
        best = 1.0 + forms / (4.0 * self.strength)
        return 0.5 * float(best @ forms) - self.of_weights(best)

    def best_weights(self, lengths: Array) -> Array:
        """Return the root d_m >= 1 of d_m^2 (d_m - 1) = ||f_m||^2 / (4 strength)."""
        return 1.0 + rise_above(1.0, np.square(lengths) / (4.0 * self.strength))
