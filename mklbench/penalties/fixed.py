"""Kernel weights that are given: the penalty of a plain kernel machine on a combination."""

from __future__ import annotations

from dataclasses import dataclass

from mklbench.penalties.base import Array, Penalty


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

    def best_weights(self, lengths: Array) -> Array:
        """Return d, whatever the lengths."""
        return self.weights
