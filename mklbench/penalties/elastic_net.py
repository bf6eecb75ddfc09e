"""The elastic net of kernels: between the block l1 norm of MKL and the plain sum of kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mklbench.penalties.base import Array, Penalty


@dataclass(frozen=True)
class ElasticNet(Penalty):
    """The price r(d) = 1/2 sum_m (1 - mix)^2 d_m / (1 - mix d_m), 0 <= d_m <= 1 / mix.

    For functions of lengths t_m = ||f_m|| it is at its least (Tomioka & Suzuki 2010)

        P(f) = sum_m (1 - mix) t_m + mix/2 t_m^2,

    at d_m = t_m / (1 - mix + mix t_m); and with s_m = sqrt(q_m)

        D(q) = 1/(2 mix) sum_m max(0, s_m - (1 - mix))^2.

    Attributes
    ----------
    mix : float
        In (0, 1]: 1 is the plain sum of kernels, and towards 0 it is the block l1 norm.
    """

    mix: float

    def of_weights(self, weights: Array) -> float:
        """Return r(d) for `weights` d (M,) within their bound."""
        if self.mix == 1.0:
            return 0.0
        return 0.5 * (1.0 - self.mix) ** 2 * float(np.sum(weights / (1.0 - self.mix * weights)))

    def dual_value(self, forms: Array) -> float:
        """Return 1/(2 mix) sum_m max(0, sqrt(q_m) - (1 - mix))^2."""
        beyond = np.maximum(np.sqrt(np.maximum(forms, 0.0)) - (1.0 - self.mix), 0.0)
        return 0.5 / self.mix * float(beyond @ beyond)

    def best_weights(self, lengths: Array) -> Array:
        """Return t_m / (1 - mix + mix t_m), at which P is least for `lengths` t (M,)."""
        if self.mix == 1.0:
            return np.ones_like(lengths)
        return lengths / (1.0 - self.mix + self.mix * lengths)
