"""A price a kernel, and a sum that may be spent: the penalty of radius-margin MKL."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mklbench.penalties.base import Array, Penalty

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

    def best_weights(self, lengths: Array) -> Array:
        """Return weights in proportion to ||f_m|| / sqrt(prices_m) that spend it all."""
        roots = np.sqrt(self.prices)
        total = float(roots @ lengths)
        if total > 0:
            return lengths / (roots * total)
        return 1.0 / (self.prices * len(lengths))
