"""Weights on the simplex: the penalty of SimpleMKL and all exact solvers of its problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mklbench.penalties.base import Array, Penalty


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

    def best_weights(self, lengths: Array) -> Array:
        """Return ||f_m|| / sum_l ||f_l||, equal shares where all are 0."""
        total = float(lengths.sum())
        return lengths / total if total > 0 else np.full(len(lengths), 1.0 / len(lengths))
