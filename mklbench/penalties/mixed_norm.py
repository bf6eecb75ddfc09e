"""Mixed norms of groups of kernels: the penalty of VSKL and CKL, and of l_p-norm MKL."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mklbench.kernels.groups import Groups
from mklbench.penalties.base import Array, Penalty

# D_j counts as at least this share of the largest one in gamma_j. A group without use would else
# get ever larger weights 1 / gamma_j, and with them the rounding of LIBSVM's kernel values.
_SMALLEST_D = 1e-8


@dataclass(frozen=True)
class MixedNorm(Penalty):
    """Half a squared norm: l_2q over the groups, of l_1 within them (Aflalo et al. 2011, eq. 1).

    With T_j the sum of the ||f_m|| in group j and weights d_m = eta_j ||f_m|| / T_j,

        P(f) = 1/2 [ sum_j T_j^(2q) ]^(1/q) = 1/2 sum_m ||f_m||^2 / d_m

    for the best eta:

    - CKL, q < 1: P is the least over all eta with sum_j eta_j^rho <= 1, rho = q / (1 - q), so that
      the penalty is a set of weights (Micchelli & Pontil 2005; Lemma 2.2 of Aflalo et al.);
    - VSKL, q >= 1: P is the largest over all eta = 1 / gamma with sum_j gamma_j^q* <= 1,
      q* = q / (q - 1). It is no price of the weights: at those at hand, P is that of the functions.

    The dual norm is l_s over the groups of the maximum within them, s = 2q / (2q - 1), so that

        D(q) = 1/2 [ sum_j ( max_{m in group j} q_m )^p ]^(1/p),   p = s / 2.

    Attributes
    ----------
    groups : Groups
        The groups of the M kernels.
    q : float
        The exponent, >= 1/2, infinity included.
    """

    groups: Groups
    q: float

    def value(self, weights: Array, forms: Array) -> float:
        """Return P at ||f_m|| = d_m sqrt(q_m), which depends on the functions alone."""
        totals = self.groups.sums(weights * np.sqrt(np.maximum(forms, 0.0)))
        return 0.5 * power_sum(totals**2, self.q)

    def dual_value(self, forms: Array) -> float:
        """Return 1/2 [ sum_j ( max_{m in group j} q_m )^p ]^(1/p)."""
        exponent = math.inf if self.q == 0.5 else 1.0 / (2.0 - 1.0 / self.q)
        return 0.5 * power_sum(self.groups.maxima(np.maximum(forms, 0.0)), exponent)

    def best_weights(self, lengths: Array) -> Array:
        """Return the d at which P is least for functions of these `lengths` ||f_m|| (M,).

        That is d_m = eta_j ||f_m|| / T_j with eta_j = T_j^(2 - 2q) in units of its norm.

        For q > 1 they grow without bound as T_j falls, and are infinite where it is 0, at q =
        infinity where it is not the largest: there the penalty does not change with T_j. The shares
        of a group whose lengths are all 0 are equal, as any are as good.
        """
        totals = self.groups.sums(lengths)
        largest = float(totals.max())
        if largest <= 0.0:
            return self.best_weights(np.ones_like(lengths))
        eta = (totals / largest) ** abs(2.0 - 2.0 * self.q)
        eta /= power_sum(eta, self._conjugate)
        lengths = np.where(self.groups.spread(totals) > 0, lengths, 1.0)
        totals = np.where(totals > 0, totals, self.groups.sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            eta = 1.0 / eta if self.q > 1.0 else eta
            return np.where(lengths > 0, self.groups.spread(eta / totals) * lengths, 0.0)

    def best_gamma(self, D: Array) -> Array:
        """Return the gamma that minimises sum_j D_j / gamma_j, for q >= 1 (Proposition 3.3).

        That is D_j^(1 / (q* + 1)) divided by its q*-norm: all ones at q = 1. It is what is best for
        an a, not for functions: D_j >= 0 is the sum of the a' K_m a in group j at given shares.
        """
        largest = float(D.max())
        scaled = np.maximum(D / largest, _SMALLEST_D) if largest > 0 else np.ones_like(D)
        power = (self.q - 1.0) / (2.0 * self.q - 1.0) if self.q < math.inf else 0.5  # 1 / (q* + 1)
        gamma = scaled**power
        return gamma / power_sum(gamma, self._conjugate)

    @property
    def _conjugate(self) -> float:
        """Rho for q < 1, q* for q > 1, infinity between them."""
        if self.q == 1.0:
            return math.inf
        return self.q / abs(1.0 - self.q) if self.q < math.inf else 1.0


def power_sum(values: Array, exponent: float) -> float:
    """Return (sum_j values_j^exponent)^(1/exponent) for `values` >= 0, their maximum at infinity.

    The values are scaled by the largest, as their powers might overflow.
    """
    largest = float(values.max())
    if largest <= 0.0 or exponent == math.inf:
        return largest
    return largest * float(((values / largest) ** exponent).sum()) ** (1.0 / exponent)
